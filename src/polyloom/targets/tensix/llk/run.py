# SPDX-License-Identifier: Apache-2.0
"""Run of a low-level kernel on a tile: threads compiled, operands written, results read, as `polyloom llk` and
`pl.tensix.llk` do it.

Before the threads start, the tile is as the vendor's firmware of core B leaves it: all lanes enabled, the semaphores
between the threads at 0 (boot code of the library's tests). Reader and writer are the host, unless cores B and NC get
programs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from polyloom import temporary
from polyloom.diagnostics import PolyloomError, input_error
from polyloom.riscv.source_lines import Lines, decode_lines
from polyloom.targets.target import Json
from polyloom.targets.tensix.llk.explain import explain_deadlock, locate_addresses
from polyloom.targets.tensix.llk.operands import (
    Operand,
    OperandName,
    duplicate_names,
    operands_header,
    parse_operand,
    place_operands,
    read_operand,
    write_operand,
)
from polyloom.targets.tensix.llk.threads import Threads, compile_threads
from polyloom.targets.tensix.options import MAX_CYCLES, Core, Hazards
from polyloom.targets.tensix.run.events import trace
from polyloom.targets.tensix.run.tile import Outcome, Tile
from polyloom.targets.tensix.words.isa import Member
from polyloom.targets.trace import Trace

Array = NDArray[Any]
_BOOT_SEMAPHORES: Final = (2, 6, 7)
"""Unpacker to Dst, math done, pack done: the vendor's core B lets each count to 1."""


@dataclass(frozen=True, slots=True)
class LlkRun:
    """Run of a kernel: results by name, how it ended, the tile afterwards, where operands are, and programs' line
    tables."""

    outputs: Mapping[str, Array]
    outcome: Outcome
    tile: Tile
    operands: tuple[Operand, ...]
    trace: Trace
    lines: tuple[Lines, ...] = ()

    @property
    def cycles(self) -> int:
        return self.outcome.cycles

    def error(self) -> PolyloomError | None:
        """Fault, hazard or deadlock, if there was one (PL1220 to PL1222)."""
        found = self.outcome.error()
        if found is None:
            return None
        if self.outcome.stop == "deadlock":
            found = explain_deadlock(found, self.tile.semaphores.tolist())
        return locate_addresses(found, self.lines)

    def memory_map(self) -> list[Json]:
        """Operands as data for JSON."""
        return [
            {"name": o.name, "address": o.address, "end": o.end, "format": o.format, "tiles": o.tiles}
            for o in self.operands
        ]


def thread_sources(files: Sequence[str], cores: Mapping[Core, str]) -> dict[Core, str]:
    """Sources by core: one file for all three threads, or one for each in the order unpack, math, pack. Errors:
    PL1229."""
    if len(files) not in (1, 3):
        help = (
            "give unpack, math and pack, in this order, or one file that tells them apart by LLK_TRISC_UNPACK and so on"
        )
        raise input_error("PL1229", f"there are {len(files)} files, and three threads", help=help)
    t0, t1, t2 = files[0], files[len(files) // 2], files[-1]
    return {"t0": t0, "t1": t1, "t2": t2, **cores}


def run_llk(
    sources: Mapping[Core, str],
    inputs: Mapping[OperandName, Array],
    outputs: Mapping[OperandName, int | None],
    *,
    member: Member = "wormhole",
    includes: tuple[str, ...] = (),
    defines: tuple[str, ...] = (),
    hazards: Hazards = "error",
    ignore_mmio: bool = False,
    max_cycles: int = MAX_CYCLES,
    tracing: bool = False,
) -> LlkRun:
    """Compilation and run of a kernel; what the run meets is in the result. Errors: clang's, PL1226 to PL1229."""
    for names in (inputs, outputs):
        if twice := next(duplicate_names(names), None):
            raise input_error("PL1228", f"the operand {twice} is given twice", help=f"give {twice} once")
    tile = Tile(member, hazards, ignore_mmio)
    tile.native.tracing = tracing
    operands = place_operands(inputs, outputs, len(tile.l1))
    by_name = {operand.name: operand for operand in operands}
    with temporary.temporary_folder() as folder:
        threads = Threads(sources, member, includes, defines, operands_header(operands))
        programs = compile_threads(threads, str(folder))
        entries: dict[Core, int] = {}
        for core, parts in programs.items():
            found: list[int] = []
            for number, data in enumerate(parts):
                path = Path(folder, f"{core}{number}.elf")
                path.write_bytes(data)
                found.append(tile.load_elf(core, path))
            entries[core] = found[0]
    # Written behind the programs, which must not lie over them.
    for named, array in inputs.items():
        write_operand(tile, by_name[named.name], array)
    _boot(tile)
    for core, entry in entries.items():
        tile.release(core, entry)
    outcome = tile.run(max_cycles, check=False)
    results = {named.name: read_operand(tile, by_name[named.name]) for named in outputs}
    # Programs that were given as executables have lines only if they were compiled with -g.
    lines = tuple(decode_lines(data) for parts in programs.values() for data in parts)
    return LlkRun(results, outcome, tile, operands, trace(tile) if tracing else Trace(), lines)


def _boot(tile: Tile) -> None:
    """State that the vendor's core B makes before the threads start."""
    # Flags of all lanes set, and in use (SFPENCC 3, 10).
    tile.flags[:] = 0xFFFFFFFF
    # A maximum of 0 would let a wait for "full" pass at once.
    for number in _BOOT_SEMAPHORES:
        tile.semaphores[number] = 0, 1


def llk(
    *files: str,
    inputs: Mapping[str, Any] | None = None,
    outputs: Mapping[str, int | None] | Sequence[str] = (),
    on: Member = "wormhole",
    include: Sequence[str] = (),
    defines: Sequence[str] = (),
    cores: Mapping[Core, str] | None = None,
    hazards: Hazards = "error",
    max_cycles: int = MAX_CYCLES,
    check: bool = True,
) -> LlkRun:
    """`pl.tensix.llk("unpack.cpp", "math.cpp", "pack.cpp", inputs={"A:bf16": a}, outputs=["C:bf16"])`: a low-level
    kernel on a tile. An output may have a number of tiles, `{"C:bf16": 2}`. Faults, hazards and deadlocks are raised
    unless `check` is off. Errors: those of `run_llk`, PL1220 to PL1222.
    """
    sized: Mapping[str, int | None] = outputs if isinstance(outputs, Mapping) else dict.fromkeys(outputs)
    found = run_llk(
        thread_sources(files, cores or {}),
        {parse_operand(name): np.asarray(array) for name, array in (inputs or {}).items()},
        {parse_operand(name): tiles for name, tiles in sized.items()},
        member=on,
        includes=tuple(include),
        defines=tuple(defines),
        hazards=hazards,
        max_cycles=max_cycles,
    )
    error = found.error() if check else None
    if error is not None:
        raise error
    return found
