# SPDX-License-Identifier: Apache-2.0
"""Software coherence: what a worker has to evict from its caches behind a work, and where workers have to wait for each
other (Cheong, Veidenbaum, "Compiler-directed cache management in multiprocessors", 1990).

What a work writes and a later one touches is evicted by its writer, who so makes it visible and forgets it. What it
reads, and a later work writes, and one later still touches, is evicted by its reader: its copy would be old. A
barrier stands where a work touches what one since the last barrier writes, or writes what that one touches. Works
inside a loop that all workers go through come after themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from polyloom.analysis.loop_ranges import Range, form_range
from polyloom.ir.nest import Loop, Nest, accesses, assignments
from polyloom.ir.numbers import NUMPY
from polyloom.ir.pla import Reference
from polyloom.sets import Affine
from polyloom.transform.parallel.cache_lines import CacheLines, Relation
from polyloom.transform.parallel.machine import Machine
from polyloom.transform.parallel.work_sharing import Item, Replicated, Work, walk_works

_PARTS: Final = 16
"""Extents of an access, at most: each is a loop of its own."""
FIRST, LAST = "@first", "@last"
"""The ends of a worker's block, in the forms of extents."""
# The tests take triples of works, so their number grows with the third power.
_MOST: Final = 12
"""Works of a nest, beyond which whole arrays decide."""


class Coherence:
    """Coherence of the works of a nest without parameters: which can come after which, and what they have to evict."""

    def __init__(self, items: Sequence[Item], nest: Nest, machine: Machine) -> None:
        self.all = list(walk_works(items))
        self.lines = CacheLines(nest, machine)
        self.after: dict[Work, list[Work]] = {}
        self.behind: dict[Work, list[Work]] = {}
        """The works of the same body behind one."""
        self._follow(list(items), [])

    def _follow(self, items: list[Item], later: list[Work]) -> None:
        """Successors of each work, in program order; inside of a loop its works also come after themselves."""
        for n, item in enumerate(items):
            rest = [*walk_works(items[n + 1 :]), *later]
            if isinstance(item, Work):
                self.after[item] = rest
                self.behind[item] = [other for other in items[n + 1 :] if isinstance(other, Work)]
            else:
                again = list(walk_works([item])) if isinstance(item.node, Loop) else []
                self._follow(list(item.body), [*again, *rest])
                self._follow(list(item.orelse), [*again, *rest])

    def evictions(self, work: Work) -> frozenset[str]:
        """Arrays whose lines the workers of a work do not keep."""
        return frozenset(
            n for n in self._candidates(work) if self._needs_eviction(work, n) and not self._has_later_eviction(work, n)
        )

    def _candidates(self, work: Work) -> frozenset[str]:
        """Candidates by whole arrays: written here and touched later, or touched here, written later and touched
        again.
        """
        written = {
            name
            for later in self.after[work]
            for name in later.touched_arrays() & work.written_arrays()
            if not has_one_owner(work, later, name)
        }
        read = {
            name
            for later in self.after[work]
            for name in later.written_arrays() & work.touched_arrays()
            if not has_one_owner(work, later, name) and any(name in last.touched_arrays() for last in self.after[later])
        }
        return frozenset(written | read)

    def _needs_eviction(self, work: Work, name: str) -> bool:
        """Test of a candidate by cache lines."""
        # Evicting too much costs time and is never wrong.
        if len(self.all) > _MOST:
            return True
        others = [other for other in dict.fromkeys(self.after[work]) if name in other.touched_arrays()]
        if name in work.written_arrays() and any(
            self.lines.written_line_crosses(work, other, name, self._relations(work, other)) for other in others
        ):
            return True
        return any(
            self.lines.keeps_stale_line(
                (work, other, last), name, self._relations(work, other), self._relations(other, last)
            )
            for other in others
            if name in other.written_arrays()
            for last in dict.fromkeys(self.after[other])
            if name in last.touched_arrays()
        )

    def _has_later_eviction(self, work: Work, name: str) -> bool:
        """Whether each worker evicts the same lines behind another work of the same body, before anyone else asks. Then
        an eviction here would only empty the cache for that work.
        """
        other = next((other for other in self.behind[work] if name in other.touched_arrays()), None)
        if other is None or len(self.all) > _MOST or not self.lines.covers_lines(work, other, name):
            return False
        same: Relation = dict.fromkeys(range(len(work.outer)), 0)
        pairs = ((one, two) for one, two in ((work, other), (other, work)) if name in one.written_arrays())
        return not any(
            self.lines.written_line_crosses(*pair, name, [same]) for pair in pairs
        ) and name in self.evictions(other)

    def _relations(self, one: Work, other: Work) -> list[Relation]:
        """Relations of iterations in which the other work comes later: by one of the common loops, or by program order
        in the same iteration.
        """
        common = 0
        while common < min(len(one.outer), len(other.outer)) and one.outer[common] == other.outer[common]:
            common += 1
        steps = [self.lines.loops[loop].step for loop in one.outer[:common]]
        made: list[Relation] = [{**dict.fromkeys(range(k), 0), k: steps[k]} for k in range(common)]
        if self.all.index(other) > self.all.index(one):
            made.append(dict.fromkeys(range(common), 0))
        return made


