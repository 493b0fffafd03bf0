# SPDX-License-Identifier: Apache-2.0
"""Depths of feedback and input registers: the greatest number of tokens that are ever in them (docs: Mapping to time).

A token is in its FIFO for the slack of its use, so the occupancy is the greatest number of the reader's iterations in
slack // pi + 1 consecutive steps: `stepping.window`, exact for a box. Where the iterations are no box, or a register
serves uses of different slack, the reads of a short tile are replayed. In longer ones the windows on the disjoint
boxes, summed, or on their hull, if that is less, bound the occupancy from above.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod

import numpy as np
from tests.targets.tcpa.instantiate.oracle import stepping
from tests.targets.tcpa.instantiate.oracle.choose import Timing, slack
from tests.targets.tcpa.instantiate.oracle.classes import Traffic

from polyloom.diagnostics import infeasible
from polyloom.targets.tcpa.words.concrete import ConvexSet, Domain
from polyloom.targets.tcpa.words.isa import File, Register
from polyloom.targets.tcpa.words.symbolic import Kind
from polyloom.targets.tcpa.words.syntax_tree import Piece

_REPLAYED = 1 << 18
"""Steps of the longest tile that is replayed."""


@dataclass(frozen=True, slots=True)
class _Reads:
    """Reads of one FIFO at offset `tau` in the steps of `domain`, of values that are there for `slack` cycles."""

    tau: int
    slack: int
    domain: Domain


@dataclass(frozen=True, slots=True)
class _Reader:
    """What pops a FIFO: at offset `tau` in the iterations of `piece`, values that are there for `slack` cycles."""

    tau: int
    slack: int
    piece: Piece


def _readers(traffic: Traffic, timing: Timing) -> Iterator[tuple[Register, _Reader]]:
    tiling = traffic.tiles.tiling
    candidate, symbolic, tau = tiling.candidate, tiling.symbolic, tiling.schedule.tau
    for u, links in enumerate(candidate.links):
        for link in links:
            if link.kind is not Kind.GENERAL and symbolic.uses[u].writers:
                channel = link.kind is Kind.CHANNEL
                register = (
                    Register(File.IO, candidate.routes[link.register].input)
                    if channel
                    else Register(File.FD, link.register)
                )
                cycles = slack(tiling, timing.inner, timing.outer, u, link)
                yield register, _Reader(tau[symbolic.uses[u].consumer], cycles, traffic.reads(u, link))
    for i, register in zip(symbolic.inputs, candidate.input_registers, strict=True):
        yield Register(File.IO, register), _Reader(tau[i.consumer], 0, Piece(symbolic.nodes[i.consumer].condition))


class Depths:
    """The depths of all FIFOs of a tiling, by group of tiles."""

    def __init__(self, traffic: Traffic, timing: Timing) -> None:
        self._tiles = traffic.tiles
        self._interval = traffic.tiles.tiling.schedule.initiation_interval
        self._readers: dict[Register, list[_Reader]] = {}
        for register, reader in _readers(traffic, timing):
            self._readers.setdefault(register, []).append(reader)
        self._alike = {
            register: self._tiles.agreement(r.piece.condition for r in readers)
            for register, readers in self._readers.items()
        }
        self._known: dict[tuple[Register, int], int] = {}
        self._depths: dict[tuple[_Reads, ...], int] = {}

    def of_class(self, groups: tuple[int, ...]) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """(depths of fd, depths of id) that suffice in all tiles of `groups`; PL0511 beyond the machine's."""
        needed = {
            register: depth for register in self._readers if (depth := max(self._of_group(register, g) for g in groups))
        }
        limit = self._tiles.tiling.symbolic.limits.fifo_depth
        for register, depth in needed.items():
            if limit is not None and depth > limit:
                name = f"{'fd' if register.file is File.FD else 'id'}{register.index}"
                message = f"{name} must hold {depth} tokens, the machine's FIFOs hold {limit}"
                raise infeasible(
                    "PL0511",
                    message,
                    help=f"use a machine with fifo_depth = {depth}, or smaller tiles (a larger region)",
                )
        return _listed(needed, File.FD), _listed(needed, File.IO)

    def _of_group(self, register: Register, group: int) -> int:
        key = register, self._alike[register][group]
        if key not in self._known:
            reads: dict[tuple[int, int], list[ConvexSet]] = {}
            for r in self._readers[register]:
                if sets := self._tiles.piece(r.piece, group):
                    reads.setdefault((r.tau, r.slack), []).extend(sets)
            self._known[key] = self._depth(
                tuple(_Reads(tau, cycles, self._tiles.union(sets)) for (tau, cycles), sets in reads.items())
            )
        return self._known[key]

    def _depth(self, uses: tuple[_Reads, ...]) -> int:
        if uses not in self._depths:
            self._depths[uses] = self._occupancy(uses) if uses else 0
        return self._depths[uses]

    def _occupancy(self, uses: tuple[_Reads, ...]) -> int:
        extents = self._tiles.tiling.extents
        boxes = len(uses) == 1 and len(uses[0].domain) == 1 and not uses[0].domain[0].half_spaces
        if not boxes and prod(extents) <= _REPLAYED:
            return self._replay(uses)
        total = 0
        for u in uses:
            steps = u.slack // self._interval + 1
            total += min(
                sum(stepping.window(s, steps, extents) for s in u.domain),
                stepping.window(stepping.hull(u.domain), steps, extents),
            )
        return total

    def _replay(self, uses: tuple[_Reads, ...]) -> int:
        """A token is there from its arrival to its pop, both inclusive; the most are there when one arrives."""
        pops = [stepping.steps_in(u.domain, self._tiles.tiling.extents) * self._interval + u.tau for u in uses]
        arrivals = np.sort(np.concatenate([p - u.slack for p, u in zip(pops, uses, strict=True)]))
        present = np.searchsorted(arrivals, arrivals, side="right") - np.searchsorted(
            np.sort(np.concatenate(pops)), arrivals, side="left"
        )
        return int(present.max())


def _listed(depths: dict[Register, int], file: File) -> tuple[int, ...]:
    found = {r.index: d for r, d in depths.items() if r.file is file}
    return tuple(found.get(i, 0) for i in range(max(found, default=-1) + 1))
