# SPDX-License-Identifier: Apache-2.0
"""Kernels for the tests of passes: written as short text, run by the interpreter and, as words, on the native model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import polyloom as pl
from polyloom.ir.ssa import Function
from polyloom.ir.ssa_interpret import evaluate
from polyloom.ir.ssa_memory import Memory
from polyloom.ir.ssa_read import read
from polyloom.targets.tensix.sfpi.compile import Lowered, Options, lower
from polyloom.targets.tensix.sfpi.interpret import interpret
from polyloom.targets.tensix.sfpi.operations import externals
from polyloom.targets.tensix.sfpi.oracle.state import State

ENABLE = 0x8A00300A
"""SFPENCC 3, 10, which the driver issues before a kernel."""


@dataclass(frozen=True, slots=True)
class Ran:
    """What a kernel left on both sides: Dst in its order of bits and, of the interpreter, which bits are known."""

    lowered: Lowered
    words: tuple[int, ...]
    got: NDArray[np.uint16]
    expected: NDArray[np.uint16]
    known: NDArray[np.bool_]
    registers: NDArray[np.uint32]
    state: State
    flags: NDArray[np.uint32]


def kernel(body: str, parameters: str = "") -> Function:
    """A function of SSA form: `body` is its text, `@name` short for `@__sfpi_name`, lines without a block the entry."""
    heads = "\n".join(
        f"external @{e.name}({', '.join(map(str, e.parameters))}){_results(e.results)} ordered"
        for e in externals().functions
    )
    text = body.replace("call @", "call @__sfpi_")
    entry = "" if text.lstrip().startswith("entry") else "entry:\n"
    end = "" if "return" in text else "\nreturn\n"
    return read(f"pointers 32\n{heads}\nfunction f({parameters}) {{\n{entry}{text}{end}}}\n")


def _results(types: Sequence[Any]) -> str:
    if not types:
        return ""
    return f" -> {types[0]}" if len(types) == 1 else f" -> ({', '.join(map(str, types))})"


def words_of(function: Function, arguments: Sequence[int] = ()) -> tuple[int, ...]:
    """The words that a lowered kernel hands over, in their order."""
    found: list[int] = []

    def hook(memory: Memory, word: Any, number: Any) -> None:
        found.append(word & 0xFFFFFFFF)

    quiet = {e.name: lambda memory, *operands: None for e in function.externals}
    evaluate(function, arguments, externals=quiet | {"tensix.word": hook})
    return tuple(found)


def run(
    function: Function,
    dst: NDArray[np.uint16],
    arguments: Sequence[int] = (),
    options: Options | None = None,
    registers: NDArray[np.uint32] | None = None,
) -> Ran:
    """On both sides from one Dst (1024, 16), and registers L0 to L7 (8, 32)."""
    options = options or Options()
    lowered = lower(function, options)
    words = words_of(lowered.function, arguments)
    tile = pl.tensix.Tile(options.member, hazards="error")
    tile.dst[:] = dst
    tile.dst_valid[:] = 1
    state = State(member=options.member)
    state.dst.bits[0] = dst
    tile.config[:] = 0
    tile.config.reshape(-1)[1] = 5 << 21  # SrcB is BF16
    if registers is not None:
        tile.lregs[:8] = registers
        for k in range(8):
            state.registers[k] = type(state.registers[k])(registers[k].copy())
    tile.push("t1", [ENABLE, *words])
    tile.run()
    interpret(function, arguments, state, contract="contract" not in options.without)
    return Ran(
        lowered,
        words,
        tile.dst.copy(),
        state.dst.bits[0],
        state.dst.known[0],
        tile.lregs.copy(),
        state,
        tile.flags.copy(),
    )


def agree(ran: Ran) -> None:
    """Bits are equal where they are known; flags are as at entry."""
    wrong = (ran.got != ran.expected) & ran.known
    if wrong.any():
        row, column = map(int, np.argwhere(wrong)[0])
        listing = "\n".join(f"{note.bits:08x} {note.text}" for note in ran.lowered.notes)
        raise AssertionError(
            f"Dst row {row}, column {column}: {ran.got[row, column]:#06x}, expected {ran.expected[row, column]:#06x}"
            f" ({int(wrong.sum())} wrong)\n{listing}"
        )
    assert (ran.flags == 0xFFFFFFFF).all(), f"flags {ran.flags} at exit"


def random_dst(seed: int) -> NDArray[np.uint16]:
    """Any bits, and edges of formats among them."""
    generator = np.random.default_rng(seed)
    dst = generator.integers(0, 1 << 16, (1024, 16), dtype=np.uint16)
    edges = np.array([0, 0x8000, 0x7F, 0x80FF, 0xFF, 0x1, 0x8001, 0x407F, 0x80, 0x8081], np.uint16)
    chosen = generator.random((1024, 16)) < 0.3
    return np.where(chosen, generator.choice(edges, (1024, 16)), dst).astype(np.uint16)
