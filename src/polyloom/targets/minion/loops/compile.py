# SPDX-License-Identifier: Apache-2.0
"""Phases to one executable for values of the parameters: where arrays lie, start-up, each phase's code with barriers
between them, the end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from polyloom.diagnostics import input_error
from polyloom.ir.pla import Array
from polyloom.ir.plan import Phase, Plan
from polyloom.ir.signature import Argument, Extent, Signature, of_array, of_plan
from polyloom.targets.minion.loops.assembly import executable
from polyloom.targets.minion.loops.layout import DATA, Placed, aligned, check_room, place
from polyloom.targets.minion.loops.note import Note
from polyloom.targets.minion.loops.product.follow import followed
from polyloom.targets.minion.loops.product.resident import Home
from polyloom.targets.minion.loops.program import Mode, Part, Team, barrier, end, start
from polyloom.targets.minion.loops.work import Made, Setting, Work
from polyloom.targets.minion.options import Options
from polyloom.targets.minion.place import Place
from polyloom.targets.target import Json

_ORDER: Final[tuple[Mode, ...]] = ("shared", "split", "scratchpad")
"""Of modes: a program has the last one that any of its phases asks for."""


@dataclass(frozen=True, slots=True)
class Content:
    """A plan, and what becomes of its phases."""

    plan: Plan
    works: tuple[Work, ...]


def compile_plan(content: Content, where: Place, values: Mapping[str, int], options: Options) -> bytes:
    """The executable. Errors: PL1330, PL1335, and those of the phases."""
    plan = content.plan
    signature = fixed(of_plan(plan), values)
    _check_extents(signature)
    kept = fixed(replace(of_plan(plan), arguments=tuple(map(_kept, plan.intermediates))), values)
    placed = place(replace(signature, arguments=(*signature.arguments, *kept.arguments)), {})
    by_name = {p.name: p for p in placed}
    team = team_of(content.works, where)
    bytes_ = where.machine.scratchpad_bytes
    bound = [_bound(phase, by_name) for phase in plan.phases]
    last = len(bound) - 1
    settings = [
        Setting(values, b, team, f"p{n}", 0, options, bytes_, n == last, _later(plan, n)) for n, b in enumerate(bound)
    ]
    if any(w.helpers is not None and w.helpers(s) for w, s in zip(content.works, settings, strict=True)):
        team = replace(team, harts=2)
    free = aligned(max((p.address + p.room for p in placed), default=DATA))
    made = _made(content, [replace(s, team=team) for s in settings], free)
    arguments = placed[: len(signature.arguments)]
    facts: dict[str, Json] = {
        "phases": [work.what for work in content.works],
        **_facts(made),
    }
    home = _home(made)
    note = Note(signature, where.machine, where.minions, arguments, facts, _macs(made), _peak(made), home)
    return executable(_program(team, made, _meetings(plan, made, team)), note)


def _made(content: Content, settings: Sequence[Setting], free: int) -> list[Made]:
    """Phase by phase; a product and the one that reads it may be one. What they need lies from `free` on."""
    made, works, number = list[Made](), content.works, 0
    while number < len(works):
        both = [replace(s, scratch=free) for s in settings[number : number + 2]]
        pair = None
        if len(both) == 2:
            products = [work.product for work in works[number : number + 2]]
            pair = followed(products, both, kept=_is_kept(content.plan, number))
        made.append(pair or works[number].code(both[0]))
        free = aligned(free + made[-1].scratch)
        number += 1 if pair is None else 2
    check_room(free)
    return made


def _is_kept(plan: Plan, number: int) -> bool:
    """Whether the results of a phase are read by others than the next one."""
    written = {name for _, name in plan.phases[number].outputs}
    later = {name for phase in plan.phases[number + 2 :] for _, name in phase.inputs}
    return bool(written & (later | {array.name for array in plan.outputs}))


def _later(plan: Plan, number: int) -> tuple[frozenset[str], frozenset[str]]:
    """The arrays that phases behind one touch, and those that they write."""
    behind = plan.phases[number + 1 :]
    written = frozenset(name for phase in behind for _, name in phase.outputs)
    return written | {name for phase in behind for _, name in phase.inputs}, written


def _facts(made: Sequence[Made]) -> dict[str, Json]:
    """Of all phases: the most parts of a sum, whether any is broadcast, the cycles of all; else those of the last."""
    found: dict[str, Json] = {k: v for m in made for k, v in m.facts.items()}
    split = [int(str(m.facts.get("split_k", 1))) for m in made]
    predicted = [int(str(m.facts["predicted_cycles"])) for m in made if "predicted_cycles" in m.facts]
    found |= {"split_k": max(split), "predicted_cycles": sum(predicted)} if predicted else {}
    return found | ({"broadcast": True} if any(m.facts.get("broadcast") for m in made) else {})


def team_of(works: Sequence[Work], where: Place) -> Team:
    """All minions of the place."""
    asked = max(_ORDER.index(work.mode) for work in works)
    return Team(where.minions, max(work.harts for work in works), _ORDER[asked])


def fixed(signature: Signature, values: Mapping[str, int]) -> Signature:
    """With numbers for extents, and without parameters."""
    arguments = tuple(
        replace(a, shape=tuple(Extent((((), n),) if n else ()) for n in a.extents(values))) for a in signature.arguments
    )
    return Signature(signature.name, (), (), arguments)


def _kept(array: Array) -> Argument:
    return of_array(array, is_input=False, is_output=False)


def _check_extents(signature: Signature) -> None:
    for argument in signature.arguments:
        if 0 in argument.extents({}):
            message = f"`{argument.name}` has no elements: one of its extents is 0"
            raise input_error("PL1335", message, help="give sizes of at least 1")


def _bound(phase: Phase, placed: Mapping[str, Placed]) -> dict[str, Placed]:
    """By the names of the phase's program; scalars that parameters determine have no place."""
    return {inner: placed[outer] for inner, outer in (*phase.inputs, *phase.outputs) if outer in placed}


