# SPDX-License-Identifier: Apache-2.0
"""Cycle-accurate simulation of concrete configurations on the native model (docs/targets/tcpa.md;
native/tcpa/model.cpp; machine semantics of the array paper, section 3).

The model sees the bytes of the configuration, a table of latencies, and the words of the input arrays, nothing else. A
fault is an error in the configuration: it names the element, the functional unit, the cycle and the cause (PL0610 to
PL0627).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import prod
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from polyloom import memory
from polyloom._native import tcpa
from polyloom.diagnostics import Diagnostic, PolyloomError, input_error
from polyloom.ir.numbers import NUMPY
from polyloom.ir.operations import ELEMENT_TYPES, ElementType
from polyloom.ir.terms import Ids, Terms
from polyloom.targets.tcpa import machine_file
from polyloom.targets.tcpa.machine import Machine
from polyloom.targets.tcpa.run.access_counts import name_counts
from polyloom.targets.tcpa.words import concrete_file
from polyloom.targets.tcpa.words.isa import OPCODES, encode_opcode

_DIVISION = 19
"""The one cause that data can have: integer division by zero (PL0619)."""
Words = NDArray[np.uint8]
"""The bytes of an array's elements, as they lie in its banks."""
_SMALLER: Final = "use smaller loop bounds, or a smaller region"
_SMALLER_ARRAY: Final = (
    "declare a smaller array; if the program does not declare it so, the file was altered: instantiate it again"
)
_EVENT_BYTES: Final = 400
"""Of an operation in a trace: a row of `Trace`, and the event that is made of it."""
_FEW_WORDS: Final = 1 << 26
"""256 MiB."""
_SPARSE: Final = 256
"""An array of more words than `_FEW_WORDS` has at most so many for each that an access reaches."""


_ID: Final = 8
"""Bytes of the number of a term."""


@dataclass(frozen=True, slots=True)
class Trace:
    """One row per operation, in order of cycles: the element (row by row), the functional unit, the cycle, the
    instruction in the unit's program, the opcode and the word that is its result. All arrays have the same length."""

    element: NDArray[np.int32]
    unit: NDArray[np.int32]
    cycle: NDArray[np.int64]
    instruction: NDArray[np.int32]
    opcode: NDArray[np.uint16]
    value: NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class Occupancy:
    """The most tokens that each fd and id of a processor class held in any of its elements."""

    feedback: tuple[int, ...]
    input: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Result:
    """`cycles` is from the first issue to the last bank write; `operations` and `issues` leave out nops."""

    outputs: dict[str, NDArray[Any]]
    cycles: int
    operations: int
    first_issue: int
    issues: tuple[int, ...]
    high_water: tuple[Occupancy, ...]
    trace: Trace | None
    counts: Mapping[str, int]
    """Accesses and operations by name."""
    executed: Sequence[Sequence[Sequence[int]]] = ()
    """By class, unit and instruction: executions of one element."""
    held: tuple[int, bytes] = (0, b"")
    """Of a run with an account, cycles that units were held at multiples of a step, as the native model tells them."""


@dataclass(frozen=True, slots=True)
class Placement:
    """A concrete configuration (its bytes) and its inputs, with its first element at (row, column) of an array."""

    data: bytes
    row: int
    column: int
    inputs: Mapping[str, NDArray[Any]]


@dataclass(frozen=True, slots=True)
class Layout:
    """Array of a configuration and where it lies in its banks: strides are in words."""

    name: str
    type: ElementType
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    is_output: bool

    def index(self, word: int) -> tuple[int, ...]:
        """Index of the element in a word of the storage."""
        found = [0] * len(self.shape)
        for m in sorted(range(len(self.shape)), key=lambda m: -self.strides[m]):
            found[m], word = divmod(word, max(self.strides[m], 1)) if self.shape[m] > 1 else (0, word)
        return tuple(found)


def open_stepper(
    data: bytes, machine: Machine, inputs: Mapping[str, NDArray[Any]]
) -> tuple[tcpa.Stepper, tuple[Layout, ...]]:
    """Native run that stops between cycles, and the arrays of the configuration. Errors: those of `run`."""
    config = load(data, machine)
    arrays = _layouts(config)
    memory.require_memory(config.run_bytes(False), "the model of this configuration", _SMALLER)
    try:
        return tcpa.Stepper(config, _inputs(arrays, inputs), *_timing(machine)), arrays
    except ValueError as error:
        raise _machine_error(error) from None


def fault_error(fault: tcpa.Fault, machine: Machine) -> PolyloomError:
    """Error of a fault that ended a run: PL0610 to PL0627."""
    return PolyloomError(_diagnostic(fault, machine))