def has_one_owner(one: Work, other: Work, name: str) -> bool:
    """Owner computes: whether each worker touches the same part of an array in both: worker 0 alone in both, or blocks
    that are cut alike and that one subscript chooses, whatever the iteration of loops around.
    """
    if one.loop is None or other.loop is None:
        return one.loop is other.loop
    if (one.blocks, one.loop.lower, one.loop.upper) != (other.blocks, other.loop.lower, other.loop.upper):
        return False
    if any(not end.is_constant for end in (*one.loop.lower, *one.loop.upper)):
        return False
    # The shared loops may have different names; one symbol makes their subscripts comparable.
    common = Affine.symbol(FIRST)
    indices = [
        tuple(i.substitute({work.loop.name: common}) for i in reference.index)
        for work in (one, other)
        if work.loop is not None
        for assign in assignments(work.nodes)
        for reference in (assign.target, *accesses(assign.value))
        if reference.name == name
    ]
    return any(len(set(along)) == 1 and along[0].symbols == {FIRST} for along in zip(*indices, strict=True))


def is_conflict(one: Work, other: Work) -> bool:
    """Race: whether workers may not go on to one work while others are at the other."""
    shared = one.written_arrays() & other.touched_arrays() | other.written_arrays() & one.touched_arrays()
    return any(not has_one_owner(one, other, name) for name in shared)


@dataclass(frozen=True, slots=True)
class Extent:
    """Bytes of an array that a worker touches, from `first` up to and with `last`: forms of loops around the work, and
    of the first and last iteration of its block.
    """

    first: Affine
    last: Affine


def touched_extents(
    work: Work, names: frozenset[str], nest: Nest, address: Callable[[Reference], Affine], known: Mapping[str, Range]
) -> list[Extent]:
    """Extents of arrays, those that overlap or nearly do joined; `address` is that of an element in bytes."""
    found: dict[tuple[str, Affine, Affine, int], Range] = {}
    for assign in assignments(work.nodes):
        for reference in (assign.target, *accesses(assign.value)):
            parts = _separate_parts(work, address(reference), known) if reference.name in names else ()
            for number, form in enumerate(parts):
                first, last, (begin, end) = _extent(work, form, known)
                end += NUMPY[nest[reference.name].dtype].itemsize - 1
                low, high = found.get((reference.name, first, last, number), (begin, end))
                found[reference.name, first, last, number] = min(low, begin), max(high, end)
    in_order = sorted(found.items(), key=lambda each: (each[0][0], str(each[0][1:]), each[1]))
    return [Extent(first + low, last + high) for (_, first, last, _), (low, high) in in_order]


def _separate_parts(work: Work, address: Affine, known: Mapping[str, Range]) -> Iterator[Affine]:
    """Addresses for each iteration of a loop inside whose steps are longer than all that the worker touches in one,
    such as rows of several matrices: one extent for all would be of lines that others own.
    """
    shared = work.loop.name if work.loop is not None else ""
    inner = {name: factor for name, factor in address.terms if name not in (*work.outer, FIRST, LAST)}
    far = max((name for name in inner if name != shared), key=lambda name: abs(inner[name]), default="")
    spans = {name: abs(factor) * (known[name][1] - known[name][0]) for name, factor in inner.items()}
    if not far or far not in known or known[far][1] - known[far][0] >= _PARTS:
        yield address
        return
    if sum(span for name, span in spans.items() if name != far) >= abs(inner[far]):
        yield address
        return
    for number in range(known[far][0], known[far][1] + 1):
        yield address.substitute({far: Affine((), number)})


def _extent(work: Work, address: Affine, known: Mapping[str, Range]) -> tuple[Affine, Affine, Range]:
    """Parts of the first and the last address that depend on loops, and the numbers to be added."""
    shared, rest = work.loop.name if work.loop is not None else "", dict(address.terms)
    outer = Affine.from_terms({name: rest.pop(name) for name in address.symbols & set(work.outer)})
    factor = rest.pop(shared, 0)
    # A falling subscript has its least address in the last iteration.
    ends = [Affine.symbol(end) * factor for end in ((FIRST, LAST) if factor > 0 else (LAST, FIRST))]
    return outer + ends[0], outer + ends[1], form_range(Affine.from_terms(rest, address.constant), known)


def place_barriers(items: Sequence[Item]) -> frozenset[Item | tuple[Replicated, str]]:
    """Barrier placement: in front of which items workers wait for each other; (loop, "end"): behind each of its
    iterations.
    """
    made: set[Item | tuple[Replicated, str]] = set()
    _pending_works(items, [], made)
    return frozenset(made)


def _pending_works(items: Sequence[Item], pending: list[Work], made: set[Item | tuple[Replicated, str]]) -> list[Work]:
    """Works that are not behind a barrier, after `items`; barriers are added to `made`."""
    for item in items:
        inside = [item] if isinstance(item, Work) else list(walk_works([item]))
        if any(is_conflict(one, other) for one in pending for other in inside):
            made.add(item)
            pending = []
        if isinstance(item, Work):
            pending = [*pending, item]
        elif isinstance(item.node, Loop):
            left = _pending_works(item.body, list(pending), made)
            # The end of an iteration is followed by the next one, which all works inside belong to.
            if any(is_conflict(one, other) for one in left for other in inside):
                made.add((item, "end"))
                left = []
            pending = [*pending, *(work for work in left if work not in pending)]
        else:
            branches = [_pending_works(branch, list(pending), made) for branch in (item.body, item.orelse)]
            # Which branch was taken is not known here, so both count.
            pending = list(dict.fromkeys([*branches[0], *branches[1]]))
    return pending
