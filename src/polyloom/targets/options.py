# SPDX-License-Identifier: Apache-2.0
"""Options of a target: the fields of a frozen dataclass, from which flags, keywords of the Python interface and help
follow.

  class Options:
      candidate: int | None = option("take the stored candidate N", "run", "instantiate", metavar="N", read=int)

A field says by verb where it may be given. What is absent has the field's default.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cache
from typing import Any, Final

from polyloom.diagnostics import input_error

# Metadata of a field are shared by all libraries, so that ours has a name.
_KEY: Final = "polyloom"
_INTEGER: Final = re.compile(r"[+-]?[0-9]{1,4000}")
"""Far beyond any parameter, below Python's own limit for reading an integer."""


def _identity(text: Any) -> Any:
    return text


def _empty_files(value: Any) -> Sequence[str]:
    del value
    return ()


@dataclass(frozen=True, slots=True)
class Option:
    """Option of a target. `read` makes a value of the text of a flag, of the list of texts where it is `repeatable`;
    `const` is the text of a flag without a value, where that may be left out; a `metavar` of None is a flag that has no
    value and means True. `files` are those that a value names and that are read, `writes` those that are written.
    """

    name: str
    help: str
    verbs: tuple[str, ...]
    metavar: str | None = None
    repeatable: bool = False
    const: str | None = None
    read: Callable[[Any], Any] = _identity
    files: Callable[[Any], Sequence[str]] = _empty_files
    writes: Callable[[Any], Sequence[str]] = _empty_files

    @property
    def flag(self) -> str:
        return f"--{self.name.replace('_', '-')}"


def option(
    help: str,
    *verbs: str,
    default: Any = None,
    metavar: str | None = None,
    repeatable: bool = False,
    const: str | None = None,
    read: Callable[[Any], Any] = _identity,
    files: Callable[[Any], Sequence[str]] = _empty_files,
    writes: Callable[[Any], Sequence[str]] = _empty_files,
) -> Any:
    """Field of an options class; `verbs` are the commands that take the flag, and the methods its keyword."""
    # The name is left empty here: a field learns it from its class only.
    return field(
        default=default, metadata={_KEY: Option("", help, verbs, metavar, repeatable, const, read, files, writes)}
    )


def class_options(kind: type[Any]) -> Iterator[Option]:
    """Options of a class, each with its name."""
    for found in fields(kind):
        about: Option = found.metadata[_KEY]
        yield replace(about, name=found.name)


@cache
def verb_options(kind: type[Any], verb: str) -> Mapping[str, Option]:
    """Options that a verb takes, by name."""
    return {o.name: o for o in class_options(kind) if verb in o.verbs}


def integer(text: str, what: str) -> int:
    """An integer in decimal; `what` begins the message. Errors: PL0804."""
    # int() would also take underscores, spaces and digits of other scripts.
    if not _INTEGER.fullmatch(text):
        raise input_error(
            "PL0804", f"{what} is '{text}', which is not an integer", help="write decimal digits, for instance 64"
        )
    return int(text)


@dataclass(frozen=True, slots=True)
class NoOptions:
    """Options of a target without any."""
