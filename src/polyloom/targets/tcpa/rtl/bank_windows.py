# SPDX-License-Identifier: Apache-2.0
"""Bank windows: what of an array each bank of the circuit holds, and where (docs/targets/tcpa.md, Banks): the words
between the least and the greatest address of a generator, or, where these are too many, the smallest box of elements.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from polyloom.targets.tcpa.rtl.capacities import check_need, refuse_configuration
from polyloom.targets.tcpa.rtl.circuit import Circuit
from polyloom.targets.tcpa.words.concrete import Concrete, Generator
from polyloom.targets.tcpa.words.sides import SIDES

_ENUMERATED: Final = 1 << 20
"""Steps of a domain that are enumerated at most, some 100 bytes each: a file must not fill memory."""


@dataclass(frozen=True, slots=True)
class BankWindow:
    """What generator `generator` accesses, from word 0 of its bank on.

    Word n of the bank is word `words[n]` of the array's memory. In the bank, the address in a step is `base` +
    `coefficients` . digits; the model faults where it leaves `low` to `high`, which are those of the array.
    """

    generator: int
    bank: int
    is_output: bool
    words: range | tuple[int, ...]
    coefficients: tuple[int, ...]
    base: int
    low: int
    high: int

    def array_word(self, address: int) -> int:
        """Word of the array's memory at an address of the bank; outside of the window, one that no array has."""
        return self.words[address] if 0 <= address < len(self.words) else -1 - address


def bank_number(circuit: Circuit, generator: Generator) -> int:
    """Banks are numbered by port, north, east, south, west, then by channel."""
    first = (0, circuit.columns, circuit.columns + circuit.rows, 2 * circuit.columns + circuit.rows)
    channels = circuit.capacity("channels")
    check_need("channels", generator.channel + 1, channels)
    return (first[SIDES.index(generator.side)] + generator.position) * channels + generator.channel


def array_words(concrete: Concrete, number: int) -> int:
    """Words from an array's first element to its last one."""
    array = concrete.arrays[number]
    if 0 in array.shape:
        return 0
    return 1 + sum(stride * (extent - 1) for stride, extent in zip(array.strides, array.shape, strict=True))


def bank_windows(circuit: Circuit, concrete: Concrete) -> list[BankWindow]:
    """Windows of all generators. Errors: PL0640."""
    numbers = [bank_number(circuit, g) for g in concrete.generators]
    if len(set(numbers)) < len(numbers):
        raise refuse_configuration("two generators use one bank, and the circuit has one generator for each")
    most = circuit.capacity("bank_words")
    windows = list[BankWindow]()
    for n, bank in enumerate(numbers):
        window = _span_window(concrete, n, bank)
        # What is touched is enumerated only where the range of addresses is too long.
        if len(window.words) > most and _box_steps(concrete.generators[n]) <= _ENUMERATED:
            window = _box_window(concrete, window) or window
        windows.append(window)
        check_need("words of a bank", len(window.words), most)
    return windows


def _span_window(concrete: Concrete, number: int, bank: int) -> BankWindow:
    """The words from the lowest to the highest address: in the bank, addresses are moved."""
    generator = concrete.generators[number]
    first, last = _address_range(concrete, generator)
    # An empty domain has a window of no words, in a bank that nothing accesses.
    words, moved = range(first, max(first, last + 1)), -first
    base = base_address(concrete, generator) + moved
    high = array_words(concrete, generator.array) - 1 + moved
    is_output = concrete.arrays[generator.array].is_output
    return BankWindow(number, bank, is_output, words, generator.coefficients, base, moved, high)


def _box_window(concrete: Concrete, span: BankWindow) -> BankWindow | None:
    """The smallest box around the elements that are touched, row by row; None where a step touches none, or where
    indices are no affine functions of the digits."""
    generator = concrete.generators[span.generator]
    strides = np.array(concrete.arrays[generator.array].strides, np.int64)
    digits = _domain_digits(generator)
    words = base_address(concrete, generator) + digits @ np.array(generator.coefficients, np.int64)
    index = _element_index(words, concrete, generator.array)
    if index is None or not len(index):
        return None
    # A coefficient of an address is a sum of strides; which sum it is, the touched elements tell, relative to the first
    # one. A digit that has one value gets 0 (the least norm).
    steps: NDArray[np.int64] = digits - digits[0]
    moves: NDArray[np.int64] = index - index[0]
    affine = np.rint(np.linalg.lstsq(steps.astype(float), moves.astype(float), rcond=None)[0]).astype(np.int64)
    if (steps @ affine != moves).any():
        return None
    low: NDArray[np.int64] = index.min(axis=0)
    extents: NDArray[np.int64] = index.max(axis=0) - low + 1
    own = np.array([int(np.prod(extents[n + 1 :])) for n in range(len(extents))], np.int64)
    box = low + np.indices(tuple(extents)).reshape(len(extents), -1).T
    return replace(
        span,
        words=tuple((box @ strides).tolist()),
        coefficients=tuple((affine @ own).tolist()),
        base=int((index[0] - digits[0] @ affine - low) @ own),
        low=0,
        high=len(box) - 1,
    )


def _box_steps(generator: Generator) -> int:
    """Steps of the boxes of a domain, of which half-spaces leave some out."""
    return sum(math.prod(b - a + 1 for a, b in zip(s.lower, s.upper, strict=True)) for s in generator.domain)


def _domain_digits(generator: Generator) -> NDArray[np.int64]:
    """Digits of all steps of the domain, a row per step."""
    found = [np.zeros((0, len(generator.coefficients)), np.int64)]
    for convex in generator.domain:
        low, extents = np.array(convex.lower), [b - a + 1 for a, b in zip(convex.lower, convex.upper, strict=True)]
        digits: NDArray[np.int64] = low + np.indices(extents).reshape(len(extents), -1).T
        inside = [digits @ np.array(half.coefficients) + half.constant >= 0 for half in convex.half_spaces]
        found.append(digits[np.logical_and.reduce(inside)] if inside else digits)
    return np.concatenate(found)


def _element_index(words: NDArray[np.int64], concrete: Concrete, number: int) -> NDArray[np.int64] | None:
    """Indices of the elements at some words of an array's memory, a row per word; None if a word has no element."""
    array, left = concrete.arrays[number], words
    index = np.zeros((len(words), len(array.shape)), np.int64)
    # Layouts lie row by row, in any order of the dimensions: the largest stride counts first.
    for n in sorted(range(len(array.shape)), key=lambda n: -array.strides[n]):
        index[:, n], left = np.divmod(left, max(1, array.strides[n]))
    return None if left.any() or (index < 0).any() or (index >= np.array(array.shape)).any() else index


def _address_range(concrete: Concrete, generator: Generator) -> tuple[int, int]:
    """Least and greatest word of the array that the boxes of the domain reach."""
    base = base_address(concrete, generator)
    # An affine form is extreme in corners; half-spaces only make the window smaller than this.
    ends = [
        (
            base + sum(min(c * a, c * b) for c, a, b in zip(generator.coefficients, s.lower, s.upper, strict=True)),
            base + sum(max(c * a, c * b) for c, a, b in zip(generator.coefficients, s.lower, s.upper, strict=True)),
        )
        for s in generator.domain
    ]
    last = array_words(concrete, generator.array) - 1
    low, high = min((a for a, _ in ends), default=0), max((b for _, b in ends), default=-1)
    return max(0, min(low, last)), min(high, last)


def base_address(concrete: Concrete, generator: Generator) -> int:
    place = concrete.arrays[generator.array].place
    return generator.base - (place.base if place else 0)