def run(
    data: bytes,
    machine: Machine,
    inputs: Mapping[str, NDArray[Any]],
    *,
    trace: bool = False,
    progress: Callable[[int], None] | None = None,
    account: bool = False,
) -> Result:
    """Simulation of one configuration. `inputs` has an array of the declared shape and type for every input; `progress`
    is told the cycle now and then.

    Errors: PL0601 to PL0603 and PL0605; PL0701 to PL0705 for the file; PL0610 to PL0627 for a fault.
    """
    (result,) = _run((Placement(data, 0, 0, inputs),), machine, trace, progress=progress, account=account)
    return result


def run_to_first_fault(
    data: bytes, machine: Machine, inputs: Mapping[str, NDArray[Any]]
) -> Result | tuple[int, int, int, int]:
    """Simulation with a trace; of a run with faults, cause, cycle, row and column of the first one in time, where `run`
    names the first that the model finds. Errors: those of `run`.
    """
    config = load(data, machine)
    arrays = _layouts(config)
    memory.require_memory(config.run_bytes(False), "the model of this configuration", _SMALLER)
    try:
        native = [(config, 0, 0, _inputs(arrays, inputs))]
        (result,) = tcpa.run(native, *_timing(machine), trace=True, first_fault=True)
    except tcpa.Fault as fault:
        return fault.args[:4]
    except ValueError as error:
        raise _machine_error(error) from None
    return _result(result, arrays, True)


def run_side_by_side(
    placements: Sequence[Placement], machine: Machine, rows: int, columns: int, *, trace: bool = False
) -> tuple[Result, ...]:
    """Simulation of configurations on disjoint rectangles of one array of `rows` x `columns` elements, all from cycle 0
    on (one global controller each; the array paper, section 3.3).

    Errors: those of `run`, and PL0604 for rectangles that overlap or leave the array.
    """
    return _run(placements, machine, trace, (rows, columns))


def read(data: bytes) -> tcpa.Config:
    """Native form of a configuration. Errors: PL0605, PL0701 to PL0705."""
    try:
        return tcpa.Config(data, memory.available_bytes())
    except MemoryError as error:
        raise _memory_error(error.args[0] if error.args else None) from None
    except ValueError as error:
        # The reader in Python has located messages with codes of their own; the native one says only that something is
        # wrong.
        concrete_file.decode(data)
        raise input_error(
            "PL0705", f"malformed file: {error}", help="create the file again with this version"
        ) from None


def load(data: bytes, machine: Machine) -> tcpa.Config:
    """Native form of a configuration that was made for `machine`. Errors: those of `read`, PL0603, PL0628."""
    config = read(data)
    # The words hold no latencies: on another machine the same words would compute something else, or fault.
    if (config.machine, config.machine_hash) != (machine.name, machine_file.fingerprint(machine)):
        raise input_error(
            "PL0603",
            f"the configuration was made for the machine {config.machine} ({config.machine_hash:016x}), "
            f"not for {machine.name} ({machine_file.fingerprint(machine):016x})",
            help="instantiate it again for this machine, or give the machine that it was made for",
        )
    _check_types(config, machine)
    _check_density(config)
    return config


def execute(
    placements: Sequence[tuple[tcpa.Config, int, int, Sequence[Words]]],
    machine: Machine,
    *,
    trace: bool = False,
    check_only: bool = False,
    progress: Callable[[int], None] | None = None,
    account: bool = False,
) -> list[tcpa.Result]:
    """The native results; `check_only`: the static run of `verify`. Errors: PL0603, PL0605, PL0610 to PL0627."""
    # Asked for before the run: an operating system that overcommits would end the process instead of raising.
    memory.require_memory(
        sum(config.run_bytes(check_only) for config, *_ in placements), "the model of this configuration", _SMALLER
    )
    if trace:
        memory.require_memory(
            sum(config.most_operations for config, *_ in placements) * _EVENT_BYTES,
            "the trace of this run",
            "leave out the trace, or use smaller loop bounds",
        )
    try:
        return tcpa.run(placements, *_timing(machine), trace, check_only, progress, account=account)
    except tcpa.Fault as fault:
        raise PolyloomError(_diagnostic(fault, machine)) from None
    except MemoryError:
        raise _memory_error(None) from None
    except ValueError as error:
        raise _machine_error(error) from None


def execute_kinds(config: tcpa.Config, machine: Machine) -> tcpa.Result | None:
    """Run by equivalence classes: what `execute` gives with `check_only`, from one element per class and one wire per
    kind (native/tcpa/kinds.hpp); None where something is wrong, which `execute` then names, or where it takes too much
    memory. Errors: PL0603.
    """
    if config.kinds_bytes() > memory.available_bytes():
        return None
    try:
        return tcpa.run_kinds(config, *_timing(machine))
    except MemoryError:
        return None
    except ValueError as error:
        raise _machine_error(error) from None


