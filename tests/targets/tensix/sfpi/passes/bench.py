# SPDX-License-Identifier: Apache-2.0
"""Kernels for the tests of passes: written as short text, run by the interpreter and, as words, on the native model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from tests.targets.tensix.sfpi.kernels import state as filled

from polyloom.ir.ssa import Function
from polyloom.ir.ssa_interpret import evaluate
from polyloom.ir.ssa_memory import Memory
from polyloom.ir.ssa_read import read
from polyloom.targets.tensix.run.tile import Tile
from polyloom.targets.tensix.source.allocate.words import print_listing
from polyloom.targets.tensix.source.lower.compile import Lowered, Options, lower
from polyloom.targets.tensix.source.operations import externals
from polyloom.targets.tensix.source.oracle.interpret import interpret
from polyloom.targets.tensix.source.oracle.state import State

ENABLE: Final = 0x8A00300A
"""SFPENCC 3, 10, which the driver issues before a kernel."""
SEED: Final = {"wormhole": 0xB0000000 | 164, "blackhole": 0xB0000000 | 186}
"""WRCFG of GPR 0 to PRNG_SEED."""
NOP: Final = 0x02000000


@dataclass(frozen=True, slots=True)
class Ran:
    """What a kernel left: on the model Dst, registers and flags, in the interpreter its state."""

    lowered: Lowered
    words: tuple[int, ...]
    dst: NDArray[np.uint16]
    state: State
    registers: NDArray[np.uint32]
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


def _quiet(memory: Memory, *operands: Any) -> None:
    """What prints."""


def words_of(function: Function, arguments: Sequence[int] = ()) -> tuple[int, ...]:
    """The words that a lowered kernel hands over, in their order."""
    found: list[int] = []

    def hook(memory: Memory, word: Any, number: Any) -> None:
        found.append(word & 0xFFFFFFFF)

    evaluate(function, arguments, externals={e.name: _quiet for e in function.externals} | {"tensix.word": hook})
    return tuple(found)


def run(function: Function, state: State, arguments: Sequence[int] = (), options: Options | None = None) -> Ran:
    """On both sides from one state of 32-bit Dst (`fp32`) or 16-bit one (`bf16`), which is changed."""
    options = options or Options()
    lowered = lower(function, options)
    words = words_of(lowered.function, arguments)
    tile = Tile(options.member, hazards="error")
    tile.dst[:] = state.dst.bits[0]
    tile.dst_valid[:] = 1
    tile.config[0][1] = 1 << 30 if state.format == "fp32" else 5 << 21
    for k in range(8):
        tile.lregs[k] = np.broadcast_to(state.registers[k].bits, (1, 32))[0]
    seed = int(state.random[0, 0])
    tile.gpr[1][0] = seed
    state.random[0] = [((seed << k | seed >> 32 - k) & 0xFFFFFFFF) for k in range(32)]
    tile.push("t1", [SEED[options.member], NOP, NOP, ENABLE, *words])
    tile.run()
    interpret(function, arguments, state, contract="contract" not in options.without)
    return Ran(lowered, words, tile.dst.copy(), state, tile.lregs.copy(), tile.flags.copy())


def agree(ran: Ran) -> None:
    """Dst and registers are equal where their bits are known; flags are as at entry."""
    expected, known = ran.state.dst.bits[0], ran.state.dst.known[0]
    wrong = (ran.dst != expected) & known
    if wrong.any():
        row, column = map(int, np.argwhere(wrong)[0])
        told = f"{ran.dst[row, column]:#06x}, expected {expected[row, column]:#06x}"
        raise AssertionError(f"Dst row {row}, column {column}: {told} ({int(wrong.sum())} wrong)\n{listing(ran)}")
    for k, vector in enumerate(ran.state.registers[:15]):
        defined = np.broadcast_to(True if vector.known is None else vector.known, (1, 32))[0]
        bits = np.broadcast_to(vector.bits, (1, 32))[0]
        assert not ((ran.registers[k] != bits) & defined).any(), f"L{k}\n{listing(ran)}"
    assert (ran.flags == 0xFFFFFFFF).all(), f"flags {ran.flags} at exit"


def listing(ran: Ran) -> str:
    return print_listing(ran.lowered.listing)


def plain(seed: int = 0) -> State:
    """Random contents, and edges of formats among them; Dst is BF16."""
    made = filled(seed)
    made.format = "bf16"
    edges = np.array([0, 0x8000, 0x7F, 0x80FF, 0xFF, 0x1, 0x8001, 0x407F, 0x80, 0x8081], np.uint16)
    random = np.random.default_rng(seed)
    chosen = random.random(made.dst.bits.shape) < 0.3
    made.dst.bits[:] = np.where(chosen, random.choice(edges, made.dst.bits.shape), made.dst.bits)
    return made
