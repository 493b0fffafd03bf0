# SPDX-License-Identifier: Apache-2.0
"""Options of the array: a mapping of the user's own, a stored candidate, the region of a configuration."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike, fspath
from typing import Any, Final, TypeVar, cast

from polyloom.diagnostics import USAGE, Diagnostic, PolyloomError
from polyloom.targets.options import integer, option
from polyloom.targets.tcpa.phases.whole import Choice
from polyloom.targets.tcpa.place import parse_region

T = TypeVar("T")
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
        "rows and columns of processing elements (4x4)", "instantiate", "verify", metavar="RxC", read=parse_region
    )
