# SPDX-License-Identifier: Apache-2.0
"""Affine operations that xDSL 0.74 lacks or reads in generic form alone: `affine.max`, and the custom spellings of
`affine.if`, `affine.parallel`, `affine.min`, and of `affine.load` and `affine.store` with attributes (MLIR language
reference, dialect affine).
"""

from __future__ import annotations

from typing import Any, Final

from xdsl.dialects import affine
from xdsl.dialects.builtin import (
    AffineMapAttr,
    AffineSetAttr,
    ArrayAttr,
    DenseIntElementsAttr,
    IndexType,
    IntegerAttr,
    MemRefType,
    StringAttr,
    VectorType,
    i32,
    i64,
)
from xdsl.ir import Region
from xdsl.ir.affine import AffineExpr, AffineMap
from xdsl.irdl import IRDLOperation, irdl_op_definition, prop_def, result_def, var_operand_def
from xdsl.parser import AffineParser, Parser
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa


def parse_operands(parser: Parser) -> list[Any]:
    """Operands of a map or a set: `(dimensions)[symbols]`, the symbols optional."""
    dims = parser.parse_comma_separated_list(Parser.Delimiter.PAREN, lambda: parser.parse_operand(IndexType()))
    symbols = parser.parse_optional_comma_separated_list(
        Parser.Delimiter.SQUARE, lambda: parser.parse_operand(IndexType())
    )
    return [*dims, *(symbols or ())]


def parse_extreme(cls: Any, parser: Parser) -> Any:
    """`affine_map<...>(dimensions)[symbols]` of a minimum or a maximum."""
    found = parser.parse_attribute()
    operands = parse_operands(parser)
    attributes = parser.parse_optional_attr_dict()
    return cls.create(operands=operands, properties={"map": found}, attributes=attributes, result_types=[IndexType()])


@irdl_op_definition
class MaxOp(IRDLOperation):
    """The greatest result of an affine map."""

    name = "affine.max"
    arguments = var_operand_def(IndexType)
    result = result_def(IndexType)
    map = prop_def(AffineMapAttr)

    @classmethod
    def parse(cls, parser: Parser) -> MaxOp:
        return parse_extreme(cls, parser)


class MinOp(affine.MinOp):
    """The least result of an affine map."""

    @classmethod
    def parse(cls, parser: Parser) -> MinOp:
        return parse_extreme(cls, parser)


def parse_body(parser: Parser, arguments: Any = ()) -> Region:
    """Region whose terminator may be left out, as where it yields nothing."""
    region = parser.parse_region(arguments)
    block = region.block
    if block.last_op is None or not isinstance(block.last_op, affine.YieldOp):
        block.add_op(affine.YieldOp.get())
    return region


def _parse_result_types(parser: Parser) -> list[Any]:
    if parser.parse_optional_punctuation("->") is None:
        return []
    found = parser.parse_optional_comma_separated_list(Parser.Delimiter.PAREN, parser.parse_type)
    return [parser.parse_type()] if found is None else found


class IfOp(affine.IfOp):
    """`affine.if set(operands) -> types { } else { }`."""

    @classmethod
    def parse(cls, parser: Parser) -> IfOp:
        at = parser.pos
        condition = parser.parse_attribute()
        if not isinstance(condition, AffineSetAttr):
            parser.raise_error("expected an integer set", at)
        operands = parse_operands(parser)
        results = _parse_result_types(parser)
        body = parse_body(parser)
        orelse = parse_body(parser) if parser.parse_optional_keyword("else") else Region()
        return cls.create(
            operands=operands,
            properties={"condition": condition},
            attributes=parser.parse_optional_attr_dict(),
            result_types=results,
            regions=[body, orelse],
        )


def _parse_bounds(parser: Parser, extreme: str) -> tuple[list[tuple[AffineExpr, ...]], list[Any]]:
    """Bounds of a parallel loop, `(0, %n)`, `(max(%a, %b), 3)`; every operand is a dimension."""
    groups = list[tuple[AffineExpr, ...]]()
    operands = list[Any]()

    def read_bound() -> None:
        count = len(operands)
        exprs, found = _parse_expressions(parser, parser.parse_optional_keyword(extreme) is not None)
        operands.extend(found)
        shift = [AffineExpr.dimension(count + n) for n in range(len(found))]
        groups.append(tuple(e.replace_dims_and_symbols(shift, []) for e in exprs))

    parser.parse_comma_separated_list(Parser.Delimiter.PAREN, read_bound)
    return groups, operands


