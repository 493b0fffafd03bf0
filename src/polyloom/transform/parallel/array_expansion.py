# SPDX-License-Identifier: Apache-2.0
"""Array expansion (Feautrier, "Array expansion", 1988): temporaries that every iteration of a loop writes before it
reads them become arrays with an element for each iteration, so that the loop is parallel.

    for r: t[...] = ..., ... = t[...]   becomes   for r: t'[r, ...] = ..., ... = t'[r, ...]
                                                   t[...] = t'[last r, ...]

The last line stands there where somebody reads the array behind the loop; then each iteration must write all of it.
isl decides at the nest's sizes whether what an iteration reads is what it wrote before.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import prod
from typing import Final

import islpy as isl

from polyloom.analysis.loop_dependences import Dependences
from polyloom.analysis.privatizable import private
from polyloom.analysis.value_ranges import ranges
from polyloom.ir.nest import Apply, Assign, Expression, If, Loop, Nest, Node, Statement, Storage, accesses, loops
from polyloom.ir.nest import assignments as all_assignments
from polyloom.ir.pla import Reference
from polyloom.names import dotted, fresh, hidden
from polyloom.sets import Affine, Condition, Polyhedron
from polyloom.sets.isl import to_set

_FEWEST: Final = 4
"""Iterations for which copies are worth while."""
_MOST: Final = 1 << 22
"""Elements of an expanded array."""


def expanded(nest: Nest) -> Nest:
    """A nest without parameters, in which temporaries keep no loop in order."""
    made = _Expansion(nest)
    return replace(nest, body=tuple(made.nodes(nest.body, ())), storage=(*nest.storage, *made.storage))


class _Expansion:
    def __init__(self, nest: Nest) -> None:
        self.nest, self.dependences, self.known = nest, Dependences(nest), ranges(nest.body)
        self.taken = {s.name for s in nest.storage} | set(loops(nest.body))
        self.storage: list[Storage] = []

    def nodes(self, nodes: Sequence[Node], path: tuple[Loop, ...]) -> Iterator[Node]:
        """Outer loops first; what stands in conditions is left."""
        for node in nodes:
            if not isinstance(node, Loop):
                yield node
                continue
            names = self.temporaries(node, path)
            if names:
                yield from self.expand(node, names)
            elif self.dependences.carried(node.name, private(self.nest, [*path, node])) is None:
                yield node
            else:
                yield replace(node, body=tuple(self.nodes(node.body, (*path, node))))

    def temporaries(self, loop: Loop, path: tuple[Loop, ...]) -> tuple[str, ...]:
        """The arrays that alone keep the loop in order; none where others do, too."""
        low, high = self.known[loop.name]
        own = private(self.nest, [*path, loop])
        if high - low + 1 < _FEWEST or self.dependences.carried(loop.name, own) is None:
            return ()
        written = dict.fromkeys(a.target.name for a in all_assignments(loop.body) if a.target.index)
        found = [name for name in written if self.is_temporary(name, loop, path)]
        if self.dependences.carried(loop.name, own | set(found)) is not None:
            return ()
        needed = [n for n in found if self.dependences.carried(loop.name, own | (set(found) - {n})) is not None]
        sizes = [(high - low + 1) * prod(e.constant for e in self.nest[name].shape) for name in needed]
        return tuple(needed) if all(size <= _MOST for size in sizes) else ()

    def is_temporary(self, name: str, loop: Loop, path: tuple[Loop, ...]) -> bool:
        inside = [s for s in self.dependences.statements if loop.name in s.loops]
        writers = [s for s in inside if s.assign.target.name == name]
        readers = [(s, read) for s in inside for read in accesses(s.assign.value) if read.name == name]
        if not all(_is_covered(reader, read, writers, loop.name) for reader, read in readers):
            return False
        return not self.is_live(name, loop) or (not path and self.is_whole(name, loop, writers))

    def is_live(self, name: str, loop: Loop) -> bool:
        """Whether somebody may read what the loop leaves in the array."""
        others = [s for s in self.dependences.statements if loop.name not in s.loops]
        reads = any(read.name == name for s in others for read in accesses(s.assign.value))
        return reads or self.nest[name].role == "argument"

    def is_whole(self, name: str, loop: Loop, writers: Sequence[Statement]) -> bool:
        """Whether each iteration of the loop, which has constant bounds, writes all of the array."""
        if not all(end.is_constant for end in (*loop.lower, *loop.upper)):
            return False
        at = tuple(hidden(n) for n in range(len(self.nest[name].shape)))
        places = (loop.name, *at)
        found = isl.Set.empty(to_set(Condition((Polyhedron(),)), places, ()).get_space())
        for s in writers:
            inner = [d for d in s.loops if d != loop.name]
            same = [e for a, i in zip(at, s.assign.target.index, strict=True) for e in _equal(Affine.symbol(a), i)]
            pieces = tuple(Polyhedron((*piece.constraints, *same)) for piece in s.domain.pieces)
            points = to_set(Condition(pieces), (*places, *inner), ())
            found = found.union(_first(points, len(places)))
        extents = {**dict(zip(at, (e.constant for e in self.nest[name].shape), strict=True))}
        low, high = self.known[loop.name]
        limits = [Affine.symbol(loop.name) - low, -Affine.symbol(loop.name) + high]
        limits += [c for a, n in extents.items() for c in (Affine.symbol(a), -Affine.symbol(a) + (n - 1))]
        whole = to_set(Condition((Polyhedron(tuple(limits)),)), places, ())
        return bool(whole.is_subset(found))

    def expand(self, loop: Loop, names: tuple[str, ...]) -> Iterator[Node]:
        low, high = self.known[loop.name]
        copies = {name: fresh(name, self.taken, dotted) for name in names}
        for name, copy in copies.items():
            of = self.nest[name]
            self.storage.append(Storage(copy, of.dtype, (Affine((), high - low + 1), *of.shape), "local"))
        own = Affine.symbol(loop.name) - low
        yield replace(loop, body=_renamed(loop.body, copies, own))
        last = Affine((), high - low if loop.step > 0 else 0)
        for name, copy in copies.items():
            if self.is_live(name, loop):
                yield self.back(name, copy, last, loop)

    def back(self, name: str, copy: str, last: Affine, loop: Loop) -> Node:
        """What the last iteration has left."""
        dims = [fresh(f"{loop.name}_{name}", self.taken, dotted) for _ in self.nest[name].shape]
        at = tuple(map(Affine.symbol, dims))
        node: Node = Assign(f"{name}.last", Reference(name, at), Reference(copy, (last, *at)), loop.span)
        for dim, extent in reversed(list(zip(dims, self.nest[name].shape, strict=True))):
            node = Loop(dim, (Affine((), 0),), (extent,), (node,), span=loop.span)
        return node


def _is_covered(reader: Statement, read: Reference, writers: Sequence[Statement], loop: str) -> bool:
    """Whether an iteration of `loop` has written every element before it reads it."""
    points = to_set(reader.domain, reader.loops, ())
    for writer in writers:
        points = points.subtract(_written_before(reader, read, writer, loop))
        if points.is_empty():
            return True
    return bool(points.is_empty())


def _written_before(reader: Statement, read: Reference, writer: Statement, loop: str) -> isl.Set:
    """The instances of a reader whose element an instance of the writer in the same iteration has written before."""
    shared = reader.loops.index(loop) + 1
    common = shared
    while reader.loops[: common + 1] == writer.loops[: common + 1] and common < len(reader.loops):
        common += 1
    own = {name: Affine.symbol(hidden(f"written_{name}")) for name in writer.loops[shared:]}
    target = [index.substitute(own) for index in writer.assign.target.index]
    same = [c for a, b in zip(read.index, target, strict=True) for c in _equal(a, b)]
    orders = list[list[Affine]]()
    equal = list[Affine]()
    for level in range(shared, common):
        name, (_, _, step) = reader.loops[level], reader.order[level]
        here, there = Affine.symbol(name), own[name]
        orders.append([*equal, (here - there) * step - 1])
        equal += _equal(here, there)
    if writer.order[common][0] < reader.order[common][0]:
        orders.append(equal)
    dims = (*reader.loops, *(next(iter(own[name].symbols)) for name in writer.loops[shared:]))
    pieces = tuple(
        Polyhedron((*one.constraints, *other.substitute(own).constraints, *same, *order))
        for one in reader.domain.pieces
        for other in writer.domain.pieces
        for order in orders
    )
    return _first(to_set(Condition(pieces), dims, ()), len(reader.loops))


def _first(points: isl.Set, count: int) -> isl.Set:
    """Without the dimensions behind the first ones."""
    return points.project_out(isl.dim_type.set, count, points.dim(isl.dim_type.set) - count)


def _equal(one: Affine, other: Affine) -> list[Affine]:
    return [one - other, other - one]


def _renamed(nodes: Sequence[Node], copies: dict[str, str], own: Affine) -> tuple[Node, ...]:
    """With the expanded arrays."""

    def reference(r: Reference) -> Reference:
        return replace(r, name=copies[r.name], index=(own, *r.index)) if r.name in copies else r

    def value(v: Expression) -> Expression:
        if isinstance(v, Apply):
            return replace(v, operands=tuple(map(value, v.operands)))
        return reference(v) if isinstance(v, Reference) else v

    def node(n: Node) -> Node:
        match n:
            case Assign():
                return replace(n, target=reference(n.target), value=value(n.value))
            case Loop():
                return replace(n, body=tuple(map(node, n.body)))
            case If():
                return replace(n, body=tuple(map(node, n.body)), orelse=tuple(map(node, n.orelse)))

    return tuple(map(node, nodes))
