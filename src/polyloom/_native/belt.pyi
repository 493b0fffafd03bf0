# SPDX-License-Identifier: Apache-2.0
"""The model of the belt machine (native/belt/bind.cpp). Callers have checked what is no program's fault:
`polyloom.targets.belt.run.model` does."""

from typing import Any, final

import numpy as np
from numpy.typing import NDArray

Operand = tuple[int, int, bytes, list[int], list[int]]
"""Width (0 to 4, or -1 without a shape), lanes, data; by lane 0 data, 1 None, 2 NaR; by lane the NaR's cause (bits 24
on: 1 overflow, 2 division, 3 load, 4 conversion) and bundle."""

class Malformed(ValueError):
    """Words, or a member, that the format does not describe."""

class BadOperands(ValueError):
    """Operands whose shapes do not suit the operation."""

def operations() -> list[tuple[str, str, int, int, bool, int, bool, bool, bool]]:
    """By number: name, phase, least and most operands, whether a list follows, results, whether the last operand may be
    an immediate, whether words state a width, and lanes."""

def operate(
    op: int, width: int, lanes_log: int, operands: list[Operand], immediate: int | None, bundle: int
) -> list[Operand]:
    """The results of an operation that only computes, of pick or recur. `width` is what its word states, or -1."""

@final
class Record:
    """What happened in a run that was traced; its items are the first operations: (cycle, routine, bundle, slot, name,
    value), cycles from 1 on."""

    def __len__(self) -> int: ...
    def __getitem__(self, n: int, /) -> tuple[int, int, int, str, str, Operand]: ...
    @property
    def total(self) -> int:
        """Of all operations."""

    @property
    def cycles(self) -> int:
        """Up to the last operation."""

    @property
    def step(self) -> int:
        """Cycles per bit."""

    def busy(self) -> list[tuple[int, str, bytes]]:
        """Routine, slot, and a bit for each `step` cycles of whether it did something; zeros at the end are left
        out."""

@final
class Code:
    """A program's words, decoded once."""

    def __init__(
        self,
        belt: int,
        vector: int,
        phasing: bool,
        least_delay: int,
        most_delay: int,
        stations: int,
        scratch: int,
        latencies: bytes,
        code: bytes,
    ) -> None: ...
    @property
    def parameters(self) -> list[tuple[int, int]]:
        """Of the routine that is run: width and lanes each."""

    @property
    def results(self) -> list[tuple[int, int]]: ...
    def run(
        self,
        ranges: list[tuple[int, NDArray[np.uint8], bool]],
        arguments: list[Operand],
        most_cycles: int,
        most_events: int,
        account: bool = False,
    ) -> dict[str, Any] | tuple[int, int, int, str | None, str | None, int, str]:
        """`ranges` are (address, bytes, writable); read-only bytes are copied when they are first stored to. With
        `account`, `over_time` has a step and the executions of all bundles at multiples of it, 64 bits each. A tuple is
        a fault: its number, routine, bundle, slot, operation, cycle and what is wrong."""

@final
class Stepper:
    """A run that stops between cycles; `ranges` and `arguments` are those of `Code.run`."""

    def __init__(
        self, code: Code, ranges: list[tuple[int, NDArray[np.uint8], bool]], arguments: list[Operand]
    ) -> None: ...
    def advance(self, cycles: int, tells: bool = True) -> bool | tuple[int, int, int, str | None, str | None, int, str]:
        """Bundles until so many cycles have passed in all: whether the program has returned, or a fault as of
        `Code.run`."""

    @property
    def cycle(self) -> int: ...
    @property
    def place(self) -> tuple[int, int]:
        """Routine and bundle that are next."""

    @property
    def belt(self) -> list[Operand]:
        """From b0 on."""

    @property
    def operations(
        self,
    ) -> list[tuple[int, int, int, str, str, Operand, list[Operand], list[int], list[int], int]]:
        """Of the last `advance`: number from 1 on, routine, bundle, slot, name, value, operands (not those of a load)
        with the numbers of the operations that made them (0 where none has), addresses of an access (one, or one per
        lane) and the bytes of an element there."""
