# SPDX-License-Identifier: Apache-2.0
"""Quantization: real numbers as scale (q - zero point), with q of 8 or 16 bits (Jacob et al. 2018).

Quotients are rounded to nearest, ties to even, and saturated to the type. Scales are one per tensor, per index of an
axis, or per block of an axis.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from polyloom.frontend.onnx.convolutions import convolution_value, read_window
from polyloom.frontend.onnx.elementwise import element_kind
from polyloom.frontend.onnx.node import Node, Operator
from polyloom.frontend.onnx.products import integer_operand, matrix_product
from polyloom.frontend.onnx.reductions import reduce_axes
from polyloom.frontend.onnx.reshape import reshape_value, squeeze_view
from polyloom.frontend.onnx.tensors import (
    ONE,
    Tensor,
    apply,
    as_number,
    constant,
    convert,
    data,
    extent,
    larger,
    spread,
    uniform_constant,
)
from polyloom.ir.arrays.program import Value, axes, axis, dtype, element_view, shape
from polyloom.ir.numbers import type_limits
from polyloom.ir.operations import ElementType
from polyloom.ir.pla import Constant


def spread_parameter(node: Node, parameter: Value, like: Value) -> Value:
    """A scale or a zero point at every element: one of all, one per index of the axis, or one per block of it."""
    own, given = shape(like), shape(parameter)
    if all(each == ONE for each in given):
        return squeeze_view(parameter, ())
    # ONNX operator QuantizeLinear: the axis came with version 13, blocks of it with version 21.
    n, block = node.axis(node.integer("axis", 1), len(own)), node.integer("block_size")
    if len(given) == 1 and not block:
        return element_view(parameter, (axis(n),), own)
    count = as_number(given[n])
    if count is None or len(given) != len(own):
        node.fail("PL0182", "scales have another rank than the operand", "give one per index of the axis, or block")
    # The axis of blocks is repeated within them: two axes that become one.
    size = as_number(own[n]) or 0
    block = block or size // count
    wide = (*given[: n + 1], extent(block), *given[n + 1 :])
    index = [axis(k if k <= n else k + 1) for k in range(len(given))]
    whole = reshape_value(node, element_view(parameter, index, wide), (*given[:n], given[n] * block, *given[n + 1 :]))
    return whole if count * block == size else element_view(whole, axes(len(own)), own)


def saturate(value: Value, zero: Value | None, kind: ElementType, *, is_bounded: bool = False) -> Value:
    """Real numbers rounded, with a zero point added, as integers of a type (i32 between); `is_bounded` ones are not far
    beyond the type."""
    whole, limits = apply("round_i32", value), type_limits(kind)
    assert limits is not None
    low, high = (Constant(limit, "i32") for limit in limits)
    number = None if zero is None else uniform_constant(zero)
    if zero is None or is_bounded or kind == "i32" or (number is not None and number.value == 0):
        whole = whole if zero is None else apply("add", whole, convert(zero, "i32"))
        return convert(larger(larger(whole, low), high, "min"), kind)
    # A large quotient is the largest i32 here, which the sum would leave: it is cut before the zero point is added.
    point = convert(zero, "i32") if number is None else Constant(int(number.value), "i32")
    if isinstance(point, Constant):
        least, most = (Constant(limit - int(point.value), "i32") for limit in limits)
    else:
        least, most = (apply("sub", limit, point) for limit in (low, high))
    return convert(apply("add", larger(larger(whole, least), most, "min"), point), kind)


def quantize(node: Node) -> Tensor:
    value = node.value()
    zero = spread_parameter(node, node.value(2), value) if node.has_operand(2) else None
    given = node.integer("output_dtype")
    # The zero point gives the type; without one, `output_dtype` (version 21), and u8 if that is missing, too.
    kind = dtype(node.value(2)) if node.has_operand(2) else element_kind(given) if given else "u8"
    if kind not in ("u8", "i8", "u16", "i16", "i32"):
        node.fail("PL0185", "no machine has elements of this type", "quantize to 8 or 16 bits")
    scale = spread_parameter(node, node.value(1), value)
    # ONNX divides: a product with the reciprocal differs in the last bit, and so in what is rounded to even.
    scaled = apply("div", convert(value, "f32"), convert(scale, "f32"))
    return data(saturate(scaled, zero, kind))


def dequantize(node: Node) -> Tensor:
    value, scale = node.value(0), node.value(1)
    # The difference of two bytes is no byte. In i32 it is exact, and so is its conversion to single.
    whole = convert(value, "i32")
    if node.has_operand(2):
        whole = apply("sub", whole, convert(spread_parameter(node, node.value(2), value), "i32"))
    return data(apply("mul", convert(whole, "f32"), convert(spread_parameter(node, scale, value), "f32")))


def dynamic_quantize(node: Node) -> Sequence[Tensor]:
    """To u8 by the extent of the operand's numbers, which 0 belongs to."""
    value = node.local(node.value())
    every = tuple(range(len(shape(value))))
    zero = constant(0, "f32")
    # 0 is within the range (ONNX operator DynamicQuantizeLinear), so that it is represented exactly: padding and ReLU
    # produce it.
    low = node.scalar(larger(reduce_axes("minimum", value, every), zero, "min"), "low")
    high = node.scalar(larger(reduce_axes("maximum", value, every), zero), "high")
    scale = node.scalar(apply("div", apply("sub", high, low), constant(255, "f32")), node.results[1] or "scale")
    point = node.scalar(saturate(apply("div", apply("neg", low), scale), None, "u8"), node.results[2] or "zero")
    return data(saturate(apply("div", value, scale), point, "u8", is_bounded=True)), data(scale), data(point)


