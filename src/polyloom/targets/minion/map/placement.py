# SPDX-License-Identifier: Apache-2.0
"""Placement of a program: how many minions take part, where its arrays lie, and the setting of each phase.

Arrays between phases lie in the scratchpad of the shire if all minions that take part are in one, or if each shire
accesses rows of its own only, and they fit three quarters of it; else in DRAM, where what one phase stores stays in
L3 for the next.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final

from polyloom.ir.pla import Array
from polyloom.ir.plan import Phase, Plan
from polyloom.ir.signature import Argument, Extent, Signature, array_argument, plan_signature
from polyloom.targets.minion.map.frame import Mode, Team
from polyloom.targets.minion.map.phase_barriers import Step, distribute_rows, place_barriers, shire_arrays
from polyloom.targets.minion.map.phase_work import Content, Later, Setting, Work
from polyloom.targets.minion.map.product.fuse_products import chain_products
from polyloom.targets.minion.map.product.predict import barrier_cycles
from polyloom.targets.minion.memory_map import DRAM, OWN_SCRATCHPAD, SCRATCHPAD
from polyloom.targets.minion.options import Options
from polyloom.targets.minion.place import Place
from polyloom.targets.minion.words.layout import DATA, Placed, align_page, place_arguments
from polyloom.targets.minion.words.tiles import ROWS

# The mode of L1 is set once, at the start: each change of it invalidates sets of the cache (programmer's reference
# manual, chapter 8), so that data not yet written back would be lost between phases.
_ORDER: Final[tuple[Mode, ...]] = ("shared", "split", "scratchpad")
"""Of modes: a program has the last one that any of its phases asks for."""


@dataclass(frozen=True, slots=True)
class Placement:
    """Placed program: the team, its arguments, the arrays between its phases, each phase's setting, where DRAM is free
    behind the arrays, what each phase accesses at rows of its own shire only (`own`), and predicted cycles where all
    phases predict theirs.
    """

    team: Team
    arguments: tuple[Placed, ...]
    between: tuple[Placed, ...]
    settings: tuple[Setting, ...]
    free: int
    own: tuple[frozenset[str], ...]
    predicted: int | None = None

    @property
    def local_arrays(self) -> frozenset[str]:
        """Arrays that are accessed within shires only."""
        return self.settings[0].near

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
    owned = [
        _place_team(content, where, values, options, p.team.minions, own_rows=True)
        for p in placed
        if _may_distribute(works, options, p)
    ]
    placed += [p for p in owned if p.local_arrays]
    # Of equal predictions, the most minions: their blocks lie in shires further apart, whose lines meet less.
    cycles, _, best = min((_total_cycles(content, p), -p.team.minions, n) for n, p in enumerate(placed))
    return replace(placed[best], predicted=cycles if all(w.cycles is not None for w in works) else None)


def _may_choose(works: Sequence[Work], options: Options) -> bool:
    """Whether fewer minions may take part than there are: where all phases predict their cycles, and the user asks for
    nothing that a number of minions decides.
    """
    asked = options.all_minions or options.resident or options.broadcast or options.split_k is not None
    return not asked and all(work.cycles is not None for work in works)


def _may_distribute(works: Sequence[Work], options: Options, placed: Placement) -> bool:
    """Whether shires may own rows: several of them take part in several phases, in a way that the user leaves open. Two
    products that become one loop need no barrier, and give blocks to minions in their own order.
    """
    asked = options.resident or options.broadcast or options.split_k is not None
    if asked or len(works) == 1 or placed.team.shires == 1 or all(work.product is None for work in works):
        return False
    products = [work.product for work in works]
    pairs = zip(pairwise(products), pairwise(placed.settings), strict=True)
    return all(chain_products(both, settings, kept=True) is None for both, settings in pairs)


def _candidate_counts(minions: int) -> list[int]:
    """Candidates: powers of two of minions, which are parts of a shire or whole ones, and all."""
    powers = [1 << n for n in range(minions.bit_length()) if 1 << n < minions]
    return [*powers, minions]


def _total_cycles(content: Content, placed: Placement) -> int:
    """Predicted cycles of all phases, with the barriers between them."""
    pairs = zip(content.works, placed.settings, strict=True)
    cycles = sum(work.cycles(setting) for work, setting in pairs if work.cycles is not None)
    team = placed.team
    each = {"none": 0, "chip": barrier_cycles(team), "shire": barrier_cycles(replace(team, minions=team.shire_minions))}
    return cycles + sum(each[scope] for scope in place_barriers(_phase_steps(content, placed), team))


def _place_team(
    content: Content,
    where: Place,
    values: Mapping[str, int],
    options: Options,
    minions: int,
    *,
    own_rows: bool = False,
) -> Placement:
    """Placement of a program for so many minions; `own_rows`: each shire has rows of all arrays."""
    plan, team = content.plan, choose_team(content.works, minions)
    signature = bind_extents(plan_signature(plan), values)
    kept = bind_extents(
        replace(plan_signature(plan), arguments=tuple(map(_intermediate_argument, plan.intermediates))), values
    )
    last = len(plan.phases) - 1

    def place_arrays(team: Team, near: frozenset[str], rows: int = 0) -> Placement:
        """Arrays, of which those between phases that are near lie in scratchpads, and settings of phases."""
        within, bytes_ = _scratchpad_placement(kept, near, team, where.machine.scratchpad_bytes)
        inside = {p.name for p in within}
        outside = tuple(a for a in kept.arguments if a.name not in inside)
        placed = place_arguments(replace(signature, arguments=(*signature.arguments, *outside)), {})
        named = {p.name: p for p in (*placed, *within)}
        # The last phase alone may leave its result where the host evicts it; all others write for phases behind them.
        settings = tuple(
            Setting(
                values, _bind_places(phase, named), team, f"p{n}", 0, options, bytes_, n == last,
                _subsequent_accesses(plan, n), rows, near,
            )
            for n, phase in enumerate(plan.phases)
        )  # fmt: skip
        pairs = zip(content.works, settings, strict=True)
        own = tuple(w.own_rows(s) if rows and w.own_rows is not None else frozenset[str]() for w, s in pairs)
        arguments, between = placed[: len(signature.arguments)], (*placed[len(signature.arguments) :], *within)
        free = align_page(max((p.address + p.room for p in placed), default=DATA))
        return Placement(team, arguments, between, settings, free, own)

    all_names = frozenset(argument.name for argument in (*signature.arguments, *kept.arguments))
    near = all_names if team.shires == 1 else frozenset[str]()
    made = place_arrays(team, near)
    # Second harts are started for all phases as soon as one phase has work for them (prefetching, tensor_load_l2):
    # harts are released once, at the start.
    if any(w.helpers is not None and w.helpers(s) for w, s in zip(content.works, made.settings, strict=True)):
        team = replace(team, harts=2)
    if not own_rows:
        # The team is known only now, because whether a phase has helpers depends on its setting.
        return replace(made, team=team, settings=tuple(replace(s, team=team) for s in made.settings))
    products = [(w.product, s) for w, s in zip(content.works, made.settings, strict=True) if w.product is not None]
    most = max(s.view(product.found.result).rows for product, s in products)
    rows = distribute_rows(most, team)
    # Shires without rows would only ask for what others need, too.
    if (team.shires - 1) * rows >= most and not options.all_minions:
        return made
    # Where arrays lie follows from who accesses them; a scratchpad that is fuller may change that.
    near = _shire_arrays(content, place_arrays(team, near, rows))
    made = place_arrays(team, near, rows)
    return made if _shire_arrays(content, made) == near else place_arrays(team, frozenset())


def _shire_arrays(content: Content, placed: Placement) -> frozenset[str]:
    return shire_arrays(_phase_steps(content, placed))


def _phase_steps(content: Content, placed: Placement) -> list[Step]:
    return [Step((phase,), own) for phase, own in zip(content.plan.phases, placed.own, strict=True)]


def _scratchpad_placement(
    kept: Signature, near: frozenset[str], team: Team, room: int
) -> tuple[tuple[Placed, ...], int]:
    """Scratchpad allocation of the arrays between phases that are near, and how many bytes of the scratchpad phases
    have to themselves.

    As many as three quarters of it hold lie at its end, where all harts reach them as their own shire's.
    """
    # The rest is for the operands that products stage there; a product without room for them costs more than an
    # intermediate array in DRAM.
    chosen, size = list[Argument](), 0
    for argument in kept.arguments:
        if argument.name in near:
            (made,) = place_arguments(replace(kept, arguments=(argument,)), {}, 0)
            # Loads of a tile of fewer rows than ROWS read behind it, and behind the last array nothing can be read.
            taken = align_page(size + made.room + ROWS * made.pitch)
            chosen, size = ([*chosen, argument], taken) if taken <= room * 3 // 4 else (chosen, size)
    base = (SCRATCHPAD if team.shires == 1 else OWN_SCRATCHPAD) + room - size
    return place_arguments(replace(kept, arguments=tuple(chosen)), {}, base), room - size


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
