# SPDX-License-Identifier: Apache-2.0
"""Parallel reductions: sums, minima, maxima and the like into one element, by partial results of all workers and lanes
(Blelloch, "Prefix sums and their applications", 1990; recognized as in Pottenger, Eigenmann, "Idiom recognition in the
Polaris parallelizing compiler", 1995).

    for i: a = a + x[i]   becomes   for w, l: p[w, l] = 0
                                               for q: p[w, l] = p[w, l] + x[L (Q w + q) + l]
                                     for w, l: a = a + p[w, l]

and one more round for what is left over, under a condition. Where the loop has one loop inside, lanes are iterations
of that, whose elements lie side by side.

An associative operation may take its operands in any order: those of integers, minima and maxima (of numbers: IEEE
754-2019 minimumNumber, which is associative) always, sums of floats where the caller allows it. The loop may
carry no other dependence. What comes out is a nest that later passes find parallel.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from polyloom.analysis.loop_dependences import LoopDependences
from polyloom.analysis.loop_ranges import Range, constant_bounds
from polyloom.analysis.privatizable import privatizable
from polyloom.ir.nest import (
    Apply,
    Assign,
    Cell,
    If,
    Loop,
    Nest,
    Node,
    Storage,
    accesses,
    assignments,
    cell,
    loops,
    taken_names,
)
from polyloom.ir.nest_rewrite import Copy
from polyloom.ir.operations import ElementType
from polyloom.ir.pla import Constant, Reference
from polyloom.names import dotted_name, fresh_name
from polyloom.sets import Affine, Condition, Polyhedron
from polyloom.transform.parallel.machine import Machine

_WORD: Final = 4
"""Bytes of a lane."""
_INFINITY: Final = float("inf")
# Neutral elements; `madd` is a sum whose terms are products.
_WHOLE: Final[dict[str, int]] = {"add": 0, "madd": 0, "mul": 1, "and": -1, "or": 0, "xor": 0}
_LEAST_WORK: Final = 4
"""Rounds of all lanes that a worker has about, at least."""


@dataclass(frozen=True, slots=True)
class _Sum:
    """Reduction statement `target = operation(target, ...)`."""

    target: Reference
    operation: str
    dtype: ElementType


def parallelize_reductions(nest: Nest, machine: Machine, *, reassociate: bool) -> Nest:
    """Nest with loops outside of all others that are such reductions split among workers and lanes; `reassociate`
    allows another order of sums of floats.
    """
    made = _Reductions(nest, machine, reassociate)
    body = tuple([node for each in nest.body for node in made.node(each)])
    return replace(nest, body=body, storage=(*nest.storage, *made.partial))


class _Reductions:
    """Rewriter of reductions; `partial` are arrays of partial results (mutable)."""

    def __init__(self, nest: Nest, machine: Machine, reassociate: bool) -> None:
        self.nest, self.machine, self.reassociate = nest, machine, reassociate
        self.dependences, self.taken = LoopDependences(nest), taken_names(nest)
        self.partial: list[Storage] = []

    def node(self, node: Node) -> Iterator[Node]:
        """Loop split among workers if it is a reduction and has enough iterations."""
        bounds = constant_bounds(node) if isinstance(node, Loop) else None
        if not isinstance(node, Loop) or bounds is None:
            yield node
            return
        sums = self.sums(node)
        # Iterations that are worth a worker.
        least = 1 if _inner_loop(node) is not None else _LEAST_WORK * self.machine.lanes
        workers = min(self.machine.workers, -(-(bounds[1] - bounds[0]) // least))
        if not sums or workers < 1:
            yield node
            return
        yield from self.split(node, sums, bounds, workers)

    def sums(self, loop: Loop) -> dict[Cell, _Sum]:
        """Elements that the loop reduces into; none where it does anything else that keeps an order."""
        found: dict[Cell, _Sum] = {}
        own, inside = privatizable(self.nest, [loop]), {loop.name, *loops(loop.body)}
        for assign in assignments(loop.body):
            each = _match_reduction(assign)
            if each is None or each.target.name in own or any(i.symbols & inside for i in each.target.index):
                continue
            if not self.may_reorder(each) or found.setdefault(cell(each.target), each) != each:
                return {}
        arrays = frozenset(name for name, _ in found)
        for assign in assignments(loop.body):
            reads = [cell(r) for r in accesses(assign.value) if r.name in arrays]
            written = [cell(assign.target)] if assign.target.name in arrays else []
            # A partial result may be read by its own sum only: any other reader would see the whole too early.
            if reads != written or any(each not in found for each in reads):
                return {}
        if not found or self.dependences.carried_dependence(loop.name, own) is None:
            return {}
        # Without these elements the loop must carry nothing, else splitting it would change results.
        return found if self.dependences.carried_dependence(loop.name, own | arrays) is None else {}

    def may_reorder(self, each: _Sum) -> bool:
        """Whether the operation is associative on its type: float sums are not, minima and maxima of numbers are (IEEE
        754-2019, minimumNumber).
        """
        return each.dtype != "f32" or each.operation in ("min", "max") or self.reassociate

    def split(self, loop: Loop, sums: dict[Cell, _Sum], bounds: Range, workers: int) -> Iterator[Node]:
        """Loops of a split reduction: partial results start at the neutral element, take their rounds, and are combined
        in order.
        """
        worker, lane, again = (
            fresh_name(f"{loop.name}_{what}", self.taken, dotted_name) for what in ("block", "lane", "block")
        )
        lanes, parts = self.machine.lanes, {name: self.part(each, workers) for name, each in sums.items()}
        mine = {name: Reference(part, (Affine.symbol(worker), Affine.symbol(lane))) for name, part in parts.items()}
        inner = [self.assign(parts[name], mine[name], _neutral_element(each), loop) for name, each in sums.items()]
        found = _inner_loop(loop)
        along = _Rounds(self.taken, bounds, lanes * workers, worker, lane, lanes)
        if found is not None:
            along = _Rounds(self.taken, bounds, workers, worker, "", 1)
        for round in along.rounds(loop):
            if found is None:
                inner.append(round.enclose(Copy({loop.name: round.index}, mine, self.taken).nodes(loop.body)))
                continue
            body, ends = found
            each, outer = _Rounds(self.taken, ends, lanes, "", lane, lanes), {loop.name: round.index}
            within = [
                one.enclose(Copy({**outer, body.name: one.index}, mine, self.taken).nodes(body.body))
                for one in each.rounds(body)
            ]
            inner.append(round.enclose(tuple(within)))
        yield _loop(worker, workers, (_loop(lane, lanes, inner, loop),), loop)
        places = [{lane: Affine((), n), worker: Affine.symbol(again)} for n in range(lanes)]
        combined = [
            self.assign(parts[name], each.target, _combine(each, _substitute_index(mine[name], place)), loop)
            for name, each in sums.items()
            for place in places
        ]
        # Parts are combined in the order of workers and lanes, so that results do not depend on timing.
        yield _loop(again, workers, combined, loop)

    def part(self, each: _Sum, workers: int) -> str:
        """Array of partial results, in which those of a worker have a line to themselves: no false sharing."""
        name = fresh_name(f"{each.target.name}_part", self.taken, dotted_name)
        width = max(self.machine.lanes, self.machine.line // _WORD)
        self.partial.append(Storage(name, each.dtype, (Affine((), workers), Affine((), width)), "local"))
        return name

    def assign(self, part: str, target: Reference, value: Apply | Constant, loop: Loop) -> Node:
        return Assign(fresh_name(f"{part}.0", self.taken, dotted_name), target, value, loop.span)


def _combine(each: _Sum, other: Reference) -> Apply:
    return Apply("add" if each.operation == "madd" else each.operation, each.dtype, (each.target, other))


def _match_reduction(assign: Assign) -> _Sum | None:
    """Reduction that a statement is, None where it is none: its target is exactly one operand, of a `madd` the
    addend.
    """
    value, target = assign.value, assign.target
    if not isinstance(value, Apply) or value.operation not in (*_WHOLE, "min", "max"):
        return None
    own = [n for n, o in enumerate(value.operands) if isinstance(o, Reference) and cell(o) == cell(target)]
    if len(own) != 1 or (value.operation == "madd" and own != [2]):
        return None
    return _Sum(replace(target, span=None), value.operation, value.dtype)


def _neutral_element(each: _Sum) -> Constant:
    """Neutral element of an operation on a type; of minima and maxima the extreme value."""
    if each.operation in _WHOLE:
        return Constant(_WHOLE[each.operation] if each.dtype != "f32" else float(_WHOLE[each.operation]), each.dtype)
    sign = 1 if each.operation == "min" else -1
    if each.dtype == "f32":
        return Constant(sign * _INFINITY, "f32")
    most = {"i8": 127, "i16": 32767, "i32": 2**31 - 1}[each.dtype]
    return Constant(most if sign > 0 else -most - 1, each.dtype)


def _loop(name: str, count: int, body: Sequence[Node], like: Loop) -> Loop:
    return Loop(name, (Affine(),), (Affine((), count),), tuple(body), 1, like.span)


def _substitute_index(reference: Reference, place: Mapping[str, Affine]) -> Reference:
    return replace(reference, index=tuple(i.substitute(place) for i in reference.index))


def _inner_loop(loop: Loop) -> tuple[Loop, Range] | None:
    """The one loop that is the whole body, and its bounds, where those are numbers and it has no loop inside."""
    # A branch that no size takes may leave nothing of a body.
    if not loop.body:
        return None
    (first, *others) = loop.body
    if others or not isinstance(first, Loop) or any(loops(first.body)):
        return None
    bounds = constant_bounds(first)
    return None if bounds is None or len(first.lower) != len(first.upper) or len(first.lower) != 1 else (first, bounds)


@dataclass(frozen=True, slots=True)
class _Round:
    """Iterations `index`, for each value of `name` up to `count`; or, where that is 0, if `index` is below `high`."""

    index: Affine
    name: str
    count: int
    high: int
    like: Loop

    def enclose(self, nodes: tuple[Node, ...]) -> Node:
        if self.count:
            return _loop(self.name, self.count, nodes, self.like)
        return If(Condition((Polyhedron((-self.index + self.high - 1,)),)), nodes, (), self.like.span)


@dataclass(frozen=True, slots=True)
class _Rounds:
    """Iterations within bounds in rounds of `width`: those of a worker follow one another, those of lanes are side by
    side. `worker` and `lane` are loops, or nothing; then there is one lane.
    """

    taken: set[str]
    bounds: Range
    width: int
    worker: str
    lane: str
    lanes: int

    def rounds(self, like: Loop) -> list[_Round]:
        """Whole rounds, and what is left over."""
        (low, high), lanes = self.bounds, self.lanes
        count = (high - low) // self.width
        name, rest = fresh_name(f"{like.name}_round", self.taken, dotted_name), low + count * self.width
        # Blocks of consecutive rounds per worker keep a worker's lines together.
        terms = {name: lanes, self.lane: 1, self.worker: lanes * count}
        made = [_Round(_form(terms, low), name, count, high, like)] if count else []
        if rest < high:
            made.append(_Round(_form({self.lane: 1, self.worker: lanes}, rest), "", 0, high, like))
        return made


def _form(terms: Mapping[str, int], constant: int) -> Affine:
    return Affine.from_terms({name: factor for name, factor in terms.items() if name}, constant)
