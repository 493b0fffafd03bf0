# SPDX-License-Identifier: Apache-2.0
"""Co-simulation: a concrete configuration on its circuit (`rtl/`) and on the native model (docs/targets/tcpa.md, the
specification of every cycle), compared operation by operation and bank write by bank write.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from polyloom.ir.numbers import NUMPY
from polyloom.ir.operations import BY_NAME, ElementType
from polyloom.targets.tcpa.rtl import simulator as sim
from polyloom.targets.tcpa.rtl.bank_windows import BankWindow, array_words, bank_windows, base_address
from polyloom.targets.tcpa.rtl.bus_words import bank_contents
from polyloom.targets.tcpa.rtl.circuit import Circuit
from polyloom.targets.tcpa.rtl.configuration_changes import Loading, load_image, make_image
from polyloom.targets.tcpa.rtl.observed_runs import (
    NO_ELEMENT,
    Comparison,
    Fault,
    ObservedRun,
    Row,
    compare,
    hide_nan,
)
from polyloom.targets.tcpa.rtl.simulator import BusRun, Simulator
from polyloom.targets.tcpa.run import model
from polyloom.targets.tcpa.words import concrete_file
from polyloom.targets.tcpa.words.concrete import ArrayLayout, Concrete, Generator
from polyloom.targets.tcpa.words.isa import decode_opcode

_DOUBLE_WRITE: Final = 15
"""Cause of a fault (native/tcpa/model.hpp), of which bits of the circuit count from 10 on."""
_FIRST_CAUSE: Final = 10
_MARGIN: Final = 1 << 17
"""Cycles in which what is under way arrives, and the circuit finds that all is done."""


def compare_runs(simulator: Simulator, data: bytes, inputs: Mapping[str, NDArray[Any]]) -> Comparison:
    """Comparison of one run. Errors: PL0603, PL0640 where the circuit lacks something, PL0661."""
    seen = run_circuit(simulator, data, inputs)
    return compare(run_model(simulator.circuit, data, inputs), seen)


def run_model(circuit: Circuit, data: bytes, inputs: Mapping[str, NDArray[Any]]) -> ObservedRun | Fault:
    """What the model does, up to the first fault in time. Errors: PL0603."""
    result = model.run_to_first_fault(data, circuit.machine, inputs)
    if isinstance(result, tuple):
        return Fault(*result)
    concrete = concrete_file.decode(data)
    trace = result.trace
    assert trace is not None
    lanes = {(lane.unit, opcode): (lane.latency, n) for n, lane in enumerate(circuit.lanes) for opcode in lane.opcodes}
    columns = (trace.cycle, trace.element, trace.unit, trace.instruction, trace.opcode, trace.value)
    rows = list(zip(*(c.tolist() for c in columns), strict=True))
    # A circuit has a result when registers take it, in the last cycle of the operation.
    results = [_result(t, e, *lanes[u, o], o, value) for t, e, u, _, o, value in rows]
    written = {n: _memory(concrete, n, result.outputs[a.name]) for n, a in enumerate(concrete.arrays) if a.is_output}
    accesses = sorted(
        (cycle, generator.array, word, _written_word(concrete, written, generator.array, word))
        for generator in concrete.generators
        if concrete.arrays[generator.array].is_output
        for cycle, word in _generator_accesses(concrete, generator)
    )
    return ObservedRun(sorted((t, e, u, pc) for t, e, u, pc, _, _ in rows), sorted(results), accesses, result.cycles)


def _result(issued: int, element: int, latency: int, lane: int, opcode: int, value: int) -> Row:
    operation, dtype = decode_opcode(opcode)
    word = value & 0xFFFFFFFF
    is_float = BY_NAME[operation].result(dtype) == "f32"
    return issued + latency - 1, element, lane, hide_nan(word) if is_float else word


def _written_word(concrete: Concrete, memory: Mapping[int, NDArray[np.int64]], array: int, word: int) -> int:
    found = int(memory[array][word])
    return hide_nan(found) if concrete.arrays[array].dtype == "f32" and found != NO_ELEMENT else found


def _generator_accesses(concrete: Concrete, generator: Generator) -> Iterator[tuple[int, int]]:
    """Cycles of a generator's accesses, and the words of its array's memory."""
    weights = [int(np.prod(concrete.extents[:m])) for m in range(len(concrete.extents))]
    base = base_address(concrete, generator)
    for convex in generator.domain:
        for digits in product(*(range(a, b + 1) for a, b in zip(convex.lower, convex.upper, strict=True))):
            if all(_dot(h.coefficients, digits) + h.constant >= 0 for h in convex.half_spaces):
                step = _dot(weights, digits)
                yield (
                    generator.delay + step * concrete.initiation_interval,
                    base + _dot(generator.coefficients, digits),
                )


def _dot(coefficients: Sequence[int], digits: Sequence[int]) -> int:
    return sum(c * d for c, d in zip(coefficients, digits, strict=True))


def _memory(concrete: Concrete, number: int, elements: NDArray[Any]) -> NDArray[np.int64]:
    """The memory of an array as words of 32 bits, integers extended by their sign; `NO_ELEMENT` between elements."""
    array = concrete.arrays[number]
    words = np.full(array_words(concrete, number), NO_ELEMENT)
    if len(words):
        view = np.lib.stride_tricks.as_strided(words, array.shape, tuple(8 * s for s in array.strides))
        view[...] = _extend_words(elements, array.dtype)
    return words


def _extend_words(elements: NDArray[Any], dtype: ElementType) -> NDArray[np.int64]:
    """Elements as words of 32 bits. A byte of an output of type bool may be any, as in the model's memory."""
    bits = {"f32": np.dtype(np.uint32), "bool": np.dtype(np.uint8)}.get(dtype, NUMPY[dtype])
    return elements.view(bits).astype(np.int64) & 0xFFFFFFFF


