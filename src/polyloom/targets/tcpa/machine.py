# SPDX-License-Identifier: Apache-2.0
"""Machine description of a tightly coupled processor array (docs/machines.md; the array paper, section 3).

All elements of an array are alike. `None` in a capacity means unlimited.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from polyloom.ir.operations import ELEMENT_TYPES, ElementType


@dataclass(frozen=True, slots=True)
class FunctionalUnit:
    """Functional unit (the array paper, section 3.2): `latencies[(operation, element type)]` in cycles; a blocking unit
    executes one operation at a time.
    """

    name: str
    latencies: Mapping[tuple[str, ElementType], int]
    mnemonics: Mapping[str, str]
    pipelined: bool = True


ACCESSES: Final = (
    "fetch",
    "register_read",
    "register_write",
    "fifo_read",
    "fifo_write",
    "bank_read",
    "bank_write",
    "hop",
)
"""What the model counts besides operations, in the order in which it does (native/tcpa/model.hpp)."""


@dataclass(frozen=True, slots=True)
class Energy:
    """Energy table: the energy of each access and operation, in any unit; `source` says where the figures are from.
    `operations` are exceptions, by operation or by operation and element type, such as `mul` or `mul i32`."""

    source: str
    accesses: Mapping[str, float]
    operation: float
    operations: Mapping[str, float]

    def operation_energy(self, name: str) -> float:
        """Energy of an operation on an element type, such as `mul i32`."""
        return self.operations.get(name, self.operations.get(name.split()[0], self.operation))


@dataclass(frozen=True, slots=True)
class Area:
    """Area table: what parts of an array take, in `unit`, as `polyloom bench rtl` prints it; None where the file has no
    figure. `source` says where the figures are from."""

    source: str
    unit: str
    element: float | None = None
    """An element in its wrapper, with its links and delay line."""
    bank: float | None = None
    """A bank at a border port, with its generator; each port has one per channel."""
    controller: float | None = None
    memory_bit: float | None = None
    """A bit of a memory, of which `polyloom bench rtl --liberty` makes the area of memories."""

    def array_area(self, rows: int, columns: int, channels: int) -> float | None:
        """Area of an array: its elements, banks at all border ports, and one controller."""
        if self.element is None or self.bank is None or self.controller is None:
            return None
        return rows * columns * self.element + 2 * (rows + columns) * channels * self.bank + self.controller


@dataclass(frozen=True, slots=True)
class Machine:
    """Machine description: one member of the family (the array paper, section 3). Capacities are per processing element
    unless said otherwise.
    """

    name: str
    units: tuple[FunctionalUnit, ...]
    destinations: int
    """How many destinations one instruction may write."""
    general_registers: int | None
    feedback_registers: int | None
    input_registers: int | None
    output_registers: int | None
    fifo_depth: int | None
    """Tokens that one feedback or input register holds."""
    instruction_words: int | None
    """Instructions of one functional unit."""
    branch_flags: int
    """Control signals that one branch reads; it has 2**branch_flags targets."""
    channels: int | None
    """Data channels per side, in each direction; border element ports of that number each own one bank."""
    adjacency: tuple[tuple[str, str], ...] | None
    """Allowed (source port, sink port) pairs of a wrapper such as ("west0", "pe0"); None: every pair."""
    # Registers of wrappers: a value is one hop further after so many cycles, and is not held in between.
    hop_delay: int
    """Cycles that a value takes from one wrapper to the next."""
    control_signals: int | None
    signal_sets: int | None
    """Convex sets in the one-domain of one control signal or in one generator's enable domain."""
    half_spaces: bool
    """Whether those sets may have half-spaces besides a box."""
    counter_bits: int
    """Width of iteration counters and delays."""
    generator_dimensions: int | None
    delay_bits: int
    """Width of the initial delay of an address generator."""
    bank_words: int | None
    rows: int | None = None
    columns: int | None = None
    """The largest array that can be asked for."""
    word_bits: int = 64
    """Width of registers, FIFOs, wires and units; a value of a wider type has no place in them."""
    types: tuple[ElementType, ...] = ELEMENT_TYPES
    """Element types that the machine has."""
    bank_halves: int = 1
    """2: while the array uses one half of a bank's memory, the other one can be filled or emptied."""
    dma_words: int | None = None
    """Words per cycle between memory and banks."""
    dma_request_cycles: int = 0
    """Cycles that a request of DMA takes besides those of its words."""
    configuration_words: int | None = None
    """Words per cycle on the configuration bus."""
    clock_mhz: float | None = None
    energy: Energy | None = None
    area: Area | None = None

    def array_area(self, rows: int, columns: int) -> float | None:
        """Area of an array of so many elements, where the machine's file has an area table and a number of channels."""
        if self.area is None or self.channels is None:
            return None
        return self.area.array_area(rows, columns, self.channels)

    @property
    def has_whole_time(self) -> bool:
        """Whether memory or configurations cost something besides the array's own cycles."""
        return bool(self.dma_request_cycles) or (self.dma_words, self.configuration_words) != (None, None)

    def has_type(self, dtype: ElementType) -> bool:
        """Whether some unit knows the element type."""
        return any(t == dtype for unit in self.units for _, t in unit.latencies)

    def find_units(self, operation: str, dtype: ElementType) -> tuple[int, ...]:
        """Indices of the units that can execute `operation` on `dtype`."""
        return tuple(n for n, unit in enumerate(self.units) if (operation, dtype) in unit.latencies)
