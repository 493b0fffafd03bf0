# SPDX-License-Identifier: Apache-2.0
"""Custom spellings of `scf.parallel`, `memref.copy`, `memref.global`, `memref.cast` and others, which xDSL 0.74 reads
in generic form alone (MLIR language reference, dialects scf and memref).
"""

from __future__ import annotations

from typing import Any, Final

from xdsl.dialects import memref, scf
from xdsl.dialects.builtin import IndexType, MemRefType, StringAttr, TensorType, UnitAttr
from xdsl.irdl import IRDLOperation, irdl_op_definition, operand_def, opt_prop_def, prop_def, result_def
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
        return cls.create(operands=[parser.resolve_operand(source, first)], attributes=attributes, result_types=[found])


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
                shaped: Any = TensorType(kind.get_element_type(), kind.get_shape())
                parser.parse_keyword("dense")
                value = parser.parse_dense_int_or_fp_elements_attr(shaped)
            properties["initial_value"] = value
        return cls.create(properties=properties, attributes=parser.parse_optional_attr_dict())


def _parse_conversion(cls: Any, parser: Parser, flags: tuple[str, ...], makes_memref: bool) -> Any:
    """`%a flags : source to target`, and formerly `%a : memref`."""
    operand = parser.parse_unresolved_operand()
    found = {name: UnitAttr() for name in flags if parser.parse_optional_keyword(name) is not None}
    attributes = parser.parse_optional_attr_dict()
    parser.parse_punctuation(":")
    first = parser.parse_type()
    if parser.parse_optional_keyword("to"):
        source, result = first, parser.parse_type()
    else:
        other: Any = TensorType(first.element_type, first.get_shape()) if isa(first, MemRefType) else first
        source, result = (other, first) if makes_memref else (first, other)
    operands = [parser.resolve_operand(operand, source)]
    return cls.create(operands=operands, properties=found, attributes=attributes, result_types=[result])


@irdl_op_definition
class ToTensorOp(IRDLOperation):
    """`bufferization.to_tensor %m restrict writable : memref<4xf32> to tensor<4xf32>`."""

    name = "bufferization.to_tensor"
    memref = operand_def(MemRefType)
    result = result_def(TensorType)
    restrict = opt_prop_def(UnitAttr)
    writable = opt_prop_def(UnitAttr)

    @classmethod
    def parse(cls, parser: Parser) -> ToTensorOp:
        return _parse_conversion(cls, parser, ("restrict", "writable"), False)


class _TensorToMemref(IRDLOperation):
    """`bufferization.to_buffer %t read_only : tensor<4xf32> to memref<4xf32>`."""

    tensor = operand_def(TensorType)
    result = result_def(MemRefType)
    read_only = opt_prop_def(UnitAttr)

    @classmethod
    def parse(cls, parser: Parser) -> Any:
        return _parse_conversion(cls, parser, ("read_only",), True)


@irdl_op_definition
class ToBufferOp(_TensorToMemref):
    name = "bufferization.to_buffer"


@irdl_op_definition
class ToMemrefOp(_TensorToMemref):
    """The former name of `bufferization.to_buffer`."""

    name = "bufferization.to_memref"


@irdl_op_definition
class DeallocTensorOp(IRDLOperation):
    """`bufferization.dealloc_tensor %t : tensor<4xf32>`."""

    name = "bufferization.dealloc_tensor"
    tensor = operand_def(TensorType)
    assembly_format = "$tensor attr-dict `:` type($tensor)"


BUFFERIZATION: Final = (ToTensorOp, ToBufferOp, ToMemrefOp, DeallocTensorOp)
SCF: Final = (ParallelOp,)


@irdl_op_definition
class RankOp(IRDLOperation):
    """`memref.rank %a : memref<?x?xf32>`."""

    name = "memref.rank"
    source = operand_def()
    rank = result_def(IndexType)
    assembly_format = "$source attr-dict `:` type($source)"


MEMREF: Final = (RankOp, CopyOp, CastOp, GlobalOp)
