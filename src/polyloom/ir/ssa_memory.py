# SPDX-License-Identifier: Apache-2.0
"""Memory model of the interpreter of `ir.ssa`: objects of bytes (NumPy arrays, or new ones) at addresses with gaps
between them.

An access must lie within one object (C17, section 6.5.6, paragraph 8) and be aligned as it says. Objects that begin
undefined remember which bytes were written; a value read from undefined bytes is undefined. Addresses are made in order
of allocation, so that runs repeat.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import numpy.typing as npt

from polyloom.diagnostics import input_error
from polyloom.ir.ssa_lanes import Vector
from polyloom.ir.ssa_semantics import Number, Poison, Undefined, bits_value, value_bits
from polyloom.ir.ssa_types import I1, Type, memory_size

Bytes = npt.NDArray[np.uint8]
# Not 0: an index from a null pointer, or a small integer taken for an address, must not fall into an object.
_FIRST: Final = 1 << 16
_GAP: Final = 64
"""At least as many bytes lie between two objects: an index that is a little too large hits nothing."""


@dataclass(frozen=True, slots=True)
class Object:
    """`data` is a view of what the caller sees; `defined` is, by byte, whether it has a value."""

    base: int
    data: Bytes
    defined: npt.NDArray[np.bool_]
    writable: bool


@dataclass(slots=True)
class Memory:
    """Mutable: what a run writes. One address space, whose addresses have `pointers` bits."""

    pointers: int = 64
    objects: list[Object] = field(default_factory=list[Object])
    bases: list[int] = field(default_factory=list[int])
    end: int = _FIRST

    def place(self, data: Bytes, align: int = 16, defined: bool = True, writable: bool = True) -> int:
        """The address of an object made of `data`, which is accessed in place."""
        # Rounded up to the alignment.
        base = -(-self.end // align) * align
        if base + len(data) >> self.pointers:
            help = "give smaller arrays, or read the source for a target with pointers of 64 bits"
            raise input_error(
                "PL0973", f"{len(data)} bytes more are beyond what pointers of {self.pointers} bits reach", help=help
            )
        # One flag for all bytes of what nobody writes to: a large array would have as many beside it.
        flags = np.full(len(data), defined) if writable else np.broadcast_to(np.bool_(defined), len(data))
        self.objects.append(Object(base, data, flags, writable))
        self.bases.append(base)
        self.end = base + len(data) + _GAP
        return base

    def forget(self, count: int) -> None:
        """Leaves the first objects, whose number is given; addresses of the others are not used again."""
        # `end` stays: a pointer to a variable of a finished call must never hit a new one.
        del self.objects[count:], self.bases[count:]

    def at(self, base: int) -> Object:
        """The object that begins at an address."""
        return self.objects[bisect_right(self.bases, base) - 1]

    def load(self, type: Type, address: int, align: int) -> Number | Poison:
        """The scalar at the address; Poison where a byte of it is undefined."""
        size = memory_size(type, self.pointers)
        found, start = self._find_object(address, size, align)
        if not found.defined[start : start + size].all():
            return Poison("a variable is used that was never set")
        pattern = int.from_bytes(found.data[start : start + size].tobytes(), "little")
        # A bool takes a byte, of which only the lowest bit is its value.
        return bits_value(type, pattern & 1 if type == I1 else pattern)

    def store(self, type: Type, stored: Number | Poison, address: int, align: int) -> None:
        size = memory_size(type, self.pointers)
        found, start = self._find_object(address, size, align, writes=True)
        # Storing poison is allowed, only using it is not: a structure with holes is copied byte by byte.
        found.defined[start : start + size] = not isinstance(stored, Poison)
        if not isinstance(stored, Poison):
            found.data[start : start + size] = np.frombuffer(
                value_bits(type, stored).to_bytes(size, "little"), np.uint8
            )

    def places(self, type: Type, address: int | Vector, count: int, align: int) -> list[int | Poison]:
        """The addresses of a vector's lanes: one after the other from an aligned one on, or each given."""
        if isinstance(address, tuple):
            return [lane if isinstance(lane, Poison) else int(lane) for lane in address]
        step = memory_size(type.scalar, self.pointers)
        return [self._aligned(address, align) + step * k for k in range(count)]

    def gather(
        self,
        type: Type,
        places: Sequence[int | Poison],
        mask: Vector,
        others: Vector,
        align: int,
        speculative: bool = False,
    ) -> Vector:
        """The lanes at these places where the mask has them, else those of `others`; only the former are accessed,
        aligned to `align` each. Of a speculative load a lane that cannot be accessed is Poison."""

        def lane(at: int | Poison) -> Number | Poison:
            try:
                return self.load(type.scalar, _require_defined(at), align)
            except Undefined as fault:
                if not speculative:
                    raise
                return Poison(str(fault))

        lanes = zip(places, mask, others, strict=True)
        return tuple(m if isinstance(m, Poison) else lane(at) if m else other for at, m, other in lanes)

    def scatter(self, type: Type, stored: Vector, places: Sequence[int | Poison], mask: Vector, align: int) -> None:
        """Lane after lane, so that of two at the same address the last stays."""
        for lane, at, m in zip(stored, places, mask, strict=True):
            if _require_defined(m):
                self.store(type.scalar, lane, _require_defined(at), align)

    def copy(self, target: int, source: int, size: int, may_overlap: bool) -> None:
        """Copy of bytes: memcpy, and with `may_overlap` memmove (C17, section 7.24.2); undefined bytes stay so."""
        if size == 0:
            return
        # Equal addresses are allowed by LLVM, whose structure assignments are such copies.
        if not may_overlap and target != source and abs(target - source) < size:
            raise Undefined("memcpy between bytes that overlap")
        (to, a), (of, b) = self._find_object(target, size, 1, writes=True), self._find_object(source, size, 1)
        # The copy is made first, as the two may be the same object.
        to.data[a : a + size] = of.data[b : b + size].copy()
        to.defined[a : a + size] = of.defined[b : b + size].copy()

    def fill(self, target: int, byte: int | Poison, size: int) -> None:
        if size:
            found, start = self._find_object(target, size, 1, writes=True)
            found.data[start : start + size] = 0 if isinstance(byte, Poison) else byte & 0xFF
            found.defined[start : start + size] = not isinstance(byte, Poison)

    def _find_object(self, address: int, size: int, align: int, writes: bool = False) -> tuple[Object, int]:
        # Objects ascend by address: the last one that begins at or before it is the only candidate.
        k = bisect_right(self.bases, address) - 1
        start = address - self.bases[k] if k >= 0 else 0
        if k < 0 or start + size > len(self.objects[k].data):
            raise Undefined(
                f"{size} bytes at address {address:#x} are not part of an object{self._describe_distance(k, start)}"
            )
        self._aligned(address, align)
        if writes and not self.objects[k].writable:
            raise Undefined(f"a store to a constant, at address {address:#x}")
        return self.objects[k], start

    def _aligned(self, address: int, align: int) -> int:
        if address % align:
            raise Undefined(f"the address {address:#x} is not a multiple of {align}")
        return address

    def _describe_distance(self, k: int, start: int) -> str:
        return f": {start} bytes after the beginning of one of {len(self.objects[k].data)} bytes" if k >= 0 else ""


def _require_defined(lane: Number | Poison) -> int:
    """Value that decides whether or where memory is accessed; raises `Undefined` for poison."""
    if isinstance(lane, Poison):
        raise Undefined(str(lane))
    return int(lane)
