# SPDX-License-Identifier: Apache-2.0
"""Placement of a program: how many minions take part, where its arrays lie, and the setting of each phase.

Arrays between phases lie in the scratchpad of the shire if all minions that take part are in one, and they fit half of
it; else in DRAM, where what one phase stores stays in L3 for the next.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from polyloom.ir.pla import Array
from polyloom.ir.plan import Phase, Plan
from polyloom.ir.signature import Argument, Extent, Signature, array_argument, plan_signature
from polyloom.targets.minion.map.frame import Mode, Team
from polyloom.targets.minion.map.phase_work import Content, Later, Setting, Work
from polyloom.targets.minion.map.product.predict import barrier_cycles
from polyloom.targets.minion.memory_map import DRAM, SCRATCHPAD
from polyloom.targets.minion.options import Options
from polyloom.targets.minion.place import Place
from polyloom.targets.minion.words.layout import DATA, Placed, align_page, place_arguments

# The mode of L1 is set once, at the start: each change of it invalidates sets of the cache (programmer's reference
# manual, chapter 8), so that data not yet written back would be lost between phases.
_ORDER: Final[tuple[Mode, ...]] = ("shared", "split", "scratchpad")
"""Of modes: a program has the last one that any of its phases asks for."""


@dataclass(frozen=True, slots=True)
class Placement:
    """Placed program: the team, its arguments, the arrays between its phases, each phase's setting, and where DRAM is
    free behind the arrays.
    """

    team: Team
    arguments: tuple[Placed, ...]
    between: tuple[Placed, ...]
    settings: tuple[Setting, ...]
    free: int

    @property
    def named_arrays(self) -> dict[str, Placed]:
        return {p.name: p for p in (*self.arguments, *self.between)}

    def rows(self) -> list[tuple[str, str, int]]:
        """Rows of the report: each array between phases, where it lies, and its bytes."""
        return [(p.name, "DRAM" if p.address >= DRAM else "scratchpad", p.size) for p in self.between]


def place_program(content: Content, where: Place, values: Mapping[str, int], options: Options) -> Placement:
    """Placement of a program with the number of minions that is predicted to be fastest: fewer of them meet sooner at
    barriers, and read less. Errors: PL1330.
    """
    works = content.works
    counts = _candidate_counts(where.minions) if _may_choose(works, options) else [where.minions]
    placed = [_place_team(content, where, values, options, minions) for minions in counts]
    # Of equal predictions, the most minions: their blocks lie in shires further apart, whose lines meet less.
    best = [placed[0]] if len(placed) == 1 else sorted(placed, key=lambda p: (_total_cycles(works, p), -p.team.minions))
    return best[0]


def _may_choose(works: Sequence[Work], options: Options) -> bool:
    """Whether fewer minions may take part than there are: where all phases predict their cycles, and the user asks for
    nothing that a number of minions decides.
    """
    asked = options.all_minions or options.resident or options.broadcast or options.split_k is not None
    return not asked and all(work.cycles is not None for work in works)


def _candidate_counts(minions: int) -> list[int]:
    """Candidates: powers of two of minions, which are parts of a shire or whole ones, and all."""
    powers = [1 << n for n in range(minions.bit_length()) if 1 << n < minions]
    return [*powers, minions]


def _total_cycles(works: Sequence[Work], placed: Placement) -> int:
    """Predicted cycles of all phases, with a barrier behind each but the last."""
    pairs = zip(works, placed.settings, strict=True)
    cycles = sum(work.cycles(setting) for work, setting in pairs if work.cycles is not None)
    return cycles + (len(works) - 1) * barrier_cycles(placed.team)


def _place_team(content: Content, where: Place, values: Mapping[str, int], options: Options, minions: int) -> Placement:
    """Placement of a program for so many minions."""
    plan = content.plan
    signature = bind_extents(plan_signature(plan), values)
    kept = bind_extents(
        replace(plan_signature(plan), arguments=tuple(map(_intermediate_argument, plan.intermediates))), values
    )
    team = choose_team(content.works, minions)
    # Arrays between phases are not seen by the host, so they need not lie in DRAM: from the scratchpad of the shire a
    # load takes 47 cycles, from DRAM more than 200.
    within, bytes_ = _scratchpad_placement(kept, team, where.machine.scratchpad_bytes)
    outside = () if within else kept.arguments
    placed = place_arguments(replace(signature, arguments=(*signature.arguments, *outside)), {})
    named_arrays = {p.name: p for p in (*placed, *within)}
    bound = [_bind_places(phase, named_arrays) for phase in plan.phases]
    # The last phase alone may leave its result where the host evicts it; all others write for phases behind them.
    last = len(bound) - 1
    settings = [
        Setting(values, b, team, f"p{n}", 0, options, bytes_, n == last, _subsequent_accesses(plan, n))
        for n, b in enumerate(bound)
    ]
    # Second harts are started for all phases as soon as one phase has work for them (prefetching, tensor_load_l2):
    # harts are released once, at the start.
    if any(w.helpers is not None and w.helpers(s) for w, s in zip(content.works, settings, strict=True)):
        team = replace(team, harts=2)
    arguments, between = placed[: len(signature.arguments)], (*placed[len(signature.arguments) :], *within)
    free = align_page(max((p.address + p.room for p in placed), default=DATA))
    # The team is known only now, because whether a phase has helpers depends on its setting.
    return Placement(team, arguments, between, tuple(replace(s, team=team) for s in settings), free)


def _scratchpad_placement(kept: Signature, team: Team, room: int) -> tuple[tuple[Placed, ...], int]:
    """Scratchpad allocation of the arrays between phases, and how many bytes of the scratchpad phases have to
    themselves.

    They lie at its end if there is one shire, whose scratchpad all harts reach as their own, and half of it holds them;
    else nowhere, and all bytes are left to the phases.
    """
    made = place_arguments(kept, {}, 0) if team.shires == 1 else ()
    size = align_page(made[-1].address + made[-1].room) if made else room
    # The other half is for the operands that products stage there; a product without room for them costs more than an
    # intermediate array in DRAM.
    if size > room // 2:
        return (), room
    return place_arguments(kept, {}, SCRATCHPAD + room - size), room - size


def _subsequent_accesses(plan: Plan, number: int) -> Later:
    """Liveness at the end of a phase, by one backward walk over those behind it: arrays that are accessed, written, and
    written after an earlier access.
    """
    touched, again, written = frozenset[str](), frozenset[str](), frozenset[str]()
    for phase in reversed(plan.phases[number + 1 :]):
        own = frozenset(name for _, name in phase.outputs)
        # Walking backward, what is in `touched` is accessed further behind: a line that the cache still holds then
        # would be an old copy.
        again |= own & touched
        written |= own
        touched |= own | {name for _, name in phase.inputs}
    return Later(touched, written, again)


def choose_team(works: Sequence[Work], minions: int) -> Team:
    """Team of a program: so many minions, as many harts as any phase uses, and the mode of L1 that the most
    demanding one needs.
    """
    asked = max(_ORDER.index(work.mode) for work in works)
    return Team(minions, max(work.harts for work in works), _ORDER[asked])


def bind_extents(signature: Signature, values: Mapping[str, int]) -> Signature:
    """Signature for values of the parameters: extents are numbers, and no parameter is left."""
    arguments = tuple(
        # An extent is a sum of products of parameters: a number is the product of none, and 0 the empty sum.
        replace(a, shape=tuple(Extent((((), n),) if n else ()) for n in a.extents(values)))
        for a in signature.arguments
    )
    return Signature(signature.name, (), (), arguments)


def _intermediate_argument(array: Array) -> Argument:
    """An array between phases, as an argument that the host neither gives nor takes."""
    return array_argument(array, is_input=False, is_output=False)


def _bind_places(phase: Phase, placed: Mapping[str, Placed]) -> dict[str, Placed]:
    """Places of arrays by the names of the phase's own program; scalars that parameters determine have no place."""
    return {inner: placed[outer] for inner, outer in (*phase.inputs, *phase.outputs) if outer in placed}
