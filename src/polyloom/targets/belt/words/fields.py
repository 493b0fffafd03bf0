# SPDX-License-Identifier: Apache-2.0
"""Instruction formats: the bits of the words, once for encoder and decoder (docs/formats.md, Belt words).

A word has 64 bits. `HEADER` are the fields of a bundle's first word, `COMMON` those that every operation has, and each
operation has the fields of its `layout` besides. A field is (name, first bit, bits); what no field covers is 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

from polyloom.targets.belt.isa import MANY, Op
from polyloom.targets.belt.value_types import Width

Field = tuple[int, int]
"""First bit, and number of bits."""
Layout = Literal["plain", "memory", "scratch", "frames", "con", "control"]

# `back` has as many bits as the count of bundles in a routine's head: a pass may be the whole routine.
HEADER: Final[Mapping[str, Field]] = {
    "ops": (0, 8),
    "drops": (8, 8),
    "rotate": (16, 1),
    "back": (32, 16),
    "words": (48, 16),
}
COMMON: Final[Mapping[str, Field]] = {
    "number": (0, 8),
    "kind": (8, 3),
    "slot": (11, 5),
    "width": (16, 3),
    "lanes": (19, 3),
    "count": (22, 3),
}
# Six bits per position hold every belt of the family with room to spare.
_OPERANDS: Final[Mapping[str, Field]] = {"a": (25, 6), "b": (31, 6), "c": (37, 6)}
LAYOUTS: Final[Mapping[Layout, Mapping[str, Field]]] = {
    "plain": {**_OPERANDS, "immediate": (43, 1), "value": (44, 8)},
    "memory": {**_OPERANDS, "scale": (43, 3), "delay": (46, 6), "offset": (52, 12)},
    "scratch": {"a": (25, 6), "offset": (44, 20)},
    # scratchf alone has this layout: no operands, so that their bits hold the frames.
    "frames": {"frame": (25, 12), "frames": (37, 7), "offset": (44, 20)},
    "con": {"literal": (32, 32)},
    "control": {"a": (25, 6), "items": (31, 6), "target": (44, 16)},
}
WIDTHS: Final[tuple[Width | None, ...]] = (None, "b", "h", "w", "d", "q")
"""By the code of a width."""
SCALES: Final = (0, 1, 2, 4, 8)
"""By the code of a scale."""
NONE_ITEM: Final = 128
"""Plus the code of a width: an item of a list that is a None. Below: a position."""
ITEMS: Final = 8
"""Items of a list per word."""
SIZE: Final = 8
"""Bytes of a word."""


def layout(op: Op) -> Layout:
    """Layout of an operation's word: how its upper half is divided."""
    if op.name == "con":
        return "con"
    if op.operands[1] == MANY:
        return "control"
    if op.name == "scratchf":
        return "frames"
    if op.name in ("fill", "fillx", "spill", "spillx"):
        return "scratch"
    return "memory" if op.unit == "ls" else "plain"


def get_field(word: int, field: Field) -> int:
    return word >> field[0] & (1 << field[1]) - 1


def put_field(value: int, field: Field) -> int:
    """Value shifted to its field; it fits, or the encoder refuses it."""
    return value << field[0]
