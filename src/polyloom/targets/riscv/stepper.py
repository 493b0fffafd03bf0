# SPDX-License-Identifier: Apache-2.0
"""Stepper of a hart: one instruction per step, with the registers and the bytes that it reads and writes
(`polyloom.targets.stepper`).

No time is modelled, so that the cycle is the number of executed instructions. Keys are `("x", 10)` for registers and
`("byte", address)` for memory. A snapshot has the registers and the pages that the program has written so far, which
are few, instead of the memory.
"""

from __future__ import annotations

import struct
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, cast

import numpy as np

from polyloom.frontend.source import Arrays
from polyloom.ir.signature import Signature
from polyloom.riscv import foreign, source_lines, symbols
from polyloom.riscv import note as notes
from polyloom.riscv.backend.run import prepare_call
from polyloom.riscv.disassemble import addresses, instruction_text
from polyloom.riscv.encode import Flow, Register, decode, flow_of_word, register_name
from polyloom.riscv.image import Image, elf_image
from polyloom.riscv.isa import F_NAMES, X_NAMES
from polyloom.riscv.model import Machine
from polyloom.riscv.names import Isa
from polyloom.targets.forms.ssa_function import called_arrays, passed_arguments
from polyloom.targets.provenance import Provenance, place_provenance
from polyloom.targets.stepper import Code, Event, HartState, Operand, Region, Snapshot, StoredElement, element_name
from polyloom.targets.target import Job
from polyloom.twos_complement import sign_extend

_PAGE: Final = 4096
_ONES: Final = 0xFFFFFFFF
UNIT: Final = "hart 0"


@dataclass(frozen=True, slots=True)
class _DecodedInstruction:
    text: str
    flow: Flow
    place: Provenance | None


@dataclass(frozen=True, slots=True)
class _State:
    pc: int
    executed: int
    is_at_end: bool
    x: list[int]
    f: list[int]
    fcsr: int
    pages: dict[int, bytes]
    environment: tuple[bool, int, bytes, bytes]


