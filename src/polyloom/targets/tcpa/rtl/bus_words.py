# SPDX-License-Identifier: Apache-2.0
"""Configuration bus: the words of a concrete configuration as writes of 32 bits to addresses (docs/rtl.md).

This is the part of the host. It changes no value that the file has, but lays instructions of variable length out in
fields of one size, walks the routes of banks, and makes the base of a generator that of its bank's window.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from polyloom.targets.tcpa.rtl.bank_windows import BankWindow, bank_windows
from polyloom.targets.tcpa.rtl.bus_addresses import (
    BANK_WORD,
    CONTROL,
    DEPTH,
    GENERATOR,
    MAP,
    PROGRAM,
    ROUTE,
    WRAPPER,
    Write,
    address,
)
from polyloom.targets.tcpa.rtl.capacities import FILES, check_need, refuse_configuration
from polyloom.targets.tcpa.rtl.circuit import AFFINE, DELAY_BITS, Circuit
from polyloom.targets.tcpa.rtl.instruction_words import instruction_fields
from polyloom.targets.tcpa.words.concrete import (
    Concrete,
    Connection,
    ConvexSet,
    Domain,
    ElementProgram,
    HalfSpace,
    bank_route,
)
from polyloom.targets.tcpa.words.sides import SIDES


def configuration_words(circuit: Circuit, concrete: Concrete) -> list[Write]:
    """All writes but those of the banks' contents, in order. Errors: PL0640 where the circuit lacks something."""
    _check_sizes(circuit, concrete)
    return [
        *_map_words(circuit, concrete),
        *(w for n, c in enumerate(concrete.classes) for w in _class_words(circuit, concrete, n, c)),
        *(w for n, c in enumerate(concrete.wrappers) for w in _connection_words(circuit, WRAPPER, n, c)),
        *_route_words(circuit, concrete),
        *_control_words(circuit, concrete),
        *(w for window in bank_windows(circuit, concrete) for w in _generator_words(circuit, concrete, window)),
    ]


