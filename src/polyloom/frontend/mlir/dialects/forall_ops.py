# SPDX-License-Identifier: Apache-2.0
"""`scf.forall`, its terminator and `tensor.parallel_insert_slice`, which xDSL 0.74 lacks, `scf.for` and `scf.if` with
one type without parentheses, and `scf.index_switch` (MLIR language reference, dialects scf and tensor).
"""

from __future__ import annotations

from typing import Any, Final

from xdsl.dialects import scf, tensor
from xdsl.dialects.builtin import DYNAMIC_INDEX, DenseArrayBase, IndexType, TensorType, i1, i64
from xdsl.dialects.utils import DynamicIndexList
from xdsl.ir import Block, Region
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.traits import IsTerminator, NoTerminator


def parse_mixed(parser: Parser, delimiter: Any) -> tuple[list[Any], DenseArrayBase]:
    """A list of constants and of values, `(0, %n)`: the values, and the constants with a mark where values stand."""
    values, numbers = list[Any](), list[int]()

    def element() -> None:
        value = parser.parse_optional_unresolved_operand()
        if value is None:
            numbers.append(parser.parse_integer())
            return
        values.append(parser.resolve_operand(value, IndexType()))
        numbers.append(DYNAMIC_INDEX)

    parser.parse_comma_separated_list(delimiter, element)
    return values, DenseArrayBase.from_list(i64, numbers)


@irdl_op_definition
class InParallelOp(IRDLOperation):
    """`scf.forall.in_parallel { tensor.parallel_insert_slice ... }`: what each turn stores into shared tensors."""

    name = "scf.forall.in_parallel"
    region = region_def()
    traits = traits_def(IsTerminator(), NoTerminator())

    @classmethod
    def parse(cls, parser: Parser) -> InParallelOp:
        body = parser.parse_region()
        # A region of no operations has a block all the same.
        if not body.blocks:
            body.add_block(Block())
        return cls.create(regions=[body], attributes=parser.parse_optional_attr_dict())


@irdl_op_definition
class ForallOp(IRDLOperation):
    """`scf.forall (%i, %j) in (%n, 8) shared_outs(%o = %t) -> (type) { }`, also `= (0, 0) to (%n, 8) step (1, 1)`."""

    name = "scf.forall"
    lower = var_operand_def(IndexType)
    upper = var_operand_def(IndexType)
    step = var_operand_def(IndexType)
    outputs = var_operand_def(TensorType)
    staticLowerBound = prop_def(DenseArrayBase.constr(i64))
    staticUpperBound = prop_def(DenseArrayBase.constr(i64))
    staticStep = prop_def(DenseArrayBase.constr(i64))
    mapping = opt_prop_def()
    res = var_result_def(TensorType)
    region = region_def()
    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    @classmethod
    def parse(cls, parser: Parser) -> ForallOp:
        paren = Parser.Delimiter.PAREN
        counters = parser.parse_comma_separated_list(paren, lambda: parser.parse_argument(expect_type=False))
        if parser.parse_optional_keyword("in"):
            upper = parse_mixed(parser, paren)
            lower, step = (_splat(number, len(counters)) for number in (0, 1))
        else:
            parser.parse_punctuation("=")
            lower = parse_mixed(parser, paren)
            parser.parse_keyword("to")
            upper = parse_mixed(parser, paren)
            parser.parse_keyword("step")
            step = parse_mixed(parser, paren)
        shared, initial, types = _parse_carried(parser, "shared_outs")
        arguments = [*(c.resolve(IndexType()) for c in counters), *shared]
        body = parser.parse_region(arguments)
        _add_terminator(body, InParallelOp)
        return cls.build(
            operands=[lower[0], upper[0], step[0], initial],
            result_types=[types],
            properties={"staticLowerBound": lower[1], "staticUpperBound": upper[1], "staticStep": step[1]},
            attributes=parser.parse_optional_attr_dict(),
            regions=[body],
        )


def _splat(number: int, count: int) -> tuple[list[Any], DenseArrayBase]:
    return [], DenseArrayBase.from_list(i64, [number] * count)


