# SPDX-License-Identifier: Apache-2.0
"""Program loading: segments of memory, from a static ELF file or from raw words.

Sources: the Tool Interface Standard's ELF specification, version 1.2 (1995), and the RISC-V ELF psABI specification
(machine 243, flags).
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Final

from polyloom.diagnostics import PolyloomError, input_error
from polyloom.riscv.names import Isa

MAGIC: Final = b"\x7fELF"
_RISCV: Final = 243
_EXECUTABLE, _LOAD, _INTERPRETER = 2, 1, 3
_KINDS: Final = {1: "an object file", 3: "a shared object or position-independent"}
# e_flags (psABI, "File Header"): compressed instructions, and the floating-point ABI.
_FLAGS: Final = {1: "c", 2: "f", 4: "d"}
_LINK: Final = "link it with -static -no-pie"


@dataclass(frozen=True, slots=True)
class Segment:
    """Loaded segment: `data` from `address` on, then zeros up to `size` bytes (.bss)."""

    address: int
    data: bytes
    size: int
    is_code: bool


@dataclass(frozen=True, slots=True)
class Image:
    """Program in memory: its segments, in any order, and its entry address."""

    isa: Isa
    segments: tuple[Segment, ...]
    entry: int


def raw_image(data: bytes, isa: Isa, base: int = 0) -> Image:
    """Image of raw words that stand at `base`, where the program starts. Errors: PL0910 for an odd or empty length, or
    an address beyond XLEN.
    """
    if not data or len(data) % 2:
        raise _error(
            f"an image of {len(data)} bytes holds no instructions", "give whole instructions, of two or four bytes each"
        )
    return _check_image(Image(isa, (Segment(base, data, len(data), True),), base))


def is_riscv(data: bytes) -> bool:
    """Whether the header of an ELF file names this machine: e_machine is at offset 18, EM_RISCV is 243 (psABI)."""
    return len(data) >= 52 and data[5] == 1 and data[4] in (1, 2) and data[18:20] == struct.pack("<H", _RISCV)


def elf_image(data: bytes, isa: Isa) -> Image:
    """Image of a static executable for `isa` (ELF specification, "Program Loading"). Errors: PL0910 for any other
    file."""
    if data[:4] != MAGIC or len(data) < 52:
        raise _error("this is no ELF file", "raw words load at an address that you give")
    if data[5] != 1 or data[4] not in (1, 2):
        raise _error("this ELF file is not little-endian", "RISC-V programs are")
    wide = data[4] == 2
    if wide != (isa.xlen == 64):
        raise _error(
            f"the file is for {64 if wide else 32} bits, {isa} for {isa.xlen}", "compile the program for the same XLEN"
        )
    try:
        return _check_image(_read_elf(data, isa, wide))
    except (struct.error, OverflowError):
        raise _error("the ELF file is truncated", "copy it again") from None


def _read_elf(data: bytes, isa: Isa, wide: bool) -> Image:
    kind, machine, _, entry, table, _, flags, _, size, count = struct.unpack_from(
        "<HHIQQQIHHH" if wide else "<HHIIIIIHHH", data, 16
    )
    if machine != _RISCV:
        raise _error(f"the ELF file is for machine {machine}, not for RISC-V ({_RISCV})", f"compile it for {isa}")
    if kind != _EXECUTABLE:
        raise _error(f"the ELF file is {_KINDS.get(kind, 'no executable')}, not a static executable", _LINK)
    for bit, extension in _FLAGS.items():
        if flags & bit and extension not in isa.extensions:
            raise _error(
                f"the file needs the extension {extension}, which {isa} does not have",
                f"compile it for {isa}, or give a larger instruction set",
            )
    headers = [_program_header(data, table + n * size, wide) for n in range(count)]
    if any(header[0] == _INTERPRETER for header in headers):
        # Nothing here loads shared objects or relocates.
        raise _error("the ELF file is linked dynamically", _LINK)
    loaded = [header for header in headers if header[0] == _LOAD]
    # A thousand headers could name the same bytes, and each would take a copy of them in memory.
    if sum(header[4] for header in loaded) > 2 * len(data):
        raise _error("the segments of the ELF file overlap in the file", "link it again")
    return Image(isa, tuple(_segment(data, header) for header in loaded), entry)


def _program_header(data: bytes, place: int, wide: bool) -> tuple[int, int, int, int, int, int]:
    """Program header: (type, flags, offset, address, bytes in the file, bytes in memory). Elf32_Phdr has the flags at
    another place.
    """
    if wide:
        kind, flags, offset, address, _, length, size = struct.unpack_from("<IIQQQQQ", data, place)
    else:
        kind, offset, address, _, length, size, flags = struct.unpack_from("<IIIIIII", data, place)
    return kind, flags, offset, address, length, size


def _segment(data: bytes, header: tuple[int, int, int, int, int, int]) -> Segment:
    _, flags, offset, address, length, size = header
    if offset + length > len(data) or size < length:
        raise _error("the ELF file is truncated", "copy it again")
    return Segment(address, data[offset : offset + length], size, bool(flags & 1))


def _check_image(image: Image) -> Image:
    """The image, if it has code, an aligned entry and addresses within XLEN."""
    if not any(segment.is_code and segment.size > 0 for segment in image.segments):
        raise _error("the image has no code", "link the program again")
    # The C extension lets instructions stand at every second byte.
    step = 2 if "c" in image.isa.extensions else 4
    if image.entry % step:
        raise _error(
            f"the program starts at {image.entry:#x}, but instructions of {image.isa} stand at multiples of {step}",
            "give an aligned address",
        )
    if any(segment.address < 0 or segment.address + segment.size > 1 << image.isa.xlen for segment in image.segments):
        raise _error(f"the image lies beyond {image.isa.xlen} bits of addresses", "link it at a lower address")
    return image


def _error(message: str, help: str) -> PolyloomError:
    return input_error("PL0910", message, help=help)
