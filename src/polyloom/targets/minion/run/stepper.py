# SPDX-License-Identifier: Apache-2.0
"""Stepper of the Minion: the native chip, an event at a time, so that harts issue one instruction per step
(`polyloom.targets.stepper`).

Keys are `("x", hart, 10)`, `("f", hart, 3)`, `("m", hart, 1)` for registers, `("byte", address)` for memory and
`("tensor", minion)` for the operations that a minion's tensor coprocessor has been given: what it stores comes from all
of them. What is stored is seen by comparing the outputs before and after a step, since stores of the coprocessor happen
beside the harts. A snapshot is a number of steps: to restore it, the chip runs again from its start.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from polyloom.frontend.source import Arrays
from polyloom.riscv import symbols
from polyloom.riscv.disassemble import addresses, instruction_text
from polyloom.riscv.encode import Flow, Register, decode, flow_of_word, register_name
from polyloom.riscv.image import elf_image
from polyloom.riscv.isa import M_NAMES, X_NAMES
from polyloom.targets.minion.options import Options
from polyloom.targets.minion.place import Place
from polyloom.targets.minion.run import execute, model
from polyloom.targets.minion.run.model import Setup
from polyloom.targets.minion.words import isa
from polyloom.targets.minion.words.note import Note
from polyloom.targets.minion.words.program import load
from polyloom.targets.provenance import Provenance, place_provenance
from polyloom.targets.stepper import Code, Event, HartState, Operand, Snapshot, StoredElement, element_name
from polyloom.targets.target import Job, Loaded
from polyloom.twos_complement import sign_extend

if TYPE_CHECKING:
    from polyloom._native.minion import Chip

_TENSOR: Final = range(0x800, 0x880)
"""Control registers whose writes are operations of the coprocessor. Source: ET Programmer's Reference Manual."""
_HARTS: Final = 2
Registers = tuple[int, list[int], list[list[int]], list[int]]


@dataclass(frozen=True, slots=True)
class _DecodedInstruction:
    text: str
    flow: Flow
    place: Provenance | None
    is_tensor: bool


@dataclass(frozen=True, slots=True)
class _State:
    steps: int
    cycle: int
    is_at_end: bool
    last_steps: dict[int, int]


