# SPDX-License-Identifier: Apache-2.0
"""Address generators from access mappings (paper section 6.4): addresses, enable domains and delays.

The element of an array that a tile accesses is affine in the digits; with a row-major layout so is its word. An input's
token is at the border port so early that it reaches the id in the cycle of its pop; an output's is taken when it
arrives.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray
from tests.targets.tcpa.instantiate.oracle import stepping
from tests.targets.tcpa.instantiate.oracle.choose import Timing
from tests.targets.tcpa.instantiate.oracle.classes import Traffic
from tests.targets.tcpa.instantiate.oracle.concretize import Element, Tiling
from tests.targets.tcpa.instantiate.oracle.control import check_domain
from tests.targets.tcpa.instantiate.oracle.interconnect import Terminal

from polyloom.diagnostics import infeasible
from polyloom.targets.tcpa.run import scan_sets
from polyloom.targets.tcpa.words.concrete import ArrayLayout, Controller, ConvexSet, Domain, Generator
from polyloom.targets.tcpa.words.symbolic import Access, ArrayInfo, Limits, Symbolic

_SIDES = ("north", "east", "south", "west")


def layouts(symbolic: Symbolic, values: tuple[int, ...]) -> tuple[ArrayLayout, ...]:
    """The arrays, row-major; a shape that would be negative is 0."""
    return tuple(_layout(a, values) for a in symbolic.arrays)


def _layout(array: ArrayInfo, values: tuple[int, ...]) -> ArrayLayout:
    shape = tuple(max(0, r.constant + sum(a * v for a, v in zip(r.params, values, strict=True))) for r in array.shape)
    return ArrayLayout(
        array.name, array.dtype, shape, tuple(prod(shape[i + 1 :]) for i in range(len(shape))), array.is_output
    )


def start_of(tiling: Tiling, timing: Timing, found: tuple[Terminal, ...]) -> int:
    """The least start of the controller for which no generator has to begin before cycle 0."""
    return max(0, -min((_delay(tiling, timing, t) for t in found), default=0))


def generate(
    traffic: Traffic, timing: Timing, found: tuple[Terminal, ...], arrays: tuple[ArrayLayout, ...], start: int
) -> tuple[Generator, ...]:
    """One generator a terminal, those of an access by bank from north to west. PL0514, PL0518, PL0519 and PL0520 where
    the machine's limits are exceeded."""
    tiling = traffic.tiles.tiling
    mapped = {id(t.mapped): t.mapped.access for t in found}
    addresses = {key: _address(tiling, access, arrays[access.array]) for key, access in mapped.items()}
    patterns: dict[tuple[int, int], _Pattern] = {}
    made: list[tuple[tuple[int, ...], Generator]] = []
    for t in found:
        constant, weights = addresses[id(t.mapped)]
        key = id(t.mapped), int(traffic.tiles.group[t.element])
        if key not in patterns:
            patterns[key] = _pattern(traffic, t.mapped.node, key[1], weights, t.mapped.access)
        p = patterns[key]
        base = constant + p.base + tiling.origin(weights, t.element)
        array, delay = t.mapped.access.array, start + _delay(tiling, timing, t)
        generator = Generator(
            t.side, t.mapped.register, t.position, t.channel, t.links, array, base, p.coefficients, delay, p.domain
        )
        _check(generator, p.words, arrays[array], tiling.symbolic.limits)
        made.append(((list(mapped).index(id(t.mapped)), _SIDES.index(t.side), t.position, t.links), generator))
    return tuple(g for _, g in sorted(made, key=lambda m: m[0]))


def _delay(tiling: Tiling, timing: Timing, terminal: Terminal) -> int:
    """The cycle of step 0 at the border port, counted from the controller's start."""
    v, schedule = terminal.mapped.node, tiling.schedule
    travel = terminal.links * tiling.symbolic.limits.hop_delay
    issue = arrival(tiling, timing, terminal.element) + schedule.tau[v]
    return issue + schedule.latency[v] + travel if terminal.mapped.is_output else issue - travel


def arrival(tiling: Tiling, timing: Timing, element: Element) -> int:
    """T(K) less the start: negative skews come from the opposite border."""
    region = tiling.rows, tiling.columns
    return sum(
        abs(skew) * (k if skew >= 0 else size - 1 - k)
        for skew, k, size in zip(timing.outer, element, region, strict=True)
    )


