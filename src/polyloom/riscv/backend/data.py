# SPDX-License-Identifier: Apache-2.0
"""Data layout of a program: the C file's variables, then the constant pool, from an address on; then code, unless that
is placed elsewhere.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from polyloom.ir.ssa import Data
from polyloom.ir.ssa_types import I64, SIZE, Type

BASE: Final = 0x10000
"""Its low twelve bits are 0, so that one instruction makes the upper part of an address near it."""


class Layout:
    """Data section under construction. Mutable: constants are added while instructions are selected. Integers of 64
    bits are among them where there is room behind the data, near enough for two instructions.
    """

    def __init__(self, data: Sequence[Data], base: int = BASE, *, words: bool = True) -> None:
        self.base: Final = base
        self.words: Final = words
        self.bytes = bytearray()
        self.places: dict[str, int] = {datum.name: self._add(datum.initial, datum.align) for datum in data}
        self._pointers = [(self.places[d.name] - base + at, address) for d in data for at, address in d.addresses]
        self._constants: dict[tuple[Type, int], int] = {}

    @property
    def end(self) -> int:
        """Address where code can begin, aligned to 16 bytes."""
        # Code begins aligned, so that its addresses do not depend on the last bytes of data.
        return -(-(self.base + len(self.bytes)) // 16) * 16

    @property
    def pool(self) -> frozenset[int]:
        """Addresses of the constant pool, which nothing writes."""
        return frozenset(self._constants.values())

    def linked(self, functions: Mapping[str, int], size: int) -> bytes:
        """Bytes of the data, with pointers of `size` bytes to data and to functions, which are at the given addresses
        (relocation).
        """
        made, known = bytearray(self.bytes), {**functions, **self.places}
        for at, address in self._pointers:
            # `size` is that of the source's pointers, by which its structures are laid out; RISC-V is little-endian.
            made[at : at + size] = (known[address.name] + address.offset).to_bytes(size, "little")
        return bytes(made)

    def constant(self, type: Type, bits: int) -> int:
        """Address of a constant, of which there is one copy."""
        # Keyed by bits, not by value: +0 and -0 are equal as floats, and NaNs differ from themselves.
        if (type, bits) not in self._constants:
            self._constants[type, bits] = self._add(bits.to_bytes(SIZE[type], "little"), SIZE[type])
        return self._constants[type, bits]

    def word(self, value: int) -> int | None:
        """Address of an integer of 64 bits, where it may have one."""
        return self.constant(I64, value % (1 << 64)) if self.words else None

    def _add(self, data: bytes, align: int) -> int:
        self.bytes += bytes(-len(self.bytes) % max(align, 1)) + data
        return self.base + len(self.bytes) - len(data)
