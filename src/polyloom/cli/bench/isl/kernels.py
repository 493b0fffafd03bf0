# SPDX-License-Identifier: Apache-2.0
"""Folding, kernel classes and control flow graphs (section 6.1: Algorithms 2 and 3).

Algorithm 3 as printed gives the iterations that a branch leads to; a branch reads the signals of the iteration that it
is taken in, as in Figure 7, so a transition space here is that of its sources. The epilogue takes the same number of
steps in all tiles.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import islpy as isl

from polyloom.cli.bench.isl.classes import Fragment, Operation, partition
from polyloom.cli.bench.isl.tiles import IN, OUT, box
from polyloom.targets.tcpa.words.isa import UNUSED, Instruction, Register

Kernel = tuple[Instruction, ...]


@dataclass(frozen=True, slots=True)
class Graph:
    """Nodes with their kernels; `edges[v]` maps successors to transition spaces; `start` is the first iteration's."""

    kernels: tuple[Kernel, ...]
    edges: tuple[dict[int, isl.Set], ...]
    start: int


class Scan:
    """The successor maps of a tile's iterations in the order of the schedule; beyond the last one the outermost digit
    runs on."""

    def __init__(self, interval: int, extents: Sequence[int]) -> None:
        self.interval = interval
        self.tile = box(extents)
        self.last = reduce(lambda s, g: s.fix_val(isl.dim_type.set, g, extents[g] - 1), range(len(extents)), self.tile)
        self.first = reduce(lambda s, g: s.fix_val(isl.dim_type.set, g, 0), range(len(extents)), self.tile)
        self._powers = [isl.Map.identity(self.tile.get_space().map_from_set()), _successor(extents)]
        self.predecessor = self._powers[1].reverse()

    def later(self, domain: isl.Set, steps: int) -> isl.Set:
        """succ(domain, steps)."""
        while len(self._powers) <= steps:
            self._powers.append(self._powers[-1].apply_range(self._powers[1]).coalesce())
        return domain.apply(self._powers[steps]).coalesce() if steps else domain


def _successor(extents: Sequence[int]) -> isl.Map:
    """The digits below some digit go from their last values to 0, and that one is incremented."""
    n = len(extents)
    space = isl.Space.alloc(isl.DEFAULT_CONTEXT, 0, n, n)
    # Lexicographic successor within the tile: one piece per dimension that counts up while the inner ones return to 0.
    carries: list[isl.Map] = []
    for g in range(n):
        step = (
            isl.Constraint.equality_alloc(isl.LocalSpace.from_space(space))
            .set_coefficient_val(IN, g, 1)
            .set_coefficient_val(OUT, g, -1)
        )
        carry = isl.Map.universe(space).add_constraint(step.set_constant_val(1))
        for h, extent in enumerate(extents):
            if h < g:
                carry = carry.fix_val(IN, h, extent - 1).fix_val(OUT, h, 0)
            elif h > g:
                carry = carry.equate(IN, h, OUT, h)
            carry = carry.lower_bound_val(IN, h, 0)
            if h < n - 1:
                carry = carry.upper_bound_val(IN, h, extent - 1).upper_bound_val(OUT, h, extent - 1)
        carries.append(carry)
    return reduce(isl.Map.union, carries)


def control_flow(scan: Scan, operations: Sequence[Operation], domains: Sequence[isl.Set]) -> Graph:
    """The graph of one functional unit of one class."""
    # Iterations with the same set of issued operations form a kernel class (Algorithm 2); edges go to the class of the
    # next iteration.
    folded = _Folded(scan, operations)
    classes = partition(folded.steps, folded.conditions(domains))
    nodes: dict[tuple[Kernel, bool], isl.Set] = {}
    for steps, held in classes:
        key = folded.kernel(held), folded.halts(held)
        nodes[key] = nodes[key].union(steps).coalesce() if key in nodes else steps
    spaces = list(nodes.values())
    sources = [q.apply(scan.predecessor).coalesce() for q in spaces]
    edges: list[dict[int, isl.Set]] = []
    for here in spaces:
        taken = ((w, here.intersect(source)) for w, source in enumerate(sources))
        edges.append({w: t.coalesce() for w, t in taken if not t.is_empty()})
    start = next(v for v, q in enumerate(spaces) if not q.is_disjoint(scan.first))
    return Graph(tuple(kernel for kernel, _ in nodes), tuple(edges), start)


class _Folded:
    """Algorithm 2: an operation at offset tau is in slot tau mod pi of the kernel floor(tau / pi) iterations later."""

    def __init__(self, scan: Scan, operations: Sequence[Operation]) -> None:
        self._scan, self._operations = scan, operations
        epilogue = max(o.tau for o in operations) // scan.interval
        self.steps = reduce(
            isl.Set.union, (scan.later(scan.last, n) for n in range(1, epilogue + 1)), scan.tile
        ).coalesce()
        self._end = scan.later(scan.last, epilogue)
        self._bit: dict[tuple[int, int], int] = {}
        for o in operations:
            for domain in (o.domain, *(f.domain for f in o.fragments)):
                self._bit.setdefault((domain, o.tau // scan.interval), len(self._bit))

    def conditions(self, domains: Sequence[isl.Set]) -> list[isl.Set]:
        """The distinct folded condition spaces, and the last step, which halts."""
        return [*(self._scan.later(domains[d], n) for d, n in self._bit), self._end]

    def halts(self, held: int) -> bool:
        return bool(held >> len(self._bit))

    def kernel(self, held: int) -> Kernel:
        """The instructions that remain where exactly the conditions `held` hold."""
        slots = [Instruction()] * self._scan.interval
        for o in self._operations:
            ahead = o.tau // self._scan.interval
            if held >> self._bit[o.domain, ahead] & 1:
                slots[o.tau % self._scan.interval] = _instruction(
                    o, [f for f in o.fragments if held >> self._bit[f.domain, ahead] & 1]
                )
        return tuple(slots)


def _instruction(o: Operation, fragments: Sequence[Fragment]) -> Instruction:
    written = tuple(f.source for f in fragments if f.position is None and isinstance(f.source, Register))
    read = sorted((f for f in fragments if f.position is not None), key=lambda f: f.position or 0)
    return Instruction(
        o.opcode, written, tuple(f.source if written or isinstance(f.source, Register) else UNUSED for f in read)
    )