def run_circuit(simulator: Simulator, data: bytes, inputs: Mapping[str, NDArray[Any]]) -> ObservedRun | list[Fault]:
    """What the circuit does. Errors: PL0640, PL0661."""
    image = make_image(simulator.circuit, concrete_file.decode(data))
    return run_steps(simulator, [Step(data, inputs, load_image(image))])[0]


@dataclass(frozen=True, slots=True)
class Step:
    """Concrete configuration with its inputs, and what the bus carries before it."""

    data: bytes
    inputs: Mapping[str, NDArray[Any]]
    loading: Loading


def run_steps(simulator: Simulator, steps: Sequence[Step]) -> list[ObservedRun | list[Fault]]:
    """What the circuit does in steps, which follow one another without losing its configuration. Errors: PL0640,
    PL0661."""
    concretes = [concrete_file.decode(step.data) for step in steps]
    runs = [_bus_run(simulator.circuit, *both) for both in zip(concretes, steps, strict=True)]
    events = sim.simulate(simulator, runs)
    return [_observed_run(simulator.circuit, *both) for both in zip(concretes, events, strict=True)]


def _bus_run(circuit: Circuit, concrete: Concrete, step: Step) -> BusRun:
    given = {
        a.name: np.maximum(_memory(concrete, n, np.ascontiguousarray(step.inputs[a.name], NUMPY[a.dtype])), 0)
        for n, a in enumerate(concrete.arrays)
        if not a.is_output and a.name in step.inputs
    }
    control = concrete.controller
    # A circuit that does not end is stopped after all that could still happen.
    steps = max(control.steps, int(np.prod(concrete.extents or (1,))))
    begin = control.start + concrete.rows * control.row_delay + concrete.columns * control.column_delay
    last = max(begin, *(g.delay for g in concrete.generators), 0) + (steps + 1) * concrete.initiation_interval
    return BusRun(step.loading, tuple(bank_contents(circuit, concrete, given)), last + _MARGIN)


