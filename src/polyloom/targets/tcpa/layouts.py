# SPDX-License-Identifier: Apache-2.0
"""Memory layouts of arrays, as the user says them: element (i0, i1, ...) is word base + strides . (i0, i1, ...) of a
memory (the array paper, section 6.4).

`A=columns`, `A=1,20`, `A=rows+100@2`: an order or strides, then the first element's word, then the number of the
memory. An array that is not named lies row by row in a memory of its own, as without any layout.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, Final, cast

import numpy as np

from polyloom import memory
from polyloom.diagnostics import PolyloomError, input_error, nearest

Layouts = Sequence[tuple[Sequence[int], int, int]]
"""Strides, base and memory of each array of a file, as the library takes them."""
ROWS, COLUMNS = "rows", "columns"
_TEXT: Final = re.compile(r"(rows|columns|[0-9]{1,10}(?:,[0-9]{1,10})*)(?:\+([0-9]{1,10}))?(?:@([0-9]{1,5}))?")
# Limits of the file: a memory's number is a u16, a word's number a u32 (docs/formats.md).
_MEMORIES: Final = 1 << 16
_WORDS: Final = 1 << 32
_HELP: Final = "write rows, columns or a stride for each dimension, then +WORD and @MEMORY, for instance columns+100@2"


@dataclass(frozen=True, slots=True)
class Layout:
    """`strides` may be an order, "rows" or "columns"; without a memory, one of its own."""

    strides: tuple[int, ...] | str = ROWS
    base: int = 0
    memory: int | None = None


def parse_layout(text: str) -> Layout:
    """Errors: PL0522."""
    match = _TEXT.fullmatch(text)
    if match is None:
        raise input_error("PL0522", f"'{text}' is not a layout", help=_HELP)
    order, base, number = match.groups()
    strides = order if order in (ROWS, COLUMNS) else tuple(map(int, order.split(",")))
    return Layout(strides, int(base or 0), None if number is None else int(number))


def layout_words(words: Sequence[str]) -> dict[str, str]:
    """`NAME=LAYOUT` of a command line. Errors: PL0522."""
    pairs = [word.partition("=") for word in words]
    for name, sign, _ in pairs:
        if not sign or [n for n, _, _ in pairs].count(name) > 1:
            raise input_error("PL0522", f"'{name}' has no layout, or several", help=f"write NAME=LAYOUT once: {_HELP}")
    return {name: text for name, _, text in pairs}


def read_layouts(given: Any) -> dict[str, Layout]:
    """Layouts by array as the Python interface takes them: texts, or (strides, base, memory). Errors: PL0522."""
    if not isinstance(given, Mapping):
        raise input_error("PL0522", f"{given!r} is not a layout by array", help='give for instance {"A": "columns"}')
    return {str(name): _layout(value) for name, value in cast("Mapping[str, Any]", given).items()}


def _layout(value: Any) -> Layout:
    if isinstance(value, str):
        return parse_layout(value)
    try:
        strides, base, number = value
        return Layout(tuple(int(s) for s in strides), int(base), None if number is None else int(number))
    except (TypeError, ValueError):
        help = "give a text such as columns+100@2, or (strides, base, memory)"
        raise input_error("PL0522", f"{value!r} is not a layout", help=help) from None


def place_arrays(given: Mapping[str, Layout], shapes: Mapping[str, tuple[int, ...]], kernel: str) -> dict[str, Place]:
    """Array placement: strides, base and memory of every array. Errors: PL0522 where an array is unknown, or words
    would be shared.
    """
    if unknown := [name for name in given if name not in shapes]:
        message = f"`{kernel}` has no array `{unknown[0]}`"
        raise input_error("PL0522", message, help=nearest(unknown[0], list(shapes), "array"))
    used = {layout.memory for layout in given.values()}
    free = iter(number for number in range(_MEMORIES) if number not in used)
    found: dict[str, Place] = {}
    for name, shape in shapes.items():
        layout = given.get(name, Layout())
        number = next(free) if layout.memory is None else layout.memory
        found[name] = _strides(name, layout, shape), layout.base, number
    # Memories that no user named hold one array each, row by row: they cannot overlap.
    for number in {found[name][2] for name in given}:
        _check_disjoint({n: (found[n], shapes[n]) for n in shapes if found[n][2] == number})
    return found


Place = tuple[tuple[int, ...], int, int]
"""Strides, base, memory."""


def _strides(name: str, layout: Layout, shape: tuple[int, ...]) -> tuple[int, ...]:
    strides = layout.strides
    if isinstance(strides, str):
        order = range(len(shape)) if strides == COLUMNS else range(len(shape) - 1, -1, -1)
        strides = tuple(
            prod(shape[m] for m in order if (m < n if strides == COLUMNS else m > n)) for n in range(len(shape))
        )
    if len(strides) != len(shape):
        message = f"the array `{name}` has {len(shape)} dimensions, and its layout {len(strides)} strides"
        raise input_error("PL0522", message, help="give one stride for each dimension")
    # The last word, from the last index in every dimension: strides are not negative, so no word lies beyond.
    last = layout.base + sum(s * max(0, n - 1) for s, n in zip(strides, shape, strict=True))
    if min((*strides, layout.base, layout.memory or 0)) < 0 or last >= _WORDS or (layout.memory or 0) >= _MEMORIES:
        message = f"the layout of `{name}` has a number that does not fit"
        raise input_error("PL0522", message, help="strides and bases are below 4294967296, memories below 65536")
    return strides


def _check_disjoint(arrays: Mapping[str, tuple[Place, tuple[int, ...]]]) -> None:
    """Aliasing check: no two elements of one memory share a word. Errors: PL0522."""
    seen: dict[str, Any] = {}
    for name, (place, shape) in arrays.items():
        own = word_addresses(place, shape)
        if len(np.unique(own)) < len(own):
            raise _shared_word_error(f"two elements of `{name}`")
        for other, words in seen.items():
            if len(np.intersect1d(own, words)):
                raise _shared_word_error(f"elements of `{other}` and of `{name}`")
        seen[name] = own


def word_addresses(place: Place, shape: tuple[int, ...]) -> Any:
    """Word address of every element, row by row, as a flat array of int64."""
    strides, base, _ = place
    memory.require_memory(16 * prod(shape), "the list of an array's words", "use smaller loop bounds")
    words = np.full((1,) * len(shape), base, np.int64)
    for m, (stride, extent) in enumerate(zip(strides, shape, strict=True)):
        words = words + stride * np.arange(extent).reshape([-1 if k == m else 1 for k in range(len(shape))])
    return words.reshape(-1)


def _shared_word_error(what: str) -> PolyloomError:
    return input_error("PL0522", f"{what} share a word", help="give larger strides, another base or another memory")
