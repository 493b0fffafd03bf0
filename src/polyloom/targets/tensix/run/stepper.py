# SPDX-License-Identifier: Apache-2.0
"""Stepper of Tensix tiles: loops of three threads, vector kernels and products on grids, cycle by cycle
(`polyloom.targets.stepper`).

Events are the words that units accept and the instructions of cores. Keys are coarse, for a word reads and writes rows
by counters: an unpacker writes `srca` or `srcb`, the matrix unit reads both and writes `dst`, the vector unit works on
`dst`, a packer reads `dst`. What is stored is seen by comparing the outputs before and after a cycle. A snapshot is a
number of cycles: to restore it, the tile runs again from its start.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Final

import numpy as np

from polyloom._native import tensix as native
from polyloom.diagnostics import input_error
from polyloom.frontend.source import Arrays
from polyloom.riscv.encode import Flow, flow_of_word, register_name
from polyloom.riscv.isa import X_NAMES
from polyloom.targets.provenance import place_provenance
from polyloom.targets.stepper import Code, Event, HartState, Operand, Snapshot, StoredElement, element_name
from polyloom.targets.tensix.options import CORES
from polyloom.targets.tensix.run.events import CORE_ISA, FIRST_CORE, TRACKS, event_name
from polyloom.targets.tensix.run.stepped_program import SteppedProgram, changed_elements
from polyloom.targets.tensix.run.tile import Tile

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
    """Stepper of an executable on its tiles. Errors: those of a run."""

    def __init__(self, program: SteppedProgram, max_cycles: int) -> None:
        self._program, self._max_cycles = program, max_cycles
        self._ended, self._quiet = False, 0
        self._seen = [0] * len(program.tiles)
        self._bytes, self._outputs = program.output_bytes(), program.read_outputs()

    @property
    def cycle(self) -> int:
        return self._program.cycle

    @property
    def is_at_end(self) -> bool:
        return self._ended

    def step(self) -> Sequence[Event]:
        found: tuple[Event, ...] = ()
        # Cycles in which nothing is accepted are no positions.
        while not found and not self._ended:
            self._advance()
            found = self._events()
            self._ended = self._program.is_idle and not found
        return found

    def save(self) -> Snapshot:
        return Snapshot(64, (self.cycle, self._ended))

    def restore(self, saved: Snapshot) -> None:
        cycle, self._ended = saved.state
        program, self._quiet = self._program, 0
        # Tiles have no state outside themselves: as many cycles lead to the same.
        program.replay(cycle)
        self._seen = [len(tile.native.events_from(0)) for tile in program.tiles]
        self._bytes, self._outputs = program.output_bytes(), program.read_outputs()

    def arrays(self) -> Arrays:
        return {**self._program.inputs, **self._program.read_outputs()}

    def registers(self) -> Mapping[str, Mapping[str, str]]:
        found = dict[str, Mapping[str, str]]()
        for number, tile in enumerate(self._program.tiles):
            found |= {f"{self._program.tile_name(number)}{unit}": held for unit, held in _registers(tile).items()}
        return found

    def loops(self) -> Sequence[str]:
        return ()

    def code(self) -> Sequence[Code]:
        lines = self._program.lines
        return [
            Code(a, "", "code", place_provenance(place)) for a, place in zip(lines.addresses, lines.places, strict=True)
        ]

    @property
    def harts(self) -> Sequence[str]:
        return [f"{self._program.tile_name(n)}{core}" for n in range(len(self._program.tiles)) for core in CORES]

    @property
    def xlen(self) -> int:
        return 32

    def hart_state(self, hart: int) -> HartState:
        tile = self._program.tiles[hart // len(CORES)].native
        return HartState(tile.pc(hart % len(CORES)), tuple(tile.registers(hart % len(CORES))))

    def read_memory(self, address: int, size: int) -> bytes:
        return self._program.tiles[0].l1[address : address + size].tobytes()

    def _advance(self) -> None:
        if self.cycle >= self._max_cycles:
            message = f"the program has not ended after {self.cycle} cycles"
            raise input_error("PL1236", message, help=f"`--max-cycles {10 * self.cycle}` lets it run longer")
        self._program.advance()
        self._quiet += 1
        if self._quiet > _PATIENCE:
            # Only a run of its own looks for deadlocks; it raises what it finds.
            self._program.look_for_deadlock(_PATIENCE)
            self._quiet = 0

    def _events(self) -> tuple[Event, ...]:
        made = list[Event]()
        for number, tile in enumerate(self._program.tiles):
            events = tile.native.events_from(self._seen[number])
            self._seen[number] += len(events)
            made += [self._event(event, number) for event in events]
        if changed := self._find_changes():
            names = tuple(Operand(element_name(s.array, s.index), str(s.value), None) for s in changed)
            reads = (Operand("packer", "", "l1"), Operand("dst", "", "dst"))
            made.append(Event(self.cycle, "memory", "store", reads=reads, writes=names, stores=tuple(changed)))
        if made:
            self._quiet = 0
        return tuple(made)

    def _event(self, event: native.Event, number: int) -> Event:
        _, _, thread, track, word, pc, _, _ = event
        _, unit = TRACKS[track]
        tile, name = self._program.tiles[number], self._program.tile_name(number)
        place = place_provenance(self._program.place(pc))
        text = event_name(event, tile.member)
        if track >= FIRST_CORE:
            return self._core_event(track - FIRST_CORE, number, f"{name}{unit}", text, word, pc)
        kind = "pack" if unit.startswith("packer") else unit
        reads, writes = _FLOW.get(kind, ((), ()))
        # A grid has a Dst in each of its tiles; the only tile of others needs no name.
        own: Callable[[str], Hashable] = (lambda key: (key, number)) if name else (lambda key: key)
        made = tuple(Operand(key, "", own(key)) for key in writes)
        return Event(
            self.cycle, f"{name}t{thread} {unit}", text, pc, place,
            reads=tuple(Operand(n, "", own(n)) for n in reads), writes=made,
        )  # fmt: skip

    def _core_event(self, core: int, number: int, unit: str, text: str, word: int, pc: int) -> Event:
        """Instruction of a core, with its registers behind it."""
        # Tensix words take encodings of compressed instructions, whose two lowest bits are not both 1.
        flow = flow_of_word(word, CORE_ISA) if word & 3 == 3 else None
        # Registers are read behind the instruction; its operands that it overwrites show the result.
        x = self._program.tiles[number].native.registers(core)
        place = place_provenance(self._program.place(pc))
        flow = flow or Flow((), ())

        def operand(register: int) -> Operand:
            key: Hashable = ("x", number, core, register)
            return Operand(register_name(("x", register)), str(x[register]), key)

        return Event(
            self.cycle, unit, text, pc, place,
            reads=tuple(operand(n) for _, n in flow.reads), writes=tuple(operand(n) for _, n in flow.writes),
            result=next((np.uint32(x[n]) for _, n in flow.writes), None),
        )  # fmt: skip

    def _find_changes(self) -> list[StoredElement]:
        """Elements of outputs that the last cycle has changed; they are decoded only where their bytes are others."""
        now = self._program.output_bytes()
        if now == self._bytes:
            return []
        outputs = self._program.read_outputs()
        found = changed_elements(self._outputs, outputs)
        self._bytes, self._outputs = now, outputs
        return [StoredElement(*element) for element in found]


def _registers(tile: Tile) -> dict[str, Mapping[str, str]]:
    """Registers of the cores that have run, and of the units."""
    found = dict[str, Mapping[str, str]]()
    for number, core in enumerate(CORES):
        if tile.native.retired(number):
            x = {X_NAMES[n]: str(value) for n, value in enumerate(tile.native.registers(number))}
            found[core] = {"pc": hex(tile.native.pc(number)), **x}
    lregs = {f"L{n}": " ".join(str(v) for v in row.view(np.float32)) for n, row in enumerate(tile.lregs[:8])}
    rows = {f"row{n}": " ".join(f"{v:04x}" for v in tile.dst[n]) for n in np.flatnonzero(tile.dst_valid).tolist()}
    semaphores = {f"semaphore{n}": f"{value} of {most}" for n, (value, most) in enumerate(tile.semaphores.tolist())}
    return {**found, "vector": lregs, "dst": rows, "sync": semaphores}