def _check_sizes(circuit: Circuit, concrete: Concrete) -> None:
    check_need("rows", concrete.rows, circuit.rows)
    check_need("columns", concrete.columns, circuit.columns)
    _check_region(circuit, concrete)
    check_need("loops", len(concrete.extents), circuit.capacity("generator_dimensions"))
    control = concrete.controller
    check_need("control signals", len(control.signals), circuit.capacity("control_signals"))
    delay = max(control.row_delay, control.column_delay)
    check_need("steps of a delay line", delay // concrete.initiation_interval + 2, 1 << DELAY_BITS)


def _check_region(circuit: Circuit, concrete: Concrete) -> None:
    side = missing_side(circuit, concrete)
    if side is not None:
        raise refuse_configuration(f"the region does not reach the {side} of the circuit, which it uses")


def missing_side(circuit: Circuit, concrete: Concrete) -> str | None:
    """The side of the circuit that a configuration uses and its region does not reach. A smaller region lies at the
    north and west, where it must find its banks and the controller's corner: in the middle of the array are neither.
    """
    control, sides = concrete.controller, {g.side for g in concrete.generators}
    if concrete.rows != circuit.rows and (control.south or "south" in sides):
        return "south"
    return "east" if concrete.columns != circuit.columns and (control.east or "east" in sides) else None


def element_number(circuit: Circuit, row: int, column: int) -> int:
    return row * circuit.columns + column


def _map_words(circuit: Circuit, concrete: Concrete) -> Iterator[Write]:
    """Class and wrapper of each element; class 0 is an empty tile."""
    for r in range(concrete.rows):
        for c in range(concrete.columns):
            number = element_number(circuit, r, c)
            yield address(MAP, number), concrete.wrapper[r][c] << 16 | concrete.element_class[r][c] + 1


def _class_words(circuit: Circuit, concrete: Concrete, number: int, program: ElementProgram) -> Iterator[Write]:
    check_need("functional units", len(program.programs), len(circuit.machine.units))
    signals = len(concrete.controller.signals)
    for unit, instructions in enumerate(program.programs):
        check_need("instructions of a unit", len(instructions), circuit.capacity("instruction_words"))
        for pc, instruction in enumerate(instructions):
            fields = instruction_fields(circuit, instruction, pc, len(instructions), signals)
            for part, word in enumerate(fields):
                yield address(PROGRAM, number + 1, unit, pc, part), word
    feedback = circuit.capacity("feedback_registers")
    files = (("fd", 0, feedback, program.feedback_depths), ("id", feedback, None, program.input_depths))
    for name, first, _, depths in files:
        check_need(f"registers {name}", len(depths), circuit.capacity(FILES[name]))
        for n, depth in enumerate(depths):
            check_need("tokens of a FIFO", depth, circuit.capacity("fifo_depth"))
            yield address(DEPTH, number + 1, 0, first + n), depth


def _connection_words(circuit: Circuit, kind: int, number: int, connections: Sequence[Connection]) -> Iterator[Write]:
    for connection in connections:
        sink = _port(circuit, connection.sink, "id")
        yield address(kind, number, 0, sink), _port(circuit, connection.source, "od")


def _port(circuit: Circuit, port: tuple[int, int], file: str) -> int:
    """Registers first, then the channels of the north, east, south and west."""
    location, index = port
    what, most = ("channels", "channels") if location else (f"registers {file}", FILES[file])
    check_need(what, index + 1, circuit.capacity(most))
    return circuit.port_number(port, FILES[file])


def _route_words(circuit: Circuit, concrete: Concrete) -> Iterator[Write]:
    """Connections of the banks' routes, element by element from the border inwards."""
    # Routes of banks at one port share their first hops.
    seen = dict[tuple[int, int], int]()
    for generator in concrete.generators:
        outer = (SIDES.index(generator.side) + 1, generator.channel)
        inwards = ((SIDES.index(generator.side) + 2) % 4 + 1, generator.channel)
        for left, (r, c) in zip(range(generator.links, -1, -1), bank_route(concrete, generator), strict=True):
            inner = inwards if left else (0, generator.register)
            is_output = concrete.arrays[generator.array].is_output
            connection = Connection(outer, inner) if is_output else Connection(inner, outer)
            for where, source in _connection_words(circuit, ROUTE, element_number(circuit, r, c), (connection,)):
                if seen.setdefault((where, source), 0) == 0:
                    seen[where, source] = 1
                    yield where, source


def _control_words(circuit: Circuit, concrete: Concrete) -> Iterator[Write]:
    control = concrete.controller
    corner = int(control.south) | int(control.east) << 1
    scalars = (
        concrete.initiation_interval,
        control.start,
        control.row_delay,
        control.column_delay,
        control.steps,
        corner,
    )
    # The order is that of the indices of docs/rtl.md.
    for index, value in enumerate(scalars):
        yield address(CONTROL, 0, 0, index), value
    for m, extent in enumerate(concrete.extents):
        yield address(CONTROL, 0, 1, m), extent
        # In the epilogue the controller's outermost digit runs past its extent.
        if m + 1 < len(concrete.extents):
            yield address(CONTROL, 0, 3, m), extent
    # Domains come last: they are most of the words, and their number depends on the configuration.
    for number, domain in enumerate(control.signals):
        for index, part, word in _domain_words(circuit, domain, concrete, circuit.capacity("signal_sets")):
            yield address(CONTROL, number, 2, index, part), word


def _domain_words(circuit: Circuit, domain: Domain, concrete: Concrete, most: int) -> Iterator[tuple[int, int, int]]:
    """(index, part, word) of verilog/domain.v, of `most` sets: the half-spaces that they share, then they."""
    check_need("convex sets of a domain", len(domain), most)
    dims = circuit.capacity("generator_dimensions")
    # Sets of a triangle have the same slanted faces: the circuit has one adder for each, not one per set.
    halves = list(dict.fromkeys(half for convex in domain for half in convex.half_spaces))
    check_need("half-spaces of a domain", len(halves), circuit.half_space_count)
    for n, half in enumerate(halves):
        _check_range(half.coefficients, half.constant, concrete)
        for m, coefficient in enumerate(half.coefficients):
            yield n, 2 * dims + 1 + m, coefficient & 0xFFFFFFFF
        yield n, 3 * dims + 1, half.constant & 0xFFFFFFFF
    for n, convex in enumerate(domain):
        yield from ((n, part, word) for part, word in _set_words(circuit, convex, halves))


def _set_words(circuit: Circuit, convex: ConvexSet, halves: Sequence[HalfSpace]) -> Iterator[tuple[int, int]]:
    dims, most = circuit.capacity("generator_dimensions"), (1 << circuit.machine.counter_bits) - 1
    rank = len(convex.lower)
    for m in range(dims):
        # The digits of loops that the tile has not stay 0, and the controller's outermost one has no bound.
        low, high = (convex.lower[m], convex.upper[m]) if m < rank else (0, most)
        check_need("values of a counter", high + 1, most + 1)
        yield m, low
        yield dims + m, high
    yield 2 * dims, 1 | sum(2 << n for n, half in enumerate(halves) if half in convex.half_spaces)


def _check_range(coefficients: Sequence[int], constant: int, concrete: Concrete) -> None:
    """Whether an affine value stays within its bits, in the epilogue too."""
    outermost = concrete.controller.steps + 1
    digits = (*concrete.extents[:-1], max(outermost, *concrete.extents[-1:], 1))
    reach = abs(constant) + sum(abs(c) * d for c, d in zip(coefficients, digits, strict=True))
    if reach >= 1 << (AFFINE - 1):
        raise refuse_configuration(f"an affine value needs more than the {AFFINE} bits of the circuit")


def _generator_words(circuit: Circuit, concrete: Concrete, window: BankWindow) -> Iterator[Write]:
    generator = concrete.generators[window.generator]
    number, dims = 2 * window.bank + window.is_output, circuit.capacity("generator_dimensions")
    _check_range(window.coefficients, window.base, concrete)
    check_need("bits of a base address", window.base.bit_length() + 1, 32)
    for m, coefficient in enumerate(window.coefficients):
        yield address(GENERATOR, number, 0, 0, m), coefficient & 0xFFFFFFFF
    yield address(GENERATOR, number, 0, 0, dims), window.base & 0xFFFFFFFF
    yield address(GENERATOR, number, 1), generator.delay
    yield address(GENERATOR, number, 3), window.low & 0xFFFFFFFF
    yield address(GENERATOR, number, 4), window.high & 0xFFFFFFFF
    for index, part, word in _domain_words(circuit, generator.domain, concrete, circuit.generator_sets):
        yield address(GENERATOR, number, 2, index, part), word


def bank_contents(circuit: Circuit, concrete: Concrete, inputs: Mapping[str, NDArray[np.int64]]) -> Iterator[Write]:
    """Writes that fill the banks: of every input array, its memory as words of 32 bits."""
    for window in bank_windows(circuit, concrete):
        if window.is_output:
            continue
        name = concrete.arrays[concrete.generators[window.generator].array].name
        for n, word in enumerate(inputs[name][list(window.words)].tolist()):
            yield address(BANK_WORD, window.bank, n >> 16, n & 0xFFFF), word
