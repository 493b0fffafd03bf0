# SPDX-License-Identifier: Apache-2.0
"""ELF files written by hand, each part of the header as asked."""

from __future__ import annotations

import struct
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Elf:
    """A static executable for RV64 with one segment of code, unless told otherwise."""

    code: bytes
    address: int = 0x10000
    wide: bool = True
    kind: int = 2
    machine: int = 243
    flags: int = 0
    order: int = 1
    segment: int = 1
    size: int = 0
    """Bytes in memory beyond those of the file."""

    @property
    def data(self) -> bytes:
        start, header = (64, 56) if self.wide else (52, 32)
        offset = start + header
        identity = b"\x7fELF" + bytes([2 if self.wide else 1, self.order, 1]) + bytes(9)
        head = "<HHIQQQIHHHHHH" if self.wide else "<HHIIIIIHHHHHH"
        made = identity + struct.pack(
            head, self.kind, self.machine, 1, self.address, start, 0, self.flags, start, header, 1, 0, 0, 0
        )
        length, size = len(self.code), len(self.code) + self.size
        if self.wide:
            made += struct.pack("<IIQQQQQQ", self.segment, 7, offset, self.address, self.address, length, size, 4096)
        else:
            made += struct.pack("<IIIIIIII", self.segment, offset, self.address, self.address, length, size, 7, 4096)
        return made + self.code
