# SPDX-License-Identifier: Apache-2.0
"""Comparison with the vendor's emulator, where a user has one, on the same program: how long it takes on this host.

It gets one ELF file with the inputs in it, the minions as masks, and the limit of cycles. Its options are those of the
open-sourced `sys_emu`; it counts instructions as cycles, so that nothing else of the two runs can be compared.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Final

from polyloom import temporary
from polyloom.diagnostics import PolyloomError, input_error
from polyloom.riscv.backend import link
from polyloom.riscv.image import Segment
from polyloom.targets.minion.machine import MINIONS_PER_SHIRE
from polyloom.targets.minion.place import Place
from polyloom.targets.minion.words.isa import ISA
from polyloom.targets.minion.words.program import Program
from polyloom.targets.target import Json

LIMIT_SECONDS: Final = 1800
_SHOWN: Final = 3
"""Lines of its output that a message shows."""


@dataclass(frozen=True, slots=True)
class Peer:
    """Seconds of the host for the emulator, and how many times ours they are."""

    seconds: float
    ratio: float

    def as_json(self) -> Json:
        """The key `peer`."""
        return {"seconds": self.seconds, "ratio": self.ratio}


def check(path: str) -> None:
    """Check before any work is done that the emulator can be started. Errors: PL1313."""
    if shutil.which(path) is None:
        raise _peer_error(f"there is no emulator '{path}' that can be started")


def compare(path: str, program: Program, inputs: Sequence[tuple[int, bytes]], place: Place, ours: float) -> Peer:
    """Run of the emulator at `path`; `ours` are the seconds of our run. Errors: PL1313."""
    with temporary.temporary_folder() as folder:
        file = folder / "program.elf"
        file.write_bytes(merge_inputs(program, inputs))
        seconds = _time_command([path, *arguments(str(file), program.entry, place)])
    # A run of a few instructions may take no measurable time.
    return Peer(seconds, seconds / max(ours, 1e-9))


def arguments(file: str, entry: int, place: Place) -> list[str]:
    """Arguments of the emulator: hart 0 and 1 of all minions start at the entry; the service processor stays off."""
    minions = (1 << min(place.minions, MINIONS_PER_SHIRE)) - 1
    masks = ["-minions", hex(minions), "-shires", hex((1 << place.shires) - 1)]
    return ["-sp_dis", "-reset_pc", hex(entry), *masks, "-max_cycles", str((1 << 63) - 1), "-elf_load", file]


def merge_inputs(program: Program, inputs: Sequence[tuple[int, bytes]]) -> bytes:
    """Executable of all that is loaded; inputs replace the bytes that they lie on."""
    parts = [_overlay(segment, inputs) for segment in program.segments]
    inside = [(s.address, s.address + s.size) for s in parts]
    # The emulator loads ELF files only, so inputs outside of the program become segments of their own.
    apart = [
        Segment(address, data, len(data), False)
        for address, data in inputs
        if data and not any(start <= address and address + len(data) <= end for start, end in inside)
    ]
    return link.segments_executable([*parts, *apart], program.entry, ISA)


def _overlay(segment: Segment, inputs: Sequence[tuple[int, bytes]]) -> Segment:
    """Segment with the inputs that lie in it; zeros behind its data grow up to the last of them."""
    data = bytearray(segment.data)
    for address, given in inputs:
        start = address - segment.address
        if start >= 0 and start + len(given) <= segment.size:
            data += bytes(max(0, start + len(given) - len(data)))
            data[start : start + len(given)] = given
    return Segment(segment.address, bytes(data), segment.size, segment.is_code)


def _time_command(command: Sequence[str]) -> float:
    """Seconds of a command. Errors: PL1313 with the last lines that it printed."""
    start = perf_counter()
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=LIMIT_SECONDS)
    except OSError as error:
        raise _peer_error(f"cannot start the emulator '{command[0]}': {os.strerror(error.errno or 0)}") from None
    except subprocess.TimeoutExpired:
        raise _peer_error(f"the emulator has not ended after {LIMIT_SECONDS} seconds") from None
    seconds = perf_counter() - start
    if done.returncode:
        told = done.stdout.decode("utf-8", "replace").strip().splitlines()[-_SHOWN:]
        raise _peer_error(f"the emulator ended with {done.returncode}", tuple(told))
    return seconds


def _peer_error(message: str, notes: tuple[str, ...] = ()) -> PolyloomError:
    help = "give the path of the vendor's sys_emu, which starts as `sys_emu -elf_load FILE -minions MASK -shires MASK`"
    return input_error("PL1313", message, notes=notes, help=help)
