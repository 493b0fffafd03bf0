# SPDX-License-Identifier: Apache-2.0
"""Stepper of a Tensix tile: loops of three threads, cycle by cycle (`polyloom.targets.stepper`).

Events are the words that units accept and the instructions of cores. Keys are coarse, for a word reads and writes rows
by counters: a unpacker writes `srca` or `srcb`, the matrix unit reads both and writes `dst`, the vector unit works on
`dst`, a packer reads `dst`. What is stored is seen by comparing the outputs before and after a cycle. A snapshot is a
number of cycles: to restore it, the tile runs again from its start.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from polyloom._native import tensix as native
from polyloom.diagnostics import input_error
from polyloom.frontend.source import Arrays
from polyloom.riscv import source_lines
from polyloom.riscv.encode import Flow, flow_of_word, register_name
from polyloom.riscv.isa import X_NAMES
from polyloom.targets.provenance import place_provenance
from polyloom.targets.stepper import Code, Event, HartState, Operand, Snapshot, StoredElement, element_name
from polyloom.targets.target import Job
from polyloom.targets.tensix.options import CORES
from polyloom.targets.tensix.run import stages
from polyloom.targets.tensix.run.events import CORE_ISA, FIRST_CORE, TRACKS, event_name, origin
from polyloom.targets.tensix.run.tile import Tile
from polyloom.targets.tensix.words.arrays.note import Note

_FLOW: Final[Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]]] = {
    "unpack0": (("l1",), ("srca",)),
    "unpack1": (("l1",), ("srcb",)),
    "matrix": (("srca", "srcb", "dst"), ("dst",)),
    "vector": (("dst", "lregs"), ("dst", "lregs")),
    "pack": (("dst",), ("l1",)),
}
"""What the words of a unit read and write."""
_PATIENCE: Final = 20_000
"""Cycles without an event after which the model is asked for a deadlock."""


class TileStepper:
    """Stepper of an executable of loops on one tile. Errors: those of a run."""

    def __init__(self, data: bytes, note: Note, job: Job) -> None:
        self._data, self._note, self._job = data, note, job
        self._lines = source_lines.decode_lines(data)
        self._tile = self._open()
        self._cycle, self._ended, self._quiet, self._seen = 0, False, 0, 0
        self._bytes = self._output_bytes()
        self._outputs = self._read_outputs()

    @property
    def cycle(self) -> int:
        return self._cycle

    @property
    def is_at_end(self) -> bool:
        return self._ended

    def step(self) -> Sequence[Event]:
        found: tuple[Event, ...] = ()
        # Cycles in which nothing is accepted are no positions.
        while not found and not self._ended:
            self._advance()
            found = self._events()
            self._ended = self._tile.native.idle and not found
        return found

    def save(self) -> Snapshot:
        return Snapshot(64, (self._cycle, self._ended))

    def restore(self, saved: Snapshot) -> None:
        cycle, self._ended = saved.state
        self._tile, self._quiet = self._open(), 0
        # The tile has no state outside itself: as many cycles lead to the same.
        for _ in range(cycle):
            self._tile.native.step()
        self._seen = len(self._tile.native.events_from(0))
        self._cycle = cycle
        self._bytes, self._outputs = self._output_bytes(), self._read_outputs()

    def arrays(self) -> Arrays:
        return {**self._job.inputs, **self._read_outputs()}

    def registers(self) -> Mapping[str, Mapping[str, str]]:
        tile, found = self._tile, dict[str, Mapping[str, str]]()
        for number, core in enumerate(CORES):
            if tile.native.retired(number):
                x = {X_NAMES[n]: str(value) for n, value in enumerate(tile.native.registers(number))}
                found[core] = {"pc": hex(tile.native.pc(number)), **x}
        lregs = {f"L{n}": " ".join(str(v) for v in row.view(np.float32)) for n, row in enumerate(tile.lregs[:8])}
        rows = {f"row{n}": " ".join(f"{v:04x}" for v in tile.dst[n]) for n in np.flatnonzero(tile.dst_valid).tolist()}
        semaphores = {f"semaphore{n}": f"{value} of {most}" for n, (value, most) in enumerate(tile.semaphores.tolist())}
        return {**found, "vector": lregs, "dst": rows, "sync": semaphores}

    def loops(self) -> Sequence[str]:
        return ()

    def code(self) -> Sequence[Code]:
        known = zip(self._lines.addresses, self._lines.places, strict=True)
        return [Code(address, "", "code", place_provenance(place)) for address, place in known]

    @property
    def harts(self) -> Sequence[str]:
        return CORES

    @property
    def xlen(self) -> int:
        return 32

    def hart_state(self, hart: int) -> HartState:
        return HartState(self._tile.native.pc(hart), tuple(self._tile.native.registers(hart)))

    def read_memory(self, address: int, size: int) -> bytes:
        return self._tile.l1[address : address + size].tobytes()

    def _open(self) -> Tile:
        # The trace is on, because its events are what steps tell.
        limits = stages.Limits(self._job.options.hazards, self._job.options.max_cycles, True)
        return stages.open_tile(
            self._data, stages.laid_arguments(self._note, self._job.inputs), limits, self._note.memory
        )

    def _advance(self) -> None:
        if self._cycle >= self._job.options.max_cycles:
            message = f"the program has not ended after {self._cycle} cycles"
            raise input_error("PL1236", message, help=f"`--max-cycles {10 * self._cycle}` lets it run longer")
        self._tile.step()
        self._cycle += 1
        self._quiet += 1
        if self._quiet > _PATIENCE:
            # Only a run of its own looks for deadlocks; it raises what it finds.
            self._tile.run(_PATIENCE)
            self._quiet = 0

    def _events(self) -> tuple[Event, ...]:
        events = self._tile.native.events_from(self._seen)
        self._seen += len(events)
        changed = self._find_changes()
        if events or changed:
            self._quiet = 0
        made = [self._event(event) for event in events]
        if changed:
            names = tuple(Operand(element_name(s.array, s.index), str(s.value), None) for s in changed)
            reads = (Operand("packer", "", "l1"),)
            made.append(Event(self._cycle, "L1", "store", reads=reads, writes=names, stores=tuple(changed)))
        return tuple(made)

    def _event(self, event: native.Event) -> Event:
        _, _, thread, track, word, pc, _, _ = event
        _, unit = TRACKS[track]
        place = place_provenance(origin(self._lines, pc))
        text = event_name(event, self._tile.member)
        if track >= FIRST_CORE:
            return self._core_event(track - FIRST_CORE, unit, text, word, pc)
        kind = "pack" if unit.startswith("packer") else unit
        reads, writes = _FLOW.get(kind, ((), ()))
        made = tuple(Operand(name, "", name) for name in writes)
        return Event(
            self._cycle, f"t{thread} {unit}", text, pc, place,
            reads=tuple(Operand(n, "", n) for n in reads), writes=made,
        )  # fmt: skip

    def _core_event(self, core: int, unit: str, text: str, word: int, pc: int) -> Event:
        """Instruction of a core, with its registers behind it."""
        # Tensix words take encodings of compressed instructions, whose two lowest bits are not both 1.
        flow = flow_of_word(word, CORE_ISA) if word & 3 == 3 else None
        # Registers are read behind the instruction; its operands that it overwrites show the result.
        x, place = self._tile.native.registers(core), place_provenance(origin(self._lines, pc))
        flow = flow or Flow((), ())

        def operand(number: int) -> Operand:
            key: Hashable = ("x", core, number)
            return Operand(register_name(("x", number)), str(x[number]), key)

        return Event(
            self._cycle, unit, text, pc, place,
            reads=tuple(operand(n) for _, n in flow.reads), writes=tuple(operand(n) for _, n in flow.writes),
            result=next((np.uint32(x[n]) for _, n in flow.writes), None),
        )  # fmt: skip

    def _output_bytes(self) -> tuple[bytes, ...]:
        areas = [written.area.placed for written in self._note.outputs]
        memories = [self._tile.l1 if p.blocks is None else self._tile.dram for p in areas]
        return tuple(
            memory[p.address : p.address + p.size].tobytes() for p, memory in zip(areas, memories, strict=True)
        )

    def _read_outputs(self) -> Arrays:
        # Copies: what needs no decoding is a view of the memory.
        return {n: a.copy() for n, a in stages.read_outputs(self._note, self._tile.l1, self._tile.dram).items()}

    def _find_changes(self) -> list[StoredElement]:
        """Elements of outputs that the last cycle has changed; tiles are decoded only where their bytes are others."""
        now, found = self._output_bytes(), list[StoredElement]()
        if now == self._bytes:
            return found
        outputs = self._read_outputs()
        for name, array in outputs.items():
            before: np.ndarray[Any, Any] = self._outputs[name]
            same = (array == before) | ((array != array) & (before != before))
            found += [StoredElement(name, tuple(index), array[tuple(index)]) for index in np.argwhere(~same).tolist()]
        self._bytes, self._outputs = now, outputs
        return found
