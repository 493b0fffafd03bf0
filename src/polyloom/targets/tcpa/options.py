# SPDX-License-Identifier: Apache-2.0
"""Command-line and Python options of the array: a mapping of the user's own, a stored candidate, the region of a
configuration.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import index
from os import PathLike, fspath
from typing import Any, Final, TypeVar, cast

from polyloom.diagnostics import USAGE, Diagnostic, PolyloomError
from polyloom.targets.options import integer, option

T = TypeVar("T")
Choice = T | Mapping[int, T] | None
"""What the user chose: for the only phase, or by phase, counted from 1."""
_AT: Final = re.compile(r"([0-9]{1,9}),([0-9]{1,9})")
_OF_PHASE: Final = re.compile(r"([0-9]{1,9}):")


def _choice(words: Sequence[str], flag: str, read: Callable[[str], T]) -> T | dict[int, T] | None:
    """`VALUE` for the only phase, or `PHASE:VALUE` words by phase. Errors: PL0801."""
    named = [(int(match[1]), word[match.end() :]) for word in words if (match := _OF_PHASE.match(word))]
    if len(named) < len(words) == 1:
        return read(words[0])
    if len(dict(named)) < len(words):
        message, help = f"{flag} is given more than once for one phase", f"write {flag} PHASE:..., once for each phase"
        raise PolyloomError(Diagnostic("PL0801", message, USAGE, help=help))
    return {phase: read(text) for phase, text in named} or None


def _paths(mapping: Any) -> list[str]:
    """The files that `mapping` names."""
    if isinstance(mapping, Mapping):
        return [fspath(path) for path in cast("Mapping[int, str]", mapping).values()]
    return [] if mapping is None else [fspath(mapping)]


def positions(at: Any) -> tuple[tuple[int, int], ...]:
    """Region origins from Python: `at` as one (row, column), or several. Errors: PL0805."""
    pairs = [at] if at and not isinstance(at[0], Sequence) else [*(at or ())]
    try:
        return tuple((index(row), index(column)) for row, column in pairs)
    except (TypeError, ValueError):
        help = "give (row, column), for instance at=(0, 4)"
        raise PolyloomError(Diagnostic("PL0805", f"at = {at!r} is not a position", USAGE, help=help)) from None


def _positions(words: Sequence[str]) -> tuple[tuple[int, int], ...]:
    matches = [_AT.fullmatch(word) for word in words]
    if None in matches:
        help = "write row and column of the first element, counted from 0, for instance 0,4"
        message = f"'{words[matches.index(None)]}' is not a position"
        raise PolyloomError(Diagnostic("PL0805", message, USAGE, help=help))
    return tuple((int(m[1]), int(m[2])) for m in matches if m)


def _region(text: str) -> tuple[int, int]:
    # Imported when it is used: options are read for `--help` too, which needs no machine description.
    from polyloom.targets.tcpa.place import parse_region

    return parse_region(text)


def block_sizes(block: Any) -> dict[str, int]:
    """Block sizes by loop: of `i=32,j=32`, or of a mapping from Python. Errors: PL0824."""
    if isinstance(block, Mapping):
        return {str(name): _block_size(name, size) for name, size in cast("Mapping[Any, Any]", block).items()}
    found: dict[str, int] = {}
    for word in str(block).split(","):
        name, equals, size = (part.strip() for part in word.partition("="))
        if not (name and equals) or name in found:
            message, help = f"'{word}' gives no block size", "write each loop once, with its size: i=32,j=32,k=64"
            raise PolyloomError(Diagnostic("PL0824", message, USAGE, help=help))
        found[name] = _block_size(name, size)
    return found


def _block_size(name: Any, size: Any) -> int:
    try:
        number = int(size) if isinstance(size, str) else index(size)
    except (TypeError, ValueError):
        number = 0
    if number < 1:
        message, help = f"a block of {size!s} iterations of `{name}` is none", "give an integer of at least 1"
        raise PolyloomError(Diagnostic("PL0824", message, USAGE, help=help))
    return number


def _layouts(words: Sequence[str]) -> Mapping[str, str]:
    # Layouts need NumPy, which a command without them does not load.
    from polyloom.targets.tcpa.layouts import layout_words

    return layout_words(words)


@dataclass(frozen=True, slots=True)
class Options:
    """`mapping` and `candidate` are for the only phase, or by phase, counted from 1."""

    mapping: Choice[str | PathLike[str]] = option(
        "a mapping of your own; it is checked like any other",
        "run",
        "compile",
        metavar="[PHASE:]FILE",
        repeatable=True,
        read=lambda words: _choice(words, "--mapping", str),
        files=_paths,
    )
    block: Any = option(
        "cut loops into blocks of so many iterations (i=32,j=32,k=64): FIFOs and banks hold one block",
        "run",
        "compile",
        metavar="LOOP=N,...",
        read=lambda text: block_sizes(text),
    )
    candidate: Choice[int] = option(
        "take the stored candidate N instead of the best one",
        "run",
        "instantiate",
        "verify",
        metavar="[PHASE:]N",
        repeatable=True,
        read=lambda words: _choice(words, "--candidate", lambda text: integer(text, "the candidate")),
    )
    pes: tuple[int, int] | None = option(
        "rows and columns of processing elements (4x4)", "instantiate", "verify", metavar="RxC", read=_region
    )
    layouts: Any = option(
        "where an array lies: rows, columns or strides, then its first word and memory (A=columns+100@2)",
        "run",
        "instantiate",
        metavar="NAME=LAYOUT",
        repeatable=True,
        read=_layouts,
    )
    at: Any = option(
        "row and column of the region's first element on a larger array (0,4); of several files once for each",
        "run",
        "instantiate",
        "simulate",
        metavar="R,C",
        repeatable=True,
        read=_positions,
    )
    array: tuple[int, int] | None = option(
        "rows and columns of the whole array, at whose border banks stand",
        "run",
        "instantiate",
        "simulate",
        metavar="RxC",
        read=_region,
    )
