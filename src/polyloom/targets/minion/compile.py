# SPDX-License-Identifier: Apache-2.0
"""Phases to one executable for values of the parameters: where arrays lie, start-up, each phase's code with barriers
between them, the end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from polyloom.diagnostics import input_error
from polyloom.ir.pla import Array
from polyloom.ir.plan import Phase, Plan
from polyloom.ir.signature import Argument, Extent, Signature, of_array, of_plan
from polyloom.ir.ssa import Place as IrPlace
from polyloom.targets.minion.map.assembly import executable
from polyloom.targets.minion.map.frame import Mode, Part, Team, barrier, end, start
from polyloom.targets.minion.map.lines import MOST, evicted, prefetched
from polyloom.targets.minion.map.product.follow import followed
from polyloom.targets.minion.map.product.tile import PREFETCHED, wait
from polyloom.targets.minion.map.work import Content, Later, Made, Setting, Work
from polyloom.targets.minion.memory_map import DRAM, SCRATCHPAD
from polyloom.targets.minion.options import Options
from polyloom.targets.minion.place import Place
from polyloom.targets.minion.words.layout import DATA, Placed, aligned, check_room, place
from polyloom.targets.minion.words.note import Note
from polyloom.targets.minion.words.resident import Home
from polyloom.targets.minion.words.tiles import TILE
from polyloom.targets.target import Json

_ORDER: Final[tuple[Mode, ...]] = ("shared", "split", "scratchpad")
"""Of modes: a program has the last one that any of its phases asks for."""


_OLD: Final = IrPlace(reason="forgets copies of what is about to change")
_AHEAD: Final = IrPlace(reason="brings arrays nearer before they are needed")


def compile_plan(content: Content, where: Place, values: Mapping[str, int], options: Options) -> bytes:
    """The executable. Errors: PL1330, PL1335, and those of the phases."""
    plan = content.plan
    signature = fixed(of_plan(plan), values)
    _check_extents(signature)
    kept = fixed(replace(of_plan(plan), arguments=tuple(map(_kept, plan.intermediates))), values)
    team = team_of(content.works, where)
    within, bytes_ = _in_scratchpad(kept, team, where.machine.scratchpad_bytes)
    outside = () if within else kept.arguments
    placed = place(replace(signature, arguments=(*signature.arguments, *outside)), {})
    by_name = {p.name: p for p in (*placed, *within)}
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
        "off_tensor": list(content.off_tensor),
        **_facts(made),
    }
    home = _home(made)
    note = Note(signature, where.machine, where.minions, arguments, facts, _macs(made), _peak(made), home)
    meetings = _meetings(content, made, team)
    parts = [start(team), *_ahead(content, by_name, team)]
    first = 0
    for number, (each, meets) in enumerate(zip(made, meetings, strict=True)):
        parts += [barrier(team, f"p{number}.join", 31)] if meets else []
        parts += [*_forgotten(content, first, each.phases, by_name, team), *each.parts]
        first += each.phases
    return executable([*parts, end()], note)


def _in_scratchpad(kept: Signature, team: Team, room: int) -> tuple[tuple[Placed, ...], int]:
    """Where the arrays between phases are in the scratchpad of the shire, if it is the only one and half of it holds
    them: at its end, behind the bytes that phases have to themselves. Else nowhere, and all of these."""
    made = place(kept, {}, 0) if team.shires == 1 else ()
    size = aligned(made[-1].address + made[-1].room) if made else room
    if size > room // 2:
        return (), room
    return place(kept, {}, SCRATCHPAD + room - size), room - size


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


def _later(plan: Plan, number: int) -> Later:
    touched, again, written = frozenset[str](), frozenset[str](), frozenset[str]()
    for phase in reversed(plan.phases[number + 1 :]):
        own = frozenset(name for _, name in phase.outputs)
        again |= own & touched
        written |= own
        touched |= own | {name for _, name in phase.inputs}
    return Later(touched, written, again)


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


def _meetings(content: Content, made: Sequence[Made], team: Team) -> list[bool]:
    """Before which phases minions wait for each other: those that touch what one since the last barrier writes, or
    write what it touches. Second harts, which may be phases ahead, meet before and behind each phase that is no SIMD
    loops, in which they do something else than first ones."""
    found, first, pending = list[bool](), 0, list[tuple[Phase, Work]]()
    for each in made:
        phases = list(zip(content.plan.phases, content.works, strict=True))[first : first + each.phases]
        is_apart = team.harts == 2 and any(work.what != "simd" for _, work in (*pending, *phases))
        meets = bool(pending) and (is_apart or any(_conflict(a, b) for a, _ in pending for b, _ in phases))
        found.append(meets)
        pending = [*phases] if meets else [*pending, *phases]
        first += each.phases
    return found


def _ahead(content: Content, placed: Mapping[str, Placed], team: Team) -> list[Part]:
    """Given arrays that phases read, brought into L2 where a product is behind other phases, and would wait for them.
    What a phase before the last writes would be old there."""
    phases, given = content.plan.phases, {array.name for array in content.plan.inputs}
    if all(work.what != "product" for work in content.works[1:]):
        return []
    written = {name for phase in phases[:-1] for _, name in phase.outputs}
    read = dict.fromkeys(name for phase in phases for _, name in phase.inputs if name in given - written)
    arrays = [placed[name] for name in read if name in placed and placed[name].size >= TILE]
    if sum(p.size for p in arrays) > MOST:
        return []
    lines = [
        line for n, p in enumerate(arrays) for line in prefetched(p.address, p.size, team, f"given{n}", all_harts=True)
    ]
    return [Part((*lines, wait(PREFETCHED)), _AHEAD)]


def _forgotten(content: Content, first: int, count: int, placed: Mapping[str, Placed], team: Team) -> list[Part]:
    """In front of phases: arrays that they change and others behind them touch, of which L2 may have copies that phases
    before have read. Those of one shire see what its harts store, but not what tensor units store."""
    phases = content.plan.phases
    if team.shires == 1 and all(work.what == "simd" for work in content.works[first : first + count]):
        return []
    written = dict.fromkeys(name for phase in phases[first : first + count] for _, name in phase.outputs)
    before, behind = _touched(phases[:first]), _touched(phases[first + count :])
    arrays = [placed[name] for name in written if name in before & behind and placed[name].address >= DRAM]
    lines = [line for n, p in enumerate(arrays) for line in evicted(p.address, p.size, team, f"p{first}.old{n}")]
    return [Part(tuple(lines), _OLD)] if lines else []


def _touched(phases: Sequence[Phase]) -> frozenset[str]:
    return frozenset(name for phase in phases for _, name in (*phase.inputs, *phase.outputs))


def _conflict(one: Phase, other: Phase) -> bool:
    written, theirs = ({name for _, name in phase.outputs} for phase in (one, other))
    touched, others = ({name for _, name in phase.inputs} for phase in (one, other))
    return bool(written & (others | theirs) or touched & theirs)
