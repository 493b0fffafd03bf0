# SPDX-License-Identifier: Apache-2.0
"""A RISC-V hart, the search for sequences, and the executions of litmus tests (native/riscv/bind.cpp)."""

from collections.abc import Sequence
from typing import final

@final
class Hart:
    """One RISC-V hart and its memory of zeros (native/riscv/hart.hpp), whose code lies in [code_base, code_base +
    code_size)."""

    def __init__(
        self,
        xlen: int,
        extensions: int,
        base: int,
        size: int,
        code_base: int,
        code_size: int,
        costs: Sequence[tuple[int, int, int, int, int, int, int, int]] | None = None,
    ) -> None:
        """`extensions` is a set as polyloom.riscv.header.extension_bits writes it. With `costs`, by halfword of the
        code, the hart takes time (native/riscv/paced.hpp): rd, rs1, rs2, rs3 (f registers from 32 on, 64 none),
        latency, cycles of a taken branch, cycles that its unit is held, and 1 where rd comes from the memory. With an
        empty list it counts executions alone. Raises ValueError for code outside the memory, MemoryError where there is
        not enough."""

    @property
    def clock(self) -> int:
        """Cycles of a hart that takes time; 0 of others."""

    @property
    def executed(self) -> list[tuple[int, int]]:
        """Halfwords of instructions, and how often a hart that counts has executed each."""

    @property
    def waits(self) -> dict[int, tuple[int, int, list[tuple[int, int, bool]]]]:
        """By halfword of an instruction that a hart lost cycles for: those behind it when it was taken, those for its
        unit, and for its operands, with the halfword of who wrote what was waited for, and whether from the memory."""

    @property
    def over_time(self) -> tuple[int, list[int]] | None:
        """Of a hart that takes time: a step, and what it had counted at multiples of it, five numbers each: cycles in
        which it issued, that it waited for results, for data of the memory, for its unit, behind branches."""

    x: list[int]
    """The 32 integer registers, unsigned; what is assigned to x0 is ignored."""
    f: list[int]
    """The bits of the 32 floating-point registers, singles boxed in ones."""
    fcsr: int
    environment: tuple[bool, int, bytes, bytes]
    """What a run has besides registers and memory: whether lr holds a reservation, of which address, and what was
    written to files 1 and 2."""

    @property
    def moved(self) -> int:
        """The bytes of all loads and stores; those of an atomic operation count once."""

    def write(self, address: int, data: bytes) -> None:
        """Raises ValueError outside the memory, as does `read`."""

    def read(self, address: int, length: int) -> bytes: ...
    def run(self, pc: int, stop: int, limit: int) -> tuple[int, int, int, int, int]:
        """Runs until the program exits, traps, reaches `stop`, or has executed `limit` instructions. Reservations stay.

        Returns (cause, pc, value, executed instructions, word at pc); causes are in the order of
        native/riscv/hart.hpp."""

    def trace(self, pc: int, stop: int, limit: int) -> tuple[tuple[int, int, int, int, int], bytes]:
        """Like `run`, and the address of every instruction that was executed, in 64 bits of the host's order."""

    def written(self, file: int) -> bytes:
        """What the program wrote to file 1 or 2."""

def search(
    xlen: int, inputs: Sequence[Sequence[int]], target: Sequence[int], steps: Sequence[int], length: int, most: int
) -> list[list[tuple[int, int, int]]]:
    """Up to `most` sequences of exactly `length` of the allowed steps (native/riscv/search.hpp) that give `target` on
    all 64 samples.

    A line is (step, a, b): value 0 is the constant zero, then come the inputs, then the results of the lines before."""

def executions(
    events: Sequence[tuple[int, int, int, int, int, int, int, int, bool, bool, int]],
    locations: Sequence[tuple[int, int, bool]],
    most: int,
    steps: int,
) -> tuple[list[tuple[list[int], int, int]] | None, int]:
    """What the allowed executions of a litmus test observe, with the low and the high 64 bits of their number, and the
    steps that are left.

    None where sets are extended in more than `most` ways, or where the steps do not suffice. Events and locations are
    the fields of native/riscv/executions.hpp, in their order. Raises ValueError out of their ranges."""
