# SPDX-License-Identifier: Apache-2.0
"""Vectorization of loops: iterations of a parallel loop are the lanes of a register, and all that is in the loop, inner
loops as well, executes for them together (outer-loop vectorization: Nuzman, Zaks, "Outer-loop vectorization", 2008).

Any parallel loop will do whose inner loops have the same bounds in all lanes. Each path into the nest has at most one;
it is the one whose cost is least, by the issue slots of instructions: an element that is the same in all lanes is
broadcast, neighbours are one load, and everything else is gathered, which holds the pipeline for a slot per lane.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

from polyloom.analysis.loop_dependences import LoopDependences
from polyloom.analysis.loop_ranges import Range, trip_count
from polyloom.ir.nest import Apply, Assign, Expression, If, Index, Loop, Node, loop_nodes
from polyloom.ir.numbers import WIDTH
from polyloom.ir.operations import ElementType, may_divide_by_zero
from polyloom.ir.pla import Reference
from polyloom.transform.parallel.machine import Machine


@dataclass(frozen=True, slots=True)
class Choice:
    """Choice of loops to vectorize: `cost` in issue slots, `loops` those that are vectorized."""

    cost: float
    loops: frozenset[str] = frozenset()


class VectorLoops:
    """Vectorizer's cost model of a nest; `strides[name]` are how many elements apart neighbours are along each
    dimension.
    """

    def __init__(self, dependences: LoopDependences, known: Mapping[str, Range], machine: Machine) -> None:
        self.dependences, self.known, self.machine, self.costs = dependences, known, machine, machine.costs
        storage = dependences.nest.storage
        self.types: dict[str, ElementType] = {s.name: s.dtype for s in storage}
        self.scalars = {s.name for s in storage if not s.shape and s.role == "local"}
        self.strides = {s.name: _row_major_strides(tuple(e.constant for e in s.shape)) for s in storage}

    def choose(self, nodes: Sequence[Node], path: tuple[Loop | If, ...], lane: str | None = None) -> Choice:
        """Cheapest choice for nodes in a row, inside the loops of `path`; `lane` is the vectorized loop around them."""
        cost, loops = 0.0, frozenset[str]()
        for node in nodes:
            each = self._node(node, path, lane)
            cost, loops = cost + each.cost, loops | each.loops
        return Choice(cost, loops)

    def choose_shared(self, loop: Loop, path: tuple[Loop | If, ...], count: int) -> Choice:
        """Cheapest choice for a parallel loop of which a worker has so many iterations."""
        return self._loop(loop, (*path, loop), None, min(count, trip_count(loop, self.known)))

    def _node(self, node: Node, path: tuple[Loop | If, ...], lane: str | None) -> Choice:
        """Choice for one node. A condition costs more if it differs between lanes: both sides execute under masks
        then.
        """
        match node:
            case Assign():
                return Choice(self._value(node.value, lane) + self._access(node.target, lane, self.costs.scatter))
            case If():
                branches = self.choose((*node.body, *node.orelse), (*path, node), lane)
                own = self.costs.mask if lane in node.condition.symbols else self.costs.condition
                return Choice(branches.cost + own, branches.loops)
            case Loop():
                return self._loop(node, (*path, node), lane)

    def _loop(
        self, loop: Loop, path: tuple[Loop | If, ...], lane: str | None, iterations: float | None = None
    ) -> Choice:
        """Choice for a loop: as it is with the best choice inside, or vectorized itself if that is legal and
        cheaper; for all of its iterations, or so many.
        """
        count, costs = trip_count(loop, self.known) if iterations is None else iterations, self.costs
        inner = self.choose(loop.body, path, lane)
        plain = Choice(costs.loop + count * (inner.cost + costs.loop), inner.loops)
        # Lanes go through inner loops together, so that they need the same bounds; and one path has one vectorized
        # loop.
        if lane is not None or not _is_uniform(loop) or not self.dependences.parallel(path):
            return plain
        # The last round is as expensive as a full one, however few lanes it has.
        rounds, each = -(-count // self.machine.lanes), self.choose(loop.body, path, loop.name).cost
        wide = Choice(costs.loop + costs.start + rounds * (each + costs.loop), frozenset({loop.name}))
        return min(plain, wide, key=lambda choice: choice.cost)

    def stride(self, reference: Reference, lane: str) -> int:
        """Elements from a lane's to the next one's; rows are longer where they are padded, which changes no choice."""
        strides = self.strides[reference.name]
        return sum(index.coefficient(lane) * step for index, step in zip(reference.index, strides, strict=True))

    def _access(self, reference: Reference, lane: str | None, scatter: float | None = None) -> float:
        """Cost of an access: a broadcast, one load of neighbours, or a gather; `scatter` is that of a store."""
        if reference.name in self.scalars:
            return 0
        # Vector loads have words only; narrow elements are gathered even where they are neighbours.
        narrow = self.types[reference.name] not in ("i32", "f32")
        stride = 0 if lane is None else self.stride(reference, lane)
        if stride == 0:
            return self.costs.narrow if narrow else 1
        apart = self.costs.gather if scatter is None else scatter
        if self.costs.far is not None and abs(stride) * WIDTH[self.types[reference.name]] >= 8 * self.machine.line:
            apart = self.costs.far
        return 1 if stride == 1 and not narrow else apart

    def _value(self, value: Expression, lane: str | None) -> float:
        """Cost of an expression in issue slots."""
        match value:
            case Reference():
                return self._access(value, lane)
            case Apply(operation=operation, dtype=dtype, operands=operands):
                is_long = may_divide_by_zero(operation, dtype)
                own = self.costs.integer_division if is_long else self.costs.operations.get(operation, 1)
                return own + sum(self._value(operand, lane) for operand in operands)
            case Index():
                return self.costs.form
            case _:
                return 0


def _row_major_strides(shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(prod(shape[n + 1 :]) for n in range(len(shape)))


def _is_uniform(loop: Loop) -> bool:
    """Whether loops inside have bounds that do not depend on the lane."""
    return not any(loop.name in end.symbols for inner in loop_nodes(loop.body) for end in (*inner.lower, *inner.upper))
