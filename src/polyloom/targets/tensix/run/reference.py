# SPDX-License-Identifier: Apache-2.0
"""Oracle of a run: the interpreter of the imported form over the same Dst, call after call as the driver makes them.

Bits are compared where they have a value: of lanes that no path wrote, nothing is known.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from polyloom.frontend.source import Arrays
from polyloom.ir.ssa import Function
from polyloom.targets.tensix.run.kernel_run import argument_bits, dst_inputs
from polyloom.targets.tensix.run.places import write_place
from polyloom.targets.tensix.run.tile import Tile
from polyloom.targets.tensix.source.driver import FACES, Per
from polyloom.targets.tensix.source.oracle.interpret import Kernel, State, interpret, prepare
from polyloom.targets.tensix.words.isa import Member
from polyloom.twos_complement import sign_extend

Array = NDArray[Any]
BITS: Final = "dst"
"""The output that is compared: all of Dst, as it is."""
_ROWS: Final[dict[Per, int]] = {"face": 16, "tile": 64}


def implied_format(form: str) -> str:
    """Implied format of loads and stores without one of their own, as `driver.setup_words` configures it (ISA
    documentation, page of `SFPLOAD`, mode 0).
    """
    return {"int32": "fp32", "uint32": "fp32", "uint16": "bf16"}.get(form, form)


@dataclass(slots=True)
class Reference:
    """Reference run of a kernel. Mutable: what was known after the last run, and what it printed."""

    kernel: Function
    init: Function | None
    member: Member
    dest: int
    per: Per
    tiles: int = 1
    contract: bool = True
    spill: tuple[int, int] | None = None
    """Rows of a 32-bit Dst that belong to the compiler: what it leaves there is not known here."""
    known: Array | None = None
    text: str = ""
    _prepared: list[Kernel] = field(default_factory=list[Kernel])

    def outputs(self, values: Mapping[str, int], inputs: Arrays) -> Arrays:
        """Dst after the interpreter's run."""
        del values
        form, placed = dst_inputs(inputs, self.dest)
        # A tile of the model only lays out the inputs in Dst; nothing is executed on it.
        tile = Tile(self.member)
        for at, array in placed.items():
            write_place(tile, at, array)
        # One tile at a time is exact for all kernels, also for those that use random numbers or keep registers between
        # calls.
        state = State(self.member, 1, implied_format(form))
        state.dst.bits[0] = tile.dst
        self.run(state, inputs)
        self.known, self.text = state.dst.known[0], "".join(state.text)
        return {BITS: state.dst.bits[0]}

    def run(self, state: State, inputs: Arrays) -> None:
        """Interpretation of what initializes once, then of the kernel per face or tile, over a state."""
        if not self._prepared:
            parts = [self.kernel, *([self.init] if self.init else [])]
            self._prepared = [prepare(part, self.contract) for part in parts]
        kernel, *init = self._prepared
        for part in init:
            interpret(part, _arguments(part, inputs), state)
        for call in range(self.tiles * (FACES if self.per == "face" else 1)):
            # The driver moves the counter of Dst between calls, 16 rows a face, from where the last call began or was
            # set; it has ten bits.
            if call:
                state.counter = state.carriage = state.carriage + _ROWS[self.per] & 0x3FF
            interpret(kernel, _arguments(kernel, inputs), state)
        if self.spill is not None:
            rows = np.arange(*self.spill)
            high = (rows & 0x1F8) << 1 | rows & 0x207
            # Spill rows hold the compiler's temporaries, which the interpreter does not have.
            state.dst.known[:, [*high, *(high + 8)]] = False

    def bounds(self, values: Mapping[str, int], inputs: Arrays, expected: Arrays) -> Arrays:
        """Error bounds: zero where bits are known, NaN (nothing is expected) elsewhere."""
        del values, inputs
        assert self.known is not None
        return {name: np.where(self.known, 0.0, np.nan) for name in expected}


def _arguments(kernel: Kernel, inputs: Arrays) -> list[int]:
    # The interpreter of SSA form has integers as signed numbers.
    return [sign_extend(argument_bits(p.name, inputs), 32) for p in kernel.function.parameters]