def requantize(node: Node, total: Value, scales: Sequence[Value], zero: Value, kind: ElementType) -> Value:
    """A sum of products in i32 as real numbers, and these in the result's scale."""
    a, b, result = (convert(each, "f32") for each in scales)
    own = shape(total)
    # The three scales are one factor first, as in ONNX's reference: an element takes one product.
    factor = apply("div", apply("mul", *node.broadcast(a, b)), *[spread(result, ())] if not shape(result) else [result])
    scaled = apply("mul", convert(total, "f32"), spread(factor, own) if shape(factor) else factor)
    return saturate(scaled, spread(zero, own) if shape(zero) else zero, kind)


def _number(value: Value) -> Value:
    """One number of a tensor of one element; others as they are."""
    return squeeze_view(value, ()) if all(each == ONE for each in shape(value)) else value


def quantized_product(node: Node) -> Tensor:
    """`QLinearMatMul`: a product of quantized matrices; scales of rows and columns may be vectors."""
    left, right = integer_operand(node, 0, 2, -2), integer_operand(node, 3, 5, -1)
    total = node.local(matrix_product(node, left, right))
    own, scales = shape(total), list[Value]()
    for number, at in ((1, -2), (4, -1), (6, -1)):
        scale = _number(node.value(number))
        if len(shape(scale)) == 1:
            scale = element_view(scale, (axes(len(own))[at],), own)
        scales.append(scale)
    zero = _number(node.value(7))
    return data(requantize(node, total, scales, zero, dtype(zero)))


def quantized_convolution(node: Node) -> Tensor:
    """`QLinearConv`: scales and zero points of the weights may be one per feature; a bias is in i32."""
    value, weights = integer_operand(node, 0, 2, 1), _weights(node)
    sizes = [as_number(each) or 0 for each in shape(weights)[2:]]
    window = read_window(node, shape(value)[2:], sizes)
    total = node.local(convolution_value(node, value, weights, window, node.integer("group", 1)))
    if node.has_operand(8):
        total = apply("add", total, element_view(node.value(8), (axis(1),), shape(total)))
    scale = _number(node.value(4))
    scale = element_view(scale, (axis(1),), shape(total)) if shape(scale) else scale
    zero = _number(node.value(7))
    return data(requantize(node, total, [_number(node.value(1)), scale, _number(node.value(6))], zero, dtype(zero)))


def _weights(node: Node) -> Value:
    found, zero = convert(node.value(3), "i32"), convert(_number(node.value(5)), "i32")
    zero = element_view(zero, (axis(0),), shape(found)) if shape(zero) else zero
    return node.local(apply("sub", found, zero))


OPERATORS: Final[Mapping[str, Operator]] = {
    "QuantizeLinear": quantize,
    "DequantizeLinear": dequantize,
    "DynamicQuantizeLinear": dynamic_quantize,
    "QLinearMatMul": quantized_product,
    "QLinearConv": quantized_convolution,
}
