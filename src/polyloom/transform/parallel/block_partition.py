# SPDX-License-Identifier: Apache-2.0
"""Block partition of a parallel loop without false sharing: no two blocks write one cache line (Torrellas, Lam,
Hennessy, "False sharing and spatial locality in multiprocessor caches", 1994).

Where caches are not coherent, a line that two of them hold modified loses what one wrote. Rows of arrays begin at
lines. So blocks may begin anywhere where iterations write different rows, and where a line of elements begins where
they write along a row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import gcd

from polyloom.ir.nest import Loop, Nest, assignments
from polyloom.ir.numbers import NUMPY
from polyloom.ir.pla import Reference
from polyloom.sets import Affine


@dataclass(frozen=True, slots=True)
class Blocks:
    """Cut points of a parallel loop: blocks begin at iterations that are `offset` modulo `unit`."""

    unit: int = 1
    offset: int = 0


def block_partition(
    nest: Nest, loop: Loop, outer: Sequence[str], in_registers: frozenset[str], line: int
) -> Blocks | str:
    """Block partition of a parallel loop; else the reason why its iterations may not be shared out, in words. `outer`
    are the loops around it, which all workers execute alike; `line` the bytes of a cache line.
    """
    storage = {s.name: s for s in nest.storage}
    made, deciding = Blocks(), dict[str, Affine]()
    for assign in assignments(loop.body):
        target = assign.target
        if target.name in in_registers:
            continue
        elements = line // NUMPY[storage[target.name].dtype].itemsize
        found = target_blocks(loop.name, target, elements, frozenset(outer))
        # All targets must be cut at the same iterations, and one subscript of an array must decide everywhere.
        joined = _common_blocks(made, found[1]) if found is not None else None
        if found is None or joined is None or deciding.setdefault(target.name, found[0]) != found[0]:
            return f"blocks of `{loop.name}` would write parts of one line of `{target.name}`"
        made = joined
    return made


def target_blocks(loop: str, target: Reference, elements: int, outer: frozenset[str]) -> tuple[Affine, Blocks] | None:
    """Cut points for one target of a loop, of which a line has so many `elements`, with the subscript that decides:
    those of all dimensions but the last choose rows.
    """
    for index in target.index[:-1]:
        if index.coefficient(loop) and index.symbols <= outer | {loop}:
            return index, Blocks()
    if not target.index:
        return None
    last = target.index[-1]
    step, rest = last.coefficient(loop), [c for name, c in last.terms if name != loop]
    if not step or not last.symbols <= outer | {loop} or any(c % elements for c in rest):
        return None
    # Iterations a line or more apart write different lines each, if they begin at the same place in them.
    if abs(step) >= elements:
        return (last, Blocks()) if abs(step) % elements == 0 else None
    if elements % abs(step):
        return None
    # Up: iteration i writes element step * i + c, and a line begins with the least i where that is >= a multiple of
    # its elements. Down: with the least i where the element is the last one of a line, or below.
    unit, c = elements // abs(step), last.constant
    first = -(c // step) if step > 0 else -((elements - 1 - c) // -step)
    return last, Blocks(unit, first % unit)


def _common_blocks(one: Blocks, other: Blocks) -> Blocks | None:
    """Cut points of both, by the Chinese remainder theorem; units are powers of two, so that the larger one contains
    the other.
    """
    if (one.offset - other.offset) % gcd(one.unit, other.unit):
        return None
    # Both units divide a line's elements.
    return one if one.unit >= other.unit else other
