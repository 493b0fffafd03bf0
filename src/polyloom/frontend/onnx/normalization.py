# SPDX-License-Identifier: Apache-2.0
"""Normalizations: a deviation from a mean divided by the root of a variance, over axes of each operator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from polyloom.frontend.onnx.node import Node, Operator
from polyloom.frontend.onnx.reductions import axes_mean, keep_axes
from polyloom.frontend.onnx.reshape import reshape_value
from polyloom.frontend.onnx.tensors import Tensor, apply, as_number, constant, data, extent, spread
from polyloom.ir.arrays.program import Value, axis, dtype, element_view, shape


def root(node: Node, variance: Value, epsilon: float) -> Value:
    """1 / sqrt(variance + epsilon)."""
    kind = dtype(variance)
    wide = apply("sqrt", apply("add", variance, constant(epsilon, kind)))
    return node.local(apply("div", constant(1, kind), wide))


def central_moments(node: Node, value: Value, along: tuple[int, ...]) -> tuple[Value, Value, Value]:
    """The means, the deviations from them, and the variances, with extents of 1 along axes."""
    own = shape(value)
    # In two passes: the mean of squares less the square of the mean cancels for means that are large (Higham 2002,
    # section 1.9).
    means = keep_axes(node.local(axes_mean(node, value, along)), along, own)
    away = node.local(apply("sub", value, spread(means, own)))
    variance = keep_axes(node.local(axes_mean(node, apply("mul", away, away), along)), along, own)
    return means, away, variance


def layer_normalization(node: Node) -> Sequence[Tensor]:
    """Over the axes from one on; its means and inverse deviations are results, too."""
    value = node.local(node.value())
    own = shape(value)
    # ONNX operators LayerNormalization (17) and RMSNormalization (23): all axes from this one on are one.
    along = tuple(range(node.axis(node.integer("axis", -1), len(own)), len(own)))
    means, away, variance = central_moments(node, value, along)
    inverse = root(node, variance, node.number("epsilon", 1e-5))
    found = apply("mul", apply("mul", away, spread(inverse, own)), spread(node.value(1), own))
    found = apply("add", found, spread(node.value(2), own)) if node.has_operand(2) else found
    return data(found), data(means), data(inverse)


def rms_normalization(node: Node) -> Tensor:
    """By the root of the mean of squares (Zhang and Sennrich 2019)."""
    value = node.local(node.value())
    own = shape(value)
    along = tuple(range(node.axis(node.integer("axis", -1), len(own)), len(own)))
    squares = keep_axes(node.local(axes_mean(node, apply("mul", value, value), along)), along, own)
    inverse = root(node, squares, node.number("epsilon", 1e-5))
    return data(apply("mul", apply("mul", value, spread(inverse, own)), spread(node.value(1), own)))


def channel_values(value: Value, like: Value) -> Value:
    """One number per channel, broadcast over the batch and space."""
    return element_view(value, (axis(1),), shape(like))


def batch_normalization(node: Node) -> Sequence[Tensor]:
    """With means and variances that are given, or, in training, those of the batch, which update them."""
    value, scale, bias, mean, variance = (node.value(n) for n in range(5))
    value = node.local(value)
    own, epsilon, outputs = shape(value), node.number("epsilon", 1e-5), list[Tensor]()
    # ONNX operator BatchNormalization, version 14: the variance is that of the population, divided by N, also in what
    # is passed on.
    if node.integer("training_mode"):
        along = tuple(n for n in range(len(own)) if n != 1)
        kept = node.local(axes_mean(node, value, along))
        away = node.local(apply("sub", value, channel_values(kept, value)))
        spread_squares = node.local(axes_mean(node, apply("mul", away, away), along))
        momentum = node.number("momentum", 0.9)
        for old, new in ((mean, kept), (variance, spread_squares)):
            kind = dtype(old)
            # new = momentum old + (1 - momentum) batch, the other way round than in PyTorch.
            part = apply("mul", old, constant(momentum, kind))
            outputs.append(data(apply("add", part, apply("mul", new, constant(1 - momentum, kind)))))
        mean, variance = kept, spread_squares
    inverse = root(node, variance, epsilon)
    away = apply("sub", value, channel_values(mean, value))
    # Scale and inverse deviation are one factor per channel: an element takes one product instead of two.
    scaled = apply("mul", away, channel_values(node.local(apply("mul", scale, inverse)), value))
    return data(apply("add", scaled, channel_values(bias, value))), *outputs


def instance_normalization(node: Node) -> Tensor:
    """Over space, per batch and channel."""
    value = node.local(node.value())
    own = shape(value)
    _, away, variance = central_moments(node, value, tuple(range(2, len(own))))
    inverse = root(node, variance, node.number("epsilon", 1e-5))
    scaled = apply("mul", apply("mul", away, spread(inverse, own)), channel_values(node.value(1), value))
    return data(apply("add", scaled, channel_values(node.value(2), value)))


def group_normalization(node: Node) -> Tensor:
    """Over space and the channels of a group; scales are one per channel (from version 21 on), or per group."""
    value, groups = node.value(), node.integer("num_groups", 1)
    own = shape(value)
    channels = as_number(own[1])
    if channels is None or channels % max(groups, 1):
        node.fail("PL0182", f"{own[1]} channels in {groups} groups", "give a number of groups that divides it")
    inner = channels // groups
    wide = node.local(reshape_value(node, value, (own[0], extent(groups), extent(inner), *own[2:])))
    _, away, variance = central_moments(node, wide, tuple(range(2, len(own) + 1)))
    inverse = root(node, variance, node.number("epsilon", 1e-5))
    # Version 18 had one scale per group, version 21 has one per channel.
    at = (axis(1) * inner + axis(2),) if node.version >= 21 else (axis(1),)
    scale, bias = (element_view(node.value(n), at, shape(wide)) for n in (1, 2))
    found = apply("add", apply("mul", apply("mul", away, spread(inverse, shape(wide))), scale), bias)
    return data(reshape_value(node, node.local(found), own))


def mean_variance_normalization(node: Node) -> Tensor:
    value = node.local(node.value())
    along = tuple(node.axis(n, len(shape(value))) for n in node.list("axes") or [0, 2, 3])
    _, away, variance = central_moments(node, value, along)
    kind = dtype(value)
    # ONNX's function body adds 1e-9 to the deviation, behind the root: there is no attribute for it.
    deviation = apply("add", apply("sqrt", variance), constant(1e-9, kind))
    return data(apply("div", away, spread(node.local(deviation), shape(value))))


OPERATORS: Final[Mapping[str, Operator]] = {
    "LayerNormalization": layer_normalization,
    "RMSNormalization": rms_normalization,
    "BatchNormalization": batch_normalization,
    "InstanceNormalization": instance_normalization,
    "GroupNormalization": group_normalization,
    "MeanVarianceNormalization": mean_variance_normalization,
}
