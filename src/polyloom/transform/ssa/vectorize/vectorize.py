# SPDX-License-Identifier: Apache-2.0
"""Vectorizes the superblock loops of a function, and says what became of each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from polyloom.analysis.affine import AffineForms
from polyloom.analysis.aliases import Aliases
from polyloom.analysis.memory_dependences import memory_dependences
from polyloom.analysis.superblocks import (
    SideExit,
    Superblock,
    entry_edge,
    superblock,
    superblocks,
    with_preheader,
    with_superblock,
)
from polyloom.analysis.trip_counts import trip_count
from polyloom.ir.ssa import Edge, Function, Operand, Place, Value
from polyloom.transform.ssa.dce import dce
from polyloom.transform.ssa.function_editing import names
from polyloom.transform.ssa.loop_closed import close_loops
from polyloom.transform.ssa.materialize import materialize
from polyloom.transform.ssa.vectorize.analyse import Plan, Refused, analyse, has_single_counted_exit
from polyloom.transform.ssa.vectorize.exits import Behind
from polyloom.transform.ssa.vectorize.lanes import Lanes
from polyloom.transform.ssa.vectorize.strip_mining import advance, in_whole_passes

Vectorize = Literal["never", "try", "always"]
Fresh = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Vectorized:
    """What became of a loop: its lanes, or 1 and the reason."""

    function: str
    loop: str
    lanes: int
    reason: str
    place: Place


@dataclass(frozen=True, slots=True)
class VectorMachine:
    """Bytes of a vector; whether sums of floats may change their order; likely values of the function's parameters."""

    bytes: int
    reassociate: bool
    expect: Mapping[str, int]


def vectorize(
    function: Function, machine: VectorMachine, outside: bool = False
) -> tuple[Function, tuple[Vectorized, ...]]:
    """Vectorization of superblock loops (Allen, Kennedy 2001, chapter 5; exits by masks): the function, without those
    that it calls, with its superblock loops over vectors where that can be; `outside` as for `Aliases`.
    """
    function = dce(close_loops(function))
    source, fresh, found = Aliases(function, outside), names(function), list[Vectorized]()
    for loop in superblocks(function):
        dependences = tuple(memory_dependences(loop.instructions, loop, source, {}))
        expected = expected_iterations(function, loop, machine.expect)
        try:
            # Again, of the function as it is now: loops before this one have changed it.
            current = superblock(function, loop.name)
            plan = analyse(function, current, dependences, machine.bytes, machine.reassociate, expected)
            made = in_whole_passes if has_single_counted_exit(plan) else _in_masked_passes
            function = made(function, plan, fresh)
            found.append(Vectorized(function.name, loop.name, plan.lanes, "", loop.place))
        except Refused as refused:
            found.append(Vectorized(function.name, loop.name, 1, str(refused), loop.place))
    return function, tuple(found)


def expected_iterations(function: Function, loop: Superblock, expect: Mapping[str, int]) -> int | None:
    """The number of iterations that constants and likely values of parameters tell."""
    counted = trip_count(function, loop)
    if counted is None:
        return None
    whole, total = AffineForms(function), counted[1].constant
    for atom, coefficient in counted[1].terms:
        form = whole.form(atom)
        if any(not isinstance(a, Value) or a.name not in expect for a, _ in form.terms):
            return None
        known = sum(expect[a.name] * c for a, c in form.terms if isinstance(a, Value))
        total += coefficient * (form.constant + known)
    return total if total > 0 else None


def _in_masked_passes(function: Function, plan: Plan, fresh: Fresh) -> Function:
    """With the loop of the plan over vectors, left at the first lane that an exit is taken in. Raises Refused."""
    loop, lanes = plan.loop, Lanes(function, plan, fresh)
    left = Value(fresh("left"), function.address)
    if plan.counted is not None:
        lanes.mask_excess_lanes(left)
        lanes.smeared = None
    lanes.compute()
    stop = lanes.decide_exits()
    lanes.realize()
    behind = Behind(function, plan, fresh, lanes.exits, lanes.vectors, lanes.smeared, lanes.beyond).blocks()
    known = dict(zip(loop.parameters, entry_edge(function, loop)[1].arguments, strict=True))
    parameters, following, first = list[Value](), list[Operand](), list[Operand]()
    for variable in loop.parameters:
        if variable in plan.steps:
            parameters.append(variable)
            following.append(advance(variable, plan.steps[variable] * plan.lanes, lanes.line, fresh, function))
            first.append(known[variable])
        else:
            parameters.append(lanes.carried[variable])
            following.append(lanes.vectors[plan.reductions[variable].results[0]])
            first.append(lanes.identity(plan.reductions[variable]))
    if plan.counted is not None:
        parameters.append(left)
        following.append(advance(left, -plan.lanes, lanes.line, fresh, function))
        first.append(materialize(plan.counted[1], lanes.head, fresh, function.address))
    e = SideExit(len(lanes.line), stop, True, Edge(behind[0].name), loop.place)
    made = replace(
        loop, parameters=tuple(parameters), instructions=tuple(lanes.line), exits=(e,), following=tuple(following)
    )
    entered = with_preheader(function, loop, lanes.head, first)
    changed = with_superblock(entered, made, fresh)
    return replace(changed, blocks=(*changed.blocks, *behind))
