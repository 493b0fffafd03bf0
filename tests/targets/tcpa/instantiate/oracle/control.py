# SPDX-License-Identifier: Apache-2.0
"""Control signals: codes for branch targets, merged over all units and classes (paper section 6.2).

A kernel with n successors needs ceil(log2 n) partial signals: 1 in the transition sets of the successors whose code has
that bit, 0 in the others', don't-care in all other steps. Equal and complementary ones are one signal; the rest are
merged by greedy colouring, where two interfere if one must be 1 in a step in which the other must be 0. The global
controller gets the exact union of the merged signals' one-sets. Where that takes more signals than the machine has,
`sharing` takes fewer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from math import prod

import numpy as np
from tests.targets.tcpa.instantiate.oracle import cells
from tests.targets.tcpa.instantiate.oracle.kernels import Graph
from tests.targets.tcpa.instantiate.oracle.sharing import Branching, share

from polyloom.diagnostics import INFEASIBLE, Diagnostic, PolyloomError, infeasible
from polyloom.targets.tcpa.run import scan_sets
from polyloom.targets.tcpa.words.concrete import ConvexSet, Domain
from polyloom.targets.tcpa.words.symbolic import Limits


class SignalsExceeded(PolyloomError):
    """PL0513: more signals than the machine has. How many follows from the region, hardly from the candidate."""

    def __init__(self, needed: int, limit: int) -> None:
        help = f"use a machine with {needed} control signals, or a region that divides the loop bounds"
        super().__init__(
            Diagnostic("PL0513", f"{needed} control signals are needed, the machine has {limit}", INFEASIBLE, help=help)
        )
        self.excess = needed / max(limit, 1)


Partial = tuple[Domain, Domain]
"""Where a signal must be 1 and where 0."""


def allocate(graphs: Sequence[Graph], limits: Limits) -> tuple[tuple[Domain, ...], list[dict[int, Branching]]]:
    """(one-domains of the global signals, branching by kernel of every graph). PL0513 and PL0514 where limits are
    exceeded."""
    coded = [{v: _encode(edges) for v, edges in enumerate(g.edges) if len(edges) > 1} for g in graphs]
    palette = _Palette(
        limits.signal_sets,
        [
            s
            for kernels in coded
            for c in kernels.values()
            for partial in c.partials
            for domain in partial
            for s in domain
        ],
    )
    branchings = [{v: _branching(palette, c) for v, c in kernels.items()} for kernels in coded]
    signals = tuple(cells.union(on) for on in palette.colours)
    if limits.control_signals is not None and len(signals) > limits.control_signals:
        shared = share([g.edges[v] for g, kernels in zip(graphs, coded, strict=True) for v in kernels], limits)
        if shared is None:
            raise SignalsExceeded(len(signals), limits.control_signals)
        signals, found = shared[0], iter(shared[1])
        branchings = [{v: next(found) for v in kernels} for kernels in coded]
    for domain in signals:
        check_domain(domain, limits, "a control signal")
    return signals, branchings


def check_domain(domain: Domain, limits: Limits, owner: str) -> None:
    """PL0514 if a domain has more convex sets than the machine's, or half-spaces where it has none."""
    if limits.signal_sets is not None and len(domain) > limits.signal_sets:
        message = f"{owner} needs {len(domain)} convex sets, the machine has {limits.signal_sets} for each"
        raise infeasible("PL0514", message, help=f"use a machine with signal_sets = {len(domain)}")
    if not limits.half_spaces and any(s.half_spaces for s in domain):
        raise infeasible(
            "PL0514", f"{owner} is 1 in a set that is not a box", help="use a machine with half_spaces = true"
        )


@dataclass(frozen=True, slots=True)
class _Coded:
    """Of one kernel: the code of every successor, and the partial signal of every bit."""

    codes: dict[int, int]
    partials: tuple[Partial, ...]


def _encode(edges: dict[int, Domain]) -> _Coded:
    """The most frequent successor gets code 0, rare ones get codes with more ones, so that one-sets are small."""
    bits = (len(edges) - 1).bit_length()
    codes = sorted(range(1 << bits), key=lambda c: (c.bit_count(), c))
    by_volume = sorted(edges, key=lambda w: (-_volume(edges[w]), w))
    code = dict(zip(by_volume, codes, strict=False))
    return _Coded(code, tuple(_partial(edges, code, bit) for bit in range(bits)))


def _branching(palette: _Palette, coded: _Coded) -> Branching:
    """The codes as the global signals carry them."""
    chosen = [palette.place(p) for p in coded.partials]
    order = sorted(range(len(chosen)), key=lambda b: chosen[b][0])
    flip = sum(1 << b for b, (_, flipped) in enumerate(chosen) if flipped)
    recoded = {sum(((c ^ flip) >> b & 1) << i for i, b in enumerate(order)): w for w, c in coded.codes.items()}
    return Branching(tuple(chosen[b][0] for b in order), recoded)


def _partial(edges: dict[int, Domain], code: dict[int, int], bit: int) -> Partial:
    on = sorted((s for w, d in edges.items() if code[w] >> bit & 1 for s in d), key=scan_sets.scan_order)
    off = sorted((s for w, d in edges.items() if not code[w] >> bit & 1 for s in d), key=scan_sets.scan_order)
    return tuple(on), tuple(off)