def run_terms(config: tcpa.Config, machine: Machine, inputs: Mapping[str, Ids], terms: Terms) -> dict[str, Ids]:
    """Symbolic execution: the terms that a configuration's outputs are made of; those that nothing writes are 0.
    Integer divisions by zero are terms, too. Errors: those of `run`.
    """
    layouts = _layouts(config)
    words = [_ids(a, inputs) for a in layouts]
    memory.require_memory(
        config.run_bytes(False) + _ID * sum(_size(a) for a in layouts), "the model of this configuration", _SMALLER
    )
    try:
        result = tcpa.run_terms(config, words, *_timing(machine), terms.native)
    except tcpa.Fault as fault:
        raise PolyloomError(_diagnostic(fault, machine)) from None
    except MemoryError:
        raise _memory_error(None) from None
    found = zip(layouts, result.take_outputs(), strict=True)
    return {a.name: element_view(ids.view(np.uint64), a) for a, ids in found if a.is_output}


def _ids(array: Layout, inputs: Mapping[str, Ids]) -> NDArray[Any]:
    words = np.zeros(0 if array.is_output else _size(array), np.uint64)
    if not array.is_output:
        element_view(words, array)[...] = inputs[array.name]
    # The model moves words without looking at them, so that a term's number travels like any value.
    return words.view(np.uint8)


def _timing(machine: Machine) -> tuple[NDArray[np.uint16], list[bool], int]:
    """Latencies by unit and opcode, whether each unit is pipelined, the delay of a hop."""
    latencies = np.zeros((len(machine.units), OPCODES), np.uint16)
    for number, unit in enumerate(machine.units):
        for (operation, dtype), cycles in unit.latencies.items():
            latencies[number, encode_opcode(operation, dtype)] = cycles
    return latencies, [u.pipelined for u in machine.units], machine.hop_delay


def _machine_error(error: ValueError) -> PolyloomError:
    return input_error("PL0603", str(error), help="instantiate the configuration again for this machine")


def _memory_error(needed: int | None) -> PolyloomError:
    what = "" if needed is None else f": its wires alone need {memory.size_text(needed)}"
    return input_error("PL0605", f"this configuration does not fit into memory{what}", help=_SMALLER)


def _check_types(config: tcpa.Config, machine: Machine) -> None:
    """PL0603 for an array of a type that the machine has not. Operations fault where they issue (PL0618)."""
    for array in _layouts(config):
        if array.type not in machine.types:
            message = f"the array '{array.name}' holds {array.type}, which the machine {machine.name} has not"
            raise input_error("PL0603", message, help="instantiate the configuration again for this machine")


def _check_density(config: tcpa.Config) -> None:
    """PL0628 for an array whose words hardly any access reaches: a small file that declares gigabytes."""
    for number, array in enumerate(_layouts(config)):
        words, reached = _size(array), config.accesses(number) if array.is_output else prod(array.shape)
        # Large arrays are fine as long as a program uses them; the bound keeps altered files from taking gigabytes.
        if words > _FEW_WORDS and words > _SPARSE * reached:
            what = "are written at most" if array.is_output else "are elements"
            raise input_error(
                "PL0628",
                f"the array '{array.name}' takes {words} words, of which {reached} {what}",
                help=_SMALLER_ARRAY,
            )


def _diagnostic(fault: tcpa.Fault, machine: Machine) -> Diagnostic:
    cause, cycle, row, column, unit, text = fault.args
    where = f"element ({row}, {column})" + (f", unit {machine.units[unit].name}" if unit >= 0 else "")
    message = f"{where}, cycle {cycle}: {text}"
    if cause == _DIVISION:
        return Diagnostic(
            "PL0619", message, help="guard the division: give it a condition, or a divisor that is never 0"
        )
    help = (
        "instantiate the configuration again: what instantiation makes has no such fault; `polyloom verify` lists "
        "what was altered"
    )
    return Diagnostic(f"PL06{cause}", message, help=help)


def _run(
    placements: Sequence[Placement],
    machine: Machine,
    trace: bool,
    size: tuple[int, int] | None = None,
    progress: Callable[[int], None] | None = None,
    account: bool = False,
) -> tuple[Result, ...]:
    configs = [load(p.data, machine) for p in placements]
    if size is not None:
        check_rectangles([(p.row, p.column, c.rows, c.columns) for p, c in zip(placements, configs, strict=True)], size)
    layouts = [_layouts(config) for config in configs]
    native = [(c, p.row, p.column, _inputs(a, p.inputs)) for p, c, a in zip(placements, configs, layouts, strict=True)]
    results = execute(native, machine, trace=trace, progress=progress, account=account)
    return tuple(_result(result, arrays, trace) for result, arrays in zip(results, layouts, strict=True))


