# SPDX-License-Identifier: Apache-2.0
"""Compilation facts of a program as JSON: what the specializer tells of each loop, and where blocks begin. It travels
in files, which anybody may have changed: `parse_facts` takes nothing that does not fit the program."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Final, cast

from polyloom.targets.belt.words.loop_facts import LoopFacts
from polyloom.targets.belt.words.program import Program

Loop = dict[str, bool | int | str | None]
_KEYS: Final = frozenset(f.name for f in fields(LoopFacts))


@dataclass(frozen=True, slots=True)
class ProgramFacts:
    """Facts of a program. `blocks`: by routine and block, the first bundle."""

    loops: tuple[Loop, ...] = ()
    blocks: Mapping[str, Mapping[str, int]] = field(default_factory=dict[str, Mapping[str, int]])


def facts_to_json(loops: tuple[LoopFacts, ...], blocks: Mapping[str, Mapping[str, int]]) -> str:
    return canonical_json({"loops": [asdict(loop) for loop in loops], "blocks": blocks})


def canonical_json(made: object) -> str:
    """Canonical JSON of a value: its only text, keys sorted, no spaces."""
    return json.dumps(made, sort_keys=True, separators=(",", ":"))


def parse_facts(program: Program) -> ProgramFacts:
    """Facts in `program.told`. Errors: ValueError where they do not fit the program."""
    made: Any = json.loads(program.told)
    # Programs that were assembled by hand tell nothing.
    if made == {}:
        return ProgramFacts()
    if not isinstance(made, dict) or set(cast("dict[str, Any]", made)) != {"loops", "blocks"}:
        raise ValueError
    lengths = {routine.name: len(routine.bundles) for routine in program.routines}
    loops = tuple(_check_loop(loop, lengths) for loop in _list(made["loops"]))
    blocks = {name: _check_blocks(found, lengths.get(name, 0)) for name, found in _dict(made["blocks"]).items()}
    return ProgramFacts(loops, blocks)


def _list(made: Any) -> list[Any]:
    if not isinstance(made, list):
        raise ValueError
    return cast("list[Any]", made)


def _dict(made: Any) -> dict[str, Any]:
    if not isinstance(made, dict):
        raise ValueError
    return cast("dict[str, Any]", made)


def _check_loop(made: Any, lengths: Mapping[str, int]) -> Loop:
    """Facts of a loop, checked: reports index bundles by them."""
    loop = _dict(made)
    if loop.keys() != _KEYS or not all(value is None or isinstance(value, bool | int | str) for value in loop.values()):
        raise ValueError
    length, first, interval = lengths.get(str(loop["routine"]), 0), loop["first_bundle"], loop["initiation_interval"]
    if not all(isinstance(loop[key], bool) for key in ("pipelined",)) or not isinstance(loop["reason"], str):
        raise ValueError
    if loop["pipelined"]:
        placed = isinstance(first, int) and isinstance(interval, int) and 0 <= first < first + interval <= length
        # These are computed with by pages and tables; the others are only printed.
        counted = all(isinstance(loop[key], int) for key in ("spills", "stages", "lanes", "rounds"))
        if not placed or not counted:
            raise ValueError
    return loop


def _check_blocks(made: Any, length: int) -> dict[str, int]:
    found = _dict(made)
    # A block without bundles at the end of a routine begins where the routine ends.
    if not all(isinstance(at, int) and 0 <= at <= length for at in found.values()):
        raise ValueError
    return found
