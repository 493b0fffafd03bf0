# SPDX-License-Identifier: Apache-2.0
"""What stands where in the chip's 40-bit physical addresses, so that messages can name it.

Source: the programmer's reference manual, "Memory map". Only DRAM and the shires' scratchpads hold programs and data; a
scratchpad has two formats of addresses: by shire (bit 30 = 0), and line by line over all shires (bit 30 = 1).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from polyloom.targets.minion.machine import SHIRES, Machine

DRAM: Final = 0x80_0000_0000
DRAM_BYTES: Final = 32 << 30
RESET: Final = DRAM + 0x1000
"""Where harts start unless told otherwise: the emulators' reset address."""
SCRATCHPAD: Final = 0x8000_0000
OWN_SCRATCHPAD: Final = SCRATCHPAD + (0x7F << 23)
"""That of whichever shire asks."""
_INTERLEAVED: Final = 1 << 30
_SHIRE_SHIFT: Final = 23
# Shire number 0x7F addresses the scratchpad of the shire that issues the access ("Memory map"): the same code serves
# every shire.
_OWN: Final = 0x7F
LINE: Final = 64
# In the interleaved format, one line of each of the 32 shires, one behind the other.
_GROUP: Final = SHIRES * LINE
# ESRs are where the tables of the manual have them; the text of its chapter 15 misprints their base as 0x80000000.
_REGIONS: Final = (
    (0x00_0000_0000, 0x00_4000_0000, "the I/O region"),
    (0x00_4000_0000, 0x00_8000_0000, "the service processor"),
    (0x00_8000_0000, 0x01_0000_0000, "the region of scratchpads"),
    (0x01_0000_0000, 0x02_0000_0000, "the region of ESRs"),
    (0x40_0000_0000, 0x80_0000_0000, "PCIe"),
    (0xC0_0000_0000, 0xC8_0000_0000, "the uncacheable alias of DRAM"),
)


@dataclass(frozen=True, slots=True)
class Lack:
    """The first address of a range that holds no memory, and what is there."""

    address: int
    what: str


# Erbium (sw-sysemu, memory/erbium/main_memory.h and pma_er.cpp). Its MRAM has room for 1 GiB.
MRAM: Final = 0x4000_0000
MRAM_BYTES: Final = 16 << 20
_ERBIUM_CODE: Final = (
    (MRAM, MRAM_BYTES, "MRAM"),
    (0x0200_8000, 0x2000, "the boot ROM"),
    (0x0200_C000, 0x1000, "the scratch SRAM"),
)
_ERBIUM_REGIONS: Final = (
    (0x0200_0000, 0x0200_1000, "the system registers"),
    (0x0200_1000, 0x0200_2000, "the registers of MRAM"),
    (0x0200_2000, 0x0200_3000, "the registers of peripherals"),
    (0x0200_4000, 0x0200_5000, "the UART"),
    (0x0200_F000, 0x0201_0000, "xSPI"),
    (0x7FFF_D000, 0x8000_0000, "the OTP memory"),
    (0x4000_0000, 0x8000_0000, "beyond the 16 MiB of MRAM"),
    (0x8000_0000, 0xA000_0000, "the region of ESRs"),
    (0xA000_0000, 0xA400_0000, "the interrupt controller"),
)


def reset_address(machine: Machine) -> int:
    """Where programs start that say nothing else."""
    return MRAM if machine.is_erbium else RESET


def program_memory(machine: Machine) -> tuple[int, int]:
    """Where a program of C lies with its stacks; of ET-SoC-1, 256 MiB from the emulator's reset address on."""
    return (MRAM, MRAM + MRAM_BYTES) if machine.is_erbium else (RESET, DRAM + (256 << 20))


def code_memory(machine: Machine) -> str:
    """What holds code, in words."""
    return "MRAM (0x40000000 to 0x40ffffff)" if machine.is_erbium else f"DRAM ({DRAM:#x} to {DRAM + DRAM_BYTES - 1:#x})"


