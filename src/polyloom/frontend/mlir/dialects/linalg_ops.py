# SPDX-License-Identifier: Apache-2.0
"""Named operations of linalg, one row each: the axes of operands and of the result, and what is computed.

xDSL 0.74 has some of them, with bodies of its own; here all of them mean the `linalg.generic` that the row says (MLIR
source, LinalgNamedStructuredOps.yaml), and are read in both spellings. `linalg.reduce`, `map`, `transpose` and
`broadcast` have spellings of their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import ArrayAttr, DenseArrayBase, DictionaryAttr, IndexType, IntegerAttr, TensorType, i64
from xdsl.dialects.linalg.ops import YieldOp
from xdsl.ir import Block, Operation, Region
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    var_operand_def,
    var_region_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.utils.hints import isa

from polyloom.frontend.mlir.element_types import is_kind


@dataclass(frozen=True, slots=True)
class Named:
    """`axes` of inputs and the output, a letter for a loop and `h*y` for a window (position h, tap y, with strides and
    dilations in order); of element-wise operations none. `body` names what is computed."""

    axes: str
    body: str


_PRODUCTS: Final = {
    "matmul": "mk,kn->mn",
    "matmul_transpose_a": "km,kn->mn",
    "matmul_transpose_b": "mk,nk->mn",
    "batch_matmul": "bmk,bkn->bmn",
    "batch_matmul_transpose_a": "bkm,bkn->bmn",
    "batch_matmul_transpose_b": "bmk,bnk->bmn",
    "batch_reduce_matmul": "bmk,bkn->mn",
    "matvec": "mn,n->m",
    "vecmat": "m,mn->n",
    "batch_matvec": "bmk,bk->bm",
    "batch_vecmat": "bk,bkn->bn",
    "dot": "m,m->",
    "mmt4d": "mkil,nkjl->mnij",
    "batch_mmt4d": "bmkil,bnkjl->bmnij",
    "conv_1d": "(w*x),x->w",
    "conv_2d": "(h*y)(w*x),yx->hw",
    "conv_3d": "(d*z)(h*y)(w*x),zyx->dhw",
    "conv_1d_nwc_wcf": "n(w*x)c,xcf->nwf",
    "conv_1d_ncw_fcw": "nc(w*x),fcx->nfw",
    "conv_2d_nhwc_hwcf": "n(h*y)(w*x)c,yxcf->nhwf",
    "conv_2d_nhwc_fhwc": "n(h*y)(w*x)c,fyxc->nhwf",
    "conv_2d_nchw_fchw": "nc(h*y)(w*x),fcyx->nfhw",
    "conv_2d_ngchw_fgchw": "ngc(h*y)(w*x),fgcyx->ngfhw",
    "conv_2d_ngchw_gfchw": "ngc(h*y)(w*x),gfcyx->ngfhw",
    "conv_2d_nhwgc_gfhwc": "n(h*y)(w*x)gc,gfyxc->nhwgf",
    "conv_3d_ndhwc_dhwcf": "n(d*z)(h*y)(w*x)c,zyxcf->ndhwf",
    "conv_3d_ncdhw_fcdhw": "nc(d*z)(h*y)(w*x),fczyx->nfdhw",
    "depthwise_conv_1d_nwc_wc": "n(w*x)c,xc->nwc",
    "depthwise_conv_1d_ncw_cw": "nc(w*x),cx->ncw",
    "depthwise_conv_1d_nwc_wcm": "n(w*x)c,xcm->nwcm",
    "depthwise_conv_2d_nhwc_hwc": "n(h*y)(w*x)c,yxc->nhwc",
    "depthwise_conv_2d_nchw_chw": "nc(h*y)(w*x),cyx->nchw",
    "depthwise_conv_2d_nhwc_hwcm": "n(h*y)(w*x)c,yxcm->nhwcm",
}
_QUANTIZED: Final = {
    "quantized_matmul": "matmul",
    "quantized_batch_matmul": "batch_matmul",
    **{
        f"{name}_q": name
        for name in _PRODUCTS
        if name.startswith(("conv_2d_n", "conv_3d_n", "depthwise_conv_2d_nhwc")) and name != "conv_3d_ncdhw_fcdhw"
    },
}
"""Products of numbers around a zero point: by their name, the product whose axes they have."""
_POOLED: Final = {
    "nhwc": "n(h*y)(w*x)c,yx->nhwc",
    "nchw": "nc(h*y)(w*x),yx->nchw",
    "nwc": "n(w*x)c,x->nwc",
    "ncw": "nc(w*x),x->ncw",
    "ndhwc": "n(d*z)(h*y)(w*x)c,zyx->ndhwc",
}
_POOLS: Final = ("sum", "max", "max_unsigned", "min", "min_unsigned")
ELEMENTWISE: Final = {
    **dict.fromkeys(("exp", "log", "abs", "ceil", "floor", "negf", "reciprocal", "round", "sqrt", "rsqrt"), 1),
    **dict.fromkeys(("square", "tanh", "erf", "copy"), 1),
    **dict.fromkeys(("add", "sub", "mul", "div", "div_unsigned", "max", "min", "powf"), 2),
    "select": 3,
    "fill": 1,
}
"""Element-wise operations, and of how many inputs."""
NAMED: Final[dict[str, Named]] = {
    **{name: Named(axes, "product") for name, axes in _PRODUCTS.items()},
    # Behind both operands their zero points, which are scalars.
    # Its maps stand in the text.
    "contract": Named("mk,kn->mn", "product"),
    **{name: Named(_PRODUCTS[of].replace("->", ",,->"), "quantized") for name, of in _QUANTIZED.items()},
    **{
        f"pooling_{layout}_{kind}": Named(axes, kind)
        for layout, axes in _POOLED.items()
        for kind in _POOLS
        if "unsigned" not in kind or layout in ("nhwc", "nwc")
    },
    **{name: Named("", name) for name in ELEMENTWISE},
}


def _parse_group(parser: Parser, keyword: str) -> tuple[list[Any], list[Any], int]:
    """`ins(%a, %b : type, type)`."""
    at = parser.pos
    if not parser.parse_optional_keyword(keyword):
        return [], [], at
    parser.parse_punctuation("(")
    found = parser.parse_comma_separated_list(Parser.Delimiter.NONE, parser.parse_unresolved_operand)
    parser.parse_punctuation(":")
    types = parser.parse_comma_separated_list(Parser.Delimiter.NONE, parser.parse_type)
    parser.parse_punctuation(")")
    return found, types, at


def _resolve_group(parser: Parser, group: tuple[list[Any], list[Any], int]) -> list[Any]:
    return list(parser.resolve_operands(*group))


def _parse_results(parser: Parser) -> list[Any]:
    if parser.parse_optional_punctuation("->") is None:
        return []
    found = parser.parse_optional_comma_separated_list(Parser.Delimiter.PAREN, parser.parse_type)
    return [parser.parse_type()] if found is None else found


def _result_types(outputs: Sequence[Any]) -> list[Any]:
    return [o.type for o in outputs if is_kind(o.type, TensorType)]


class StructuredOp(IRDLOperation):
    """An operation of inputs and outputs; tensors that are outputs give results."""

    inputs = var_operand_def()
    outputs = var_operand_def()
    res = var_result_def()
    bodies = var_region_def()
    irdl_options = (AttrSizedOperandSegments(as_property=True),)


class NamedOp(StructuredOp):
    """A row of `NAMED`: `linalg.NAME {attributes} ins(...) outs(...) -> type`."""

    @classmethod
    def parse(cls, parser: Parser) -> NamedOp:
        attributes = parser.parse_optional_attr_dict()
        if parser.parse_optional_keyword("indexing_maps"):
            parser.parse_punctuation("=")
            attributes["indexing_maps"] = parser.parse_attribute()
            attributes |= parser.parse_optional_attr_dict()
        groups = [_parse_group(parser, keyword) for keyword in ("ins", "outs")]
        inputs, outputs = (_resolve_group(parser, group) for group in groups)
        if parser.parse_optional_keyword("attrs"):
            parser.parse_punctuation("=")
        attributes |= parser.parse_optional_attr_dict()
        results = _parse_results(parser)
        return cls.build(operands=[inputs, outputs], result_types=[results], attributes=attributes, regions=[[]])


def _define(name: str) -> type[Operation]:
    made: Any = type(f"{name}_Op", (NamedOp,), {"name": f"linalg.{name}", "__module__": __name__})
    return irdl_op_definition(made)


def _parse_region(parser: Parser) -> Region:
    """`(%a: f32, %b: f32) { ... }` with the body of an operation."""
    arguments = parser.parse_comma_separated_list(Parser.Delimiter.PAREN, parser.parse_argument)
    return parser.parse_region(arguments)


_SHORT: Final[dict[str, Any]] = {
    op.name: op
    for op in (
        *(arith.AddfOp, arith.MulfOp, arith.AddiOp, arith.MuliOp, arith.SubfOp, arith.SubiOp, arith.DivfOp),
        *(arith.MaximumfOp, arith.MinimumfOp, arith.MaxnumfOp, arith.MinnumfOp, arith.MaxSIOp, arith.MinSIOp),
        *(arith.MaxUIOp, arith.MinUIOp, arith.AndIOp, arith.OrIOp, arith.XOrIOp, arith.NegfOp),
        *(math.AbsFOp, math.ExpOp, math.LogOp, math.SqrtOp, math.TanhOp, math.FloorOp, math.CeilOp),
        *(math.SinOp, math.CosOp, math.RsqrtOp, math.AbsIOp),
    )
}


def _parse_short(parser: Parser) -> tuple[Any, dict[str, Any]] | None:
    """`{ arith.addf }`, the short form of a body of one operation."""
    if not parser.parse_optional_punctuation("{"):
        return None
    at = parser.pos
    name = parser.parse_identifier()
    attributes = parser.parse_optional_attr_dict()
    parser.parse_punctuation("}")
    if name not in _SHORT:
        parser.raise_error(f"{name} is no operation of a short form", at)
    return _SHORT[name], attributes


def _short_body(operation: Any, operands: Sequence[Any], order: Sequence[int]) -> Region:
    """The body that a short form means: the operation on the arguments in an order."""
    kinds = [getattr(o.type, "element_type", o.type) for o in operands]
    block = Block(arg_types=kinds)
    made = operation.build(
        operands=[block.args[n] for n in order],
        result_types=[kinds[-1]],
        properties=_defaults(operation),
    )
    block.add_ops([made, YieldOp(made)])
    return Region(block)


def _defaults(operation: Any) -> dict[str, Any]:
    found = operation.get_irdl_definition().properties
    return {name: p.default_value for name, p in found.items() if getattr(p, "default_value", None) is not None}


@irdl_op_definition
class ReduceOp(StructuredOp):
    """`linalg.reduce { arith.addf } ins(...) outs(...) dimensions = [...]`, also with a body."""

    name = "linalg.reduce"
    dimensions = prop_def(DenseArrayBase)

    @classmethod
    def parse(cls, parser: Parser) -> ReduceOp:
        short = _parse_short(parser)
        groups = [_parse_group(parser, keyword) for keyword in ("ins", "outs")]
        inputs, outputs = (_resolve_group(parser, group) for group in groups)
        parser.parse_keyword("dimensions")
        parser.parse_punctuation("=")
        dims = parser.parse_comma_separated_list(Parser.Delimiter.SQUARE, parser.parse_integer)
        attributes = parser.parse_optional_attr_dict()
        body = _parse_region(parser) if short is None else _short_body(short[0], [*inputs, *outputs], (1, 0))
        return cls.build(
            operands=[inputs, outputs],
            result_types=[_result_types(outputs)],
            properties={"dimensions": DenseArrayBase.from_list(i64, dims)},
            attributes=attributes,
            regions=[[body]],
        )


@irdl_op_definition
class MapOp(StructuredOp):
    """`linalg.map { math.exp } ins(...) outs(...)`, also with a body."""

    name = "linalg.map"

    @classmethod
    def parse(cls, parser: Parser) -> MapOp:
        short = _parse_short(parser)
        groups = [_parse_group(parser, keyword) for keyword in ("ins", "outs")]
        inputs, outputs = (_resolve_group(parser, group) for group in groups)
        attributes = parser.parse_optional_attr_dict()
        if short is None:
            body = _parse_region(parser)
        else:
            body = _short_body(short[0], [*inputs, *outputs], range(len(inputs)))
        return cls.build(
            operands=[inputs, outputs],
            result_types=[_result_types(outputs)],
            attributes=attributes,
            regions=[[body]],
        )


class AxesOp(IRDLOperation):
    """An operation of one input, with a list of axes behind a keyword; it has no groups of operands."""

    source = operand_def()
    target = operand_def()
    res = var_result_def()
    bodies = var_region_def()

    @property
    def inputs(self) -> tuple[Any, ...]:
        return (self.source,)

    @property
    def outputs(self) -> tuple[Any, ...]:
        return (self.target,)


def _parse_axes(cls: Any, parser: Parser, keyword: str) -> Any:
    groups = [_parse_group(parser, group) for group in ("ins", "outs")]
    inputs, outputs = (_resolve_group(parser, group) for group in groups)
    if len(inputs) != 1 or len(outputs) != 1:
        parser.raise_error("one input and one output are expected")
    parser.parse_keyword(keyword)
    parser.parse_punctuation("=")
    axes = parser.parse_comma_separated_list(Parser.Delimiter.SQUARE, parser.parse_integer)
    return cls.build(
        operands=[inputs[0], outputs[0]],
        result_types=[_result_types(outputs)],
        properties={keyword: DenseArrayBase.from_list(i64, axes)},
        attributes=parser.parse_optional_attr_dict(),
        regions=[[]],
    )


@irdl_op_definition
class TransposeOp(AxesOp):
    """`linalg.transpose ins(...) outs(...) permutation = [1, 0]`."""

    name = "linalg.transpose"
    permutation = prop_def(DenseArrayBase)

    @classmethod
    def parse(cls, parser: Parser) -> TransposeOp:
        return _parse_axes(cls, parser, "permutation")


@irdl_op_definition
class BroadcastOp(AxesOp):
    """`linalg.broadcast ins(...) outs(...) dimensions = [0]`: these axes are new."""

    name = "linalg.broadcast"
    dimensions = prop_def(DenseArrayBase)

    @classmethod
    def parse(cls, parser: Parser) -> BroadcastOp:
        return _parse_axes(cls, parser, "dimensions")


def _parse_dictionary(parser: Parser) -> dict[str, Any]:
    """`{...}`, or the name of a dictionary, `#trait`."""
    if found := parser.parse_optional_attr_dict():
        return found
    named: Any = parser.parse_optional_attribute()
    return dict(named.data) if is_kind(named, DictionaryAttr) else {}


@irdl_op_definition
class GenericOp(StructuredOp):
    """`linalg.generic {indexing_maps = [...], iterator_types = [...]} ins(...) outs(...) { }`."""

    name = "linalg.generic"
    indexing_maps = prop_def(ArrayAttr)
    iterator_types = prop_def(ArrayAttr)

    @classmethod
    def parse(cls, parser: Parser) -> GenericOp:
        at = parser.pos
        attributes = _parse_dictionary(parser)
        attributes |= parser.parse_optional_attr_dict()
        properties = {k: attributes.pop(k) for k in ("indexing_maps", "iterator_types") if k in attributes}
        if len(properties) < 2 or not all(isa(p, ArrayAttr) for p in properties.values()):
            parser.raise_error("expected indexing_maps and iterator_types", at)
        groups = [_parse_group(parser, keyword) for keyword in ("ins", "outs")]
        inputs, outputs = (_resolve_group(parser, group) for group in groups)
        if parser.parse_optional_keyword("attrs"):
            parser.parse_punctuation("=")
            attributes |= parser.parse_optional_attr_dict()
        body = parser.parse_region()
        return cls.build(
            operands=[inputs, outputs],
            result_types=[_parse_results(parser)],
            properties=properties,
            attributes=attributes,
            regions=[[body]],
        )


@irdl_op_definition
class LoopIndexOp(IRDLOperation):
    """`linalg.index 1 : index` in the body of an operation: that of xDSL knows xDSL's own `linalg.generic` alone."""

    name = "linalg.index"
    dim = prop_def(IntegerAttr)
    result = result_def(IndexType)

    @classmethod
    def parse(cls, parser: Parser) -> LoopIndexOp:
        dim = parser.parse_integer(allow_negative=False)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        kind = parser.parse_type()
        return cls.build(result_types=[kind], properties={"dim": IntegerAttr(dim, i64)}, attributes=attributes)


OPERATIONS: Final = (*map(_define, NAMED), ReduceOp, MapOp, TransposeOp, BroadcastOp, GenericOp, LoopIndexOp)
