# SPDX-License-Identifier: Apache-2.0
"""Symbolic terms in the place of numbers (value numbering: Cocke and Schwartz 1970): what a value is made of, whatever
the data are (native/tcpa/terms.hpp).

A term is an input, a constant, or an operation on terms, and has a number; numbers of terms fill arrays as values do.
Equal numbers are equal values for all inputs: what the arithmetic makes equal bit for bit, such as integer sums in
another order, has one number.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from secrets import randbits
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from polyloom import memory
from polyloom._native import tcpa
from polyloom.ir.arguments import array_shape
from polyloom.ir.numbers import NUMPY
from polyloom.ir.operations import BY_NAME, ELEMENT_TYPES, NUMBER, OPERATIONS, ElementType
from polyloom.ir.pla import Array
from polyloom.ir.semantics import Meaning

Ids = npt.NDArray[np.uint64]
ID: Final = np.dtype(np.uint64)
_BYTES: Final = 128
"""Of a term, with its place in the table."""


@dataclass(frozen=True, slots=True)
class Input:
    """The element `index` (row by row) of input number `array`."""

    array: int
    index: int


@dataclass(frozen=True, slots=True)
class Value:
    """A constant."""

    value: int | float | bool
    dtype: ElementType


@dataclass(frozen=True, slots=True)
class Operated:
    """An operation on terms of the element type `dtype` (the last operand's)."""

    operation: str
    dtype: ElementType
    operands: tuple[int, ...]


class Terms:
    """Term table of both sides of a comparison. With `reassociate` sums and products of floats have no order."""

    def __init__(self, reassociate: bool = False) -> None:
        # Nobody who writes a file can know the seed under which two terms would be taken for one.
        most = min((1 << 32) - 1, memory.available_bytes() // _BYTES)
        self.native = tcpa.Terms(randbits(64), reassociate, most)
        self.reassociate = reassociate

    def __len__(self) -> int:
        return self.native.size

    def constant(self, value: Any, dtype: ElementType) -> int:
        """An element of `dtype`."""
        return self.native.constant(ELEMENT_TYPES.index(dtype), _encode_element(value, dtype))

    def zeros(self, shape: tuple[int, ...], dtype: ElementType) -> Ids:
        return np.full(shape, self.constant(0, dtype), ID)

    def inputs(self, arrays: Sequence[Array], values: Mapping[str, int]) -> dict[str, Ids]:
        """Input terms, one per element; the n-th array is number n."""
        found: dict[str, Ids] = {}
        for number, array in enumerate(arrays):
            shape = array_shape(array, values)
            own = self.native.inputs(number, ELEMENT_TYPES.index(array.dtype), prod(shape))
            found[array.name] = own.reshape(shape)
        return found

    def apply(self, operation: str, dtype: ElementType, operands: Sequence[Any]) -> Any:
        """Operation on numbers of terms, or on arrays of them, all of one shape."""
        own, kind = NUMBER[operation], ELEMENT_TYPES.index(dtype)
        if not any(isinstance(o, np.ndarray) for o in operands):
            # The native table takes three operands; those that an operation lacks are 0.
            a, b, c = (*map(int, operands), 0, 0)[:3]
            return self.native.apply_one(own, kind, a, b, c)
        one = np.zeros(1, ID)
        a, b, c = (*(np.atleast_1d(np.asarray(o, ID)) for o in operands), one, one)[:3]
        return self.native.apply(own, kind, a, b, c)

    def meaning(self) -> Meaning:
        """Semantics of equations on terms."""
        return Meaning(_term_dtype, lambda c: self.constant(c.value, c.dtype), self.apply, _can_fault)

    def __getitem__(self, number: int) -> Input | Value | Operated | None:
        """The parts of a term; None of what nothing has written."""
        kind, operation, dtype, _, operands, bits = self.native.parts(number)
        if kind == 0:
            return None
        own = ELEMENT_TYPES[dtype]
        if kind == 1:
            return Value(_decode_element(bits, own), own)
        if kind == 2:
            # An index has 64 bits, in two words of the table.
            return Input(operands[0], operands[1] | operands[2] << 32)
        name = OPERATIONS[operation].name
        return Operated(name, own, tuple(operands[: BY_NAME[name].arity]))


def _term_dtype(dtype: ElementType) -> np.dtype[Any]:
    del dtype
    return ID


def _can_fault(operation: str, dtype: ElementType) -> bool:
    """A division by zero is a term like others."""
    del operation, dtype
    return False


def _encode_element(value: Any, dtype: ElementType) -> int:
    """An element as a word of the model."""
    kind = NUMPY[dtype]
    if kind.kind == "f":
        return int.from_bytes(np.asarray(value, kind).tobytes(), "little")
    return int(value) & (1 << 64) - 1


def _decode_element(word: int, dtype: ElementType) -> int | float | bool:
    kind = NUMPY[dtype]
    return np.frombuffer(word.to_bytes(8, "little")[: kind.itemsize], kind)[0].item()