def _macs(made: Sequence[Made]) -> int:
    return sum(each.macs for each in made)


def _home(made: Sequence[Made]) -> Home | None:
    """Errors: PL1339 where several phases have one."""
    if len(made) == 1:
        return made[0].home
    if any(m.home is not None for m in made):
        message = f"--resident is for one product, and this program has {len(made)} phases"
        raise input_error("PL1339", message, help="leave --resident out, or run the product as a program of its own")
    return None


def _peak(made: Sequence[Made]) -> int:
    """Of the phase that does most."""
    return max(made, key=lambda m: m.macs).peak


def _meetings(plan: Plan, made: Sequence[Made], team: Team) -> list[bool]:
    """Before which phases minions wait for each other: those that touch what one since the last barrier writes, or
    write what it touches. Second harts, which may be phases ahead, meet before each."""
    found, first, pending = list[bool](), 0, list[Phase]()
    for each in made:
        phases = plan.phases[first : first + each.phases]
        meets = bool(pending) and (team.harts == 2 or any(_conflict(a, b) for a in pending for b in phases))
        found.append(meets)
        pending = [*phases] if meets else [*pending, *phases]
        first += each.phases
    return found


def _conflict(one: Phase, other: Phase) -> bool:
    written, theirs = ({name for _, name in phase.outputs} for phase in (one, other))
    touched, others = ({name for _, name in phase.inputs} for phase in (one, other))
    return bool(written & (others | theirs) or touched & theirs)


def _program(team: Team, made: Sequence[Made], meetings: Sequence[bool]) -> list[Part]:
    parts = [start(team)]
    for number, (each, meets) in enumerate(zip(made, meetings, strict=True)):
        parts += [barrier(team, f"p{number}.join", 31)] if meets else []
        parts += each.parts
    return [*parts, end()]
