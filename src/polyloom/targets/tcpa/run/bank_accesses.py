# SPDX-License-Identifier: Apache-2.0
"""Bank access sets: which banks touch which elements, read from the address generators of a concrete configuration
(docs/targets/tcpa.md, Phases; the array paper, section 6.4).

A generator touches one element in every step of its domain, or the model faults; so these sets are exact, and the
elements of an output are those that a run writes. Banks are numbered by side, then row or column, then channel.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

import numpy as np
from numpy.typing import NDArray

from polyloom import memory
from polyloom.diagnostics import PolyloomError, input_error
from polyloom.targets.tcpa.layouts import word_addresses
from polyloom.targets.tcpa.words.concrete import ArrayLayout, Concrete, ConvexSet, Generator
from polyloom.targets.tcpa.words.sides import SIDES

Accesses = tuple[NDArray[np.int64], NDArray[np.int64]]
"""Banks and elements of an array, pair by pair."""
_POSITIONS = _CHANNELS = 1 << 16
"""Both are 16-bit fields of the file."""
_STEP_BYTES = 48
"""Of one access: its address three times, its bank, whether its step is in the domain."""


def collect_accesses(concrete: Concrete) -> dict[str, Accesses]:
    """Access sets by array: the (bank, element) pairs that are touched, row by row. Errors: PL0705 for another
    layout."""
    steps = sum(_count_addresses(g, s) for g in concrete.generators for s in g.domain)
    memory.require_memory(
        steps * _STEP_BYTES, f"the list of what the banks of {concrete.kernel} access", "use smaller loop bounds"
    )
    words = {a.name: _element_words(a) for a in concrete.arrays}
    touched: dict[str, list[tuple[int, NDArray[np.int64]]]] = {name: [] for name in words}
    # Generators along a border differ in their base alone, and share the object of their domain.
    offsets: dict[tuple[int, tuple[int, ...]], list[NDArray[np.int64]]] = {}
    for generator in concrete.generators:
        name = concrete.arrays[generator.array].name
        kind = id(generator.domain), generator.coefficients
        if kind not in offsets:
            offsets[kind] = list(_address_offsets(generator))
        parts = (_elements_at_words(words[name], generator.base + part) for part in offsets[kind])
        touched[name] += [(_bank(generator), part) for part in parts]
    return {name: _pairs(parts) for name, parts in touched.items()}


def count_bank_words(generator: Generator, array: ArrayLayout) -> int:
    """Words that a bank holds for a generator: those from the lowest to the highest that it touches, or the smallest
    box of elements around these (docs/targets/tcpa.md, Banks), whatever is less. Errors: PL0705 for words that are no
    elements.
    """
    touched = np.unique(np.concatenate([generator.base + part for part in _address_offsets(generator)]))
    elements = _elements_at_words(_element_words(array), touched)
    shape = array.shape or (1,)
    if elements.min() < 0 or elements.max() >= prod(shape):
        raise _element_error()
    box = prod(int(np.ptp(index)) + 1 for index in np.unravel_index(elements, shape))
    return min(int(np.ptp(touched)) + 1, box)


def _element_error() -> PolyloomError:
    return input_error(
        "PL0705", "malformed file: a bank touches a word that is no element", help="instantiate it again"
    )


def _element_words(array: ArrayLayout) -> NDArray[np.int64] | None:
    """The word of each element, row by row; None where that is its number."""
    if array.place is None and array.strides == tuple(prod(array.shape[n + 1 :]) for n in range(len(array.shape))):
        return None
    base = 0 if array.place is None else array.place.base
    return word_addresses((array.strides, base, 0), array.shape)


def _elements_at_words(words: NDArray[np.int64] | None, touched: NDArray[np.int64]) -> NDArray[np.int64]:
    """Inverse layout: the elements at some words. Errors: PL0705 for a word without an element."""
    if words is None:
        return touched
    # A layout is injective but need not be monotone (columns, strides), so the words are searched in sorted order.
    order = np.argsort(words, kind="stable")
    places = np.searchsorted(words[order], touched)
    found = order[np.minimum(places, len(order) - 1)] if len(order) else touched[:0]
    if len(found) != len(touched) or (words[found] != touched).any():
        raise _element_error()
    return np.sort(found)


def _count_addresses(g: Generator, s: ConvexSet) -> int:
    """How many addresses `_address_offsets` looks at."""
    rows = (g.coefficients, *(h.coefficients for h in s.half_spaces))
    return prod(
        max(0, high - low + 1)
        for m, (low, high) in enumerate(zip(s.lower, s.upper, strict=True))
        # A digit on which nothing depends is not enumerated: it would repeat the same elements.
        if any(row[m] for row in rows)
    )


def _bank(generator: Generator) -> int:
    # A bank as one number, for NumPy's set operations.
    return (SIDES.index(generator.side) * _POSITIONS + generator.position) * _CHANNELS + generator.channel


def _address_offsets(generator: Generator) -> Iterator[NDArray[np.int64]]:
    """Address offsets from the base, of each convex set of the domain; a digit that neither address nor set depends on
    has one value here.
    """
    for s in generator.domain:
        grid = np.ogrid[tuple(slice(low, high + 1) for low, high in zip(s.lower, s.upper, strict=True))]
        address, inside = np.broadcast_arrays(_dot(generator.coefficients, grid), _satisfies_half_spaces(s, grid))
        yield np.unique(address[inside])


def _satisfies_half_spaces(s: ConvexSet, grid: tuple[NDArray[np.int64], ...]) -> NDArray[np.bool_]:
    return np.logical_and.reduce(
        np.broadcast_arrays(np.True_, *(_dot(h.coefficients, grid) + h.constant >= 0 for h in s.half_spaces))
    )


def _dot(coefficients: tuple[int, ...], grid: tuple[NDArray[np.int64], ...]) -> NDArray[np.int64]:
    return sum((c * x for c, x in zip(coefficients, grid, strict=True) if c), np.zeros((1,) * len(grid), np.int64))


def _pairs(parts: list[tuple[int, NDArray[np.int64]]]) -> Accesses:
    banks = np.concatenate([np.zeros(0, np.int64), *(np.full(e.shape, b, np.int64) for b, e in parts)])
    elements = np.concatenate([np.zeros(0, np.int64), *(e for _, e in parts)])
    return banks, elements
