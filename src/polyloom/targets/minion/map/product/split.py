# SPDX-License-Identifier: Apache-2.0
"""Split-K: sums over minions with neighbouring numbers. Each of P = 2^n takes a range of the depth, and n steps of
TensorReduce combine their registers in the first of them. Where all of them want the result, n steps of TensorBroadcast
bring it back (programmer's reference manual, chapter 9).

Ranges are whole steps, or a power of two of words of one step, which the FMA takes from the middle of lines. A minion
without a range contributes zeros: an FMA of masked rows.
"""

from __future__ import annotations

from dataclasses import dataclass

from polyloom.targets.minion.map.product.operand import Kind
from polyloom.targets.minion.map.product.tensor_assembly import ROW_FIELD, add_scaled, li
from polyloom.targets.minion.words.tensor_words import FUNCTIONS, encode
from polyloom.targets.minion.words.tiles import ROWS

_REGISTERS = 32


@dataclass(frozen=True, slots=True)
class Split:
    """Partition of `words` words of depth into so many parts, each of `chunk`, the last ones of fewer or none."""

    parts: int
    words: int

    @property
    def height(self) -> int:
        """Steps of the tree."""
        return self.parts.bit_length() - 1

    @property
    def chunk(self) -> int:
        """Words of a part: whole steps, or a power of two below one, so that no part crosses a line."""
        each = -(-self.words // self.parts)
        if each >= ROWS:
            return -(-each // ROWS) * ROWS
        # A part's words may not cross a line: what AOFFSET reads past its end is implementation defined.
        return 1 << (each - 1).bit_length()

    @property
    def has_empty_part(self) -> bool:
        return self.chunk * (self.parts - 1) >= self.words


def combine_parts(split: Split, kind: Kind, *, broadcast: bool = False) -> list[str]:
    """Tree reduction of all parts into the registers of the first, or of all (binomial tree; manual, chapter 9,
    HEIGHT).
    """
    funct = FUNCTIONS["add" if kind.name == "int8" else "fadd"]
    words = [encode("tensor_reduce", funct=funct, count=_REGISTERS, height=n).value for n in range(split.height)]
    if broadcast:
        # The broadcast goes the other way: the highest step first.
        words += [
            encode("tensor_broadcast", funct=FUNCTIONS["move"], count=_REGISTERS, height=n).value
            for n in reversed(range(split.height))
        ]
    return [line for word in words for line in (f"li t0, {word}", "csrw tensor_reduce, t0")]


def row_share(split: Split, prefix: str) -> list[str]:
    """Store word of a minion's share of the block's rows, two registers each, in a1; those without one store
    nothing.
    """
    each = max(ROWS // split.parts, 1)
    freg, row = encode("tensor_store", freg=2).value, encode("tensor_store", rows=2).value
    lines = [f"andi t1, s0, {split.parts - 1}", f"slli t1, t1, {each.bit_length() - 1}"]
    lines += [f"srli t0, a1, {ROW_FIELD}", f"andi t0, t0, {ROWS - 1}", f"slli t2, t0, {ROW_FIELD}", "sub a1, a1, t2"]
    lines += ["sub t0, t0, t1", f"bltz t0, {prefix}.other", li("t2", each - 1), f"bleu t0, t2, {prefix}.rows"]
    lines += ["mv t0, t2", f"{prefix}.rows:", *add_scaled("t2", "t0", row, "a1"), *add_scaled("t2", "t1", freg, "a1")]
    return [*lines, "mul t1, t1, s11", "add a1, a1, t1"]