def _observed_run(circuit: Circuit, concrete: Concrete, events: sim.Events) -> ObservedRun | list[Fault]:
    """Events of the test bench by kind. No circuit sees that two banks write one word of an array: that shows when
    results are collected, here in the cycle of the write.
    """
    units, lanes = len(circuit.machine.units), len(circuit.lanes)
    windows = {w.bank: w for w in bank_windows(circuit, concrete) if w.is_output}
    issues: list[Row] = []
    results: list[Row] = []
    writes: list[Row] = []
    faults: list[Fault] = []
    written = set[tuple[int, int]]()
    rows: list[tuple[int, int, int, int, int]] = events.tolist()
    for event, cycle, place, first, second in rows:
        # Elements of the circuit are numbered by its own width, which may be more than the region has.
        if event == sim.ISSUE:
            element, unit = divmod(place, units)
            issues.append((cycle, _number(circuit, concrete, element), unit, first))
        elif event == sim.RESULT:
            element, lane = divmod(place, lanes)
            results.append((cycle, _number(circuit, concrete, element), lane, first))
        elif event == sim.BANK_WRITE:
            row = _bank_write(concrete, windows[place], cycle, first, second)
            if row[1:3] in written:
                faults.append(_bank_fault(circuit, _DOUBLE_WRITE, cycle, place))
            written.add((row[1], row[2]))
            writes.append(row)
        elif event == sim.FAULT:
            faults.append(Fault(first + _FIRST_CAUSE, cycle, *divmod(place, circuit.columns)))
        elif event == sim.BANK_FAULT:
            faults.append(_bank_fault(circuit, first + _FIRST_CAUSE, cycle, place))
    # Events come in the order of cycles: the first fault is the earliest.
    if faults:
        return [f for f in faults if f.cycle == faults[0].cycle]
    begin, end = (issues[0][0], writes[-1][0] + 1) if issues and writes else (0, 0)
    return ObservedRun(sorted(issues), sorted(results), sorted(writes), end - begin)


def _number(circuit: Circuit, concrete: Concrete, element: int) -> int:
    """An element's number within the region, which may be smaller than the circuit."""
    row, column = divmod(element, circuit.columns)
    return row * concrete.columns + column


def _bank_write(concrete: Concrete, window: BankWindow, cycle: int, address: int, value: int) -> Row:
    array = concrete.generators[window.generator].array
    layout = concrete.arrays[array]
    return cycle, array, window.array_word(address), _store_word(layout, value)


def _store_word(layout: ArrayLayout, value: int) -> int:
    """A word as an array's element has it, which may be narrower: extended by its sign again."""
    kept = np.array([value], np.uint32).view(np.uint8)[: NUMPY[layout.dtype].itemsize]
    return int(_extend_words(kept.view(NUMPY[layout.dtype]), layout.dtype)[0])


def _bank_fault(circuit: Circuit, cause: int, cycle: int, bank: int) -> Fault:
    """The model names the element at the port."""
    port, rows, columns = bank // circuit.capacity("channels"), circuit.rows, circuit.columns
    if port < columns:
        return Fault(cause, cycle, 0, port)
    if port < columns + rows:
        return Fault(cause, cycle, port - columns, columns - 1)
    if port < 2 * columns + rows:
        return Fault(cause, cycle, rows - 1, port - columns - rows)
    return Fault(cause, cycle, port - 2 * columns - rows, 0)


def time_circuit(simulator: Simulator, data: bytes, inputs: Mapping[str, NDArray[Any]]) -> tuple[int, float]:
    """Cycles until the circuit has ended, and CPU seconds of its simulation without the configuration, unobserved.
    Errors: PL0640, PL0661.
    """
    concrete = concrete_file.decode(data)
    step = Step(data, inputs, load_image(make_image(simulator.circuit, concrete)))
    run = _bus_run(simulator.circuit, concrete, step)
    last = sim.simulate(simulator, [run], observed=False)[0][-1]
    return int(last["cycle"]), int(last["first"]) / 1e6
