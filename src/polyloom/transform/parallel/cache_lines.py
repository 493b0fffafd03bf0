# SPDX-License-Identifier: Apache-2.0
"""Footprints in cache lines (Ferrante, Sarkar and Thrash 1991): which lines which worker touches in a work, as sets of
integer points, and whether what one worker does there is seen by another one: decided by isl at the nest's sizes.

A point has the iteration of the loops that all workers go through, the worker, and the line: its row's subscripts, and
the number of the line in the row, with everything else projected out. Where bounds of the shared loop are not constant,
any worker may have any iteration. Conditions are left out: they only make the sets smaller.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import islpy as isl

from polyloom.analysis.loop_ranges import constant_bounds
from polyloom.ir.nest import Assign, If, Loop, Nest, Node, accesses, loop_nodes
from polyloom.ir.numbers import NUMPY
from polyloom.ir.pla import Reference
from polyloom.sets import Affine, Condition, Polyhedron
from polyloom.sets.isl import to_set
from polyloom.transform.parallel.machine import Machine
from polyloom.transform.parallel.work_sharing import Work

Relation = Mapping[int, int]
"""By level of the loops around two works: 0 for the same iteration of both, or the direction in which the second one's
is a later one."""


class CacheLines:
    """Footprints of the works of a nest without parameters."""

    def __init__(self, nest: Nest, machine: Machine) -> None:
        self.nest, self.machine = nest, machine
        self.loops = {loop.name: loop for loop in loop_nodes(nest.body)}

    def written_line_crosses(self, one: Work, other: Work, name: str, apart: Sequence[Relation]) -> bool:
        """Whether a line of an array that one work writes is touched in the other by a worker with another cache;
        `apart` are the ways in which the other comes later.
        """
        return any(
            self._meets([(one, a), (other, b)], relation, sign)
            for a in self._references(one, name, writes=True)
            for b in self._references(other, name)
            for relation in apart
            # "Another cache" is a disjunction, less or greater, and each set is a conjunction.
            for sign in (-1, 1)
        )

    def keeps_stale_line(
        self,
        three: tuple[Work, Work, Work],
        name: str,
        first: Sequence[Relation],
        then: Sequence[Relation],
    ) -> bool:
        """Stale copy: whether a line that the first work reads is written in the second one by a worker with another
        cache, and is touched in the third one: by a worker with the cache of the first, where all have one second-level
        cache.
        """
        one, two, last = three
        pairs = [
            (a, b, relation)
            for a in self._references(one, name)
            for b in self._references(two, name, writes=True)
            for relation in first
            if any(self._meets([(one, a), (two, b)], relation, sign) for sign in (-1, 1))
        ]
        return any(
            self._meets([(one, a), (two, b), (last, c)], relation, sign, later)
            for a, b, relation in pairs
            for c in self._references(last, name)
            for later in then
            for sign in (-1, 1)
        )

    def covers_lines(self, one: Work, other: Work, name: str) -> bool:
        """Whether each worker touches in the other work, in the same iteration of all loops around both, all lines of
        an array that it touches in the first one.
        """
        if one.outer != other.outer or not self._has_known_owner(one) or not self._has_known_owner(other):
            return False
        rank = len(self.nest[name].shape)
        keep = [*(f"{loop}:0" for loop in one.outer), "worker:0", *_coordinates(rank)]
        first, second = (
            [self._lines(work, reference, 0) for reference in self._references(work, name)] for work in (one, other)
        )
        return all(
            any(_project_lines(mine, keep).is_subset(_project_lines(theirs, keep)) for theirs in second)
            for mine in first
        )

    # Sets

    def _meets(
        self,
        touches: Sequence[tuple[Work, Reference]],
        relation: Relation,
        sign: int,
        then: Relation | None = None,
    ) -> bool:
        """Whether the touches share a line under these relations of their iterations: emptiness of one set of
        integers.
        """
        constraints, dims = list[Affine](), list[str]()
        for n, (work, reference) in enumerate(touches):
            own, names = self._lines(work, reference, n)
            constraints += own
            dims += [name for name in names if name not in dims]
        for n, between in enumerate((relation, then)[: len(touches) - 1]):
            levels = touches[n][0].outer
            for level, direction in (between or {}).items():
                step = _symbol(levels[level], n + 1) - _symbol(levels[level], n)
                constraints += [step * direction - 1] if direction else [step, -step]
        caches = [Affine.symbol(f"cache:{n}") for n in range(len(touches))]
        constraints.append((caches[1] - caches[0]) * sign - 1)
        # With one second-level cache, only the first-level copy of the first reader can be old.
        if len(touches) > 2 and self.machine.has_common_cache:
            constraints += [caches[2] - caches[0], caches[0] - caches[2]]
        return not to_set(Condition((Polyhedron(tuple(constraints)),)), dims, ()).is_empty()

    def _lines(self, work: Work, reference: Reference, n: int) -> tuple[list[Affine], list[str]]:
        """Conditions on the iterations, the worker, its cache, and the line, which all touches share; all names."""
        loops = [*work.outer, *(loop for loop, _ in self._inner_loops(work, reference))]
        own = {loop: _symbol(loop, n) for loop in loops}
        made = list[Affine]()
        for name in loops:
            loop = self.loops[name]
            made += [own[name] - low.substitute(own) for low in loop.lower]
            made += [high.substitute(own) - own[name] - 1 for high in loop.upper]
        worker, cache, sharers = Affine.symbol(f"worker:{n}"), Affine.symbol(f"cache:{n}"), self.machine.sharers
        made += [worker, -worker + (self.machine.workers - 1)]
        # cache = worker div sharers, as two inequalities: divisions by constants are linear over the integers.
        made += [worker - cache * sharers, cache * sharers + sharers - 1 - worker]
        made += self._owner(work, own, worker)
        index = [i.substitute(own) for i in reference.index]
        lines = [Affine.symbol(name) for name in _coordinates(len(index))]
        for at, line in zip(index[:-1], lines[:-1], strict=True):
            made += [at - line, line - at]
        if index:
            elements = self.machine.line // NUMPY[self.nest[reference.name].dtype].itemsize
            made += [index[-1] - lines[-1] * elements, lines[-1] * elements + elements - 1 - index[-1]]
        names = [next(iter(symbol.symbols)) for symbol in own.values()]
        return made, [*names, f"worker:{n}", f"cache:{n}", *_coordinates(len(index))]

    def _has_known_owner(self, work: Work) -> bool:
        """Whether it is known which worker has which iteration."""
        return work.loop is None or constant_bounds(work.loop) is not None

    def _owner(self, work: Work, own: Mapping[str, Affine], worker: Affine) -> list[Affine]:
        """Conditions for which worker has an iteration: blocks of one size, the first one where a unit begins; the last
        ones may be shorter.
        """
        loop, blocks = work.loop, work.blocks
        if loop is None or blocks is None:
            return [-worker]
        if (bounds := constant_bounds(loop)) is None:
            return []
        low, high = bounds
        start = low - (low - blocks.offset) % blocks.unit
        units = -(-(high - start) // blocks.unit)
        each = max(-(-units // self.machine.workers) * blocks.unit, 1)
        return [own[loop.name] - start - worker * each, worker * each + start + each - 1 - own[loop.name]]

    def _references(self, work: Work, name: str, *, writes: bool = False) -> list[Reference]:
        """References of a work to an array, each object once."""
        found = list[Reference]()
        for assign, _ in _assignments_with_loops(work.nodes, ()):
            found += [assign.target] if assign.target.name == name else []
            found += [] if writes else [r for r in accesses(assign.value) if r.name == name]
        return list({id(r): r for r in found}.values())

    def _inner_loops(self, work: Work, reference: Reference) -> list[tuple[str, int]]:
        for assign, loops in _assignments_with_loops(work.nodes, ()):
            if any(reference is r for r in (assign.target, *accesses(assign.value))):
                return [(loop.name, loop.step) for loop in loops]
        raise AssertionError("the reference is one of the work")


def _project_lines(lines: tuple[list[Affine], list[str]], keep: Sequence[str]) -> isl.Set:
    constraints, names = lines
    others = [name for name in names if name not in keep]
    made = to_set(Condition((Polyhedron(tuple(constraints)),)), [*keep, *others], ())
    return made.project_out(isl.dim_type.set, len(keep), len(others))


def _symbol(loop: str, n: int) -> Affine:
    return Affine.symbol(f"{loop}:{n}")


def _coordinates(rank: int) -> list[str]:
    return [f"line:{n}" for n in range(rank)]


def _assignments_with_loops(
    nodes: Sequence[Node], loops: tuple[Loop, ...]
) -> Iterator[tuple[Assign, tuple[Loop, ...]]]:
    """Assignments with the loops of `nodes` around them."""
    for node in nodes:
        match node:
            case Assign():
                yield node, loops
            case Loop():
                yield from _assignments_with_loops(node.body, (*loops, node))
            case If():
                yield from _assignments_with_loops((*node.body, *node.orelse), loops)
