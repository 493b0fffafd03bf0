# SPDX-License-Identifier: Apache-2.0
"""Loader of bare-metal programs: one ELF executable, raw bytes at addresses, and the entry.

Everything is checked before anything runs: the machine, width and byte order of the file, that segments lie in memory
and do not overlap, and that the entry is an instruction of code in DRAM.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

from polyloom.diagnostics import Diagnostic, PolyloomError, input_error
from polyloom.riscv import image, symbols
from polyloom.riscv.image import MAGIC, Segment
from polyloom.riscv.names import parse_isa
from polyloom.targets.minion.machine import Machine
from polyloom.targets.minion.memory_map import code_memory, find_gap, holds_code, reset_address
from polyloom.targets.minion.words.locate import Locator
from polyloom.targets.target import Loaded

_BASE: Final = parse_isa("rv64imfc")
"""What the header of an ELF file tells, and messages name."""
_COMPILE: Final = "compile it with -march=rv64imfc -mabi=lp64f, and link it with -static"


@dataclass(frozen=True, slots=True)
class Part:
    """A segment, and the file that it comes from."""

    file: str
    segment: Segment

    @property
    def end(self) -> int:
        """Address behind the last byte."""
        return self.segment.address + self.segment.size


@dataclass(frozen=True, slots=True)
class Program:
    """Loaded program. `symbols` are (address, size) by name; `elf` is the executable, empty where everything is raw."""

    parts: tuple[Part, ...]
    entry: int
    symbols: Mapping[str, tuple[int, int]] = field(default_factory=dict[str, tuple[int, int]])
    locator: Locator = field(default_factory=Locator)
    elf: bytes = b""

    @property
    def segments(self) -> Iterator[Segment]:
        """Segments of all files."""
        return (part.segment for part in self.parts)


def load(files: Sequence[Loaded], raw: Sequence[Loaded], entry: int | None, machine: Machine) -> Program:
    """`files` are positional, `raw` have addresses. Errors: PL1303 to PL1306."""
    executables = [file for file in files if file.address is None]
    if len(executables) > 1:
        message = f"'{executables[0].path}' and '{executables[1].path}' are two programs"
        raise input_error("PL1303", message, help="give one; --raw ADDRESS=FILE puts other bytes into memory")
    parts = [_raw(file) for file in (*(f for f in files if f.address is not None), *raw)]
    found = [executable(file.data, file.path) for file in executables]
    parts = [*(Part(executables[0].path, s) for i in found for s in i.segments if s.size), *parts]
    _check_memory(parts, machine)
    _check_overlap(parts)
    start = entry if entry is not None else found[0].entry if found else _default_entry(raw, machine)
    _check_entry(start, parts, machine)
    elf = executables[0].data if executables else b""
    named = symbols.symbol_extents(elf) if elf else {}
    return Program(tuple(parts), start, named, Locator.of(elf), elf)


def executable(data: bytes, name: str) -> image.Image:
    """Image of an executable for the Minion. Errors: PL1303."""
    try:
        return image.elf_image(data, _BASE)
    except PolyloomError as error:
        first = error.diagnostics[0]
        raise input_error(
            "PL1303", f"'{name}' is no program for the Minion: {first.message}", help=_help(first)
        ) from None


def _help(error: Diagnostic) -> str:
    """Help by what is wrong with the file: only a wrong instruction set is mended by compiling again with other
    options.
    """
    if "no ELF file" in error.message:
        return "give a static executable, or place raw bytes: --raw 0x8000001000=FILE --entry 0x8000001000"
    if "truncated" in error.message or "overlap in the file" in error.message:
        return str(error.help)
    if "starts at" in error.message:
        return "link it again with an even entry"
    return str(error.help) if "no code" in error.message else _COMPILE


def _raw(file: Loaded) -> Part:
    """Part of raw bytes at their address. Errors: PL1303."""
    if file.data.startswith(MAGIC):
        message = f"'{file.path}' is an ELF file, which says itself where it stands"
        raise input_error("PL1303", message, help=f"write `polyloom simulate {file.path} --on minion`")
    if not file.data:
        raise input_error("PL1303", f"'{file.path}' is empty", help="give a file with at least one byte")
    return Part(file.path, Segment(file.address or 0, file.data, len(file.data), True))


def _default_entry(raw: Sequence[Loaded], machine: Machine) -> int:
    """Entry without an executable: the reset address if a file covers it. Errors: PL1306."""
    reset = reset_address(machine)
    if any((f.address or 0) <= reset < (f.address or 0) + len(f.data) for f in raw):
        return reset
    help = f"write --entry {raw[0].address or 0:#x}" if raw else "write --entry with an address"
    raise input_error("PL1306", "nothing says where the program starts", help=help)


def _check_memory(parts: Iterable[Part], machine: Machine) -> None:
    """Errors: PL1304 where a part leaves memory."""
    for part in parts:
        segment = part.segment
        lack = find_gap(machine, segment.address, segment.size)
        if lack is not None:
            message = (
                f"'{part.file}' has {segment.size} bytes at {segment.address:#x}, and {lack.address:#x} is {lack.what}"
            )
            other = "" if machine.is_erbium else " or a scratchpad (0x80000000 on)"
            help = f"link it into {code_memory(machine)}{other}"
            raise input_error("PL1304", message, help=help)


def _check_overlap(parts: Iterable[Part]) -> None:
    """Errors: PL1305 where two parts share bytes."""
    # Sorted by address, any overlap shows between neighbours.
    for below, above in pairwise(sorted(parts, key=lambda p: p.segment.address)):
        if below.end > above.segment.address:
            both = f"two parts of '{below.file}'" if below.file == above.file else f"'{below.file}' and '{above.file}'"
            raise input_error(
                "PL1305", f"{both} overlap at {above.segment.address:#x}", help="give them other addresses"
            )


def _check_entry(entry: int, parts: Sequence[Part], machine: Machine) -> None:
    """Errors: PL1306 where the entry is odd, outside of what is loaded, in data, or in no memory of code."""
    # With compressed instructions, every even address may hold one (RISC-V unprivileged manual, chapter C).
    if entry % 2:
        raise input_error(
            "PL1306", f"the entry {entry:#x} is odd", help="instructions stand at even addresses: write --entry so"
        )
    owner = next((p for p in parts if p.segment.address <= entry < p.end), None)
    if owner is None:
        code = [p for p in parts if p.segment.is_code]
        at = f"--entry {code[0].segment.address:#x}" if code else "--entry ADDRESS"
        raise input_error("PL1306", f"the entry {entry:#x} is in nothing that was loaded", help=f"write {at}")
    if not owner.segment.is_code:
        message = f"the entry {entry:#x} is in data of '{owner.file}'"
        raise input_error("PL1306", message, help="name the address of an instruction: --entry ADDRESS")
    if not holds_code(machine, entry):
        kind = "MRAM" if machine.is_erbium else "DRAM"
        message = f"the entry {entry:#x} is outside {kind}, from which alone harts fetch instructions"
        raise input_error("PL1306", message, help=f"link code into {code_memory(machine)}")
