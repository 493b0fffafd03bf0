# SPDX-License-Identifier: Apache-2.0
"""Custom spellings of `scf.parallel`, `memref.copy`, `memref.global` and `memref.cast`, which xDSL 0.74 reads in generic
form alone (MLIR language reference, dialects scf and memref).
"""

from __future__ import annotations

from typing import Any, Final

from xdsl.dialects import memref, scf
from xdsl.dialects.builtin import IndexType, MemRefType, StringAttr, TensorType, UnitAttr
from xdsl.irdl import IRDLOperation, irdl_op_definition, opt_prop_def, prop_def
from xdsl.parser import Parser
from xdsl.utils.hints import isa


def _operand_list(parser: Parser) -> list[Any]:
    return parser.parse_comma_separated_list(Parser.Delimiter.PAREN, lambda: parser.parse_operand(IndexType()))


class ParallelOp(scf.ParallelOp):
    """`scf.parallel (%i) = (%a) to (%b) step (%c) init (%x) -> type { }`."""

    @classmethod
    def parse(cls, parser: Parser) -> ParallelOp:
        arguments = parser.parse_comma_separated_list(
            Parser.Delimiter.PAREN, lambda: parser.parse_argument(expect_type=False)
        )
        parser.parse_punctuation("=")
        lower = _operand_list(parser)
        parser.parse_keyword("to")
        upper = _operand_list(parser)
        parser.parse_keyword("step")
        steps = _operand_list(parser)
        initial = list[Any]()
        at = parser.pos
        if parser.parse_optional_keyword("init"):
            initial = parser.parse_comma_separated_list(Parser.Delimiter.PAREN, parser.parse_unresolved_operand)
        results = list[Any]()
        if parser.parse_optional_punctuation("->"):
            found = parser.parse_optional_comma_separated_list(Parser.Delimiter.PAREN, parser.parse_type)
            results = [parser.parse_type()] if found is None else found
        body = parser.parse_region([a.resolve(IndexType()) for a in arguments])
        if body.block.last_op is None or not isinstance(body.block.last_op, scf.ReduceOp):
            body.block.add_op(scf.ReduceOp())
        return cls.build(
            operands=[lower, upper, steps, list(parser.resolve_operands(initial, results, at))],
            result_types=[results],
            attributes=parser.parse_optional_attr_dict(),
            regions=[body],
        )


class CopyOp(memref.CopyOp):
    """`memref.copy %a, %b : type to type`."""

    @classmethod
    def parse(cls, parser: Parser) -> CopyOp:
        source = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        destination = parser.parse_unresolved_operand()
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        first = parser.parse_type()
        parser.parse_keyword("to")
        second = parser.parse_type()
        operands = [parser.resolve_operand(source, first), parser.resolve_operand(destination, second)]
        return cls.create(operands=operands, attributes=attributes)

    def verify_(self) -> None:
        """Extents are compared where they are read: a cast may make one of them dynamic."""


class CastOp(memref.CastOp):
    """`memref.cast %a : type to type`."""

    @classmethod
    def parse(cls, parser: Parser) -> CastOp:
        source = parser.parse_unresolved_operand()
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        first = parser.parse_type()
        parser.parse_keyword("to")
        found = parser.parse_type()
        return cls.create(
            operands=[parser.resolve_operand(source, first)], attributes=attributes, result_types=[found]
        )


@irdl_op_definition
class GlobalOp(IRDLOperation):
    """`memref.global "private" constant @name : type = dense<...>`."""

    name = "memref.global"
    sym_name = prop_def(StringAttr)
    type = prop_def(MemRefType)
    sym_visibility = opt_prop_def(StringAttr)
    initial_value = opt_prop_def()
    constant = opt_prop_def(UnitAttr)
    alignment = opt_prop_def()

    @classmethod
    def parse(cls, parser: Parser) -> GlobalOp:
        properties = dict[str, Any]()
        if (visibility := parser.parse_optional_str_literal()) is not None:
            properties["sym_visibility"] = StringAttr(visibility)
        if parser.parse_optional_keyword("constant"):
            properties["constant"] = UnitAttr()
        properties["sym_name"] = parser.parse_symbol_name()
        parser.parse_punctuation(":")
        at = parser.pos
        kind = properties["type"] = parser.parse_type()
        if not isa(kind, MemRefType):
            parser.raise_error("expected a memref type", at)
        if parser.parse_optional_punctuation("="):
            value: Any
            if parser.parse_optional_keyword("uninitialized"):
                value = UnitAttr()
            else:
                shaped = TensorType(kind.get_element_type(), kind.get_shape())
                value = parser.parse_dense_int_or_fp_elements_attr(shaped)
            properties["initial_value"] = value
        return cls.create(properties=properties, attributes=parser.parse_optional_attr_dict())


SCF: Final = (ParallelOp,)
MEMREF: Final = (CopyOp, CastOp, GlobalOp)