class HartStepper:
    """Stepper of one program on one hart. Errors: those of `run`."""

    def __init__(self, machine: Machine, image: Image, data: bytes, end: int, regions: Sequence[Region]) -> None:
        self.machine: Final = machine
        self._image, self._data, self._end = image, data, end
        self.regions: Final = regions
        self._lines = source_lines.decode_lines(data)
        self.pc, self._executed, self._ended = machine.entry, 0, False
        self._decoded = dict[int, _DecodedInstruction]()
        # Pages that the program has written, as they were before.
        self._clean = dict[int, bytes]()
        self.scalars: dict[str, Any] = {}

    @property
    def cycle(self) -> int:
        return self._executed

    @property
    def is_at_end(self) -> bool:
        return self._ended

    def step(self) -> Sequence[Event]:
        here = self._decode(self.pc)
        x, f, pc = self.machine.x, self.machine.f, self.pc
        flow, isa = here.flow, self.machine.isa
        address = flow.address(x, isa.xlen) if flow.direction else 0
        # Operands are read before the instruction, results behind it.
        reads = [_register_operand(register, x, f, self.machine.isa.xlen) for register in flow.reads]
        if flow.direction in ("load", "atomic"):
            reads.append(self._memory_operand(address, flow.size))
        if flow.direction in ("store", "atomic"):
            self._keep_pages(address, flow.size)
        self.pc, exit_code = self.machine.step(pc, self._end)
        self._executed += 1
        self._ended = exit_code is not None or self.pc == self._end
        x, f = self.machine.x, self.machine.f
        writes = [_register_operand(register, x, f, self.machine.isa.xlen) for register in flow.writes]
        stores: tuple[StoredElement, ...] = ()
        if flow.direction in ("store", "atomic"):
            writes += self._bytes(address, flow.size)
            stores = self._stores(address, flow.size)
        event = Event(
            self._executed, UNIT, here.text, pc, here.place, reads=tuple(reads), writes=tuple(writes), stores=stores,
            result=_result(flow.writes, x, f),
        )  # fmt: skip
        return (event,)

    def save(self) -> Snapshot:
        pages = {page: self.machine.read(page, _PAGE) for page in self._clean}
        m = self.machine
        state = _State(self.pc, self._executed, self._ended, m.x, m.f, m.fcsr, pages, m.environment)
        # 64 registers of Python's integers, besides the pages and what was printed.
        printed = len(m.output) + len(m.errors)
        return Snapshot(4096 + len(pages) * (_PAGE + 100) + printed, state)

    def restore(self, saved: Snapshot) -> None:
        state = cast(_State, saved.state)
        # What was written after the snapshot becomes clean again.
        for page, clean in self._clean.items():
            self.machine.write(page, state.pages.get(page, clean))
        self.machine.set_registers(state.x, state.f, state.fcsr)
        # Without the reservation an sc behind its lr would fail the second time (RISC-V, "Zalrsc").
        self.machine.set_environment(state.environment)
        self.pc, self._executed, self._ended = state.pc, state.executed, state.is_at_end

    def arrays(self) -> Arrays:
        found = {r.name: np.frombuffer(self.machine.read(r.address, r.size), r.dtype) for r in self.regions}
        return {**self.scalars, **{r.name: found[r.name].reshape(r.shape) for r in self.regions}}

    def registers(self) -> Mapping[str, Mapping[str, str]]:
        x, f = self.machine.x, self.machine.f
        named = {
            "pc": hex(self.pc),
            **{X_NAMES[n]: str(sign_extend(v, self.machine.isa.xlen)) for n, v in enumerate(x)},
        }
        floats = {F_NAMES[n]: _float_text(v) for n, v in enumerate(f)} if "f" in self.machine.isa.extensions else {}
        return {UNIT: {**named, **floats}}

    def loops(self) -> Sequence[str]:
        return ()

    def code(self) -> Sequence[Code]:
        return self._code

    @property
    def harts(self) -> Sequence[str]:
        return (UNIT,)

    @property
    def xlen(self) -> int:
        return self.machine.isa.xlen

    def hart_state(self, hart: int) -> HartState:
        del hart
        floats = tuple(self.machine.f) if "f" in self.machine.isa.extensions else ()
        flen = 64 if "d" in self.machine.isa.extensions else 32
        # Without doubles the box of ones is no part of a register.
        return HartState(self.pc, tuple(self.machine.x), tuple(bits & (1 << flen) - 1 for bits in floats), flen)

    def read_memory(self, address: int, size: int) -> bytes:
        end = min(address + size, self.machine.base + self.machine.size)
        return self.machine.read(address, end - address) if self.machine.base <= address < end else b""

    @cached_property
    def _code(self) -> tuple[Code, ...]:
        tables = symbols.read_tables(self._data)
        parts = tables.code or [(s.address, s.data) for s in self._image.segments if s.is_code]
        found = list[Code]()
        for start, code in parts:
            for address in addresses(code, start):
                decoded = decode(int.from_bytes(code[address - start : address - start + 4], "little"), self._image.isa)
                if decoded is not None:
                    found.append(Code(address, UNIT, instruction_text(decoded), self._place(address)))
        return tuple(found)

    def _place(self, address: int) -> Provenance | None:
        place = self._lines.at(address)
        return None if place is None else place_provenance(place)

    def _decode(self, pc: int) -> _DecodedInstruction:
        """Instruction at `pc`; one that cannot be executed has no data flow, and its step says what is wrong."""
        if (known := self._decoded.get(pc)) is not None:
            return known
        m = self.machine
        size = max(0, min(4, m.base + m.size - pc)) if pc >= m.base else 0
        word = int.from_bytes(m.read(pc, size), "little") if size else 0
        found, flow = decode(word, m.isa), flow_of_word(word, m.isa)
        made = _DecodedInstruction(
            instruction_text(found) if found else f".word {word:#x}", flow or Flow((), ()), self._place(pc)
        )
        return self._decoded.setdefault(pc, made)

    def _holds(self, address: int, size: int) -> bool:
        return self.machine.base <= address and address + size <= self.machine.base + self.machine.size

    def _keep_pages(self, address: int, size: int) -> None:
        for page in range(address // _PAGE * _PAGE, address + size, _PAGE):
            if page not in self._clean and self._holds(page, _PAGE):
                self._clean[page] = self.machine.read(page, _PAGE)

    def _region(self, address: int, size: int) -> Region | None:
        return next((r for r in self.regions if address < r.address + r.size and r.address < address + size), None)

    def _memory_operand(self, address: int, size: int) -> Operand:
        region = self._region(address, size)
        if region is None or not self._holds(address, size):
            held = int.from_bytes(self.machine.read(address, size), "little") if self._holds(address, size) else 0
            return Operand(f"[{address:#x}]", hex(held), ("byte", address))
        (at, index), *_ = region.elements(address, size)
        return Operand(element_name(region.name, index), str(self._element(region, at)), ("byte", address))

    def _bytes(self, address: int, size: int) -> list[Operand]:
        """Results in memory, a key for each byte: whoever reads one of them finds the store."""
        first = self._memory_operand(address, size)
        keys: list[Hashable] = [("byte", address + n) for n in range(size)]
        return [Operand(first.name, first.value, key) for key in keys]

    def _stores(self, address: int, size: int) -> tuple[StoredElement, ...]:
        region = self._region(address, size)
        if region is None:
            return ()
        return tuple(
            StoredElement(region.name, i, self._element(region, at)) for at, i in region.elements(address, size)
        )

    def _element(self, region: Region, address: int) -> Any:
        return np.frombuffer(self.machine.read(address, region.dtype.itemsize), region.dtype)[0]


def call_stepper(data: bytes, isa: Isa, job: Job) -> HartStepper:
    """Stepper of a file: a function of ours is called, another program starts at its entry. Errors: those of a run."""
    image, note = elf_image(data, isa), notes.decode_note(data)
    if note is None:
        return _program_stepper(data, image, job)
    return _function_stepper(data, image, note.signature, job)


def _function_stepper(data: bytes, image: Image, signature: Signature, job: Job) -> HartStepper:
    given = called_arrays(signature, job.inputs)
    passed = passed_arguments(signature.inputs, given)
    prepared = prepare_call(image, notes.function_declaration(signature), passed)
    names = [a.name for a in signature.inputs if not a.is_scalar]
    regions = [
        Region(name, address, given[name].dtype, given[name].shape)
        for name, address in zip(names, prepared.addresses, strict=True)
    ]
    made = HartStepper(prepared.machine, image, data, prepared.end, regions)
    made.scalars = {a.name: given[a.name] for a in signature.inputs if a.is_scalar}
    return made


def _program_stepper(data: bytes, image: Image, job: Job) -> HartStepper:
    known, machine, regions = symbols.symbol_extents(data), Machine(image), list[Region]()
    for name, array in job.inputs.items():
        place = foreign.resolve_place(name, known)
        machine.write(place.address, np.ascontiguousarray(array).tobytes())
        regions.append(Region(name.partition(":")[0], place.address, array.dtype, array.shape))
    return HartStepper(machine, image, data, (machine.base + machine.size) % (1 << image.isa.xlen), regions)


def _float_value(bits: int) -> Any:
    """Value of a register: a single is boxed in ones (RISC-V unprivileged manual, "NaN Boxing")."""
    if bits >> 32 == _ONES:
        return np.float32(struct.unpack("<f", struct.pack("<I", bits & _ONES))[0])
    return np.float64(struct.unpack("<d", struct.pack("<Q", bits))[0])


def _float_text(bits: int) -> str:
    return str(_float_value(bits))


def _register_operand(register: Register, x: Sequence[int], f: Sequence[int], xlen: int) -> Operand:
    bank, number = register
    value = _float_text(f[number]) if bank == "f" else str(sign_extend(x[number], xlen))
    return Operand(register_name(register), value, register)


def _result(writes: Sequence[Register], x: Sequence[int], f: Sequence[int]) -> Any:
    """Value of the register that an instruction writes."""
    for bank, number in writes:
        return _float_value(f[number]) if bank == "f" else np.uint64(x[number])
    return None
