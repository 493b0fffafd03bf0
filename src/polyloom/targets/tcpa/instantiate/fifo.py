# SPDX-License-Identifier: Apache-2.0
"""Depths of feedback and input registers: the greatest number of tokens that are ever in them (docs: Mapping to time).

A token is in its FIFO for the slack of its use, so the occupancy is the greatest number of the reader's iterations in
slack // pi + 1 consecutive steps: `digits.window`, exact for a box. Where the iterations are no box, or a register serves uses
of different slack, the reads of a short tile are replayed. In longer ones the windows on the disjoint boxes, summed, or on
their hull, if that is less, bound the occupancy from above.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod

import numpy as np

from polyloom.diagnostics import infeasible
from polyloom.targets.tcpa import digits
from polyloom.targets.tcpa.concrete import ConvexSet, Domain
from polyloom.targets.tcpa.instantiate.choose import Timing, slack
from polyloom.targets.tcpa.instantiate.classes import Traffic
from polyloom.targets.tcpa.isa import File, Register
from polyloom.targets.tcpa.symbolic import Kind, Link

_REPLAYED = 1 << 18
"""Steps of the longest tile that is replayed."""


@dataclass(frozen=True, slots=True)
class _Reads:
    """Reads of one FIFO at offset `tau` in the steps of `domain`, of values that are there for `slack` cycles."""

    tau: int
    slack: int
    domain: Domain


class Depths:
    """The depths of all FIFOs of a tiling, by group of tiles."""

    def __init__(self, traffic: Traffic, timing: Timing) -> None:
        self._traffic = traffic
        self._tiling = traffic.tiles.tiling
        self._interval = self._tiling.schedule.initiation_interval
        self._readers = list(self._list_readers(timing))
        self._known: dict[int, dict[Register, int]] = {}
        self._depths: dict[tuple[_Reads, ...], int] = {}

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
            by_register: dict[Register, list[_Reads]] = {}
            for (register, tau, cycles), sets in reads.items():
                by_register.setdefault(register, []).append(_Reads(tau, cycles, tiles.union(sets)))
            self._known[group] = {register: self._depth(tuple(uses)) for register, uses in by_register.items()}
        return self._known[group]

    def _depth(self, uses: tuple[_Reads, ...]) -> int:
        if uses not in self._depths:
            self._depths[uses] = self._occupancy(uses)
        return self._depths[uses]

    def _occupancy(self, uses: tuple[_Reads, ...]) -> int:
        extents = self._tiling.extents
        boxes = len(uses) == 1 and len(uses[0].domain) == 1 and not uses[0].domain[0].half_spaces
        if not boxes and prod(extents) <= _REPLAYED:
            return self._replay(uses)
        total = 0
        for u in uses:
            steps = u.slack // self._interval + 1
            total += min(sum(digits.window(s, steps, extents) for s in u.domain), digits.window(digits.hull(u.domain), steps, extents))
        return total

    def _replay(self, uses: tuple[_Reads, ...]) -> int:
        """A token is there from its arrival to its pop, both inclusive; the most are there when one arrives."""
        pops = [digits.steps_in(u.domain, self._tiling.extents) * self._interval + u.tau for u in uses]
        arrivals = np.sort(np.concatenate([p - u.slack for p, u in zip(pops, uses, strict=True)]))
        present = np.searchsorted(arrivals, arrivals, side="right") - np.searchsorted(np.sort(np.concatenate(pops)), arrivals, side="left")
        return int(present.max())


def _listed(depths: dict[Register, int], file: File) -> tuple[int, ...]:
    found = {r.index: d for r, d in depths.items() if r.file is file}
    return tuple(found.get(i, 0) for i in range(max(found, default=-1) + 1))