def _parse_expressions(parser: Parser, is_list: bool) -> tuple[list[AffineExpr], list[Any]]:
    """Affine expressions of SSA values, each of which is a dimension of its own."""
    operands = list[Any]()

    def dimension() -> AffineExpr | None:
        # `symbol(%n)` is a dimension, too: symbols differ in what a verifier of MLIR lets them be, not in meaning.
        if parser.parse_optional_keyword("symbol"):
            with parser.in_parens():
                found = parser.parse_operand(IndexType())
        else:
            found = parser.parse_optional_operand(IndexType())
        if found is None:
            return None
        operands.append(found)
        return AffineExpr.dimension(len(operands) - 1)

    state = parser._parser_state  # pyright: ignore[reportPrivateUsage]: xDSL's own parsers of parts share it, too
    reader = AffineParser(state)

    def read() -> AffineExpr:
        return reader._parse_affine_expr(dimension)  # pyright: ignore[reportPrivateUsage]: its maps only have this

    found = parser.parse_comma_separated_list(Parser.Delimiter.PAREN, read) if is_list else [read()]
    return found, operands


def _groups(groups: list[tuple[AffineExpr, ...]]) -> DenseIntElementsAttr:
    kind = VectorType(i32, [len(groups)])
    return DenseIntElementsAttr.from_list(kind, [len(g) for g in groups])


class ParallelOp(affine.ParallelOp):
    """`affine.parallel (%i, %j) = (...) to (...) step (...) reduce (...) -> (...) { }`."""

    def verify_(self) -> None:
        """xDSL's counts results among the operands, which MLIR has not: reductions begin from neutral elements."""
        maps = (self.lowerBoundsMap.data, self.upperBoundsMap.data)
        if len(self.operands) != sum(each.num_dims + each.num_symbols for each in maps):
            raise VerifyException("expected an operand for each dimension and symbol of its bounds")
        for groups, each in zip((self.lowerBoundsGroups, self.upperBoundsGroups), maps, strict=True):
            if sum(groups.get_values()) != len(each.results):
                raise VerifyException("expected a group for each bound")

    @classmethod
    def parse(cls, parser: Parser) -> ParallelOp:
        arguments = parser.parse_comma_separated_list(
            Parser.Delimiter.PAREN, lambda: parser.parse_argument(expect_type=False)
        )
        parser.parse_punctuation("=")
        lower, first = _parse_bounds(parser, "max")
        parser.parse_keyword("to")
        upper, second = _parse_bounds(parser, "min")
        steps = [1] * len(lower)
        if parser.parse_optional_keyword("step"):
            steps = parser.parse_comma_separated_list(Parser.Delimiter.PAREN, parser.parse_integer)
        reductions = list[StringAttr]()
        if parser.parse_optional_keyword("reduce"):
            reductions = parser.parse_comma_separated_list(
                Parser.Delimiter.PAREN, lambda: StringAttr(parser.parse_str_literal())
            )
        results = _parse_result_types(parser)
        body = parse_body(parser, [a.resolve(IndexType()) for a in arguments])
        maps = [
            AffineMapAttr(AffineMap(len(operands), 0, tuple(e for g in groups for e in g)))
            for groups, operands in ((lower, first), (upper, second))
        ]
        properties = {
            "reductions": ArrayAttr(reductions),
            "lowerBoundsMap": maps[0],
            "lowerBoundsGroups": _groups(lower),
            "upperBoundsMap": maps[1],
            "upperBoundsGroups": _groups(upper),
            "steps": ArrayAttr([IntegerAttr(step, i64) for step in steps]),
        }
        return cls.create(
            operands=[*first, *second],
            properties=properties,
            attributes=parser.parse_optional_attr_dict(),
            result_types=results,
            regions=[body],
        )


def _parse_access(parser: Parser) -> tuple[Any, Any, list[Any], dict[str, Any]]:
    """`%a[%i + 1, symbol(%n)] {attributes} : type`: the array, the map, its operands, the attributes."""
    array = parser.parse_unresolved_operand()
    found, indices = parser.parse_affine_map_of_ssa_ids()
    attributes = parser.parse_optional_attr_dict()
    parser.parse_punctuation(":")
    return parser.resolve_operand(array, parser.parse_type()), AffineMapAttr(found), list(indices), attributes


class LoadOp(affine.LoadOp):
    """`affine.load`, also with attributes."""

    @classmethod
    def parse(cls, parser: Parser) -> LoadOp:
        array, found, indices, attributes = _parse_access(parser)
        if not isa(array.type, MemRefType):
            parser.raise_error("expected a memref type")
        kinds = [array.type.get_element_type()]
        return cls.build(
            operands=[array, indices], result_types=kinds, properties={"map": found}, attributes=attributes
        )


class StoreOp(affine.StoreOp):
    """`affine.store`, also with attributes."""

    @classmethod
    def parse(cls, parser: Parser) -> StoreOp:
        value = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        array, found, indices, attributes = _parse_access(parser)
        if not isa(array.type, MemRefType):
            parser.raise_error("expected a memref type")
        stored = parser.resolve_operand(value, array.type.get_element_type())
        return cls.build(operands=[stored, array, indices], properties={"map": found}, attributes=attributes)


OPERATIONS: Final = (MaxOp, MinOp, IfOp, ParallelOp, LoadOp, StoreOp)
