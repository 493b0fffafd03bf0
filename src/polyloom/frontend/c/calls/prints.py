# SPDX-License-Identifier: Apache-2.0
"""`printf` in C functions: statements that are taken out of the text before clang reads it (`frontend.prints`).

Lines and columns stay. A `printf` whose value is used is no statement, and stays; so does one that the file defines.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Final

from polyloom.diagnostics import PolyloomError, Source, Span, input_error
from polyloom.files import read_source
from polyloom.frontend.c.calls.print_statements import Statement, Token, defined_functions, print_statements
from polyloom.frontend.prints import CONVERSION, Print, local_name
from polyloom.frontend.source import Options

_ESCAPES: Final = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v", "\n": ""}
_ESCAPE: Final = re.compile(r"\\(?:x([0-9a-fA-F]+)|([0-7]{1,3})|(.))", re.DOTALL)
"""Escape sequence, by its code or by its letter; a newline is spliced (C17, sections 6.4.4.4 and 5.1.1.2)."""
_KINDS: Final = frozenset("diuxXoceEfFgG")
"""Conversions that show a number; `%s` and `%p` show memory."""
_WIDEST: Final = 1000
"""Characters of a field, and digits of a number: more is no text that anybody reads, but fills the memory."""
_EFFECT: Final = re.compile(r"\+\+|--|(?<![=!<>])=(?!=)|<<=|>>=")
"""Operators that store (C17, sections 6.5.16, 6.5.2.4 and 6.5.3.1)."""


Bodies = Callable[[str], Sequence[range]]
"""Where in a text the bodies of functions are that nothing reaches."""


def remove_prints(path: str, options: Options) -> Options:
    """Options that read the file without its prints."""
    text = _text(path, options)
    found = print_statements(text)
    if not found:
        return options
    return _reading(path, options, _rewrite(text, found, lambda number: ";"))


def read_prints(path: str, options: Options, other_bodies: Bodies) -> tuple[Print, ...]:
    """Prints of a file, but for those in `other_bodies`. Errors: PL1510."""
    text = _text(path, options)
    found = _reached_calls(text, other_bodies)
    functions = defined_functions(text) if found else set[str]()
    source = Source(path, text)
    return tuple(_read_print(source, statement, functions) for statement in found)


def assign_prints(
    path: str, options: Options, other_bodies: Bodies, prints: Sequence[Print], only: int | None = None
) -> Options:
    """Options that read the file with an assignment for each printed value, of all `prints` or one; others are taken
    out.
    """
    text = _text(path, options)
    numbers = {each: n for n, each in enumerate(_reached_calls(text, other_bodies)) if only in (None, n)}
    statements = print_statements(text)

    def instead(at: int) -> str:
        n = numbers.get(statements[at])
        return ";" if n is None else _assignments(n, prints[n])

    return _reading(path, options, _rewrite(text, statements, instead))


def _reached_calls(text: str, other_bodies: Bodies) -> list[Statement]:
    others, found = other_bodies(text), print_statements(text)
    return [each for each in found if not any(each.start in body for body in others)]


def _text(path: str, options: Options) -> str:
    written = dict(options.instead).get(path)
    return read_source(path, ".c").decode("utf-8", "surrogateescape") if written is None else written


def _reading(path: str, options: Options, text: str) -> Options:
    others = tuple(pair for pair in options.instead if pair[0] != path)
    return replace(options, instead=(*others, (path, text)))


def _rewrite(text: str, statements: Sequence[Statement], instead: Callable[[int], str]) -> str:
    """Text with something else in the place of statements, on the same lines."""
    for number, statement in reversed(list(enumerate(statements))):
        made = instead(number)
        rest = text[statement.start : statement.end]
        # Blanks behind what is shorter: columns of what follows on the line stay.
        blanks = re.sub(r"[^\n]", " ", rest)[len(made) :] if "\n" not in rest[: len(made)] else "\n" * rest.count("\n")
        text = f"{text[: statement.start]}{made}{blanks}{text[statement.end :]}"
    return text


def _assignments(number: int, made: Print) -> str:
    """Block that assigns each value, twice: what is assigned once may be another name for an expression of loops."""
    values = made.expressions or ("0",)
    names = [local_name(number, n) for n in range(len(values))]
    # `__auto_type` is clang's and GCC's: the type of its value.
    parts = (f"__auto_type {name} = ({value}); {name} = ({value});" for name, value in zip(names, values, strict=True))
    return "{ " + " ".join(part.replace("\n", " ") for part in parts) + " }"


def _read_print(source: Source, statement: Statement, functions: Collection[str]) -> Print:
    """Print of a statement. Errors: PL1510 for a format that is no text, or that shows something else than numbers."""
    span = Span(source, statement.start, statement.end - 1)
    format, *values = statement.arguments
    if not format or not all(token.text.startswith('"') for token in format):
        help = 'write the text itself, as in `printf("%f\\n", x)`'
        raise _refusal(span, "the format of a `printf` in a kernel is a text between quotes", help)
    # Texts side by side are one (C17, section 5.1.1.2, phase 6).
    text = "".join(_ESCAPE.sub(_unescape, token.text[1:-1]) for token in format)
    pieces, kinds, end = list[str](), list[str](), 0
    for match in CONVERSION.finditer(text):
        pieces.append(text[end : match.start()])
        end = match.end()
        if match["kind"] == "%":
            pieces.append("%%")
            continue
        if match["kind"] not in _KINDS:
            help = "print numbers, by %d, %u, %x, %f, %e or %g"
            raise _refusal(span, f"`{match[0].strip()}` shows no number", help)
        if any(len(part) > 4 or int(part or 0) > _WIDEST for part in (match["width"], (match["precision"] or "")[1:])):
            raise _refusal(span, f"`{match[0]}` shows more than {_WIDEST} characters", "write a smaller width")
        kinds.append(match["kind"])
        pieces.append(f"%{match['flags']}{match['width']}{match['precision'] or ''}{match['kind']}")
    if len(kinds) != len(values):
        message = f"the format has {len(kinds)} conversions, and {len(values)} values follow"
        raise _refusal(span, message, "write a value for each conversion")
    for value in values:
        _check_value(source, value, functions)
    expressions = tuple(source.text[value[0].start : value[-1].end] for value in values if value)
    return Print(span, "".join([*pieces, text[end:]]).rstrip("\n"), expressions)


def _check_value(source: Source, value: Sequence[Token], functions: Collection[str]) -> None:
    """Errors: PL1510 for a value that stores, which would be lost with the print."""
    if not value:
        return
    span = Span(source, value[0].start, value[-1].end)
    called = [a.text for a, b in pairwise(value) if b.text == "(" and a.text in functions]
    if called or _EFFECT.search(source.text, span.start, span.end):
        what = f"calls `{called[0]}`" if called else "stores"
        help = "write it as a statement before, and print the variable: the program is compiled without its prints"
        raise _refusal(span, f"a value that is printed {what}", help)


def _unescape(found: re.Match[str]) -> str:
    if found[3] is not None:
        return _ESCAPES.get(found[3], found[3])
    return chr((int(found[1], 16) if found[1] else int(found[2], 8)) & 0xFF)


def _refusal(span: Span, message: str, help: str) -> PolyloomError:
    return input_error("PL1510", message, span=span, help=help)
