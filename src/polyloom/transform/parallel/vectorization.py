# SPDX-License-Identifier: Apache-2.0
"""Which loops are vectorized: eight iterations of a parallel loop are the eight lanes of a register, and all that is in
the loop, inner loops as well, executes for them together.

Any parallel loop will do whose inner loops have the same bounds in all lanes. Each path into the nest has at most one;
it is the one whose cost is least, by the issue slots of instructions: an element that is the same in all lanes is
broadcast, neighbours are one load, and everything else is gathered, which holds the pipeline for a cycle per lane.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Final

from polyloom.analysis.loop_dependences import Dependences
from polyloom.analysis.privatizable import private
from polyloom.analysis.value_ranges import Range, trips
from polyloom.ir.nest import Apply, Assign, Expression, If, Index, Loop, Nest, Node, accesses
from polyloom.ir.operations import divides
from polyloom.ir.pla import Reference

LANES: Final = 8
GATHER: Final = 9
MASKED: Final = 12
_LOOP: Final = 4
_EMULATED: Final = {"div": 200, "sqrt": 260}
_INTEGER_DIVISION: Final = 450


@dataclass(frozen=True, slots=True)
class Choice:
    """`cost` in issue slots, `loops` those that are vectorized."""

    cost: float
    loops: frozenset[str] = frozenset()


class Vectors:
    """Of a nest; `strides[name]` are how many elements apart neighbours are along each dimension."""

    def __init__(self, nest: Nest, dependences: Dependences, known: Mapping[str, Range]) -> None:
        self.nest, self.dependences, self.known = nest, dependences, known
        self.types = {s.name: s.dtype for s in nest.storage}
        self.scalars = {s.name for s in nest.storage if not s.shape and s.role == "local"}
        self.strides = {s.name: _strides(tuple(e.constant for e in s.shape)) for s in nest.storage}

    def choose(self, nodes: Sequence[Node], path: tuple[Loop | If, ...], lane: str | None = None) -> Choice:
        """The cheapest for nodes in a row, inside the loops of `path`; `lane` is the vectorized loop around them."""
        cost, loops = 0.0, frozenset[str]()
        for node in nodes:
            each = self._node(node, path, lane)
            cost, loops = cost + each.cost, loops | each.loops
        return Choice(cost, loops)

    def _node(self, node: Node, path: tuple[Loop | If, ...], lane: str | None) -> Choice:
        match node:
            case Assign():
                return Choice(self._value(node.value, lane) + self._access(node.target, lane))
            case If():
                branches = self.choose((*node.body, *node.orelse), (*path, node), lane)
                varies = lane is not None and any(
                    lane in c.symbols for p in node.condition.pieces for c in p.constraints
                )
                return Choice(branches.cost + (MASKED if varies else 2), branches.loops)
            case Loop():
                return self._loop(node, path, lane)

    def _loop(self, loop: Loop, path: tuple[Loop | If, ...], lane: str | None) -> Choice:
        inside, count = (*path, loop), trips(loop, self.known)
        inner = self.choose(loop.body, inside, lane)
        plain = Choice(_LOOP + count * (inner.cost + _LOOP), inner.loops)
        if lane is not None or not self.vectorizes(loop, inside):
            return plain
        rounds = -(-count // LANES)
        wide = Choice(
            _LOOP + 8 + rounds * (self.choose(loop.body, inside, loop.name).cost + _LOOP), frozenset({loop.name})
        )
        return min(plain, wide, key=lambda choice: choice.cost)

    def vectorizes(self, loop: Loop, path: tuple[Loop | If, ...]) -> bool:
        """Whether iterations may be lanes."""
        return _is_uniform(loop.body, loop.name) and not self.dependences.carried(
            loop.name, private(self.nest, list(path))
        )

    def stride(self, reference: Reference, lane: str) -> int:
        """Elements from a lane's to the next one's; rows are longer where they are padded, which changes no choice."""
        strides = self.strides[reference.name]
        return sum(index.coefficient(lane) * step for index, step in zip(reference.index, strides, strict=True))

    def _access(self, reference: Reference, lane: str | None) -> float:
        if reference.name in self.scalars:
            return 0
        narrow = self.types[reference.name] not in ("i32", "f32")
        stride = 0 if lane is None else self.stride(reference, lane)
        if stride == 0:
            return 3 if narrow else 1
        return 1 if stride == 1 and not narrow else GATHER

    def _value(self, value: Expression, lane: str | None) -> float:
        cost = sum(self._access(read, lane) for read in accesses(value))
        return cost + _operations(value)


def _operations(value: Expression) -> float:
    match value:
        case Apply(operation=operation, dtype=dtype, operands=operands):
            own = _INTEGER_DIVISION if divides(operation, dtype) else _EMULATED.get(operation, 1)
            return own + sum(map(_operations, operands))
        case Index():
            return 3
        case _:
            return 0


def _strides(shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(prod(shape[n + 1 :]) for n in range(len(shape)))


def _is_uniform(nodes: Sequence[Node], lane: str) -> bool:
    """Whether loops inside have bounds that do not depend on the lane."""
    for node in nodes:
        if isinstance(node, Loop):
            if any(lane in end.symbols for end in (*node.lower, *node.upper)) or not _is_uniform(node.body, lane):
                return False
        elif isinstance(node, If) and not _is_uniform((*node.body, *node.orelse), lane):
            return False
    return True
