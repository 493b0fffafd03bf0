# SPDX-License-Identifier: Apache-2.0
"""Dialect `index`, of which xDSL 0.74 has nothing, and conversions of `arith`, of which it has some, of scalars (MLIR
language reference, dialects index and arith)."""

from __future__ import annotations

from typing import Any, Final

from xdsl.dialects.builtin import BoolAttr, IndexType, IntegerAttr, StringAttr, i1
from xdsl.ir import Dialect, Operation
from xdsl.irdl import IRDLOperation, irdl_op_definition, operand_def, prop_def, result_def
from xdsl.parser import Parser

BINARY: Final = (
    *("add", "sub", "mul", "divs", "divu", "ceildivs", "ceildivu", "floordivs", "rems", "remu"),
    *("maxs", "maxu", "mins", "minu", "and", "or", "xor", "shl", "shrs", "shru"),
)
PREDICATES: Final = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")


class BinaryOp(IRDLOperation):
    """An operation on two indices."""

    lhs = operand_def(IndexType)
    rhs = operand_def(IndexType)
    result = result_def(IndexType)
    assembly_format = "$lhs `,` $rhs attr-dict"


def _define_binary(name: str) -> type[Operation]:
    made: Any = type(f"{name.capitalize()}Op", (BinaryOp,), {"name": f"index.{name}", "__module__": __name__})
    return irdl_op_definition(made)


@irdl_op_definition
class ConstantOp(IRDLOperation):
    """`index.constant 3`."""

    name = "index.constant"
    value = prop_def(IntegerAttr)
    result = result_def(IndexType)

    @classmethod
    def parse(cls, parser: Parser) -> ConstantOp:
        attributes = parser.parse_optional_attr_dict()
        value = IntegerAttr.from_index_int_value(parser.parse_integer())
        return cls.create(properties={"value": value}, attributes=attributes, result_types=[IndexType()])


@irdl_op_definition
class BoolConstantOp(IRDLOperation):
    """`index.bool.constant true`."""

    name = "index.bool.constant"
    value = prop_def(BoolAttr)
    result = result_def(i1)

    @classmethod
    def parse(cls, parser: Parser) -> BoolConstantOp:
        attributes = parser.parse_optional_attr_dict()
        value = BoolAttr.from_bool(parser.parse_boolean())
        return cls.create(properties={"value": value}, attributes=attributes, result_types=[i1])


@irdl_op_definition
class CmpOp(IRDLOperation):
    """`index.cmp slt(%a, %b)`."""

    name = "index.cmp"
    predicate = prop_def(StringAttr)
    lhs = operand_def(IndexType)
    rhs = operand_def(IndexType)
    result = result_def(i1)

    @classmethod
    def parse(cls, parser: Parser) -> CmpOp:
        at = parser.pos
        predicate = parser.parse_identifier()
        if predicate not in PREDICATES:
            parser.raise_error(f"expected one of {', '.join(PREDICATES)}", at)
        operands = parser.parse_comma_separated_list(Parser.Delimiter.PAREN, lambda: parser.parse_operand(IndexType()))
        attributes = parser.parse_optional_attr_dict()
        return cls.create(
            operands=operands, properties={"predicate": StringAttr(predicate)}, attributes=attributes, result_types=[i1]
        )


class _Cast(IRDLOperation):
    """A conversion between an index and an integer."""

    input = operand_def()
    result = result_def()
    assembly_format = "$input attr-dict `:` type($input) `to` type($result)"


@irdl_op_definition
class CastsOp(_Cast):
    name = "index.casts"


@irdl_op_definition
class CastuOp(_Cast):
    name = "index.castu"


CONVERSIONS: Final = ("extsi", "extui", "trunci", "index_cast", "index_castui", "sitofp", "uitofp", "fptosi", "fptoui")


def _define_conversion(name: str) -> type[Operation]:
    """A conversion of `arith`, also of tensors: most of xDSL's take scalars (`verify/arrays.py` has the types)."""
    made: Any = type(f"{name}_Op", (_Cast,), {"name": f"arith.{name}", "__module__": __name__})
    return irdl_op_definition(made)


ARITH: Final = tuple(map(_define_conversion, CONVERSIONS))
INDEX: Final = Dialect("index", [*map(_define_binary, BINARY), ConstantOp, BoolConstantOp, CmpOp, CastsOp, CastuOp], [])
