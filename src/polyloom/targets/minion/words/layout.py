# SPDX-License-Identifier: Apache-2.0
"""Data layout in DRAM of the arrays of a compiled program: row-major, the last dimension's rows at a pitch that is a
multiple of a line of 64 bytes, padding zero; a scalar takes a line.

Lines are what minions own, so that no two arrays and no two rows share one: caches are not coherent, and two minions
that write parts of one line lose each other's bytes (programmer's reference manual, chapter 8).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import prod
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from polyloom.diagnostics import infeasible
from polyloom.ir.signature import Dtype, Signature
from polyloom.targets.minion.memory_map import DRAM, DRAM_BYTES, LINE

Array = NDArray[Any]
CODE: Final = DRAM + 0x1000
"""Where all harts start: the reset address."""
DATA: Final = DRAM + 0x80_0000
"""Where arrays begin: behind what only machine mode may access."""
_ALIGN: Final = 4096
# transpose8 reads 64 source rows for its lines, the most of all loads (manual, chapter 9).
_ROWS: Final = 64
_PART: Final = 1 << 18
"""Bytes of an array that are laid out at once."""


@dataclass(frozen=True, slots=True)
class Placed:
    """Placed array: `rows` rows of `width` elements, a row every `pitch` bytes from `address` on."""

    name: str
    dtype: Dtype
    shape: tuple[int, ...]
    address: int

    @property
    def width(self) -> int:
        """Elements of the last dimension."""
        return self.shape[-1] if self.shape else 1

    @property
    def rows(self) -> int:
        """The product of all other dimensions."""
        return prod(self.shape[:-1])

    @property
    def pitch(self) -> int:
        """Bytes from row to row."""
        return -(-max(self.width, 1) * self.dtype.itemsize // LINE) * LINE

    @property
    def room(self) -> int:
        """Bytes to reserve: transposing and interleaving loads read whole groups of rows, so zeros follow the last
        one.
        """
        return self.pitch * (align_rows(self.rows) if len(self.shape) > 1 else 1)

    @property
    def size(self) -> int:
        """Bytes."""
        return self.rows * self.pitch

    def steps(self) -> tuple[int, ...]:
        """Strides of the dimensions: bytes from an element to the next one along each."""
        if not self.shape:
            return ()
        outer = [self.pitch * prod(self.shape[n + 1 : -1]) for n in range(len(self.shape) - 1)]
        return (*outer, self.dtype.itemsize)

    def laid(self, array: Array) -> Iterator[tuple[int, bytes]]:
        """Bytes of an array of this shape in the layout, padding zero, by address: rows together that are some part of
        a large array, of which a copy would take as much memory again."""
        rows = np.ascontiguousarray(array, self.dtype).reshape(self.rows, self.width)
        count = max(1, _PART // self.pitch)
        for first in range(0, self.rows, count):
            part = rows[first : first + count]
            made = np.zeros((len(part), self.pitch // self.dtype.itemsize), self.dtype)
            made[:, : self.width] = part
            yield self.address + first * self.pitch, made.tobytes()

    def taken(self, data: bytes) -> Array:
        """Array of the bytes, the inverse of `laid`."""
        found = np.frombuffer(data, self.dtype).reshape(self.rows, self.pitch // self.dtype.itemsize)
        return found[:, : self.width].reshape(self.shape).copy()


@dataclass(frozen=True, slots=True)
class PlacedPart(Placed):
    """Part of a placed array: element (i, j, ..) is at `address` + i · strides[0] + j · strides[1] + .., in bytes."""

    strides: tuple[int, ...]

    def steps(self) -> tuple[int, ...]:
        return self.strides


def align_rows(rows: int) -> int:
    """Rows for which an array has room."""
    return -(-rows // _ROWS) * _ROWS


def align_page(address: int) -> int:
    """Address of the next page, where an array may begin."""
    return -(-address // _ALIGN) * _ALIGN


def place_arguments(signature: Signature, values: Mapping[str, int], base: int = DATA) -> tuple[Placed, ...]:
    """Placement of all arguments one behind the other, from `base` on. Errors: PL1330 (exit 3) where DRAM is too
    small.
    """
    at, made = base, list[Placed]()
    for argument in signature.arguments:
        made.append(Placed(argument.name, argument.dtype, argument.extents(values), at))
        at = align_page(at + made[-1].room)
    check_room(at, ", ".join(f"{p.name} {p.size}" for p in made))
    return tuple(made)


def check_room(end: int, sizes: str = "") -> None:
    """Errors: PL1330 (exit 3) where what lies in DRAM ends behind it."""
    if end > DRAM + DRAM_BYTES:
        message = f"the arrays need {end - DATA} bytes, and DRAM has {DRAM + DRAM_BYTES - DATA} for them"
        of_each = f"; the bytes of each are: {sizes}" if sizes else ""
        raise infeasible("PL1330", message, help=f"give smaller sizes{of_each}")