def _parse_carried(parser: Parser, keyword: str) -> tuple[list[Any], list[Any], list[Any]]:
    """`iter_args(%a = %b) -> (type)`: arguments of the body, initial values, types; one needs no parentheses."""
    at, pairs, types = parser.pos, list[Any](), list[Any]()
    if parser.parse_optional_keyword(keyword):

        def pair() -> tuple[Any, Any]:
            argument = parser.parse_argument(expect_type=False)
            parser.parse_punctuation("=")
            return argument, parser.parse_unresolved_operand()

        pairs = parser.parse_comma_separated_list(Parser.Delimiter.PAREN, pair)
        parser.parse_punctuation("->")
        found = parser.parse_optional_comma_separated_list(Parser.Delimiter.PAREN, parser.parse_type)
        types = [parser.parse_type()] if found is None else found
    initial = list(parser.resolve_operands([value for _, value in pairs], types, at))
    return [a.resolve(t) for (a, _), t in zip(pairs, types, strict=True)], initial, types


def _add_terminator(body: Region, terminator: Any) -> None:
    """The terminator that the text may leave out."""
    if not body.blocks:
        body.add_block(Block())
    last = body.block.last_op
    if last is None or not last.has_trait(IsTerminator):
        inner = [Region(Block())] if terminator is InParallelOp else []
        body.block.add_op(terminator.create(regions=inner))


class ForOp(scf.ForOp):
    """`scf.for %i = %a to %b step %c iter_args(%x = %y) -> type : type { }`."""

    @classmethod
    def parse(cls, parser: Parser) -> ForOp:
        counter = parser.parse_argument(expect_type=False)
        parser.parse_punctuation("=")
        bounds = [parser.parse_unresolved_operand()]
        for keyword in ("to", "step"):
            parser.parse_keyword(keyword)
            bounds.append(parser.parse_unresolved_operand())
        arguments, initial, _ = _parse_carried(parser, "iter_args")
        kind = parser.parse_type() if parser.parse_optional_punctuation(":") else IndexType()
        operands = [parser.resolve_operand(bound, kind) for bound in bounds]
        body = parser.parse_region([counter.resolve(kind), *arguments])
        attributes = parser.parse_optional_attr_dict()
        _add_terminator(body, scf.YieldOp)
        types = [value.type for value in initial]
        return cls.build(operands=[*operands, initial], result_types=[types], attributes=attributes, regions=[body])


class IfOp(scf.IfOp):
    """`scf.if %c -> type { } else { }`: one type needs no parentheses."""

    @classmethod
    def parse(cls, parser: Parser) -> IfOp:
        test = parser.parse_operand(i1)
        types = list[Any]()
        if parser.parse_optional_punctuation("->"):
            found = parser.parse_optional_comma_separated_list(Parser.Delimiter.PAREN, parser.parse_type)
            types = [parser.parse_type()] if found is None else found
        first = cls.parse_region_with_yield(parser)
        other = cls.parse_region_with_yield(parser) if parser.parse_optional_keyword("else") else Region()
        return cls(test, types, first, other, parser.parse_optional_attr_dict())


class IndexSwitchOp(scf.IndexSwitchOp):
    """`scf.index_switch %i -> type case 0 { } default { }`, of which xDSL reads the generic form alone."""

    @classmethod
    def parse(cls, parser: Parser) -> IndexSwitchOp:
        chosen = parser.parse_operand(IndexType())
        attributes = parser.parse_optional_attr_dict()
        types = list[Any]()
        if parser.parse_optional_punctuation("->"):
            found = parser.parse_optional_comma_separated_list(Parser.Delimiter.PAREN, parser.parse_type)
            types = [parser.parse_type()] if found is None else found
        numbers, bodies = list[int](), list[Region]()
        while parser.parse_optional_keyword("case"):
            numbers.append(parser.parse_integer())
            bodies.append(IfOp.parse_region_with_yield(parser))
        parser.parse_keyword("default")
        default = IfOp.parse_region_with_yield(parser)
        return cls(chosen, DenseArrayBase.from_list(i64, numbers), default, bodies, types, attributes)


@irdl_op_definition
class ParallelInsertSliceOp(IRDLOperation):
    """`tensor.parallel_insert_slice %t into %o[%i, 0] [4, 8] [1, 1] : type into type`."""

    name = "tensor.parallel_insert_slice"
    source = operand_def(TensorType)
    dest = operand_def(TensorType)
    offsets = var_operand_def(IndexType)
    sizes = var_operand_def(IndexType)
    strides = var_operand_def(IndexType)
    static_offsets = prop_def(DenseArrayBase.constr(i64))
    static_sizes = prop_def(DenseArrayBase.constr(i64))
    static_strides = prop_def(DenseArrayBase.constr(i64))
    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    assembly_format = tensor.InsertSliceOp.assembly_format
    custom_directives = (DynamicIndexList,)


SCF: Final = (ForallOp, InParallelOp, ForOp, IfOp, IndexSwitchOp)
TENSOR: Final = (ParallelInsertSliceOp,)