def check_rectangles(rectangles: Sequence[tuple[int, int, int, int]], size: tuple[int, int]) -> None:
    """Disjointness of rectangles (row, column, rows, columns) that lie on an array of this size. Errors: PL0604."""
    for row, column, rows, columns in rectangles:
        if row < 0 or column < 0 or row + rows > size[0] or column + columns > size[1]:
            message = f"{rows}x{columns} elements at ({row}, {column}) leave the array of {size[0]}x{size[1]}"
            raise input_error("PL0604", message, help="place it further up and left, or ask for a larger array")
    for (r, c, height, width), (s, d, other_height, other_width) in combinations(rectangles, 2):
        if r < s + other_height and s < r + height and c < d + other_width and d < c + width:
            message = f"{height}x{width} elements at ({r}, {c}) overlap {other_height}x{other_width} at ({s}, {d})"
            raise input_error("PL0604", message, help="place them side by side")


def _layouts(config: tcpa.Config) -> tuple[Layout, ...]:
    return tuple(
        Layout(name, ELEMENT_TYPES[number], tuple(shape), tuple(strides), output)
        for name, number, shape, strides, output in config.arrays
    )


def _size(array: Layout) -> int:
    if 0 in array.shape:
        return 0
    # Words from the first to the last element; with strides of the user's, there may be gaps in between.
    return 1 + sum(stride * (extent - 1) for stride, extent in zip(array.strides, array.shape, strict=True))


def element_view(words: NDArray[Any], array: Layout) -> NDArray[Any]:
    """The elements of `array` in their storage `words`."""
    if 0 in array.shape:
        return np.zeros(array.shape, words.dtype)
    return np.lib.stride_tricks.as_strided(words, array.shape, tuple(words.itemsize * s for s in array.strides))


def _inputs(arrays: Sequence[Layout], given: Mapping[str, NDArray[Any]]) -> list[Words]:
    names = [a.name for a in arrays if not a.is_output]
    for name in given:
        if name not in names:
            raise input_error(
                "PL0601", f"there is no input '{name}'", help=f"the inputs are: {', '.join(names) or 'none'}"
            )
    if missing := [a for a in arrays if not a.is_output and a.name not in given]:
        raise _missing_inputs(missing)
    return [np.zeros(0, np.uint8) if a.is_output else _words(a, given) for a in arrays]


def _missing_inputs(arrays: Sequence[Layout]) -> PolyloomError:
    *others, last = (f"'{a.name}'" for a in arrays)
    message = f"the inputs {', '.join(others)} and {last} are missing" if others else f"the input {last} is missing"
    wanted = [f"{a.type}{list(a.shape)}" for a in arrays]
    return input_error(
        "PL0601", message, help=f"give arrays {', '.join(wanted)}" if others else f"give an array {wanted[0]}"
    )


def _words(array: Layout, given: Mapping[str, NDArray[Any]]) -> Words:
    wanted = f"{array.type}{list(array.shape)}"
    value = np.asarray(given[array.name])
    if value.shape != array.shape or value.dtype != NUMPY[array.type]:
        message = f"the input '{array.name}' is {value.dtype}{list(value.shape)}, but the program reads {wanted}"
        raise input_error("PL0602", message, help=f"give an array of shape {array.shape} and type {NUMPY[array.type]}")
    kind = NUMPY[array.type]
    memory.require_memory(kind.itemsize * _size(array), f"the input '{array.name}'", _SMALLER_ARRAY)
    # Words between the elements are never read; zeros keep runs alike.
    words = np.zeros(_size(array), kind)
    element_view(words, array)[...] = value
    return words.view(np.uint8)


def _result(native: tcpa.Result, arrays: Sequence[Layout], trace: bool) -> Result:
    words = native.take_outputs()
    return Result(
        outputs={a.name: _output(w, a) for a, w in zip(arrays, words, strict=True) if a.is_output},
        cycles=native.cycles,
        operations=native.operations,
        first_issue=native.first_issue,
        issues=tuple(native.issues),
        counts=name_counts(native),
        high_water=tuple(
            Occupancy(tuple(fd), tuple(id)) for fd, id in zip(native.feedback_high, native.input_high, strict=True)
        ),
        trace=Trace(*native.take_trace()) if trace else None,
        executed=native.executed,
        held=native.held,
    )


def _output(words: Words, array: Layout) -> NDArray[Any]:
    """No copy where the words are the elements: an output array that is written sparsely costs little memory."""
    return element_view(words.view(NUMPY[array.type]), array)
