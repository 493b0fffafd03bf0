# SPDX-License-Identifier: Apache-2.0
"""Array expansion (Feautrier, "Array expansion", 1988): temporaries that every iteration of a loop writes before it
reads them become arrays with an element for each iteration, so that the loop is parallel.

    for r: t[...] = ..., ... = t[...]   becomes   for r: t'[r, ...] = ..., ... = t'[r, ...]
                                                   t[...] = t'[last r, ...]

The last line stands there where somebody reads the array behind the loop; then each iteration must write all of it.
isl decides at the nest's sizes whether what an iteration reads is what it wrote before.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from math import prod
from typing import Final

import islpy as isl

from polyloom.analysis.loop_dependences import LoopDependences
from polyloom.analysis.loop_ranges import constant_bounds, loop_ranges
from polyloom.analysis.privatizable import privatizable
from polyloom.ir.nest import Assign, If, Loop, Nest, Node, Statement, Storage, accesses, assignments, taken_names
from polyloom.ir.nest_rewrite import Rewriter
from polyloom.ir.pla import Reference
from polyloom.names import dotted_name, fresh_name, hidden_name
from polyloom.sets import Affine, Condition, Polyhedron, equality
from polyloom.sets.isl import to_set
from polyloom.transform.pieces import with_loop_names
from polyloom.transform.writers import Writers

_FEWEST: Final = 4
"""Iterations for which copies are worth while."""
# 16 MiB of words: larger copies leave every cache, and may not find room in memory at all.
_MOST: Final = 1 << 22
"""Elements of an expanded array."""


def expand_arrays(nest: Nest) -> Nest:
    """Nest without parameters, in which temporaries keep no loop in order (Feautrier 1988)."""
    made = _Expansion(nest)
    return replace(nest, body=made.nodes(nest.body), storage=(*nest.storage, *made.storage))


class _Expansion(Rewriter):
    """Rewriter that expands arrays; `path` are the loops around the place that it has come to (mutable)."""

    def __init__(self, nest: Nest) -> None:
        self.nest, self.dependences, self.known = nest, LoopDependences(nest), loop_ranges(nest.body)
        self.taken, self.storage, self.path = taken_names(nest), list[Storage](), list[Loop]()

    def branch(self, node: If) -> Iterable[Node]:
        """Conditions are left as they are: an iteration may not execute their writes."""
        return (node,)

    def loop(self, node: Loop) -> Iterable[Node]:
        """Loops from the outside to the inside: the outermost one that can be made parallel gives workers the most."""
        if names := self.temporaries(node, tuple(self.path)):
            return self.expand(node, names)
        self.path.append(node)
        made = (node,) if self.dependences.parallel(self.path) else super().loop(node)
        self.path.pop()
        return made

    def temporaries(self, loop: Loop, path: tuple[Loop, ...]) -> tuple[str, ...]:
        """Arrays that alone keep the loop in order; none where others do, too."""
        low, high = self.known[loop.name]
        own = privatizable(self.nest, [*path, loop])
        if high - low + 1 < _FEWEST or self.dependences.carried_dependence(loop.name, own) is None:
            return ()
        written = dict.fromkeys(a.target.name for a in assignments(loop.body) if a.target.index)
        found = [name for name in written if self.is_temporary(name, loop, path)]
        # Expansion of some arrays would cost memory, and the loop would still not be parallel.
        if self.dependences.carried_dependence(loop.name, own | set(found)) is not None:
            return ()
        # A copy is made only of arrays without which a dependence remains.
        needed = [
            n for n in found if self.dependences.carried_dependence(loop.name, own | (set(found) - {n})) is not None
        ]
        sizes = [(high - low + 1) * prod(e.constant for e in self.nest[name].shape) for name in needed]
        return tuple(needed) if all(size <= _MOST for size in sizes) else ()

    def is_temporary(self, name: str, loop: Loop, path: tuple[Loop, ...]) -> bool:
        """Whether each iteration reads only what it wrote itself, and what it leaves is not read, or can be copied
        back.
        """
        inside = [s for s in self.dependences.statements if loop.name in s.loops]
        readers = [(s, read) for s in inside for read in accesses(s.assign.value) if read.name == name]
        if not all(self.reads_own_iteration(reader, read, len(path) + 1) for reader, read in readers):
            return False
        writers = [s for s in inside if s.assign.target.name == name]
        return not self.is_live(name, loop) or (not path and self.writes_whole_array(name, loop, writers))

    @cached_property
    def writers(self) -> Writers:
        return Writers.from_nest(self.nest)

    def reads_own_iteration(self, reader: Statement, read: Reference, depth: int) -> bool:
        """Whether the last write before each read is one of the same iteration of the `depth` loops outside
        (value-based dependences; Feautrier 1991).
        """
        rest = self.writers.pieces.set(reader.domain, reader.assign.name)
        for writer, relation in self.writers.reaching_writers(reader, read):
            if writer.loops[:depth] != reader.loops[:depth]:
                continue
            for n in range(depth):
                # Only pairs of writer and reader with equal counters of these loops count.
                relation = relation.equate(isl.dim_type.in_, n, isl.dim_type.out, n)
            rest = rest.subtract(with_loop_names(relation.domain(), reader.loops))
        return bool(rest.is_empty())

    def is_live(self, name: str, loop: Loop) -> bool:
        """Liveness behind the loop: whether somebody may read what the loop leaves in the array."""
        others = [s for s in self.dependences.statements if loop.name not in s.loops]
        reads = any(read.name == name for s in others for read in accesses(s.assign.value))
        return reads or self.nest[name].role == "argument"

    def writes_whole_array(self, name: str, loop: Loop, writers: Sequence[Statement]) -> bool:
        """Whether each iteration of the loop, which has constant bounds, writes all of the array."""
        if constant_bounds(loop) is None:
            return False
        at = tuple(hidden_name(n) for n in range(len(self.nest[name].shape)))
        # Hidden dimensions stand for the element, so that sets of different writers can be united.
        places = (loop.name, *at)
        found = isl.Set.empty(to_set(Condition((Polyhedron(),)), places, ()).get_space())
        for s in writers:
            inner = [d for d in s.loops if d != loop.name]
            same = [e for a, i in zip(at, s.assign.target.index, strict=True) for e in equality(Affine.symbol(a), i)]
            pieces = tuple(Polyhedron((*piece.constraints, *same)) for piece in s.domain.pieces)
            points = to_set(Condition(pieces), (*places, *inner), ())
            found = found.union(_leading_dimensions(points, len(places)))
        extents = {**dict(zip(at, (e.constant for e in self.nest[name].shape), strict=True))}
        low, high = self.known[loop.name]
        limits = [Affine.symbol(loop.name) - low, -Affine.symbol(loop.name) + high]
        limits += [c for a, n in extents.items() for c in (Affine.symbol(a), -Affine.symbol(a) + (n - 1))]
        whole = to_set(Condition((Polyhedron(tuple(limits)),)), places, ())
        return bool(whole.is_subset(found))

    def expand(self, loop: Loop, names: tuple[str, ...]) -> Iterator[Node]:
        """Loop on the copies, and behind it the last iteration's values of arrays that are live."""
        low, high = self.known[loop.name]
        copies = {name: fresh_name(name, self.taken, dotted_name) for name in names}
        for name, copy in copies.items():
            of = self.nest[name]
            self.storage.append(Storage(copy, of.dtype, (Affine((), high - low + 1), *of.shape), "local"))
        own = Affine.symbol(loop.name) - low
        yield replace(loop, body=_CopyReferences(copies, own).nodes(loop.body))
        last = Affine((), high - low if loop.step > 0 else 0)
        for name, copy in copies.items():
            if self.is_live(name, loop):
                yield self.copy_last_value(name, copy, last, loop)

    def copy_last_value(self, name: str, copy: str, last: Affine, loop: Loop) -> Node:
        """Loops that copy what the last iteration has left."""
        dims = [fresh_name(f"{loop.name}_{name}", self.taken, dotted_name) for _ in self.nest[name].shape]
        at = tuple(map(Affine.symbol, dims))
        own = fresh_name(f"{name}.last", self.taken, dotted_name)
        node: Node = Assign(own, Reference(name, at), Reference(copy, (last, *at)), loop.span)
        for dim, extent in reversed(list(zip(dims, self.nest[name].shape, strict=True))):
            node = Loop(dim, (Affine((), 0),), (extent,), (node,), span=loop.span)
        return node


def _leading_dimensions(points: isl.Set, count: int) -> isl.Set:
    """Projection on the first dimensions."""
    return points.project_out(isl.dim_type.set, count, points.dim(isl.dim_type.set) - count)


class _CopyReferences(Rewriter):
    """Rewriter of references to the copies of arrays, at the element of the iteration."""

    def __init__(self, copies: Mapping[str, str], iteration: Affine) -> None:
        self.copies, self.iteration = copies, iteration

    def reference(self, reference: Reference) -> Reference:
        copy = self.copies.get(reference.name)
        return reference if copy is None else replace(reference, name=copy, index=(self.iteration, *reference.index))
