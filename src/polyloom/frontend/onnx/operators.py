# SPDX-License-Identifier: Apache-2.0
"""The table of operators (docs/onnx.md): from a node to the tensors that it gives, one file per family."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from polyloom.frontend.onnx import (
    attention,
    convolutions,
    elementwise,
    fold_integers,
    movement,
    normalization,
    products,
    quantization,
    reductions,
)
from polyloom.frontend.onnx.node import Operator

FAMILIES: Final[Mapping[str, Mapping[str, Operator]]] = {
    "element-wise": elementwise.OPERATORS,
    "reductions": reductions.OPERATORS,
    "products": products.OPERATORS,
    "convolutions and pooling": convolutions.OPERATORS,
    "movement": movement.OPERATORS,
    "normalization": normalization.OPERATORS,
    "quantization": quantization.OPERATORS,
    "attention": attention.OPERATORS,
}
OPERATORS: Final[Mapping[str, Operator]] = {
    name: lower for family in FAMILIES.values() for name, lower in family.items()
}
NAMES: Final = frozenset((*OPERATORS, *fold_integers.FOLDING))
"""Operators that are read as they are; others are read where the package defines them by these."""
COMPUTED_IN_SINGLE: Final = (
    frozenset(OPERATORS) - movement.MOVES - {"Cast", "CastLike", "Identity", "Where", "QuantizeLinear", "Softmax"}
)
"""Operators whose half-precision operands are computed in single precision, and rounded once."""
