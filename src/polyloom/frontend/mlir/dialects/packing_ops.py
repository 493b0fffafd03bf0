# SPDX-License-Identifier: Apache-2.0
"""Packed layouts, `linalg.pack` and `linalg.unpack` with their former names in the dialect tensor, and `linalg.softmax`
(MLIR language reference, dialect linalg). xDSL 0.74 has none of them.
"""

from __future__ import annotations

from typing import Any, Final

from xdsl.dialects.builtin import DenseArrayBase, IndexType, IntegerAttr, TensorType, i64
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    opt_result_def,
    prop_def,
    result_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.utils.hints import isa

from polyloom.frontend.mlir.dialects.forall_ops import parse_mixed


def _parse_list(parser: Parser, keyword: str) -> DenseArrayBase | None:
    """`keyword = [1, 0]`."""
    if parser.parse_optional_keyword(keyword) is None:
        return None
    parser.parse_punctuation("=")
    numbers = parser.parse_comma_separated_list(Parser.Delimiter.SQUARE, parser.parse_integer)
    return DenseArrayBase.from_list(i64, numbers)


class _PackingOp(IRDLOperation):
    """`NAME %a outer_dims_perm = [1, 0] inner_dims_pos = [0, 1] inner_tiles = [8, 2] into %b : type -> type`."""

    outer_dims_perm = opt_prop_def(DenseArrayBase.constr(i64))
    inner_dims_pos = prop_def(DenseArrayBase.constr(i64))
    static_inner_tiles = prop_def(DenseArrayBase.constr(i64))
    result = opt_result_def(TensorType)

    @classmethod
    def parse(cls, parser: Parser) -> Any:
        source, padding = parser.parse_unresolved_operand(), list[Any]()
        if parser.parse_optional_keyword("padding_value"):
            parser.parse_punctuation("(")
            value = parser.parse_unresolved_operand()
            parser.parse_punctuation(":")
            padding.append(parser.resolve_operand(value, parser.parse_type()))
            parser.parse_punctuation(")")
        found: dict[str, Any] = {"outer_dims_perm": _parse_list(parser, "outer_dims_perm")}
        found["inner_dims_pos"] = _parse_list(parser, "inner_dims_pos")
        parser.parse_keyword("inner_tiles")
        parser.parse_punctuation("=")
        tiles, found["static_inner_tiles"] = parse_mixed(parser, Parser.Delimiter.SQUARE)
        parser.parse_keyword("into")
        dest = parser.parse_unresolved_operand()
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        kind = parser.parse_type()
        parser.parse_punctuation("->")
        made = parser.parse_type()
        ends = [parser.resolve_operand(source, kind), parser.resolve_operand(dest, made)]
        return cls.build(
            operands=[*ends, padding, tiles] if issubclass(cls, _PaddingOp) else [*ends, tiles],
            result_types=[[made] if isa(made, TensorType) else []],
            properties={name: value for name, value in found.items() if value is not None},
            attributes=attributes,
        )


class _PaddingOp(_PackingOp):
    """A packing, which may pad the last tiles."""

    source = operand_def()
    dest = operand_def()
    padding_value = opt_operand_def()
    inner_tiles = var_operand_def(IndexType)
    irdl_options = (AttrSizedOperandSegments(as_property=True),)


class _UnpackingOp(_PackingOp):
    """The inverse."""

    source = operand_def()
    dest = operand_def()
    inner_tiles = var_operand_def(IndexType)


@irdl_op_definition
class PackOp(_PaddingOp):
    name = "linalg.pack"


@irdl_op_definition
class TensorPackOp(_PaddingOp):
    """The former name of `linalg.pack`."""

    name = "tensor.pack"


@irdl_op_definition
class UnpackOp(_UnpackingOp):
    name = "linalg.unpack"


@irdl_op_definition
class TensorUnpackOp(_UnpackingOp):
    """The former name of `linalg.unpack`."""

    name = "tensor.unpack"


@irdl_op_definition
class SoftmaxOp(IRDLOperation):
    """`linalg.softmax dimension(1) ins(%a : type) outs(%b : type) -> type`."""

    name = "linalg.softmax"
    input = operand_def()
    output = operand_def()
    dimension = prop_def(IntegerAttr)
    result = opt_result_def(TensorType)

    @classmethod
    def parse(cls, parser: Parser) -> SoftmaxOp:
        attributes = parser.parse_optional_attr_dict()
        parser.parse_keyword("dimension")
        parser.parse_punctuation("(")
        axis = IntegerAttr(parser.parse_integer(), i64)
        parser.parse_punctuation(")")
        operands = list[Any]()
        for keyword in ("ins", "outs"):
            parser.parse_keyword(keyword)
            parser.parse_punctuation("(")
            value = parser.parse_unresolved_operand()
            parser.parse_punctuation(":")
            operands.append(parser.resolve_operand(value, parser.parse_type()))
            parser.parse_punctuation(")")
        results = [parser.parse_type()] if parser.parse_optional_punctuation("->") else []
        return cls.build(
            operands=operands, result_types=[results], properties={"dimension": axis}, attributes=attributes
        )


@irdl_op_definition
class InitTensorOp(IRDLOperation):
    """`linalg.init_tensor [2, %n] : type`, the former name of `tensor.empty`."""

    name = "linalg.init_tensor"
    sizes = var_operand_def(IndexType)
    static_sizes = prop_def(DenseArrayBase.constr(i64))
    result = result_def(TensorType)

    @classmethod
    def parse(cls, parser: Parser) -> InitTensorOp:
        values, numbers = parse_mixed(parser, Parser.Delimiter.SQUARE)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        kind = parser.parse_type()
        return cls.build(
            operands=[values], result_types=[kind], properties={"static_sizes": numbers}, attributes=attributes
        )


LINALG: Final = (PackOp, UnpackOp, SoftmaxOp, InitTensorOp)
TENSOR: Final = (TensorPackOp, TensorUnpackOp)
