# SPDX-License-Identifier: Apache-2.0
"""Stepper of the array: the native model cycle by cycle, phase after phase (`polyloom.targets.stepper`).

What an operation is, and of which iteration, follows from its element, unit and cycle (`event_resolution`); its
operands are the dependence edges of the array paper, section 4. A configuration that does not tell what it was made of
runs all the same: its operations have a unit and a value alone. Keys are `(phase, node, iteration)` for values,
`(phase, "in" or "out", array, index)` for elements in banks.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

import numpy as np

from polyloom._native import tcpa
from polyloom.diagnostics import PolyloomError
from polyloom.frontend.source import Arrays
from polyloom.ir.numbers import NUMPY
from polyloom.ir.operations import BY_NAME, ElementType
from polyloom.targets.provenance import Provenance
from polyloom.targets.stepper import Code, Event, Operand, Snapshot, StoredElement, element_name
from polyloom.targets.subject import Progress
from polyloom.targets.tcpa.machine import Machine
from polyloom.targets.tcpa.run import model, program
from polyloom.targets.tcpa.run.dependence_edges import element_index, find_parts, list_operands, statement_name
from polyloom.targets.tcpa.run.phases import plan_execution
from polyloom.targets.tcpa.words import concrete_file
from polyloom.targets.tcpa.words.concrete import Concrete
from polyloom.targets.tcpa.words.event_resolution import (
    Known,
    find_origin,
    resolve_events,
)
from polyloom.targets.tcpa.words.isa import decode_opcode

Index = tuple[int, ...]
BANKS: Final = "banks"
"""The unit of accesses to banks."""


@dataclass(slots=True)  # the run of a phase, which changes
class _Phase:
    """Phase under way: the native stepper, and what its words were made of."""

    number: int
    data: bytes
    inputs: Arrays
    machine: Machine
    concrete: Concrete
    known: Known | None
    arrays: tuple[model.Layout, ...]
    native: tcpa.Stepper
    names: tuple[str, ...] = ()
    parts: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class _State:
    phase: int
    start: int
    is_at_end: bool
    native: tcpa.Saved


class ArrayStepper:
    """Stepper of a concrete file of one or several phases. Errors: those of a run."""

    def __init__(self, data: bytes, member: str | None, inputs: Arrays) -> None:
        self._member = member
        self._inputs = inputs
        self._steps = _list_steps(data, member, inputs)
        self._opened = dict[int, _Phase]()
        self._start, self._ended = 0, False
        self._phase: _Phase = self._open(0)

    @property
    def cycle(self) -> int:
        return self._start + max(self._phase.native.cycle, 0)

    @property
    def is_at_end(self) -> bool:
        return self._ended

    def step(self) -> Sequence[Event]:
        try:
            is_under_way = self._phase.native.step()
        except tcpa.Fault as fault:
            raise model.fault_error(fault, self._phase.machine) from None
        if is_under_way:
            return tuple(self._events())
        if self._phase.number + 1 == len(self._steps):
            self._ended = True
            return ()
        # Phases run one after another on one clock; transfers between them have no events.
        self._start = self.cycle + 1
        self._phase = self._open(self._phase.number + 1)
        return self.step()

    def save(self) -> Snapshot:
        native = self._phase.native.save()
        return Snapshot(native.bytes + 200, _State(self._phase.number, self._start, self._ended, native))

    def restore(self, saved: Snapshot) -> None:
        state = cast(_State, saved.state)
        self._phase = self._open(state.phase)
        self._phase.native.restore(state.native)
        self._start, self._ended = state.start, state.is_at_end

    def arrays(self) -> Arrays:
        found = {**self._inputs, **self._phase.inputs}
        for number, array in enumerate(self._phase.arrays):
            if array.is_output:
                words, marks = self._phase.native.output(number)
                made = model.element_view(words.view(NUMPY[array.type]), array)
                written = model.element_view(marks, array).astype(np.bool_)
                before = found.get(array.name, np.zeros(array.shape, made.dtype))
                # Elements that nothing has written yet are those that the run was given.
                found[array.name] = np.where(written, made, before) if before.shape == made.shape else np.array(made)
        return found

    def registers(self) -> Mapping[str, Mapping[str, str]]:
        p = self._phase
        found: dict[str, dict[str, str]] = {}
        for number, element in enumerate(_elements(p)):
            held = p.native.registers(number)
            # Words have no types: they are shown as their bits.
            found[element] = {f"{file}{n}": " ".join(f"0x{v:08x}" for v in values) or "-" for file, n, values in held}
        return {element: held for element, held in found.items() if held}

    def loops(self) -> Sequence[str]:
        opened = [self._open(number).known for number in range(len(self._steps))]
        return tuple(dict.fromkeys(name for known in opened if known for name in known.symbolic.dimensions))

    def code(self) -> Sequence[Code]:
        found = list[Code]()
        for number in range(len(self._steps)):
            known = self._open(number).known
            if known is not None and known.symbolic.origins:
                names, origins = known.symbolic.node_names, known.symbolic.origins
                found += [Code(-1, "", name, place) for name, place in zip(names, origins, strict=True)]
        return found

    def _open(self, number: int) -> _Phase:
        """Phase by its number; each is opened once, for snapshots belong to a native stepper."""
        if number not in self._opened:
            data, inputs = self._steps[number]
            machine = program.load_machine(data, self._member)
            concrete = concrete_file.decode(data)
            native, arrays = model.open_stepper(data, machine, inputs)
            self._opened[number] = _Phase(
                number, data, inputs, machine, concrete, _find_known(concrete), arrays, native
            )
            self._opened[number].parts = find_parts(self._opened[number].known)
            self._opened[number].names = tuple(_elements(self._opened[number]))
        return self._opened[number]

    def _events(self) -> Iterator[Event]:
        p, cycle = self._phase, self.cycle
        rows = p.native.operations
        nodes, points = _resolve(p, rows)
        for (element, unit, _, _, opcode, value), node, point in zip(rows, nodes, points, strict=True):
            yield _operation_event(p, cycle, element, unit, opcode, value, node, point)
        for array, writes, address, value in p.native.accesses:
            if writes:
                yield _bank_event(p, cycle, p.arrays[array], address, value)


def _find_known(concrete: Concrete) -> Known | None:
    """What a configuration was made of; None of one whose words are others, which runs all the same."""
    try:
        return find_origin(concrete)
    except PolyloomError:
        return None


def _elements(p: _Phase) -> list[str]:
    return [f"element ({r}, {c})" for r in range(p.concrete.rows) for c in range(p.concrete.columns)]


def _list_steps(data: bytes, member: str | None, inputs: Arrays) -> list[tuple[bytes, Arrays]]:
    """Files that run one after another, each with its inputs, which phases before it have computed: found by a run,
    which a fault ends early.
    """
    found = list[tuple[bytes, Arrays]]()

    def record(
        data: bytes, member: str | None, inputs: Arrays, trace: bool, progress: Progress | None
    ) -> program.Simulation:
        found.append((data, inputs))
        return program.simulate(data, member, inputs, trace, progress)

    try:
        plan_execution.simulate(data, member, inputs, False, None, record)
    except PolyloomError:
        # Inputs that do not fit are refused before anything runs; a fault is met again when its phase is stepped.
        if not found:
            raise
    return found


def _resolve(p: _Phase, rows: Sequence[tuple[int, int, int, int, int, int]]) -> tuple[list[int], list[Index]]:
    """Node and iteration of each operation; -1 where nothing is known."""
    if p.known is None or not rows:
        return [-1] * len(rows), [()] * len(rows)
    # Values are 64 bits without a sign; what is looked at of a row is small.
    columns = np.array(rows, np.uint64).astype(np.int64)
    found = resolve_events(columns[:, 0], columns[:, 1], columns[:, 2], columns[:, 4], p.concrete, p.known)
    return found.node.tolist(), [tuple(point) for point in found.iteration.tolist()]


def _operation_event(
    p: _Phase, cycle: int, element: int, unit: int, opcode: int, value: int, node: int, point: Index
) -> Event:
    operation, dtype = decode_opcode(opcode)
    result = word_value(value, BY_NAME[operation].result(dtype))
    who = f"{p.names[element]} {p.machine.units[unit].name}"
    mnemonic = p.machine.units[unit].mnemonics[operation]
    if p.known is None or node < 0:
        return Event(cycle, who, mnemonic, writes=(Operand(mnemonic, str(result), None),), result=result)
    symbolic = p.known.symbolic
    name = symbolic.node_names[node]
    keys: list[Hashable] = [(p.number, node, point)]
    output = symbolic.nodes[node].output
    if output is not None:
        access = symbolic.outputs[output].access
        keys.append((p.number, "out", symbolic.arrays[access.array].name, element_index(p.known, access, point)))
    place: Provenance | None = symbolic.origins[node] if symbolic.origins else None
    iteration = tuple(zip(symbolic.dimensions, point, strict=True))
    reads = tuple(list_operands(p.number, p.inputs, p.known, node, point))
    writes = tuple(Operand(name, str(result), key) for key in keys)
    # An operation that another one of its statement takes in the same iteration is a part of an expression.
    statement = "" if node in p.parts else statement_name(name)
    return Event(cycle, who, f"{mnemonic} {name}", -1, place, name, iteration, reads, writes, (), result, statement)


def _bank_event(p: _Phase, cycle: int, array: model.Layout, address: int, value: int) -> Event:
    index, number = array.index(address), word_value(value, array.type)
    name = element_name(array.name, index)
    key = (p.number, "out", array.name, index)
    held = Operand(array.name, str(number), key)
    # A key of its own: with that of the operation, a store that comes late would hide a newer result.
    written = Operand(name, str(number), ("bank", array.name, index))
    stored = StoredElement(array.name, index, number)
    return Event(
        cycle, BANKS, f"store {name}", reads=(held,), writes=(written,), stores=(stored,), result=number
    )  # fmt: skip


def word_value(value: int, dtype: ElementType) -> Any:
    """Word of the model as a NumPy scalar of the type."""
    kind = NUMPY[dtype]
    return np.array([value], np.uint64).view(np.uint8)[: kind.itemsize].view(kind)[0]
