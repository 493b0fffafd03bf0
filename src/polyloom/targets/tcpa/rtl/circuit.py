# SPDX-License-Identifier: Apache-2.0
"""Circuit parameters of a machine: what the Verilog of `verilog/` takes for granted at elaboration (IEEE 1364-2001,
12.2), and which machines have no circuit.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from polyloom.diagnostics import PolyloomError, Span, input_error
from polyloom.ir.operations import BY_NAME, DIVISIONS, ElementType
from polyloom.machine.table import UNLIMITED, Table
from polyloom.targets.tcpa.machine import FunctionalUnit, Machine
from polyloom.targets.tcpa.words.isa import encode_opcode
from polyloom.targets.tcpa.words.sides import parse_port

WORD: Final = 32
AFFINE: Final = 32
"""Bits of the value of a half-space, or of an address before it is checked."""
HALF_SPACES: Final = 4
"""Of one convex set."""
GENERATOR_SETS: Final = 4
"""Convex sets of a generator's domain: the kernels of `polyloom bench members` have one, jacobi2d two; control signals
have up to 16."""
DELAY_BITS: Final = 12
"""A delay line holds two to this power of steps."""

_ITERATIVE: Final = (*DIVISIONS, "sqrt")
"""Operations of a lane's dividers, bit by bit."""
CAPACITIES: Final = (
    "general_registers",
    "feedback_registers",
    "input_registers",
    "output_registers",
    "fifo_depth",
    "instruction_words",
    "channels",
    "control_signals",
    "signal_sets",
    "generator_dimensions",
    "bank_words",
)
MOST: Final = {
    "generator_dimensions": 16,
    "bank_words": 1 << 24,
    "fifo_depth": 1 << 16,
    "signal_sets": 64,
    "instruction_words": 1 << 15,
}
"""What fields of the configuration bus can count."""


@dataclass(frozen=True, slots=True)
class Lane:
    """The operations of functional unit `unit` that have one latency, as opcodes."""

    unit: int
    latency: int
    opcodes: tuple[int, ...]
    blocking: bool


@dataclass(frozen=True, slots=True)
class Circuit:
    """Parameters of the array for `rows` x `columns` elements of `machine`, which `check_circuit` has passed."""

    machine: Machine
    rows: int
    columns: int
    lanes: tuple[Lane, ...]

    def capacity(self, key: str) -> int:
        """At least 1: a vector has at least one bit."""
        value: int | None = getattr(self.machine, key)
        assert value is not None, key
        return max(1, value)

    def bits(self, key: str) -> int:
        """Bits of an index below the capacity."""
        return max(1, (self.capacity(key) - 1).bit_length())

    @property
    def generator_sets(self) -> int:
        return min(GENERATOR_SETS, self.capacity("signal_sets"))

    @property
    def half_space_count(self) -> int:
        return HALF_SPACES if self.machine.half_spaces else 0

    @property
    def destinations(self) -> int:
        return sum(self.capacity(f"{file}_registers") for file in ("general", "feedback", "output"))

    @property
    def ports(self) -> int:
        return 2 * (self.rows + self.columns)

    @property
    def sources(self) -> int:
        """Of an interconnect wrapper: output registers, then the channels of the north, east, south and west."""
        return self.capacity("output_registers") + 4 * self.capacity("channels")

    def port_number(self, port: tuple[int, int], file: str) -> int:
        """Of a source, where `file` is the output registers, or of a sink, where it is the input registers."""
        location, index = port
        return index if location == 0 else self.capacity(file) + (location - 1) * self.capacity("channels") + index


def adjacency_sets(circuit: Circuit) -> list[int]:
    """Adjacency of the wrapper (the array paper, section 3.1): of each sink, the set of its sources."""
    sinks = circuit.capacity("input_registers") + 4 * circuit.capacity("channels")
    pairs = circuit.machine.adjacency
    if pairs is None:
        return [(1 << circuit.sources) - 1] * sinks
    sets = [0] * sinks
    for source, sink in pairs:
        number = circuit.port_number(parse_port(sink), "input_registers")
        sets[number] |= 1 << circuit.port_number(parse_port(source), "output_registers")
    return sets


def operand_count(unit: FunctionalUnit) -> int:
    """Sources of the operation of the unit that has most."""
    return max((BY_NAME[operation].arity for operation, _ in unit.latencies), default=0)


