# SPDX-License-Identifier: Apache-2.0
"""Diagnostics: located errors as values.

A `Diagnostic` is data: a stable code, a message, a span in the user's source, notes, and what to write instead. Passes
raise `PolyloomError` with one or more of them; only the command line renders them and turns `exit_code` into a process
exit code (0 ok, 1 input, 2 usage, 3 infeasible, 4 mismatch, 70 internal).
"""

from __future__ import annotations

import os
import re
import traceback
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Final, TypeVar

T = TypeVar("T")
# 70 is EX_SOFTWARE of BSD's sysexits.h; the others are this program's own.
INPUT, USAGE, INFEASIBLE, MISMATCH, INTERNAL = 1, 2, 3, 4, 70
_SHOWN: Final = 8
"""Lines of an error in a notebook, at most."""
_BEFORE, _LONGEST = 200, 280  # characters shown of a line, before a place and in all: data files can be one line


@dataclass(frozen=True, slots=True)
class Source:
    """Source text that spans point into; `name` is what the user typed (a path) or a label such as `<string>`."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Span:
    """Source range: half-open, of character offsets [start, end) in `source.text`."""

    source: Source
    start: int
    end: int

    @property
    def line(self) -> int:
        """1-based line of `start`."""
        return self.source.text.count("\n", 0, self.start) + 1

    @property
    def column(self) -> int:
        """1-based column of `start`."""
        return self.start - (self.source.text.rfind("\n", 0, self.start) + 1) + 1


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """Diagnostic, one message. `help` says what to write instead; `exit_code` is one of the constants of this
    module."""

    code: str
    message: str
    exit_code: int = INPUT
    span: Span | None = None
    notes: tuple[str, ...] = ()
    help: str | None = None

    def render(self) -> str:
        """Text that a person reads: `error[CODE]: message`, the location, the source line with carets, notes, help.
        With the exit code 0 it is a warning."""
        lines = [f"{'error' if self.exit_code else 'warning'}[{self.code}]: {self.message}"]
        if self.span is not None:
            lines += _source_excerpt(self.span)
        lines += [f"note: {note}" for note in self.notes]
        if self.help is not None:
            lines.append(f"help: {self.help}")
        return "\n".join(lines)


def _source_excerpt(span: Span) -> list[str]:
    """Source line of a span with carets below it."""
    text = span.source.text
    begin = text.rfind("\n", 0, span.start) + 1
    end = text.find("\n", span.start)
    begin = max(begin, span.start - _BEFORE)
    # One column per character, so that the carets stand below what they mean.
    line = text[begin : min(len(text) if end < 0 else end, begin + _LONGEST)].rstrip("\r").replace("\t", " ")
    # A place between characters, such as the end of a line, still gets a caret.
    width = max(1, min(span.end, begin + len(line)) - span.start)
    gutter = " " * len(str(span.line))
    return [
        f"{gutter}--> {span.source.name}:{span.line}:{span.column}",
        f"{gutter} |",
        f"{span.line} | {line}",
        f"{gutter} | {' ' * (span.start - begin)}{'^' * width}",
    ]


class PolyloomError(Exception):
    """Exception of one or more diagnostics; the process exit code is the first one's."""

    def __init__(self, *diagnostics: Diagnostic) -> None:
        super().__init__(*diagnostics)  # what a pickled exception is made of again
        self.diagnostics = diagnostics

    def __str__(self) -> str:
        return "\n".join(d.render() for d in self.diagnostics)

    def _render_traceback_(self) -> list[str]:
        """Lines that a notebook shows in the place of a traceback, whose frames are none of the user's: the message, of
        a long one the beginning. IPython calls it by this name."""
        lines = str(self).split("\n")
        if len(lines) <= _SHOWN:
            return lines
        left = len(lines) - _SHOWN + 1
        return [*lines[: _SHOWN - 1], f"... and {left} more lines, which `print(error)` shows of a caught error"]

    @property
    def code(self) -> str:
        """Code of the first diagnostic."""
        return self.diagnostics[0].code

    @property
    def exit_code(self) -> int:
        return self.diagnostics[0].exit_code


def input_error(
    code: str, message: str, *, span: Span | None = None, notes: tuple[str, ...] = (), help: str | None = None
) -> PolyloomError:
    """Error of a wrong input (exit 1)."""
    return PolyloomError(Diagnostic(code, message, INPUT, span, notes, help))


def infeasible(
    code: str, message: str, *, span: Span | None = None, notes: tuple[str, ...] = (), help: str | None = None
) -> PolyloomError:
    """Error of an infeasible problem: no schedule, route or capacity (exit 3); the message names the binding bound."""
    return PolyloomError(Diagnostic(code, message, INFEASIBLE, span, notes, help))


def internal_error(error: Exception) -> Diagnostic:
    """Diagnostic PL0870 of an exception that no input should cause (exit 70)."""
    # A traceback says nothing to users; whoever mends the fault asks for it.
    if os.environ.get("POLYLOOM_DEBUG") == "1":
        traceback.print_exception(error)
    what = f"{type(error).__name__}: {error}".splitlines()[0]
    help = "please report it with this command; POLYLOOM_DEBUG=1 shows where it happened"
    return Diagnostic("PL0870", f"internal error: {what}", INTERNAL, help=help)


def enforce(rules: Iterable[Callable[[T], Iterable[Diagnostic]]], subject: T) -> None:
    """Verify by a list of rules: raise every violation of the first rule that is violated; later rules rely on the
    earlier ones."""
    for rule in rules:
        found = tuple(rule(subject))
        if found:
            raise PolyloomError(*found)


_LISTED: Final = 40
"""Names that a help line lists at most."""


def nearest(name: str, names: Iterable[str], what: str) -> str:
    """Spelling suggestion for an unknown name (difflib; Ratcliff and Metzener 1988): `did you mean 'x'?` where one is
    close or they are many, else all the names, which are `what`s."""
    known = list(names)
    close = get_close_matches(name, known, 1, 0.6) or get_close_matches(
        name.lower(), known, 1, 0.6 if len(known) <= _LISTED else 0
    )
    if close:
        return f"did you mean '{close[0]}'?"
    return f"the {re.sub('(?<![aeiou])y$', 'ie', what)}s are {', '.join(known)}" if known else f"there is no {what}"
