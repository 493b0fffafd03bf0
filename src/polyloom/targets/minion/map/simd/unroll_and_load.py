# SPDX-License-Identifier: Apache-2.0
"""Unrolling of a vectorized loop with all loads first, so that the cache lines that they miss come together
(memory-level parallelism on an in-order core; Kennedy and Allen 2001, chapter 8, unroll and scalar replacement).

A hart issues in order and waits where a value is first used. Iterations of the loop are independent; within one, an
element is loaded ahead where nothing in the loop writes its array, or where one statement alone touches it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final, Protocol

from polyloom.ir.nest import Assign, Cell, Loop, accesses, cell
from polyloom.ir.nest_rewrite import Substitution
from polyloom.ir.pla import Reference
from polyloom.sets import Affine
from polyloom.targets.minion.map.simd.elements import Around
from polyloom.targets.minion.map.simd.parallel_machine import LANES
from polyloom.targets.minion.map.simd.values import Values

_MOST: Final = 4
_MOST_KNOWN: Final = 12
"""Of a loop whose rounds are so many times a number: none of them is left for single rounds."""
_FREE: Final = 4
"""Vector registers that stay free for expressions."""


class Writer(Protocol):
    """Writer of assignments, as `Control` is one."""

    values: Values

    def assign(self, node: Assign, around: Around) -> None: ...


def unroll_factor(loop: Loop, around: Around, free: int, rounds: int | None) -> int:
    """Unroll factor: how many rounds are worth being one; 1 where the loop has more than assignments, or loads nothing
    ahead. `rounds`: how many there are, where that is known.
    """
    body = [node for node in loop.body if isinstance(node, Assign)]
    loads = len({cell(r) for r in hoistable_loads(body, around)})
    if not loads or len(body) != len(loop.body):
        return 1
    # Every element that is loaded ahead keeps a register from its load to its use.
    most = (free - _FREE) // loads
    known = range(_MOST + 1, min(_MOST_KNOWN, most) + 1) if rounds else ()
    return max((n for n in known if rounds and rounds % n == 0), default=min(_MOST, most))


def unroll(writer: Writer, loop: Loop, around: Around, times: int) -> None:
    """Code of so many rounds: loads of all, then their statements in order. Errors: PL1352 where a round needs more
    registers than the loads leave.
    """
    text, body = writer.values.text, [node for node in loop.body if isinstance(node, Assign)]
    steps = [Substitution({loop.name: Affine.symbol(loop.name) + LANES * n}) for n in range(times)]
    rounds = [[step.assignment(assign) for assign in body] for step in steps]
    loaded: dict[Cell, str] = {}
    for round in rounds:
        for reference in hoistable_loads(round, around):
            # Rounds of a stencil read common elements, which are loaded once.
            if cell(reference) not in loaded:
                loaded[cell(reference)] = text.vectors.take(reference.span)
                writer.values.load(reference, around, loaded[cell(reference)])
    for round in rounds:
        for assign in round:
            with text.at(assign.span):
                writer.assign(assign, replace(around, loaded=loaded))
    text.vectors.give(*reversed(loaded.values()))


def hoistable_loads(body: Sequence[Assign], around: Around) -> Iterator[Reference]:
    """Loads that may go before everything else in one round."""
    written = {assign.target.name for assign in body}
    for assign in body:
        for read in accesses(assign.value):
            if read.name in around.locals or cell(read) in around.held:
                continue
            if read.name not in written or _is_single_access(read, assign, body):
                yield read


def _is_single_access(read: Reference, own: Assign, body: Sequence[Assign]) -> bool:
    """Whether one statement alone touches the array, at one element. Then no other store can change it between load and
    use.
    """
    touched = [(a, r) for a in body for r in (a.target, *accesses(a.value)) if r.name == read.name]
    return all(a is own and cell(r) == cell(read) for a, r in touched)
