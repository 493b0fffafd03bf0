# SPDX-License-Identifier: Apache-2.0
"""Stepper: what a machine does for debuggers, one cycle after another (docs/debugging.md).

A stepper runs the bytes of a program, as a model does, and knows nothing of the compiler's structures: what it tells of
lines, iterations and names stands in the file. It makes an `Event` for each operation that is issued. Keys say where a
value is: whoever reads a key reads what the last event with that key among its writes has left (reaching definitions of
an execution). So one engine finds where values came from, on every machine.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np

from polyloom.frontend.source import Arrays
from polyloom.targets.provenance import Provenance


@dataclass(frozen=True, slots=True)
class Operand:
    """Operand or result of an event: what people call it, its value as text, and the key of the place that has it."""

    name: str
    value: str
    key: Hashable


@dataclass(frozen=True, slots=True)
class StoredElement:
    """Element of an array of the source that an event has stored, with its value as a NumPy scalar."""

    array: str
    index: tuple[int, ...]
    value: Any


@dataclass(frozen=True, slots=True)
class Event:
    """Operation at its issue. `unit` executes it; `address` is where it stands, -1 where addresses mean nothing.
    `operation` is its name in the source's equations, `iteration` the values of the loops around it, where they are
    known; `result` its value as a NumPy scalar, or as an array of lanes, None where it has none. `statement` is the
    statement of the source whose value the result is, where the file tells.
    """

    cycle: int
    unit: str
    text: str
    address: int = -1
    place: Provenance | None = None
    operation: str = ""
    iteration: tuple[tuple[str, int], ...] = ()
    reads: tuple[Operand, ...] = ()
    writes: tuple[Operand, ...] = ()
    stores: tuple[StoredElement, ...] = ()
    result: Any = None
    statement: str = ""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Snapshot: the bytes that it takes, and what the stepper that made it restores."""

    bytes: int
    state: Any


@dataclass(frozen=True, slots=True)
class Code:
    """Word of code that can be reached: where it is, whose, what it says and what it comes from."""

    address: int
    unit: str
    text: str
    place: Provenance | None


@dataclass(frozen=True, slots=True)
class Region:
    """Array of the source in row-major order in memory: its address and what it is."""

    name: str
    address: int
    dtype: np.dtype[Any]
    shape: tuple[int, ...]

    @property
    def size(self) -> int:
        """Bytes."""
        # 64 bits on every host: before NumPy 2 its own default had 32 on some.
        return self.dtype.itemsize * int(np.prod(self.shape, dtype=np.int64))

    def elements(self, address: int, size: int) -> list[tuple[int, tuple[int, ...]]]:
        """Addresses and indices of the elements in `size` bytes from `address` on."""
        first, last = max(address, self.address), min(address + size, self.address + self.size)
        # An access may begin or end within an element: all that it touches are meant.
        numbers = range((first - self.address) // self.dtype.itemsize, -(-(last - self.address) // self.dtype.itemsize))
        return [
            (self.address + n * self.dtype.itemsize, tuple(int(k) for k in np.unravel_index(n, self.shape)))
            for n in numbers
        ]


def element_name(array: str, index: Sequence[int]) -> str:
    """`C[1, 2]`, or the name of a scalar."""
    return f"{array}[{', '.join(map(str, index))}]" if index else array


class Stepper(Protocol):
    """Run that stops between cycles. Faults are raised by `step` as the errors that a run raises."""

    @property
    def cycle(self) -> int:
        """The last cycle in which something happened."""
        ...

    @property
    def is_at_end(self) -> bool: ...

    def step(self) -> Sequence[Event]:
        """The next cycle in which something happens, and the operations that are issued in it."""
        ...

    def save(self) -> Snapshot: ...

    def restore(self, saved: Snapshot) -> None: ...

    def arrays(self) -> Arrays:
        """Arrays and scalars of the source by name, as they stand in memory now."""
        ...

    def registers(self) -> Mapping[str, Mapping[str, str]]:
        """Registers, FIFOs, belts and the like of each unit, by the names that the machine's documents use."""
        ...

    def loops(self) -> Sequence[str]:
        """Names in the iterations of events."""
        ...

    def code(self) -> Sequence[Code]:
        """The words of the program."""
        ...


@dataclass(frozen=True, slots=True)
class HartState:
    """State of a RISC-V hart: its program counter, the integer registers, the bits of floating-point registers, `flen`
    each, and vector registers as lanes of `flen` bits, of which the first is the scalar.
    """

    pc: int
    x: tuple[int, ...]
    f: tuple[int, ...] = ()
    flen: int = 64
    vectors: tuple[tuple[int, ...], ...] = ()


@runtime_checkable
class HartMachine(Protocol):
    """Stepper whose units are RISC-V harts, as GDB sees them. `harts` are the units of their events, in the order of
    threads, and `xlen` the bits of their integer registers.
    """

    @property
    def harts(self) -> Sequence[str]: ...

    @property
    def xlen(self) -> int: ...

    def hart_state(self, hart: int) -> HartState: ...

    def read_memory(self, address: int, size: int) -> bytes:
        """Bytes of memory, fewer where there is none."""
        ...
