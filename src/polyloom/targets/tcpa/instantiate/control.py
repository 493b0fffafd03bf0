# SPDX-License-Identifier: Apache-2.0
"""Control signals: codes for branch targets, merged over all units and classes (paper section 6.2).

A kernel with n successors needs ceil(log2 n) partial signals: 1 in the transition sets of the successors whose code has that
bit, 0 in the others', don't-care in all other steps. Equal and complementary ones are one signal; the rest are merged by
greedy colouring, where two interfere if one must be 1 in a step in which the other must be 0. The global controller gets
the exact union of the merged signals' one-sets.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from polyloom.diagnostics import infeasible
from polyloom.targets.tcpa import digits
from polyloom.targets.tcpa.concrete import ConvexSet, Domain
from polyloom.targets.tcpa.instantiate.kernels import Graph
from polyloom.targets.tcpa.symbolic import Limits


@dataclass(frozen=True, slots=True)
class Branching:
    """Of one kernel: the global signals that it reads, ascending, and the code of every successor."""

    signals: tuple[int, ...]
    codes: dict[int, int]


Partial = tuple[Domain, Domain]
"""Where a signal must be 1 and where 0."""


def allocate(graphs: Sequence[Graph], limits: Limits) -> tuple[tuple[Domain, ...], list[dict[int, Branching]]]:
    """(one-domains of the global signals, branching by kernel of every graph). PL0513 and PL0514 where limits are exceeded."""
    palette = _Palette(limits.signal_sets)
    branchings = [{v: _branching(palette, edges) for v, edges in enumerate(g.edges) if len(edges) > 1} for g in graphs]
    signals = tuple(digits.union(on) for on in palette.colours)
    if limits.control_signals is not None and len(signals) > limits.control_signals:
        raise infeasible(
            "PL0513",
            f"{len(signals)} control signals are needed, the machine has {limits.control_signals}",
            help=f"use a machine with {len(signals)} control signals, or a region that divides the loop bounds",
        )
    for domain in signals:
        check_domain(domain, limits, "a control signal")
    return signals, branchings


def check_domain(domain: Domain, limits: Limits, owner: str) -> None:
    """PL0514 if a domain has more convex sets than the machine's, or half-spaces where it has none."""
    if limits.signal_sets is not None and len(domain) > limits.signal_sets:
        message = f"{owner} needs {len(domain)} convex sets, the machine has {limits.signal_sets} for each"
        raise infeasible("PL0514", message, help=f"use a machine with signal_sets = {len(domain)}")
    if not limits.half_spaces and any(s.half_spaces for s in domain):
        raise infeasible("PL0514", f"{owner} is 1 in a set that is not a box", help="use a machine with half_spaces = true")


def _branching(palette: _Palette, edges: dict[int, Domain]) -> Branching:
    """The most frequent successor gets code 0, rare ones get codes with more ones, so that one-sets are small."""
    bits = (len(edges) - 1).bit_length()
    codes = sorted(range(1 << bits), key=lambda c: (c.bit_count(), c))
    by_volume = sorted(edges, key=lambda w: (-_volume(edges[w]), w))
    code = dict(zip(by_volume, codes, strict=False))
    chosen = [palette.place(_partial(edges, code, bit)) for bit in range(bits)]
    order = sorted(range(bits), key=lambda b: chosen[b][0])
    flip = sum(1 << b for b in range(bits) if chosen[b][1])
    recoded = {w: sum(((c ^ flip) >> b & 1) << i for i, b in enumerate(order)) for w, c in code.items()}
    return Branching(tuple(chosen[b][0] for b in order), dict(sorted(recoded.items())))


def _partial(edges: dict[int, Domain], code: dict[int, int], bit: int) -> Partial:
    on = sorted((s for w, d in edges.items() if code[w] >> bit & 1 for s in d), key=digits.scan_order)
    off = sorted((s for w, d in edges.items() if not code[w] >> bit & 1 for s in d), key=digits.scan_order)
    return tuple(on), tuple(off)


def _volume(domain: Domain) -> int:
    return sum(prod(b - a + 1 for a, b in zip(s.lower, s.upper, strict=True)) for s in domain)


class _Palette:
    """The global signals so far; first fit."""

    def __init__(self, sets: int | None) -> None:
        self.colours: list[dict[ConvexSet, None]] = []
        """The one-sets by global signal."""
        self._sets = sets
        self._values = _Owned(), _Owned()
        self._known: dict[Partial, tuple[int, bool]] = {}

    def place(self, signal: Partial) -> tuple[int, bool]:
        """(global signal, whether it carries the complement)."""
        on, off = signal
        if (off, on) in self._known:
            colour, flipped = self._known[off, on]
            return colour, not flipped
        if signal not in self._known:
            self._known[signal] = self._first_fit(on, off)
        return self._known[signal]

    def _first_fit(self, on: Domain, off: Domain) -> tuple[int, bool]:
        zeros, ones = self._values
        for flipped, (one, zero) in ((False, (on, off)), (True, (off, on))):
            taken = zeros.meeting(one) | ones.meeting(zero)
            free = (c for c in range(len(self.colours)) if c not in taken and self._fits((*self.colours[c], *one)))
            colour = next(free, None)
            if colour is not None:
                self._add(colour, one, zero)
                return colour, flipped
        self.colours.append({})
        self._add(len(self.colours) - 1, on, off)
        return len(self.colours) - 1, False

    def _add(self, colour: int, one: Domain, zero: Domain) -> None:
        zeros, ones = self._values
        zeros.add(colour, zero)
        ones.add(colour, one)
        self.colours[colour].update(dict.fromkeys(one))

    def _fits(self, ones: tuple[ConvexSet, ...]) -> bool:
        return self._sets is None or len(ones) <= self._sets or len(digits.union(ones)) <= self._sets


class _Owned:
    """The sets in which signals have one value, each with its signal."""

    def __init__(self) -> None:
        self._sets: list[tuple[int, ConvexSet]] = []
        self._known: set[tuple[int, ConvexSet]] = set()
        self._bounds: tuple[NDArray[np.int64], NDArray[np.int64]] | None = None

    def add(self, signal: int, domain: Domain) -> None:
        fresh = [(signal, s) for s in domain if (signal, s) not in self._known]
        self._sets += fresh
        self._known.update(fresh)
        if fresh:
            low, high = _bounds([s for _, s in fresh])
            self._bounds = (low, high) if self._bounds is None else (np.concatenate((self._bounds[0], low)), np.concatenate((self._bounds[1], high)))

    def meeting(self, domain: Domain) -> set[int]:
        """The signals with a set that has a point in common with `domain`."""
        if self._bounds is None or not domain:
            return set()
        low, high = _bounds(domain)
        overlap = ((low[:, None] <= self._bounds[1]) & (self._bounds[0] <= high[:, None])).all(axis=-1)
        found: set[int] = set()
        for i, j in np.argwhere(overlap).tolist():
            signal, other = self._sets[j]
            if signal not in found and (not (domain[i].half_spaces or other.half_spaces) or digits.intersect(domain[i], other) is not None):
                found.add(signal)
        return found


def _bounds(sets: Sequence[ConvexSet]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    return np.array([s.lower for s in sets], dtype=np.int64), np.array([s.upper for s in sets], dtype=np.int64)
