# SPDX-License-Identifier: Apache-2.0
"""Decoder: words to instructions, the inverse of `encode`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from polyloom.targets.tensix.words.isa import Instruction, Member, table


@dataclass(frozen=True, slots=True)
class Decoded:
    """A decoded word. `values` has every field; `stray` are set bits outside of all fields, which mean nothing."""

    row: Instruction
    values: Mapping[str, int]
    stray: int


def decode(word: int, member: Member = "wormhole") -> Decoded | None:
    """Instruction of a word; None for an opcode that the member lacks. The opcode is bits 31 to 24
    (docs/targets/tensix.md).
    """
    row = table(member).get(word >> 24)
    if row is None:
        return None
    return Decoded(row, {field.name: field.of(word) for field in row.fields}, word & ~row.mask & 0xFFFFFFFF)