def build_circuit(machine: Machine, rows: int, columns: int) -> Circuit:
    """Circuit of a machine that `check_circuit` has passed."""
    lanes = tuple(lane for number, unit in enumerate(machine.units) for lane in _unit_lanes(number, unit))
    return Circuit(machine, rows, columns, lanes)


def check_region(machine: Machine, rows: int, columns: int, table: Table | None) -> None:
    """PL0310 for an array that is larger than the machine's."""
    for what, asked, most in (("rows", rows, machine.rows), ("columns", columns, machine.columns)):
        if most is not None and asked > most:
            message = f"the array has {asked} {what}, and the machine has {most}"
            raise _refusal(message, what, f"write {most} or less in `--array RxC`", table)


def _unit_lanes(number: int, unit: FunctionalUnit) -> tuple[Lane, ...]:
    # Results of two latencies may be ready in one cycle, so that each has a way of its own into the registers.
    by_latency: dict[int, list[int]] = {}
    for (operation, dtype), cycles in unit.latencies.items():
        by_latency.setdefault(cycles, []).append(encode_opcode(operation, dtype))
    return tuple(Lane(number, n, tuple(sorted(found)), not unit.pipelined) for n, found in sorted(by_latency.items()))


def has_circuit(operation: str, dtype: ElementType) -> bool:
    """Whether the text has the operation on the type."""
    return "f64" not in (dtype, operation.removeprefix("to_"))


def check_circuit(machine: Machine, table: Table | None = None) -> None:
    """Machines without a circuit: PL0310, at the key in the machine's text if that is given."""
    for key in CAPACITIES:
        value: int | None = getattr(machine, key)
        if value is None:
            raise _refusal(f'"{UNLIMITED}" is no size of a circuit', key, "write a number", table)
        if value > MOST.get(key, value):
            raise _refusal(f"'{key}' is {value}, and a circuit has at most {MOST[key]}", key, "write less", table)
    # A ring of wrappers without registers would be a combinational loop.
    if machine.hop_delay == 0:
        message = "wires from one wrapper to the next that take no cycle have no registers, and may close a loop"
        raise _refusal(message, "hop_delay", "write `hop_delay = 1` or more", table)
    for unit in machine.units:
        _check_unit(unit, table)


def _check_unit(unit: FunctionalUnit, table: Table | None) -> None:
    for operation, dtype in unit.latencies:
        if not has_circuit(operation, dtype):
            message = f"the unit '{unit.name}' executes '{operation}' on {dtype}, which has no circuit"
            help = "list the types that have one, such as `types = ['i32']`"
            raise _unit_refusal(message, help, unit, table, "types")
    # One divider works on one division or root; with latency 1 it is done in the cycle of the issue.
    slow = [n for (operation, _), n in unit.latencies.items() if operation in _ITERATIVE and n > 1]
    if slow and unit.pipelined:
        message = f"the unit '{unit.name}' begins a division or root in every cycle, and the circuit has one divider"
        raise _unit_refusal(message, "write `pipelined = false`, or latency 1", unit, table, "latency")


def _unit_refusal(message: str, help: str, unit: FunctionalUnit, table: Table | None, key: str) -> PolyloomError:
    """The section of the unit, at the key if it gives it."""
    sections = table.tables("unit") if table is not None else ()
    # A section with a count gives several units, name0, name1 and so on.
    own = [s for s in sections if re.fullmatch(re.escape(s.text("name")) + "[0-9]*", unit.name)]
    return input_error("PL0310", message, span=_key_span(own[0], key, table) if own and table else None, help=help)


def _refusal(message: str, key: str, help: str, table: Table | None) -> PolyloomError:
    where = f"{message}: the key '{key}'" if f"'{key}'" not in message else message
    return input_error("PL0310", where, span=None if table is None else _key_span(table, key, table), help=help)


def _key_span(section: Table, key: str, root: Table) -> Span:
    """Of the value; where the text leaves the key to its base, of the header, or of the base's name."""
    if (*section.path, key) in section.places.keys:
        return section.value_span(key)
    if section.path and section.path in section.places.keys:
        return section.span()
    return root.value_span("based_on") if "based_on" in root.content else root.span()