def _volume(domain: Domain) -> int:
    return sum(prod(b - a + 1 for a, b in zip(s.lower, s.upper, strict=True)) for s in domain)


_BLOCK = 1 << 10
"""Sets that are compared with all others at once."""


class _Palette:
    """The global signals so far; first fit."""

    def __init__(self, limit: int | None, sets: Sequence[ConvexSet]) -> None:
        """`limit`: the convex sets that a signal may have; `sets`: those of all signals to come."""
        self.colours: list[dict[ConvexSet, None]] = []
        """The one-sets by global signal."""
        self._limit = limit
        self._meetings = _Meetings(sets)
        self._fixed: list[tuple[int, int]] = []
        """By global signal: in which sets it must be 1 and in which 0."""
        self._known: dict[tuple[int, int], tuple[int, bool]] = {}

    def place(self, signal: Partial) -> tuple[int, bool]:
        """(global signal, whether it carries the complement)."""
        on, off = (self._meetings.members(domain) for domain in signal)
        if (off.bits, on.bits) in self._known:
            colour, flipped = self._known[off.bits, on.bits]
            return colour, not flipped
        if (on.bits, off.bits) not in self._known:
            self._known[on.bits, off.bits] = self._first_fit(on, off)
        return self._known[on.bits, off.bits]

    def _first_fit(self, on: _Members, off: _Members) -> tuple[int, bool]:
        for flipped, (one, zero) in ((False, (on, off)), (True, (off, on))):
            for colour, (ones, zeros) in enumerate(self._fixed):
                if (
                    not self._meetings.meet(one, zeros)
                    and not self._meetings.meet(zero, ones)
                    and self._fits((*self.colours[colour], *one.domain))
                ):
                    self._add(colour, one, zero)
                    return colour, flipped
        self.colours.append({})
        self._fixed.append((0, 0))
        self._add(len(self.colours) - 1, on, off)
        return len(self.colours) - 1, False

    def _add(self, colour: int, one: _Members, zero: _Members) -> None:
        ones, zeros = self._fixed[colour]
        self._fixed[colour] = ones | one.bits, zeros | zero.bits
        self.colours[colour].update(dict.fromkeys(one.domain))

    def _fits(self, ones: tuple[ConvexSet, ...]) -> bool:
        return self._limit is None or len(ones) <= self._limit or len(cells.union(ones)) <= self._limit


@dataclass(frozen=True, slots=True)
class _Members:
    """A domain with the bit set of its sets; `near` are the sets whose box meets one of theirs, `sure` those that have
    no half-space, nor has the one that they meet."""

    domain: Domain
    bits: int
    near: int
    sure: int


class _Meetings:
    """Which of some sets have points in common. Bit sets over their numbers make each question a few machine words."""

    def __init__(self, sets: Sequence[ConvexSet]) -> None:
        self._sets = tuple(dict.fromkeys(sets))
        self._number = {s: i for i, s in enumerate(self._sets)}
        self._boxes = sum(1 << i for i, s in enumerate(self._sets) if not s.half_spaces)
        self._near = _overlaps(self._sets)
        self._shared: dict[tuple[int, int], bool] = {}

    def members(self, domain: Domain) -> _Members:
        numbers = [self._number[s] for s in domain]
        near = _together(self._near[i] for i in numbers)
        sure = _together(self._near[i] for i in numbers if self._boxes >> i & 1)
        return _Members(domain, _together(1 << i for i in numbers), near, sure & self._boxes)

    def meet(self, a: _Members, bits: int) -> bool:
        """Whether a domain has a point in common with any set of `bits`."""
        if a.sure & bits or not a.near & bits:
            return bool(a.sure & bits)
        pairs = ((i, j) for i in map(self._number.__getitem__, a.domain) for j in _ones(self._near[i] & bits))
        return any(self._share(i, j) for i, j in pairs)

    def _share(self, i: int, j: int) -> bool:
        if (i, j) not in self._shared:
            self._shared[i, j] = scan_sets.intersect(self._sets[i], self._sets[j]) is not None
        return self._shared[i, j]


def _overlaps(sets: Sequence[ConvexSet]) -> list[int]:
    """For every set the bit set of those whose boxes meet its own."""
    found: list[int] = []
    low, high = np.array([s.lower for s in sets], dtype=np.int64).T, np.array([s.upper for s in sets], dtype=np.int64).T
    for start in range(0, len(sets), _BLOCK):
        block = slice(start, start + _BLOCK)
        digit = (
            (a[None, :] <= b[block, None]) & (a[block, None] <= b[None, :]) for a, b in zip(low, high, strict=True)
        )
        lines = np.packbits(reduce(np.logical_and, digit), axis=1, bitorder="little")
        found += [int.from_bytes(line.tobytes(), "little") for line in lines]
    return found


def _together(words: Iterable[int]) -> int:
    bits = 0
    for word in words:
        bits |= word
    return bits


def _ones(bits: int) -> Iterator[int]:
    while bits:
        yield (bits & -bits).bit_length() - 1
        bits &= bits - 1
