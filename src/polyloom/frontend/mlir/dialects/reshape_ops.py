# SPDX-License-Identifier: Apache-2.0
"""`tensor.expand_shape` and `memref.expand_shape` in their former spelling, without `output_shape`, and from rank 0,
whose groups of axes are empty, and `tensor.pad` with a static result: xDSL 0.74 reads none of these (MLIR language
reference, dialects tensor and memref).
"""

from __future__ import annotations

from typing import Any, Final

from xdsl.dialects import tensor
from xdsl.dialects.builtin import DenseArrayBase, IndexType, MemRefType, TensorType, i64
from xdsl.irdl import IRDLOperation, irdl_op_definition, operand_def, prop_def, result_def, var_operand_def
from xdsl.parser import Parser

from polyloom.frontend.mlir.dialects.forall_ops import parse_mixed


class _ExpandShapeOp(IRDLOperation):
    """`NAME %a [[0, 1], [2]] output_shape [2, %n, 4] : type into type`. Its groups are verified with those of others
    (`verify/arrays.py`)."""

    reassociation = prop_def()
    static_output_shape = prop_def(DenseArrayBase.constr(i64))
    output_shape = var_operand_def(IndexType)

    @classmethod
    def parse(cls, parser: Parser) -> Any:
        source = parser.parse_unresolved_operand()
        groups = parser.parse_attribute()
        values, shape = list[Any](), None
        if parser.parse_optional_keyword("output_shape"):
            values, shape = parse_mixed(parser, Parser.Delimiter.SQUARE)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        kind = parser.parse_type()
        parser.parse_keyword("into")
        made: Any = parser.parse_type()
        if shape is None:
            shape = DenseArrayBase.from_list(i64, made.get_shape())
        return cls.build(
            operands=[parser.resolve_operand(source, kind), values],
            result_types=[made],
            properties={"reassociation": groups, "static_output_shape": shape},
            attributes=attributes,
        )


@irdl_op_definition
class TensorExpandShapeOp(_ExpandShapeOp):
    name = "tensor.expand_shape"
    src = operand_def(TensorType)
    result = result_def(TensorType)


@irdl_op_definition
class MemrefExpandShapeOp(_ExpandShapeOp):
    name = "memref.expand_shape"
    src = operand_def(MemRefType)
    result = result_def(MemRefType)


class PadOp(tensor.PadOp):
    """`tensor.pad`, whose result may have a static extent where a side is a value: xDSL's verifier refuses it."""

    def verify_(self) -> None:
        """Sides are counted with other lists of extents (`verify/arrays.py`)."""


TENSOR: Final = (TensorExpandShapeOp, PadOp)
MEMREF: Final = (MemrefExpandShapeOp,)
