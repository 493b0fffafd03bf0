# SPDX-License-Identifier: Apache-2.0
"""Depths of feedback and input registers: the greatest number of tokens that are ever in them (docs: Mapping to time).

A token is in its FIFO for the slack of its use, so the occupancy is the greatest number of the reader's iterations in
slack // pi + 1 consecutive steps (`digits.window`, exact for a box). Where a register serves uses of different slack, or the
iterations are no single box, the sum over the disjoint boxes, or the window on their hull if that is less, bounds it.
"""

from __future__ import annotations

from collections.abc import Iterator

from polyloom.diagnostics import infeasible
from polyloom.targets.tcpa import digits
from polyloom.targets.tcpa.concrete import ConvexSet
from polyloom.targets.tcpa.instantiate.choose import Timing, slack
from polyloom.targets.tcpa.instantiate.classes import Traffic
from polyloom.targets.tcpa.isa import File, Register
from polyloom.targets.tcpa.symbolic import Kind, Link

Readers = list[tuple[Register, int, int, "tuple[int, Link] | int"]]


class Depths:
    """The depths of all FIFOs of a tiling, by group of tiles."""

    def __init__(self, traffic: Traffic, timing: Timing) -> None:
        self._traffic = traffic
        self._tiling = traffic.tiles.tiling
        self._interval = self._tiling.schedule.initiation_interval
        self._readers = list(self._list_readers(timing))
        self._known: dict[int, dict[Register, int]] = {}

    def of_class(self, groups: tuple[int, ...]) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """(depths of fd, depths of id) that suffice in all tiles of `groups`; PL0511 beyond the machine's."""
        needed: dict[Register, int] = {}
        for group in groups:
            for register, depth in self._of_group(group).items():
                needed[register] = max(needed.get(register, 0), depth)
        limit = self._tiling.symbolic.limits.fifo_depth
        for register, depth in needed.items():
            if limit is not None and depth > limit:
                name = f"{'fd' if register.file is File.FD else 'id'}{register.index}"
                message = f"{name} must hold {depth} tokens, the machine's FIFOs hold {limit}"
                raise infeasible("PL0511", message, help=f"use a machine with fifo_depth = {depth}, or smaller tiles (a larger region)")
        return _listed(needed, File.FD), _listed(needed, File.IO)

    def _list_readers(self, timing: Timing) -> Iterator[tuple[Register, int, int, tuple[int, Link] | int]]:
        """(register, tau of the reader, slack, (use, link) or the condition of an input)."""
        tiling = self._tiling
        candidate, symbolic, tau = tiling.candidate, tiling.symbolic, tiling.schedule.tau
        for u, links in enumerate(candidate.links):
            for link in links:
                if link.kind is not Kind.GENERAL and symbolic.uses[u].writers:
                    channel = link.kind is Kind.CHANNEL
                    register = Register(File.IO, candidate.routes[link.register].input) if channel else Register(File.FD, link.register)
                    yield register, tau[symbolic.uses[u].consumer], slack(tiling, timing.inner, timing.outer, u, link), (u, link)
        for i, register in zip(symbolic.inputs, candidate.input_registers, strict=True):
            yield Register(File.IO, register), tau[i.consumer], 0, symbolic.nodes[i.consumer].condition

    def _of_group(self, group: int) -> dict[Register, int]:
        if group not in self._known:
            tiles = self._traffic.tiles
            reads: dict[tuple[Register, int, int], list[ConvexSet]] = {}
            for register, tau, cycles, where in self._readers:
                sets = tiles.condition(where, group) if isinstance(where, int) else tiles.piece(self._traffic.reads(*where), group)
                if sets:
                    reads.setdefault((register, tau, cycles), []).extend(sets)
            depths: dict[Register, int] = {}
            for (register, _, cycles), sets in reads.items():
                depths[register] = depths.get(register, 0) + self._occupancy(sets, cycles // self._interval + 1)
            self._known[group] = depths
        return self._known[group]

    def _occupancy(self, sets: list[ConvexSet], steps: int) -> int:
        extents = self._tiling.extents
        parts = digits.union(sets)
        return min(sum(digits.window(s, steps, extents) for s in parts), digits.window(digits.hull(parts), steps, extents))


def _listed(depths: dict[Register, int], file: File) -> tuple[int, ...]:
    found = {r.index: d for r, d in depths.items() if r.file is file}
    return tuple(found.get(i, 0) for i in range(max(found, default=-1) + 1))