def _address(tiling: Tiling, access: Access, array: ArrayLayout) -> tuple[int, tuple[int, ...]]:
    """(constant, weight of every dimension) of the word that an access touches, in the candidate's coordinates."""
    base, weights = 0, [0] * len(tiling.sizes)
    for row, stride in zip(access.index, array.strides, strict=True):
        coefficients, constant = tiling.affine(row)
        base += stride * constant
        weights = [w + stride * a for w, a in zip(weights, coefficients, strict=True)]
    return base, tuple(weights)


@dataclass(frozen=True, slots=True)
class _Pattern:
    """What the generators of one access in equal tiles share: the enable domain, the weights of digits with more than
    one value, the address of the others, and the words that a bank holds: from the lowest to the highest address (of
    the sets' boxes), or the box of elements, whatever is less."""

    domain: Domain
    coefficients: tuple[int, ...]
    base: int
    words: int


def _pattern(traffic: Traffic, node: int, group: int, weights: tuple[int, ...], access: Access) -> _Pattern:
    tiling = traffic.tiles.tiling
    domain = traffic.tiles.union(traffic.tiles.condition(tiling.symbolic.nodes[node].condition, group))
    scan = tuple(weights[m] for m in tiling.candidate.order)
    hull = stepping.hull(domain)
    free = tuple(a if low < high else 0 for a, low, high in zip(scan, hull.lower, hull.upper, strict=True))
    base = sum(a * low for a, low, high in zip(scan, hull.lower, hull.upper, strict=True) if low == high)
    indices = [[tiling.affine(row)[0][m] for m in tiling.candidate.order] for row in access.index]
    box = prod(_extent(index, domain) for index in indices)
    return _Pattern(domain, free, base, min(_extent(free, domain), box))


def _extent(coefficients: Sequence[int], domain: Domain) -> int:
    """Integers from the least to the greatest value of a linear form over the boxes of a domain."""

    def corner(s: ConvexSet, sign: int) -> int:
        return sum(a * (y if sign * a > 0 else x) for a, x, y in zip(coefficients, s.lower, s.upper, strict=True))

    return max(corner(s, 1) for s in domain) - min(corner(s, -1) for s in domain) + 1


def _check(generator: Generator, words: int, array: ArrayLayout, limits: Limits) -> None:
    owner = f"the address generator of {array.name} at {generator.side} {generator.position}"
    dimensions = sum(1 for a in generator.coefficients if a)
    if limits.generator_dimensions is not None and dimensions > limits.generator_dimensions:
        message = f"{owner} needs {dimensions} dimensions, the machine has {limits.generator_dimensions}"
        raise infeasible("PL0518", message, help=f"use a machine with generator_dimensions = {dimensions}")
    if generator.delay >> limits.delay_bits:
        bits = generator.delay.bit_length()
        message = (
            f"{owner} waits {generator.delay} cycles, which needs {bits} bits; the machine has {limits.delay_bits}"
        )
        raise infeasible("PL0519", message, help=f"use a machine with delay_bits = {bits}, or smaller loop bounds")
    if limits.bank_words is not None and words > limits.bank_words:
        message = f"{owner} covers {words} words, a bank of the machine has {limits.bank_words}"
        raise infeasible("PL0520", message, help=f"use a machine with bank_words = {words}, or a larger region")
    check_domain(generator.domain, limits, owner)


def controller(traffic: Traffic, timing: Timing, start: int, epilogue: int, signals: tuple[Domain, ...]) -> Controller:
    """The global controller; a delay that no element waits for is 0. PL0515 where a counter or a delay does not fit."""
    tiling = traffic.tiles.tiling
    steps = prod(tiling.extents) + epilogue
    busy = np.argwhere(traffic.occupied)
    row, column = (
        skew if _waits(busy[:, axis], skew, size) else 0
        for axis, (skew, size) in enumerate(zip(timing.outer, traffic.occupied.shape, strict=True))
    )
    last = scan_sets.mixed_radix_digits(steps - 1, tiling.extents)
    bits = tiling.symbolic.limits.counter_bits
    counted = max((*last, *(p - 1 for p in tiling.extents), abs(row), abs(column), start))
    if counted >> bits:
        needed = counted.bit_length()
        message = (
            f"an iteration counter or a delay counts to {counted}, which needs {needed} bits; the machine has {bits}"
        )
        raise infeasible("PL0515", message, help=f"use a machine with counter_bits = {needed}, or smaller loop bounds")
    return Controller(row < 0, column < 0, start, abs(row), abs(column), steps, signals)


def _waits(places: NDArray[np.intp], skew: int, size: int) -> bool:
    """Whether any of these rows (columns) is away from the border where a skew of this sign starts."""
    return bool((places != (0 if skew >= 0 else size - 1)).any())