def holds_code(machine: Machine, address: int) -> bool:
    """Whether harts may fetch instructions from an address."""
    if machine.is_erbium:
        return any(start <= address < start + size for start, size, _ in _ERBIUM_CODE)
    return in_dram(address)


def in_dram(address: int, size: int = 1) -> bool:
    """Whether a whole range of `size` bytes lies in DRAM."""
    return address >= DRAM and address + size <= DRAM + DRAM_BYTES


def find_gap(machine: Machine, address: int, size: int) -> Lack | None:
    """Range check against the memory map: the first address of a range that is no memory, and what is there; None where
    all of it is memory (programmer's reference manual, "Memory map").
    """
    if not size:
        return None
    # Its addresses mean other things than those of ET-SoC-1.
    if machine.is_erbium:
        return _erbium_gap(address, size)
    if in_dram(address, size):
        return None
    # The range begins in DRAM and does not fit, so it leaves DRAM at its end.
    if DRAM <= address < DRAM + DRAM_BYTES:
        return Lack(DRAM + DRAM_BYTES, "the end of DRAM")
    if SCRATCHPAD <= address < SCRATCHPAD + (2 << 30):
        return _scratchpad_gap(machine, address, size)
    return Lack(address, region_name(machine, address))


def scratchpad_address(shire: int, offset: int = 0) -> int:
    """Address of a byte in the scratchpad of a shire, in the format by shire (programmer's reference manual, "Memory
    map", bit 30 = 0).
    """
    return SCRATCHPAD + (shire << _SHIRE_SHIFT) + offset


def region_name(machine: Machine, address: int) -> str:
    """Name of the region that an address outside memory belongs to, for messages."""
    if machine.is_erbium:
        memory = ((start, start + size, name) for start, size, name in _ERBIUM_CODE)
        regions = (*memory, *_ERBIUM_REGIONS)
        return next((name for start, end, name in regions if start <= address < end), "nothing")
    if in_dram(address):
        return "DRAM"
    return next((name for start, end, name in _REGIONS if start <= address < end), "nothing")


def _erbium_gap(address: int, size: int) -> Lack | None:
    """Range check in Erbium's memories."""
    for start, bytes_, name in _ERBIUM_CODE:
        if start <= address < start + bytes_:
            end = start + bytes_
            return None if address + size <= end else Lack(end, f"the end of {name}")
    return Lack(address, next((name for start, end, name in _ERBIUM_REGIONS if start <= address < end), "nothing"))


def _scratchpad_gap(machine: Machine, address: int, size: int) -> Lack | None:
    """Range check in the scratchpads, addressed by shire."""
    if address & _INTERLEAVED:
        return _interleaved_gap(machine, address, size)
    shire, offset = (address - SCRATCHPAD) >> _SHIRE_SHIFT, address & ((1 << _SHIRE_SHIFT) - 1)
    # The host loads programs and belongs to no shire, so "own" names none.
    if shire == _OWN:
        return Lack(address, "the scratchpad of whichever shire asks")
    if shire >= machine.shires:
        return Lack(address, f"shire {shire}, which {machine.name} does not have")
    if offset + size > machine.scratchpad_bytes:
        end = f"the end of shire {shire}'s scratchpad ({machine.scratchpad_kib} KiB)"
        return Lack(max(address, scratchpad_address(shire, machine.scratchpad_bytes)), end)
    return None


def _interleaved_gap(machine: Machine, address: int, size: int) -> Lack | None:
    """Range check in the scratchpads, addressed line by line: bits 29:28 and 10:6 are the shire, the others the offset
    in it, so that each 2 KiB hold a line of each of 32 shires (programmer's reference manual, "Memory map").
    """
    base = SCRATCHPAD + _INTERLEAVED
    end = base + SHIRES * machine.scratchpad_bytes
    if machine.shires < SHIRES:
        # The lines of the shires that are not there end every run of 2 KiB.
        start = address & ~(_GROUP - 1)
        end = min(end, start + machine.shires * LINE)
    if address + size <= end:
        return None
    return Lack(max(address, end), f"no line of the {machine.shires} scratchpads")
