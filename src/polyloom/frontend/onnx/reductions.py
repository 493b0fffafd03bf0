# SPDX-License-Identifier: Apache-2.0
"""Reductions along axes, running sums, and what is made of them: means, norms, softmax.

Axes are an attribute up to a version of each operator, and an operand from then on; an empty list means all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from math import inf, prod
from typing import Final

from polyloom.frontend.onnx.node import Node, Operator
from polyloom.frontend.onnx.tensors import (
    ONE,
    Tensor,
    apply,
    as_number,
    compare,
    constant,
    convert,
    data,
    spread,
)
from polyloom.ir.arrays.program import (
    Reduce,
    ReduceOperation,
    Scan,
    Shape,
    Value,
    axes,
    dtype,
    element_view,
    shape,
)
from polyloom.ir.numbers import type_limits
from polyloom.ir.operations import FLOATS, ElementType
from polyloom.ir.pla import Constant
from polyloom.sets import Affine

# ONNX changed ReduceSum with operator set 13, and the others with 18.
_AXES_INPUT: Final = {"ReduceSum": 13}
"""From which version on axes are an operand; 18 for others."""


def chosen_axes(node: Node, rank: int) -> tuple[int, ...] | None:
    """The reduced axes; None where the operand is the result."""
    is_operand = node.version >= _AXES_INPUT.get(node.operator, 18)
    given = node.integers(1, "axes") if is_operand else node.list("axes")
    if given:
        return tuple(sorted({node.axis(n, rank) for n in given}))
    # ONNX, operator set 13 on: no axes mean all, unless the attribute says that they mean none.
    return None if node.integer("noop_with_empty_axes") else tuple(range(rank))


def reduce_axes(operation: ReduceOperation, value: Value, along: tuple[int, ...]) -> Value:
    """A reduction, of no elements the number that changes none (ONNX: minus infinity for the largest)."""
    extents = shape(value)
    # A loop without turns leaves nothing that a maximum could begin with. Sums and products begin with a number.
    if any(extents[n] == Affine() for n in along) and operation in ("maximum", "minimum"):
        rest = tuple(extent for n, extent in enumerate(extents) if n not in along)
        return element_view(_neutral_element(operation, dtype(value)), (), rest)
    return Reduce(operation, along, value) if along else value


def _neutral_element(operation: ReduceOperation, kind: ElementType) -> Constant:
    limits = type_limits(kind)
    if limits is None:
        return Constant(-inf if operation == "maximum" else inf, kind)
    return Constant(limits[0] if operation == "maximum" else limits[1], kind)


def keep_axes(value: Value, along: tuple[int, ...], extents: Shape) -> Value:
    """A reduced value with extents of 1 in the places of the reduced axes."""
    rest = [n for n in range(len(extents)) if n not in along]
    kept = tuple(ONE if n in along else extent for n, extent in enumerate(extents))
    return element_view(value, [axes(len(extents))[n] for n in rest], kept)


def element_count(node: Node, extents: Shape, along: tuple[int, ...]) -> int:
    """How many elements are combined: known when the graph is compiled."""
    sizes = [as_number(extents[n]) for n in along]
    if None in sizes:
        node.refuse("a mean is over an axis whose size is not known", "give the size: `--set NAME=VALUE`")
    return prod(size or 0 for size in sizes)


def reduction(
    operation: ReduceOperation,
    before: Callable[[Value], Value] | None = None,
    after: Callable[[Value], Value] | None = None,
) -> Operator:
    """A reduction of `before` of each element, and `after` of what it gives."""

    def lower(node: Node) -> Tensor:
        value = node.value()
        kind = dtype(value)
        # As numbers from 0 on, whose limits are those of truths.
        # ONNX operators ReduceMax and ReduceMin, version 20, also reduce truths: true is the larger one.
        value = convert(value, "u8") if kind == "bool" else value
        along = chosen_axes(node, len(shape(value)))
        if along is None:
            return data(_apply_optional(after, _apply_optional(before, node.local(value))))
        # Squares and magnitudes read an element twice, so that what computes it comes first.
        inner = _apply_optional(before, node.local(value) if before is not None else value)
        found = _apply_optional(after, reduce_axes(operation, inner, along))
        found = keep_axes(found, along, shape(value)) if node.integer("keepdims", 1) else found
        return data(convert(found, kind) if kind == "bool" else found)

    return lower


def _apply_optional(function: Callable[[Value], Value] | None, value: Value) -> Value:
    return value if function is None else function(value)


def mean(node: Node) -> Tensor:
    value = node.value()
    along = chosen_axes(node, len(shape(value)))
    if along is None:
        return data(value)
    found = axes_mean(node, value, along)
    return data(keep_axes(found, along, shape(value)) if node.integer("keepdims", 1) else found)


def axes_mean(node: Node, value: Value, along: tuple[int, ...]) -> Value:
    total = reduce_axes("add", value, along)
    return apply("div", total, constant(element_count(node, shape(value), along), dtype(value)))


def log_sum_exp(node: Node) -> Tensor:
    """log of the sum of e^x, in which the largest x is taken out so that none overflows."""
    value = node.local(node.value())
    along = chosen_axes(node, len(shape(value)))
    if along is None:
        return data(value)
    extents = shape(value)
    # log sum e^x = m + log sum e^(x - m); with m the largest no exponential overflows, and one is 1 (Blanchard et al.
    # 2021).
    most = node.local(keep_axes(reduce_axes("maximum", value, along), along, extents))
    # Over no elements the maximum is minus infinity, which is also the logarithm of the sum 0; m - m would be a NaN.
    if any(extents[n] == Affine() for n in along):
        found = most
    else:
        grown = apply("exp", apply("sub", value, spread(most, extents)))
        total = keep_axes(reduce_axes("add", grown, along), along, extents)
        found = apply("add", apply("log", total), most)
    if node.integer("keepdims", 1):
        return data(found)
    kept = tuple(n for n in range(len(extents)) if n not in along)
    places = [Affine()] * len(extents)
    for n, place in zip(kept, axes(len(kept)), strict=True):
        places[n] = place
    return data(element_view(node.local(found), places, tuple(extents[n] for n in kept)))


def place(operation: ReduceOperation) -> Operator:
    """`ArgMax` and `ArgMin`: the first place, or the last one."""

    def lower(node: Node) -> Tensor:
        value = node.value()
        extents = shape(value)
        axis = node.axis(node.integer("axis"), len(extents))
        last = extents[axis] - 1
        # The last of equal elements is the first one of the reversed axis (ONNX operator ArgMax, version 12).
        if node.integer("select_last_index"):
            index = [last - at if n == axis else at for n, at in enumerate(axes(len(extents)))]
            value = element_view(value, index, extents)
        found: Value = Reduce(operation, (axis,), value)
        if node.integer("select_last_index"):
            size = as_number(last)
            if size is None:
                node.refuse("the last place is asked for along an axis whose size is not known")
            found = apply("sub", element_view(Constant(size, "i32"), (), shape(found)), found)
        return data(keep_axes(found, (axis,), extents) if node.integer("keepdims", 1) else found, "i64")

    return lower


def running_results(operation: str) -> Operator:
    """`CumSum` and `CumProd`: running results, perhaps from the end, perhaps without the element itself."""

    def lower(node: Node) -> Tensor:
        value, extents = node.value(), node.tensor().shape
        axis = node.axis((node.integers(1, "axis") or [0])[0], len(extents))
        last, places = extents[axis] - 1, axes(len(extents))
        flip = [last - at if n == axis else at for n, at in enumerate(places)]
        back = bool(node.integer("reverse"))
        source = element_view(value, flip, extents) if back else value
        # From the end: the array is reversed, scanned and reversed again; `exclusive` shifts the scan by one in
        # between, so that the neutral element comes first in the order of the scan.
        found: Value = Scan("add" if operation == "add" else "mul", axis, source)
        if node.integer("exclusive"):
            kind = dtype(value)
            inner = tuple(extent - 1 if n == axis else extent for n, extent in enumerate(extents))
            shifted = [at + 1 if n == axis else at for n, at in enumerate(places)]
            first = tuple(ONE if n == axis else extent for n, extent in enumerate(extents))
            start = element_view(constant(int(operation == "mul"), kind), (), first)
            found = node.assemble(
                extents, kind, [(places, start), (shifted, element_view(node.local(found), places, inner))]
            )
        return data(element_view(node.local(found), flip, extents) if back else found)

    return lower


# Softmax


def softmax_axes(node: Node, rank: int) -> tuple[int, ...]:
    """Up to version 12, all axes from the given one on are one axis."""
    # ONNX operator Softmax, version 13: one axis, the last by default. Before, the tensor was a matrix whose rows are
    # all axes from the given one on, by default from axis 1.
    axis = node.axis(node.integer("axis", -1 if node.version >= 13 else 1), rank)
    return (axis,) if node.version >= 13 else tuple(range(axis, rank))


Rounding = Callable[[Value], Value]


def _identity(value: Value) -> Value:
    return value


def _half_precision(value: Value) -> Value:
    """A single that is rounded to half precision."""
    return convert(convert(value, "f16"), "f32")


def exponentials(
    node: Node, value: Value, along: tuple[int, ...], rounded: Rounding = _identity
) -> tuple[Value, Value, Value]:
    """Differences from the largest element, their exponentials, and the sums of these with extents of 1."""
    extents = shape(value)
    # Differences from the largest element are at most 0: no exponential overflows, and their sum is at least 1.
    most = keep_axes(node.local(reduce_axes("maximum", value, along)), along, extents)
    below = node.local(rounded(apply("sub", value, spread(most, extents))))
    grown = node.local(rounded(apply("exp", below)))
    total = keep_axes(node.local(rounded(node.local(reduce_axes("add", grown, along)))), along, extents)
    return below, grown, total


def softmax_value(node: Node, value: Value, along: tuple[int, ...], rounded: Rounding = _identity) -> Value:
    _, grown, total = exponentials(node, value, along, rounded)
    # Divided and not multiplied by the reciprocal, which would round twice.
    return apply("div", grown, spread(total, shape(value)))


def softmax(node: Node) -> Tensor:
    value = node.value()
    along = softmax_axes(node, len(shape(value)))
    if dtype(value) != "f16":
        return data(softmax_value(node, node.local(value), along))
    # ONNX defines Softmax as a function of five operators (version 13), each of which rounds to half precision: sums of
    # rounded exponentials differ from those of others by more than its tests allow.
    single = node.local(convert(value, "f32"))
    return data(convert(softmax_value(node, single, along, _half_precision), "f16"))


def log_softmax(node: Node) -> Tensor:
    value = node.local(node.value())
    below, _, total = exponentials(node, value, softmax_axes(node, len(shape(value))))
    return data(apply("sub", below, spread(node.local(apply("log", total)), shape(value))))


def hardmax(node: Node) -> Tensor:
    """1 at the first largest element, else 0."""
    value = node.local(node.value())
    extents = shape(value)
    axis = softmax_axes(node, len(extents))[0]
    if node.version < 13 and axis != len(extents) - 1:
        node.refuse("of a version below 13, along several axes")
    # Of equal elements the first one alone becomes 1, so a comparison with the maximum does not do.
    first = keep_axes(node.local(Reduce("argmax", (axis,), value)), (axis,), extents)
    from polyloom.ir.arrays.program import Form

    at = Form(axes(len(extents))[axis], "i32", extents)
    return data(convert(compare("eq", at, spread(first, extents)), dtype(value)))


def lp_norm(node: Node) -> Tensor:
    """`LpNormalization`: divided by the norm along an axis, 0 where that is 0."""
    value = node.local(node.value())
    extents, along = shape(value), (node.axis(node.integer("axis", -1), len(node.tensor().shape)),)
    # ONNX operator LpNormalization has p = 1 and p = 2 alone.
    squares = node.integer("p", 2) == 2
    inner = apply("mul", value, value) if squares else apply("abs", value)
    total = reduce_axes("add", inner, along)
    norm = keep_axes(node.local(apply("sqrt", total) if squares else total), along, extents)
    whole = spread(norm, extents)
    zero = constant(0, dtype(value))
    from polyloom.frontend.onnx.tensors import select

    return data(select(compare("eq", whole, zero), zero, apply("div", value, whole)))


def _square(x: Value) -> Value:
    return apply("mul", x, x)


def _root(x: Value) -> Value:
    return apply("sqrt", x) if dtype(x) in FLOATS else convert(apply("sqrt", convert(x, "f32")), dtype(x))


OPERATORS: Final[Mapping[str, Operator]] = {
    "ReduceSum": reduction("add"),
    "ReduceProd": reduction("mul"),
    "ReduceMax": reduction("maximum"),
    "ReduceMin": reduction("minimum"),
    "ReduceMean": mean,
    "ReduceL1": reduction("add", before=partial(apply, "abs")),
    "ReduceL2": reduction("add", before=_square, after=_root),
    "ReduceSumSquare": reduction("add", before=_square),
    "ReduceLogSum": reduction("add", after=partial(apply, "log")),
    "ReduceLogSumExp": log_sum_exp,
    "ArgMax": place("argmax"),
    "ArgMin": place("argmin"),
    "CumSum": running_results("add"),
    "CumProd": running_results("mul"),
    "Softmax": softmax,
    "LogSoftmax": log_softmax,
    "Hardmax": hardmax,
    "LpNormalization": lp_norm,
}
