# SPDX-License-Identifier: Apache-2.0
"""Reductions over all harts and lanes: sums, minima, maxima and the like into one element, by partial results.

    for i: a = a + x[i]   becomes   for h, l: p[h, l] = 0
                                               for q: p[h, l] = p[h, l] + x[8 (Q h + q) + l]
                                     for h, l: a = a + p[h, l]

and one more round for what is left over, under a condition. Where the loop has one loop inside, lanes are iterations
of that, whose elements lie side by side.

An associative operation may take its operands in any order: those of integers, minima and maxima (of numbers: IEEE
754-2019 minimumNumber, which is associative) always, sums of floats where `--reassociate` allows it. The loop may
carry no other dependence. What comes out is a nest that later passes find parallel.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from polyloom.analysis.loop_dependences import Dependences
from polyloom.analysis.privatizable import private
from polyloom.ir.nest import (
    Apply,
    Assign,
    Expression,
    If,
    Loop,
    Nest,
    Node,
    Storage,
    accesses,
    assignments,
    loops,
)
from polyloom.ir.nest_rewrite import Renamed
from polyloom.ir.operations import ElementType
from polyloom.ir.pla import Constant, Reference
from polyloom.names import dotted, fresh
from polyloom.sets import Affine, Condition, Polyhedron
from polyloom.targets.minion.loops.simd.elements import Key, key
from polyloom.targets.minion.options import Fp
from polyloom.transform.parallel.vectorization import LANES

_LINE: Final = 16
"""Partial results of a hart have a line to themselves."""
_INFINITY: Final = float("inf")
_WHOLE: Final[dict[str, int]] = {"add": 0, "madd": 0, "mul": 1, "and": -1, "or": 0, "xor": 0}
_LEAST_WORK: Final = 4
"""Rounds of all lanes that a hart has about, at least."""


@dataclass(frozen=True, slots=True)
class _Sum:
    """`target = operation(target, ...)`."""

    target: Reference
    operation: str
    dtype: ElementType


def reduced(nest: Nest, harts: int, fp: Fp) -> Nest:
    """With loops outside of all others that are such reductions taken apart."""
    made = _Reduced(nest, harts, fp)
    body = tuple(node for each in nest.body for node in made.node(each))
    return replace(nest, body=body, storage=(*nest.storage, *made.partial))


class _Reduced:
    def __init__(self, nest: Nest, harts: int, fp: Fp) -> None:
        self.nest, self.harts, self.fp = nest, harts, fp
        self.dependences = Dependences(nest)
        self.partial: list[Storage] = []
        self.taken = {s.name for s in nest.storage} | set(loops(nest.body))

    def node(self, node: Node) -> Iterator[Node]:
        if not isinstance(node, Loop):
            yield node
            return
        sums = self.sums(node)
        ends = [end for end in (*node.lower, *node.upper) if not end.is_constant]
        low, high = (max(e.constant for e in node.lower), min(e.constant for e in node.upper)) if not ends else (0, 0)
        harts = min(self.harts, -(-(high - low) // _least(node)))
        if not sums or harts < 1:
            yield node
            return
        yield from self.apart(node, sums, low, high, harts)

    def sums(self, loop: Loop) -> dict[Key, _Sum]:
        """The elements that the loop reduces into; none where it does anything else that keeps an order."""
        found: dict[Key, _Sum] = {}
        own, inside = private(self.nest, [loop]), {loop.name, *loops(loop.body)}
        for assign in assignments(loop.body):
            each = _sum(assign)
            if each is None or each.target.name in own or any(i.symbols & inside for i in each.target.index):
                continue
            if not self.may_reorder(each) or found.setdefault(key(each.target), each) != each:
                return {}
        arrays = frozenset(name for name, _ in found)
        for assign in assignments(loop.body):
            reads = [key(r) for r in accesses(assign.value) if r.name in arrays]
            written = [key(assign.target)] if assign.target.name in arrays else []
            if reads != written or any(each not in found for each in reads):
                return {}
        if not found or self.dependences.carried(loop.name, own) is None:
            return {}
        return found if self.dependences.carried(loop.name, own | arrays) is None else {}

    def may_reorder(self, each: _Sum) -> bool:
        return each.dtype != "f32" or each.operation in ("min", "max") or self.fp == "reassociate"

    def apart(self, loop: Loop, sums: dict[Key, _Sum], low: int, high: int, harts: int) -> Iterator[Node]:
        hart, lane, again = (fresh(f"{loop.name}_{what}", self.taken, dotted) for what in ("hart", "lane", "hart"))
        parts = {name: self.part(each, harts) for name, each in sums.items()}
        mine = {name: Reference(part, (Affine.symbol(hart), Affine.symbol(lane))) for name, part in parts.items()}
        inner: list[Node] = [
            Assign(f"{parts[name]}.0", mine[name], _identity(each), loop.span) for name, each in sums.items()
        ]
        along, body = _Rounds(self.taken, low, high, harts, hart, ""), _inside(loop)
        if body is None:
            along = _Rounds(self.taken, low, high, LANES * harts, hart, lane)
        for round in along.all(loop):
            renamed = Renamed({loop.name: round.index}, mine, self.taken)
            if body is None:
                inner.append(round.around(renamed.nodes(loop.body)))
                continue
            ends = body.lower[0].constant, body.upper[0].constant
            each = _Rounds(self.taken, *ends, LANES, "", lane)
            within = [
                one.around(Renamed({**renamed.forms, body.name: one.index}, mine, self.taken).nodes(body.body))
                for one in each.all(body)
            ]
            inner.append(round.around(tuple(within)))
        yield _loop(hart, harts, (_loop(lane, LANES, inner, loop),), loop)
        places = [{lane: Affine((), n), hart: Affine.symbol(again)} for n in range(LANES)]
        combined = [
            Assign(f"{parts[name]}.1", each.target, self.joined(each, _at(mine[name], place)), loop.span)
            for name, each in sums.items()
            for place in places
        ]
        yield _loop(again, harts, combined, loop)

    def part(self, each: _Sum, harts: int) -> str:
        name = fresh(f"{each.target.name}_part", self.taken, dotted)
        self.partial.append(Storage(name, each.dtype, (Affine((), harts), Affine((), _LINE)), "local"))
        return name

    def joined(self, each: _Sum, other: Reference) -> Expression:
        operation = "add" if each.operation == "madd" else each.operation
        return Apply(operation, each.dtype, (each.target, other))


def _sum(assign: Assign) -> _Sum | None:
    value, target = assign.value, assign.target
    if not isinstance(value, Apply) or value.operation not in (*_WHOLE, "min", "max"):
        return None
    own = [n for n, o in enumerate(value.operands) if isinstance(o, Reference) and _same(o, target)]
    if len(own) != 1 or (value.operation == "madd" and own != [2]):
        return None
    return _Sum(replace(target, span=None), value.operation, value.dtype)


def _same(one: Reference, other: Reference) -> bool:
    return (one.name, one.index) == (other.name, other.index)


def _identity(each: _Sum) -> Constant:
    if each.operation in _WHOLE:
        return Constant(_WHOLE[each.operation] if each.dtype != "f32" else float(_WHOLE[each.operation]), each.dtype)
    sign = 1 if each.operation == "min" else -1
    if each.dtype == "f32":
        return Constant(sign * _INFINITY, "f32")
    most = {"i8": 127, "i16": 32767, "i32": 2**31 - 1}[each.dtype]
    return Constant(most if sign > 0 else -most - 1, each.dtype)


def _loop(name: str, count: int, body: Sequence[Node], like: Loop) -> Loop:
    return Loop(name, (Affine(),), (Affine((), count),), tuple(body), 1, like.span)


def _least(loop: Loop) -> int:
    """Iterations that are worth a hart."""
    return 1 if _inside(loop) is not None else _LEAST_WORK * LANES


def _at(reference: Reference, place: Mapping[str, Affine]) -> Reference:
    return replace(reference, index=tuple(i.substitute(place) for i in reference.index))


def _inside(loop: Loop) -> Loop | None:
    """The one loop that is the whole body, where its bounds are numbers and it has no loop inside."""
    (first, *others) = loop.body
    if others or not isinstance(first, Loop) or any(loops(first.body)):
        return None
    ends = (*first.lower, *first.upper)
    return first if len(ends) == 2 and all(end.is_constant for end in ends) else None


@dataclass(frozen=True, slots=True)
class _Round:
    """Iterations `index`, for each value of `name` up to `count`; or, where that is 0, if `index` is below `high`."""

    index: Affine
    name: str
    count: int
    high: int
    like: Loop

    def around(self, nodes: tuple[Node, ...]) -> Node:
        if self.count:
            return _loop(self.name, self.count, nodes, self.like)
        return If(Condition((Polyhedron((-self.index + self.high - 1,)),)), nodes, (), self.like.span)


@dataclass(frozen=True, slots=True)
class _Rounds:
    """Iterations from `low` to `high` in rounds of `width`: those of a hart follow one another, those of lanes are side
    by side. `hart` and `lane` are loops, or nothing."""

    taken: set[str]
    low: int
    high: int
    width: int
    hart: str
    lane: str

    def all(self, like: Loop) -> list[_Round]:
        """The whole rounds, and what is left over."""
        count, lanes = (self.high - self.low) // self.width, LANES if self.lane else 1
        name, rest = fresh(f"{like.name}_round", self.taken, dotted), self.low + count * self.width
        terms = {name: lanes, self.lane: 1, self.hart: lanes * count}
        made = [_Round(_form(terms, self.low), name, count, self.high, like)] if count else []
        if rest < self.high:
            made.append(_Round(_form({self.lane: 1, self.hart: lanes}, rest), "", 0, self.high, like))
        return made


def _form(terms: Mapping[str, int], constant: int) -> Affine:
    return Affine.of({name: factor for name, factor in terms.items() if name}, constant)
