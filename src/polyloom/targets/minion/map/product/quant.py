# SPDX-License-Identifier: Apache-2.0
"""Epilogue of a sum before it is stored, as one TensorQuant: additions of integers, multiplications of floats by
vectors along rows or columns, conversions, relu, saturation to bytes, which are packed (programmer's reference manual,
chapter 9).

Each vector takes a line of L1Scp, the 16 elements of the block. Blocks use lines 32 to 39 and 40 to 47 in turns:
accepting a TensorQuant proves the one before it complete, and its lines free. Vectors are loaded before the block's
tiles; accepting the next load proves each of them complete, so that none needs a wait.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, cast

import numpy as np

from polyloom.analysis.contraction import Step
from polyloom.ir import semantics
from polyloom.ir.operations import ElementType
from polyloom.targets.minion.map.product import arithmetic
from polyloom.targets.minion.map.product.arithmetic import Array
from polyloom.targets.minion.map.product.operand import Kind
from polyloom.targets.minion.map.product.tensor_assembly import ROW_FIELD, li
from polyloom.targets.minion.memory_map import LINE
from polyloom.targets.minion.words.layout import Placed
from polyloom.targets.minion.words.tensor_words import QUANT, encode, load_second_word
from polyloom.targets.minion.words.tiles import ROWS

_LINES: Final = 32
_TURN: Final = 8
"""The first line of vectors, and how far the other set is."""
WORD: Final = "ra"
"""The register that has the word of a block's TensorQuant, where nothing else is said."""
_MOST: Final = 10
_UNARY: Final[Mapping[tuple[str, str], tuple[tuple[str, ...], str]]] = {
    ("to_f32", "i32"): (("i32_to_f32",), "f32"),
    ("round_i32", "f32"): (("f32_to_i32",), "i32"),
    ("relu", "i32"): (("relu",), "i32"),
    ("sat8", "i32"): (("sat8", "pack"), "i8"),
    ("satu8", "i32"): (("satu8", "pack"), "u8"),
}
"""By operation and type of the operand: transforms, and the type of what they give."""
_BINARY: Final = {("add", "i32"): "add", ("mul", "f32"): "mul"}


@dataclass(frozen=True, slots=True)
class Vector:
    """An operand's address, and whether its elements belong to rows."""

    address: int
    by_row: bool


@dataclass(frozen=True, slots=True)
class Quant:
    """Transforms in their order, vectors in that of the transforms that take one, and the bytes of a result's row."""

    transforms: tuple[str, ...]
    vectors: tuple[Vector, ...]
    row: int


def transform_chain(steps: Sequence[Step], element: str) -> tuple[tuple[str, ...], str] | None:
    """Transforms of TensorQuant for steps behind a sum of this type, and the type of the result; None where it has no
    such chain.
    """
    made = list[str]()
    for step in steps:
        if step.array:
            name = _BINARY.get((step.operation, element))
            if name is None:
                return None
            # A vector with an element for each row is a column, and the other way round.
            made.append(f"{name}_{'col' if step.by_row else 'row'}")
        else:
            found = _UNARY.get((step.operation, element))
            if found is None:
                return None
            made += found[0]
            element = found[1]
    return (tuple(made), element) if len(made) <= _MOST and sum(bool(s.array) for s in steps) <= _TURN else None


def build_quant(steps: Sequence[Step], kind: Kind, arrays: Mapping[str, Placed]) -> Quant | None:
    """Epilogue of a product; None where nothing is done to its sums."""
    made = transform_chain(steps, "i32" if kind.name == "int8" else "f32")
    assert made is not None, "the form was checked"
    vectors = [Vector(arrays[s.array].address, s.by_row) for s in steps if s.array]
    return Quant(made[0], tuple(vectors), ROWS if "pack" in made[0] else LINE) if steps else None


def prepare_quant(quant: Quant, word: str = WORD, rows: int = 0, column: str = "s5") -> list[str]:
    """Set-up of a block's epilogue: the register `word` becomes that of its TensorQuant, of so many rows (0: t3 has
    rows - 1 at their field); vectors are loaded. s4 and `column` are the block's place.
    """
    codes = {f"transform{k}": QUANT.index(name) for k, name in enumerate(quant.transforms)}
    constant = encode("tensor_quant", columns=ROWS, rows=rows or 1, start=_LINES, **codes).value
    # Both words have START in units of lines, eight bits further left in a load's.
    turn = encode("tensor_quant", start=_TURN).value
    lines = [li("t0", turn), f"and {word}, {word}, t0", f"xor {word}, {word}, t0", f"and t2, {word}, t0"]
    lines += [li("t0", constant), f"or {word}, {word}, t0", "slli t2, t2, 8"]
    lines += [] if rows else [f"or {word}, {word}, t3"]
    lines += [li("t6", load_second_word(LINE))] if quant.vectors else []
    assert encode("tensor_load", start=_TURN).value == turn << 8
    for n, vector in enumerate(quant.vectors):
        load = encode("tensor_load", start=_LINES + n, rows=1, address=vector.address).value
        lines += [
            li("t1", load),
            "add t1, t1, t2",
            f"slli t0, {'s4' if vector.by_row else column}, 6",
            "add t1, t1, t0",
        ]
        lines.append("csrw tensor_load, t1")
    assert ROW_FIELD == 51, "the field of rows is where an FMA has it"
    return lines


def apply_quant(steps: Sequence[Step], sums: Array, arrays: Mapping[str, Array]) -> Array:
    """Result of TensorQuant on sums, in NumPy."""
    found, element = sums, "f32" if sums.dtype == np.float32 else "i32"
    with np.errstate(all="ignore"):
        for step in steps:
            if step.array:
                vector = arrays[step.array]
                other = vector[:, None] if step.by_row else vector[None, :]
                found = found + other if step.operation == "add" else arithmetic.multiply_elements(found, other)
            elif step.operation == "relu":
                found = np.maximum(found, 0)
            else:
                found = np.asarray(semantics.apply(step.operation, cast(ElementType, element), [found]))
                element = _UNARY[(step.operation, element)][1]
    return found
