# SPDX-License-Identifier: Apache-2.0
"""Convolutions and pooling over windows of any rank: a window is a view with an axis per extent of the kernel.

The operand is padded as a piecewise value, split into groups, and seen at `stride * place + dilation * tap`; then a
convolution is a contraction (im2col, as a view that nobody stores), and pooling a reduction. A transposed convolution
is a convolution of the operand with zeros between its elements, and a flipped kernel (ONNX Operators, Conv and
ConvTranspose).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Final

from polyloom.frontend.onnx.movement import pad_value
from polyloom.frontend.onnx.node import Node, Operator
from polyloom.frontend.onnx.products import integer_operand
from polyloom.frontend.onnx.reductions import reduce_axes
from polyloom.frontend.onnx.reshape import reshape_value
from polyloom.frontend.onnx.tensors import (
    Tensor,
    apply,
    as_number,
    constant,
    data,
    extent,
    spread,
)
from polyloom.ir.arrays.program import Apply, Contract, Reduce, Shape, Value, axes, axis, dtype, element_view, shape
from polyloom.ir.numbers import type_limits
from polyloom.ir.pla import Constant
from polyloom.sets import Affine

_PLACES: Final = "xyzuvw"
_TAPS: Final = "rstopq"


@dataclass(frozen=True, slots=True)
class Window:
    """Windows over the last axes of an operand: numbers per axis; `sizes` are how many windows there are."""

    kernel: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    before: tuple[int, ...]
    behind: tuple[int, ...]
    sizes: tuple[Affine, ...]

    @property
    def rank(self) -> int:
        return len(self.kernel)


def read_window(node: Node, extents: Shape, kernel: Sequence[int]) -> Window:
    """Window of a node over spatial extents: explicit pads, or those that `auto_pad` says. Pads that `ceil_mode` adds
    stand behind."""
    rank = len(extents)
    strides, dilations = node.list("strides") or [1] * rank, node.list("dilations") or [1] * rank
    pads, mode = node.list("pads") or [0] * (2 * rank), node.text("auto_pad", "NOTSET")
    if min((*strides, *dilations, *kernel), default=1) < 1 or any(len(e) != rank for e in (strides, dilations, kernel)):
        node.fail("PL0182", "a stride, a dilation or an extent of the kernel is less than 1", "give positive numbers")
    before, behind, sizes = list[int](), list[int](), list[Affine]()
    for n, size in enumerate(extents):
        reach = dilations[n] * (kernel[n] - 1) + 1
        number = as_number(size)
        # ceil(size / stride) windows; the padding that this takes is split, and an odd element stands behind for
        # UPPER, before for LOWER (ONNX operator Conv).
        if mode in ("SAME_UPPER", "SAME_LOWER"):
            if number is None:
                node.refuse("auto_pad of an axis whose size is not known", "give the size: `--set NAME=VALUE`")
            count = -(-number // strides[n])
            whole = max((count - 1) * strides[n] + reach - number, 0)
            low = whole // 2 if mode == "SAME_UPPER" else whole - whole // 2
            before, behind, sizes = [*before, low], [*behind, whole - low], [*sizes, extent(count)]
            continue
        low, high = (0, 0) if mode == "VALID" else (pads[n], pads[rank + n])
        count, more = _window_count(node, size + (low + high), reach, strides[n], low + (number or 0))
        before, behind, sizes = [*before, low], [*behind, high + more], [*sizes, count]
    return Window(tuple(kernel), tuple(strides), tuple(dilations), tuple(before), tuple(behind), tuple(sizes))


def _window_count(node: Node, padded: Affine, reach: int, stride: int, end: int) -> tuple[Affine, int]:
    """How many windows there are, and how much padding the last one needs more (`ceil_mode`)."""
    number = as_number(padded)
    if number is None:
        # The number of windows would be a quotient of the size.
        if stride != 1:
            node.refuse("windows with steps over an axis whose size is not known", "give the size: `--set NAME=VALUE`")
        if not node.graph.build.require(padded - reach):
            node.refuse("windows over an axis that may be smaller", "give the size: `--set NAME=VALUE`")
        return padded - (reach - 1), 0
    # ONNX operator MaxPool: floor((size - reach) / stride) + 1 windows, or ceil.
    if not node.integer("ceil_mode"):
        return extent(max((number - reach) // stride + 1, 0)), 0
    count = -(-(number - reach) // stride) + 1
    # A window that would begin in the padding behind is left out.
    count -= (count - 1) * stride >= end
    return extent(count), max((count - 1) * stride + reach - number, 0)


def window_view(value: Value, window: Window, outside: float) -> Value:
    """The operand [outer..., space...] as [outer..., places..., taps...], with a number outside of it."""
    outer, rank = len(shape(value)) - window.rank, window.rank
    whole = pad_value(
        value, constant(outside, dtype(value)), (*(0,) * outer, *window.before), (*(0,) * outer, *window.behind)
    )
    index = [axis(outer + n) * window.strides[n] + axis(outer + rank + n) * window.dilations[n] for n in range(rank)]
    extents = (*shape(value)[:outer], *window.sizes, *map(extent, window.kernel))
    return element_view(whole, [*axes(outer), *index], extents)


# Convolutions


def convolution_value(node: Node, value: Value, weights: Value, window: Window, groups: int) -> Value:
    """A convolution [N, C, space] * [M, C / groups, kernel] -> [N, M, places]."""
    batch, channels, *_ = shape(value)
    features, inner, *_ = shape(weights)
    count = as_number(features)
    if count is None or groups < 1 or count % groups or channels != inner * groups:
        message = f"{features} features of {inner} channels in {groups} groups, over {channels} channels"
        node.fail("PL0182", message, "give weights of channels / groups")
    # Labels of the sum: n batch, c channel, m feature, g group.
    places, taps = _PLACES[: window.rank], _TAPS[: window.rank]
    # Zeros outside add nothing; with integers the zero point is taken away before, so that padding is the zero point,
    # as ONNX says.
    seen = window_view(value, window, 0)
    if groups == 1:
        return Contract((f"nc{places}{taps}", f"mc{taps}"), f"nm{places}", (seen, weights))
    # Channels and features are each split in two: views of the window and of the weights.
    own = shape(seen)
    each = extent(count // groups)
    index = [axis(0), axis(1) * inner.constant + axis(2), *axes(len(own) + 1)[3:]]
    seen = element_view(seen, index, (batch, extent(groups), inner, *own[2:]))
    parts = element_view(
        weights,
        [axis(0) * each.constant + axis(1), *axes(len(own) + 1)[2 : 3 + window.rank]],
        (extent(groups), each, *shape(weights)[1:]),
    )
    found = Contract((f"ngc{places}{taps}", f"gmc{taps}"), f"ngm{places}", (seen, parts))
    return reshape_value(node, node.local(found), (batch, features, *window.sizes))


def _add_bias(node: Node, value: Value, number: int) -> Value:
    if not node.has_operand(number):
        return value
    bias = node.value(number)
    return apply("add", node.local(value), element_view(bias, (axis(1),), shape(value)))


def _kernel(node: Node, extents: Shape) -> list[int]:
    sizes = [as_number(each) for each in extents]
    if None in sizes:
        node.refuse("a kernel whose size is not known", "give the size: `--set NAME=VALUE`")
    return [n for n in sizes if n is not None]


def convolution(node: Node) -> Tensor:
    value, weights = node.value(0), node.value(1)
    window = read_window(node, shape(value)[2:], _kernel(node, shape(weights)[2:]))
    found = convolution_value(node, value, weights, window, node.integer("group", 1))
    return data(_add_bias(node, found, 2))


def integer_convolution(node: Node) -> Tensor:
    value, weights = integer_operand(node, 0, 2, 1), integer_operand(node, 1, 3, 0)
    window = read_window(node, shape(value)[2:], _kernel(node, shape(weights)[2:]))
    return data(convolution_value(node, value, weights, window, node.integer("group", 1)))


def transposed_convolution(node: Node) -> Tensor:
    """Zeros between elements, `dilation (kernel - 1) - pad` around them, and the kernel flipped."""
    value, weights = node.value(0), node.value(1)
    space, groups = shape(value)[2:], node.integer("group", 1)
    kernel, rank = _kernel(node, shape(weights)[2:]), len(shape(value)) - 2
    sizes = _kernel(node, space)
    strides, dilations = node.list("strides") or [1] * rank, node.list("dilations") or [1] * rank
    added = node.list("output_padding") or [0] * rank
    pads, count = _transposed_pads(node, sizes, kernel, strides, dilations, added)
    wide = _stretch(node, value, sizes, strides)
    # The transposed map of y[s i + d k - pad] = sum x[i] w[k], as a sum over flipped taps (Dumoulin and Visin 2016,
    # section 4).
    before = tuple(d * (k - 1) - pads[n] for n, (d, k) in enumerate(zip(dilations, kernel, strict=True)))
    behind = tuple(
        c + d * (k - 1) - (n - 1) * s - 1 - b
        for c, d, k, n, s, b in zip(count, dilations, kernel, sizes, strides, before, strict=True)
    )
    window = Window(tuple(kernel), (1,) * rank, tuple(dilations), before, behind, tuple(map(extent, count)))
    found = convolution_value(node, wide, _flip_kernel(node, weights, groups), window, groups)
    return data(_add_bias(node, found, 2))


def _transposed_pads(
    node: Node, sizes: Sequence[int], kernel: Sequence[int], strides: Sequence[int], dilations: Sequence[int],
    added: Sequence[int],
) -> tuple[list[int], list[int]]:  # fmt: skip
    """Pads before each axis, and the extents of the result."""
    rank, mode = len(sizes), node.text("auto_pad", "NOTSET")
    whole = [s * (n - 1) + a + (k - 1) * d + 1 for s, n, a, k, d in
             zip(strides, sizes, added, kernel, dilations, strict=True)]  # fmt: skip
    wanted = node.list("output_shape")
    if wanted is not None or mode in ("SAME_UPPER", "SAME_LOWER"):
        # `output_shape` may have the batch and the channels, too.
        count = wanted[-rank:] if wanted is not None else [n * s for n, s in zip(sizes, strides, strict=True)]
        total = [w - c for w, c in zip(whole, count, strict=True)]
        # The odd one stands behind where the upper end has more, else before.
        return [t // 2 if mode == "SAME_UPPER" else t - t // 2 for t in total], [*count]
    pads = node.list("pads") or [0] * (2 * rank) if mode == "NOTSET" else [0] * (2 * rank)
    return pads[:rank], [w - pads[n] - pads[rank + n] for n, w in enumerate(whole)]


def _stretch(node: Node, value: Value, sizes: Sequence[int], strides: Sequence[int]) -> Value:
    """Zeros between the elements of each axis."""
    if all(stride == 1 for stride in strides):
        return value
    wide = (*shape(value)[:2], *(extent((n - 1) * s + 1) for n, s in zip(sizes, strides, strict=True)))
    # All zeros first, then the elements between: two stores whose order the program keeps.
    zeros = element_view(constant(0, dtype(value)), (), wide)
    index = [axis(0), axis(1), *(axis(2 + n) * stride for n, stride in enumerate(strides))]
    return node.assemble(wide, dtype(value), [(axes(len(wide)), zeros), (index, value)])


def _flip_kernel(node: Node, weights: Value, groups: int) -> Value:
    """Weights [C, M / groups, kernel] as [M, C / groups, kernel], flipped in space."""
    channels, each, *kernel = shape(weights)
    inner = channels.constant // groups
    if channels.constant % groups:
        node.fail("PL0182", f"{channels} channels in {groups} groups", "give a number of groups that divides it")
    flipped = [size - 1 - axis(3 + n) for n, size in enumerate(kernel)]
    wide = (extent(groups), each, extent(inner), *kernel)
    split = element_view(weights, [axis(0) * inner + axis(2), axis(1), *flipped], wide)
    return reshape_value(node, split, (each * groups, extent(inner), *kernel))


# Pooling


def _pool_windows(node: Node) -> tuple[Value, Window, tuple[int, ...]]:
    """The operand, its windows, and the axes of taps."""
    value = node.value()
    window = read_window(node, shape(value)[2:], node.list("kernel_shape") or [])
    rank = len(shape(value))
    return value, window, tuple(range(rank, rank + window.rank))


def max_pool(node: Node) -> Tensor:
    """The largest of each window; what is outside never is."""
    if len([name for name in node.results if name]) > 1:
        node.refuse("the indices of the largest elements", "leave out the second output")
    value, window, taps = _pool_windows(node)
    # What is padded never is the largest: minus infinity, or the least integer of the type.
    limits = type_limits(dtype(value))
    return data(reduce_axes("maximum", window_view(value, window, -inf if limits is None else limits[0]), taps))


def average_pool(node: Node) -> Tensor:
    """The mean of each window, of the elements within the operand, or of the padding, too."""
    value, window, taps = _pool_windows(node)
    total = Reduce("add", taps, window_view(value, window, 0))
    # Divided, as the reference does; windows at the border have fewer elements.
    return data(apply("div", total, spread(_divisor(node, value, window), shape(total))))


def _divisor(node: Node, value: Value, window: Window) -> Value:
    """How many elements each window has, the product of what each axis has."""
    kind, rank = dtype(value), window.rank
    found: Value = Constant(1.0, kind)
    for n in range(rank):
        size = shape(value)[2 + n]
        low, high = (window.before[n], window.behind[n])
        pads = node.list("pads") or [0] * (2 * rank)
        if node.integer("count_include_pad"):
            # Padding that `ceil_mode` adds is never counted.
            counted = size + (pads[n] + pads[rank + n] if node.text("auto_pad", "NOTSET") == "NOTSET" else low + high)
            low, high = 0, as_number(size + (window.before[n] + high) - counted) or 0
        else:
            counted = size
        # The number of elements of a window is a product over its axes, so that one row of counts per axis does.
        single = Window(
            (window.kernel[n],), (window.strides[n],), (window.dilations[n],), (low,), (high,), (window.sizes[n],)
        )
        if low == high == 0:
            found = apply("mul", found, constant(window.kernel[n], kind))
            continue
        ones = element_view(constant(1, kind), (), (counted,))
        counts = node.local(Reduce("add", (1,), window_view(ones, single, 0)))
        whole = element_view(counts, (axis(2 + n),), (*shape(value)[:2], *window.sizes))
        found = apply("mul", found, whole) if shape(found) else apply("mul", whole, found)
    return node.local(found)


def lp_pool(node: Node) -> Tensor:
    """The norm of each window."""
    value, window, taps = _pool_windows(node)
    power = node.integer("p", 2)
    seen = node.local(window_view(value, window, 0))
    if power == 1:
        return data(reduce_axes("add", apply("abs", seen), taps))
    if power == 2:
        return data(apply("sqrt", reduce_axes("add", apply("mul", seen, seen), taps)))
    raised = Apply("pow", dtype(value), (apply("abs", seen), constant(power, "i32")))
    total = node.local(reduce_axes("add", raised, taps))
    # The p-th root by logarithms: log 0 is minus infinity, whose exponential is 0 again.
    return data(apply("exp", apply("div", apply("log", total), constant(power, dtype(value)))))


def global_pool(largest: bool) -> Operator:
    """Pooling over all of space, which stays with extents of 1."""

    def lower(node: Node) -> Tensor:
        value = node.value()
        own = shape(value)
        taps = tuple(range(2, len(own)))
        found = reduce_axes("maximum" if largest else "add", value, taps)
        if not largest:
            count = 1
            for size in _kernel(node, own[2:]):
                count *= size
            found = apply("div", found, constant(count, dtype(value)))
        return data(element_view(found, axes(2), (*own[:2], *(extent(1) for _ in taps))))

    return lower


OPERATORS: Final[Mapping[str, Operator]] = {
    "Conv": convolution,
    "ConvInteger": integer_convolution,
    "ConvTranspose": transposed_convolution,
    "MaxPool": max_pool,
    "AveragePool": average_pool,
    "LpPool": lp_pool,
    "GlobalAveragePool": global_pool(False),
    "GlobalMaxPool": global_pool(True),
}
