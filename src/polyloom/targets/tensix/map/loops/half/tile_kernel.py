# SPDX-License-Identifier: Apache-2.0
"""Vector kernel of a tile: of several ways to walk through it the one with the fewest words for a tile.

Two neighbouring vectors in turn fill the cycle that each product waits for (modulo scheduling by hand; Lam 1988), and
share constants; they need more registers, and are left where those do not suffice. Constant registers that no scalar
needs hold what is expensive to load.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from polyloom.diagnostics import PolyloomError
from polyloom.ir.ssa import Constant, Place
from polyloom.passes import Watch
from polyloom.targets.tensix.map.loops.steps import SCALARS, Pointwise
from polyloom.targets.tensix.map.loops.vector import SINGLE, Load, Walk, build_kernel, kernel_words
from polyloom.targets.tensix.source.lower.literals import literal_loads
from polyloom.targets.tensix.source.operations import called_operation

_REGISTERS: Final = (0x3F56594B, 0, 0x3F800000, 0xBF800000)
"""Bits of the constant registers L8 to L11."""
PAIR: Final = Walk(((0,), (2,)), 4, 16)
"""Even and odd columns of four rows together."""
ROWS: Final = Walk(((0, 2, 16, 18), (32, 34, 48, 50)), 4, 4)
"""What is the same in all columns: four rows of both upper faces, and of both lower ones, from one vector each."""
_PAIRS: Final = (PAIR, replace(PAIR, reloads=True))


@dataclass(frozen=True, slots=True)
class TileKernel:
    """Words with their places, how they walk through a tile, and the bits of constant registers behind the scalars."""

    words: tuple[tuple[int, Place], ...] = ()
    walk: Walk = SINGLE
    constants: tuple[int, ...] = ()

    @property
    def bare_words(self) -> tuple[int, ...]:
        return tuple(word for word, _ in self.words)


UNCOMPILED: Final = TileKernel()
"""Of a stage before its kernel is compiled."""


def select_kernel(
    p: Pointwise,
    mode: int,
    watch: Watch | None,
    loads: Sequence[Load] | None = None,
    *,
    has_pairs: bool = False,
    has_rows: bool = False,
) -> TileKernel:
    """Kernel with the fewest words for a tile, the simplest of equals. `has_pairs`: it may hold constants and take two
    vectors at a time; `has_rows`: all columns are the same. Errors: PL1280 where none fits.
    """
    held = _expensive_constants(p, mode, loads)
    found = [TileKernel(tuple(kernel_words(p, mode, watch, loads)))]
    pairs = (*((SINGLE,) if held else ()), *_PAIRS) if has_pairs else ()
    for walk in (*pairs, *((ROWS,) if has_rows else ())):
        try:
            words = kernel_words(p, mode, watch, loads, walk, held)
        except PolyloomError:
            # Two vectors need more registers than one.
            continue
        found.append(TileKernel(tuple(words), walk, held))
    return min(found, key=lambda kernel: len(kernel.words) * kernel.walk.runs)


def _expensive_constants(p: Pointwise, mode: int, loads: Sequence[Load] | None) -> tuple[int, ...]:
    """Constants for the registers that scalars leave: those that take most instructions to load."""
    counts = Counter[int]()
    for block in build_kernel(p, mode, loads).blocks:
        called = [(instruction, called_operation(instruction)) for instruction in block.instructions]
        # SFPSWAP overwrites a constant that it takes, unless that is in a constant register.
        bound = {v for instruction, row in called if row and row.name == "sfpswap" for v in instruction.operands}
        for instruction, row in called:
            (bits, *_) = instruction.operands or (None,)
            if row is not None and row.name == "splat" and isinstance(bits, Constant):
                counts[bits.value & 0xFFFFFFFF] += 1 + (instruction.results[0] in bound)
    costs = {bits: len(literal_loads(bits)) * count for bits, count in counts.items() if bits not in _REGISTERS}
    return tuple(sorted(costs, key=lambda bits: -costs[bits])[: SCALARS - len(p.scalars)])