class MinionStepper:
    """Stepper of a compiled program. Errors: those of a run."""

    def __init__(self, data: bytes, note: Note, job: Job) -> None:
        options: Options = job.options
        self._note, self._data, self._inputs = note, data, job.inputs
        self._program = load([Loaded(f"{note.signature.name}.elf", data, None)], (), None, note.machine)
        self._setup = Setup(
            Place(note.machine, note.minions), options.hazards or "error", False, 1, options.max_cycles, options.errata
        )
        self._decoded = dict[int, _DecodedInstruction]()
        self._steps, self._cycle, self._ended = 0, 0, False
        self._chip = self._open()
        # Registers of each hart behind its last instruction, and the step of it.
        self._registers = self._read_registers(self._known_harts())
        self._last_steps = dict[int, int]()
        self._outputs = self._read_outputs()

    @property
    def cycle(self) -> int:
        return self._cycle

    @property
    def is_at_end(self) -> bool:
        return self._ended

    def step(self) -> Sequence[Event]:
        ran = self._chip.advance()
        self._steps += 1
        if not ran:
            self._ended = True
            execute.check_end(model.read_outcome(self._chip.finish(), self._setup), self._program, self._setup)
            return self._tensor_stores(self._find_changes())
        self._cycle = max(self._cycle, *(cycle for _, _, cycle, _ in ran))
        changed, events = self._find_changes(), list[Event]()
        for hart, pc, cycle, _ in ran:
            after = self._chip.registers(hart)
            here = self._decode(pc)
            event = self._event(hart, pc, cycle, here, self._registers[hart], after)
            if here.flow.direction == "store" and changed:
                # Of two harts that store in one step the first gets all: bytes do not say whose they are.
                event, changed = _with_stores(event, changed), []
            events.append(event)
            self._registers[hart], self._last_steps[hart] = after, self._steps
        return (*events, *self._tensor_stores(changed))

    def save(self) -> Snapshot:
        state = _State(self._steps, self._cycle, self._ended, dict(self._last_steps))
        # An entry of two integers for each hart.
        return Snapshot(100 + 100 * len(state.last_steps), state)

    def restore(self, saved: Snapshot) -> None:
        state = cast(_State, saved.state)
        self._steps, self._cycle, self._ended = state.steps, state.cycle, state.is_at_end
        self._chip, self._last_steps = self._open(), dict(state.last_steps)
        self._registers = self._read_registers(self._known_harts())
        # The coprocessor writes registers later: what a hart left is read behind its last instruction.
        harts_by_step = dict[int, list[int]]()
        for hart, step in state.last_steps.items():
            harts_by_step.setdefault(step, []).append(hart)
        # The chip is deterministic: as many events lead to the same state.
        for step in range(1, self._steps + 1):
            self._chip.advance()
            self._registers |= self._read_registers(harts_by_step.get(step, ()))
        self._outputs = self._read_outputs()

    def _read_registers(self, harts: Iterable[int]) -> dict[int, Registers]:
        return {hart: self._chip.registers(hart) for hart in harts}

    def arrays(self) -> Arrays:
        return {**self._inputs, **self._read_outputs()}

    def registers(self) -> Mapping[str, Mapping[str, str]]:
        found: dict[str, Mapping[str, str]] = {}
        for hart in self._known_harts():
            pc, x, f, m = self._chip.registers(hart)
            named = {"pc": hex(pc), **{X_NAMES[n]: str(sign_extend(v, 64)) for n, v in enumerate(x)}}
            vectors = {f"f{n}": _lanes_text(lanes) for n, lanes in enumerate(f)}
            found[_hart_name(hart)] = {**named, **vectors, **{M_NAMES[n]: f"{v:#04x}" for n, v in enumerate(m)}}
        return found

    def loops(self) -> Sequence[str]:
        return ()

    def code(self) -> Sequence[Code]:
        return self._code

    @property
    def harts(self) -> Sequence[str]:
        return [_hart_name(hart) for hart in self._known_harts()]

    @property
    def xlen(self) -> int:
        return 64

    def hart_state(self, hart: int) -> HartState:
        pc, x, f, _ = self._chip.registers(hart)
        # The first lane of a vector register is its scalar.
        return HartState(pc, tuple(x), tuple(lanes[0] for lanes in f), 32, tuple(map(tuple, f)))

    def read_memory(self, address: int, size: int) -> bytes:
        try:
            return self._chip.read(address, size)
        except ValueError:
            return b""

    @cached_property
    def _code(self) -> tuple[Code, ...]:
        tables, found = symbols.read_tables(self._data), list[Code]()
        parts = [(s.address, s.data) for s in elf_image(self._data, isa.ISA).segments if s.is_code]
        for start, code in tables.code or parts:
            for address in addresses(code, start):
                decoded = decode(int.from_bytes(code[address - start : address - start + 4], "little"), isa.ISA)
                if decoded is not None:
                    found.append(Code(address, "", instruction_text(decoded), self._place(address)))
        return tuple(found)

    def _known_harts(self) -> range:
        return range(_HARTS * self._note.minions)

    def _open(self) -> Chip:
        chip = model.load_chip(self._program, execute.input_bytes(self._note, self._inputs), self._setup)
        # One cycle ahead at most: harts then issue in the order of time, an instruction per step.
        chip.start(self._program.entry, 1)
        return chip

    def _read_outputs(self) -> Arrays:
        return execute.read_outputs(self._note, self._chip.read)

    def _find_changes(self) -> list[StoredElement]:
        """Elements of outputs that the last step has changed."""
        now, found = self._read_outputs(), list[StoredElement]()
        for name, array in now.items():
            before = self._outputs[name]
            # By bytes: NaNs that stay are no change, zeros of another sign are.
            if array.tobytes() != before.tobytes():
                bits = np.dtype(f"u{array.dtype.itemsize}")
                where = np.argwhere(np.ascontiguousarray(array).view(bits) != np.ascontiguousarray(before).view(bits))
                found += [StoredElement(name, tuple(index), array[tuple(index)]) for index in where.tolist()]
        self._outputs = now
        return found

    def _tensor_stores(self, changed: Sequence[StoredElement]) -> tuple[Event, ...]:
        """Stores that no instruction of this step made: the coprocessor's."""
        if not changed:
            return ()
        reads = tuple(Operand("operations", "", ("tensor", minion)) for minion in range(self._note.minions))
        event = Event(self._cycle, "tensor store", "store", reads=reads)
        return (_with_stores(event, changed),)

    def _place(self, address: int) -> Provenance | None:
        place = self._program.locator.lines.at(address)
        return None if place is None else place_provenance(place)

    def _decode(self, pc: int) -> _DecodedInstruction:
        if pc not in self._decoded:
            word = int.from_bytes(self._chip.read(pc, 4), "little")
            found, flow = decode(word, isa.ISA), flow_of_word(word, isa.ISA)
            csr = (
                next((v for f, v in zip(found.row.fields, found.values, strict=True) if f.kind == "csr"), 0)
                if found
                else 0
            )
            text = instruction_text(found) if found else f".word {word:#x}"
            self._decoded[pc] = _DecodedInstruction(text, flow or Flow((), ()), self._place(pc), csr in _TENSOR)
        return self._decoded[pc]

    def _event(
        self, hart: int, pc: int, cycle: int, here: _DecodedInstruction, before: Registers, after: Registers
    ) -> Event:
        flow = here.flow
        # The coprocessor writes vector registers beside the hart: what the instruction leaves alone is read behind it.
        reads = [_operand(hart, r, before if r in flow.writes else after) for r in flow.reads]
        writes = [_operand(hart, register, after) for register in flow.writes]
        address = flow.address(before[1], 64) if flow.direction else 0
        if flow.direction in ("load", "atomic"):
            reads.append(Operand(f"[{address:#x}]", "", ("byte", address)))
        if flow.direction in ("store", "atomic"):
            writes += [Operand(f"[{address:#x}]", "", ("byte", address + n)) for n in range(flow.size)]
        if here.is_tensor:
            key: Hashable = ("tensor", hart // _HARTS)
            reads.append(Operand("operations", "", key))
            writes.append(Operand("operations", "", key))
        result = next((_value(register, after) for register in flow.writes), None)
        return Event(
            cycle, _hart_name(hart), here.text, pc, here.place, reads=tuple(reads), writes=tuple(writes), result=result
        )  # fmt: skip


def _with_stores(event: Event, changed: Sequence[StoredElement]) -> Event:
    """Event that has stored these elements."""
    named = [Operand(element_name(s.array, s.index), str(s.value), None) for s in changed]
    return Event(
        event.cycle, event.unit, event.text, event.address, event.place, "", (), event.reads,
        (*event.writes, *named), tuple(changed), event.result,
    )  # fmt: skip


def _hart_name(hart: int) -> str:
    return f"hart {hart}"


def _floats(lanes: Sequence[int]) -> Iterator[Any]:
    return iter(np.array(lanes, np.uint32).view(np.float32))


def _lanes_text(lanes: Sequence[int]) -> str:
    return " ".join(str(value) for value in _floats(lanes))


def _value(register: Register, held: Registers) -> Any:
    bank, number = register
    if bank == "f":
        return np.array(held[2][number], np.uint32).view(np.float32)
    return np.int64(sign_extend(held[1][number], 64)) if bank == "x" else None


def _operand(hart: int, register: Register, held: Registers) -> Operand:
    bank, number = register
    if bank == "f":
        return Operand(f"f{number}", _lanes_text(held[2][number]), (bank, hart, number))
    value = sign_extend(held[1][number], 64) if bank == "x" else held[3][number]
    return Operand(register_name(register), str(value), (bank, hart, number))
