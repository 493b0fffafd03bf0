# SPDX-License-Identifier: Apache-2.0
"""Constant folding of what gives shapes, axes and indices (integers of 64 bits), and of sizes that are affine forms.

Operators whose operands are known are computed by NumPy when the graph is compiled; of those that machines compute,
`interpret_constants` folds the others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from math import prod
from typing import Any, Final

import numpy as np

from polyloom.frontend.onnx.elementwise import INT64, element_kind
from polyloom.frontend.onnx.node import Node
from polyloom.frontend.onnx.tensors import (
    NUMPY_KINDS,
    Known,
    Tensor,
    as_number,
    constant,
    extent,
    find_kind,
    held_type,
    known_tensor,
)
from polyloom.ir.arrays.program import element_view
from polyloom.sets import Affine

Fold = Callable[[Node], Tensor | Sequence[Tensor | None] | None]
_MOST: Final = 1 << 20
"""Elements of what is folded, at most."""


def _operands(node: Node) -> list[Known] | None:
    """Operands that are known, where one of them has integers of 64 bits; else None."""
    given = [each for each in node.operands if each is not None]
    arrays = [each.known for each in given if each.known is not None]
    # Integers of 64 bits are folded here and not lowered: no machine has them, and sizes among them are affine forms.
    if len(arrays) < len(given) or not any(each.kind == "i64" for each in given):
        return None
    return arrays if sum(each.size for each in arrays) <= _MOST else None


def normalize(array: Any) -> Known:
    """Affine forms that are all numbers as integers."""
    found = np.asarray(array)
    if found.dtype != object:
        return found
    numbers = [as_number(each) for each in found.reshape(-1)]
    return found if None in numbers else np.array(numbers, np.int64).reshape(found.shape)


def fold_arrays(function: Callable[..., Any]) -> Fold:
    """A function of NumPy's on known operands."""

    def fold(node: Node) -> Tensor | None:
        arrays = _operands(node)
        return None if arrays is None else known_tensor(normalize(function(*arrays)))

    return fold


def arithmetic(name: str, numbers: Callable[[Any, Any], Any]) -> Fold:
    """Sums and products, of affine forms, too."""

    def combine(a: Any, b: Any) -> Any:
        if not isinstance(a, Affine) and not isinstance(b, Affine):
            return int(numbers(a, b))
        left, right = extent(a), extent(b)
        if name == "add":
            return left + right
        if name == "sub":
            return left - right
        # Only a product with a number, and a quotient without a rest, are affine forms again.
        factor, form = (as_number(left), right) if left.is_constant else (as_number(right), left)
        if name == "mul" and factor is not None:
            return form * factor
        exact = _quotient(left, as_number(right)) if name == "div" else None
        if exact is None:
            raise _NotAffine
        return exact

    def fold(node: Node) -> Tensor | None:
        arrays = _operands(node)
        if arrays is None:
            return None
        if all(each.dtype != object for each in arrays):
            with np.errstate(all="ignore"):
                # NumPy divides integers by zero without an error, and gives 0.
                if name in ("div", "mod") and any(np.any(each == 0) for each in arrays[1:]):
                    node.refuse("a division by zero")
                return known_tensor(np.asarray(reduce(numbers, arrays)))
        try:
            found = reduce(np.frompyfunc(combine, 2, 1), [each.astype(object) for each in arrays])
        except _NotAffine:
            node.refuse("a size is no affine form of others", "give the sizes: `--set NAME=VALUE`")
        return known_tensor(normalize(np.asarray(found, object)))

    return fold


class _NotAffine(Exception):
    pass


def _quotient(form: Affine, divisor: int | None) -> Affine | None:
    """An affine form divided by a number, if all its coefficients are multiples."""
    if not divisor or form.constant % divisor or any(factor % divisor for _, factor in form.terms):
        return None
    return Affine(tuple((name, factor // divisor) for name, factor in form.terms), form.constant // divisor)


def _cut_division(a: Known, b: Known) -> Known:
    """Towards zero, as ONNX divides integers."""
    # NumPy's // rounds down. The least i64 has no magnitude, and is no size either.
    size = np.abs(a) // np.abs(b)
    return np.where((a < 0) != (b < 0), -size, size)


def fold_remainder(node: Node) -> Tensor | Sequence[Tensor | None] | None:
    """The sign is the divisor's, with `fmod` the dividend's (ONNX operator Mod, version 10)."""
    return arithmetic("mod", np.fmod if node.integer("fmod") else np.mod)(node)


def relation(numbers: Callable[[Any, Any], Any]) -> Fold:
    """Comparisons; of affine forms, those whose difference is a number."""

    def combine(a: Any, b: Any) -> bool:
        # Two forms compare alike for all sizes where their difference is a number.
        difference = as_number(extent(a) - extent(b))
        if difference is None:
            raise _NotAffine
        return bool(numbers(difference, 0))

    def fold(node: Node) -> Tensor | None:
        arrays = _operands(node)
        if arrays is None:
            return None
        if all(each.dtype != object for each in arrays):
            return known_tensor(np.asarray(numbers(arrays[0], arrays[1])))
        try:
            found = np.frompyfunc(combine, 2, 1)(*[each.astype(object) for each in arrays])
        except _NotAffine:
            node.refuse("a comparison depends on sizes", "give the sizes: `--set NAME=VALUE`")
        return known_tensor(np.asarray(found).astype(bool))

    return fold


# Sources


def fold_constant(node: Node) -> Tensor:
    """A constant of the model: of numbers, not of texts."""
    (name, value), *_ = [*node.attributes.items(), ("", None)]
    if name in ("value_float", "value_floats"):
        return known_tensor(np.asarray(value, np.float32))
    if name in ("value_int", "value_ints"):
        return known_tensor(np.asarray(value, np.int64))
    held = np.asarray(value) if name == "value" else None
    if held is None or find_kind(held.dtype) is None:
        node.fail("PL0185", "the constant has elements that no machine has", "use numbers of 8 to 32 bits, or double")
    return known_tensor(held)


def fold_shape(node: Node) -> Tensor:
    extents = node.tensor().shape
    rank = len(extents)
    # ONNX operator Shape, version 15: bounds beyond the rank are cut, not refused.
    start, end = (_clamp(node.integer(name, other), rank) for name, other in (("start", 0), ("end", rank)))
    return known_tensor(normalize(_objects(extents[start:end])), "i64")


def _objects(extents: Sequence[Affine]) -> Known:
    # np.array would look for a sequence in each form, and make an axis of it.
    found = np.empty(len(extents), object)
    found[:] = extents
    return found


def _clamp(number: int, rank: int) -> int:
    return min(max(number + rank if number < 0 else number, 0), rank)


def fold_size(node: Node) -> Tensor:
    total = extent(1)
    for each in node.tensor().shape:
        number, form = (each.constant, total) if each.is_constant else (as_number(total), each)
        if number is None:
            node.refuse("the number of elements is no affine form of sizes", "give the sizes: `--set NAME=VALUE`")
        total = form * number
    return known_tensor(normalize(np.asarray(total, object)), "i64")


def fold_filled(node: Node) -> Tensor:
    """`ConstantOfShape`: one number in every element."""
    numbers = node.known_array(0)
    if numbers is None:
        node.integers(0, "shape")
        return node.tensor()
    shape = tuple(extent(each) for each in numbers.reshape(-1))
    value = np.asarray(node.attributes.get("value", np.zeros(1, np.float32))).reshape(-1)
    kind = find_kind(value.dtype)
    if kind is None:
        node.fail("PL0185", "the value has a type that no machine has", "use numbers of 8 to 32 bits, or double")
    sizes = [as_number(each) for each in shape]
    # A view of one number: a shape of a billion elements takes no memory.
    whole = None if None in sizes else np.broadcast_to(value, [n or 0 for n in sizes])
    if kind == "i64":
        if whole is None:
            node.refuse("integers of 64 bits have a shape that depends on sizes")
        return known_tensor(whole)
    number = constant(value[0].item(), held_type(kind))
    filled = element_view(number, (), shape) if shape else number
    # Few numbers may give a shape later; of many only the value counts, in an array of stride 0.
    small = whole if whole is not None and whole.size <= 4096 else None
    return Tensor(kind, shape, filled, small)


def fold_range(node: Node) -> Tensor | None:
    arrays = [node.known_array(n) for n in range(3)]
    if any(each is None or each.dtype == object for each in arrays):
        node.integers(0, "bounds")
        node.integers(1, "bounds")
        node.integers(2, "bounds")
        node.fail("PL0188", "the bounds are data, and the program depends on them", "make them constants")
    bounds = [each for each in arrays if each is not None]
    if find_kind(bounds[0].dtype) is None:
        help = "use numbers of 8 to 32 bits, or double"
        node.fail("PL0185", f"no machine has elements of the type {bounds[0].dtype}", help)
    start, limit, step = [each.reshape(-1)[0] for each in bounds]
    if step == 0:
        node.refuse("the step is 0", "give another step")
    # ONNX operator Range: max(ceil((limit - start) / delta), 0) elements, also for steps that are negative.
    count = max(int(np.ceil((limit - start) / step)), 0)
    if count > _MOST:
        node.refuse(f"the range has {count} elements", f"use at most {_MOST}")
    return known_tensor((start + np.arange(count) * step).astype(bounds[0].dtype))


# Movement


def fold_cast(node: Node) -> Tensor | None:
    arrays, to = _operands(node), node.integer("to")
    if arrays is None:
        return None
    kind = "i64" if to == INT64 else element_kind(to)
    if kind is None or arrays[0].dtype == object:
        # A size stays a form in i32, too: as data it would have to be known.
        if arrays[0].dtype == object and kind in ("i64", "i32"):
            return known_tensor(arrays[0], "i64")
        node.fail("PL0185", "no machine has elements of this type", "cast to numbers of 8 to 32 bits, or double")
    return known_tensor(arrays[0].astype(NUMPY_KINDS[kind]))


def fold_cast_to_integers(node: Node) -> Tensor | None:
    """`Cast` of known numbers to integers of 64 bits."""
    held = node.known_array(0)
    if held is not None and held.dtype != object and node.integer("to") == INT64 and held.size <= _MOST:
        return known_tensor(held.astype(np.int64))
    return fold_cast(node)


def fold_cast_to_type(node: Node) -> Tensor | None:
    held, like = node.known_array(0), node.tensor(1).kind
    if held is None or held.dtype == object or "i64" not in (node.tensor(0).kind, like) or held.size > _MOST:
        return None
    return known_tensor(held.astype(NUMPY_KINDS[like]))


def fold_gather(node: Node) -> Tensor | None:
    held, index = node.known_array(0), node.known_array(1)
    if held is None or index is None or node.tensor(0).kind != "i64" or index.dtype == object:
        return None
    axis = node.axis(node.integer("axis"), held.ndim)
    # Negative indices count from the end (version 11); those beyond are an error of the model, which take would hide
    # in some modes.
    if index.size and not -held.shape[axis] <= index.min() <= index.max() < held.shape[axis]:
        node.refuse("an index is outside of the axis", "give an index that the axis has")
    return known_tensor(normalize(held.take(index.astype(np.int64), axis)), "i64")


def fold_concat(node: Node) -> Tensor | None:
    arrays = _operands(node)
    if arrays is None:
        return None
    whole = np.concatenate(arrays, node.axis(node.integer("axis"), arrays[0].ndim))
    return known_tensor(normalize(whole), "i64")


def fold_reshape(node: Node) -> Tensor | None:
    arrays = _operands(node) if node.tensor().kind == "i64" else None
    if arrays is None or len(arrays) < 2:
        return None
    # 0 keeps an extent of the operand, unless `allowzero` says that it is one of 0 (ONNX operator Reshape, version
    # 14).
    sizes = [arrays[0].shape[n] if each == 0 and not node.integer("allowzero") else int(each) for n, each in
             enumerate(arrays[1].reshape(-1))]  # fmt: skip
    return known_tensor(arrays[0].reshape(sizes))


def fold_squeeze(node: Node) -> Tensor | None:
    held = node.known_array(0)
    if held is None or node.tensor().kind != "i64":
        return None
    axes = node.list("axes") if node.version < 13 else node.integers(1, "axes")
    chosen = None if axes is None else tuple(node.axis(n, held.ndim) for n in axes)
    return known_tensor(np.squeeze(held, chosen))


def fold_unsqueeze(node: Node) -> Tensor | None:
    held = node.known_array(0)
    if held is None or node.tensor().kind != "i64":
        return None
    axes = (node.list("axes") if node.version < 13 else node.integers(1, "axes")) or []
    rank = held.ndim + len(axes)
    return known_tensor(np.expand_dims(held, tuple(node.axis(n, rank) for n in axes)))


def fold_slice(node: Node) -> Tensor | None:
    held = node.known_array(0)
    if held is None or node.tensor().kind != "i64" or node.version < 10:
        return None
    starts, ends = node.integers(1, "starts") or [], node.integers(2, "ends") or []
    axes = node.integers(3, "axes") or [*range(len(starts))]
    steps = node.integers(4, "steps") or [1] * len(starts)
    where = [slice(None)] * held.ndim
    for start, end, axis, step in zip(starts, ends, axes, steps, strict=False):
        # ONNX writes the end of a descending slice that takes the first element as a number below -extent; Python's
        # slices would count it from the end again.
        # Below the start, an end of a descending slice is that of the array.
        stop = None if step < 0 and end < -held.shape[axis] else end
        where[node.axis(axis, held.ndim)] = slice(start, stop, step)
    return known_tensor(normalize(held[tuple(where)]), "i64")


def fold_split(node: Node) -> Sequence[Tensor] | None:
    held = node.known_array(0)
    if held is None or node.tensor().kind != "i64":
        return None
    axis = node.axis(node.integer("axis"), held.ndim)
    given = node.list("split") if node.version < 13 else node.integers(1, "split")
    sizes = given or [held.shape[axis] // len(node.results)] * len(node.results)
    return [known_tensor(normalize(part), "i64") for part in np.split(held, np.cumsum(sizes)[:-1].tolist(), axis)]


def fold_selection(node: Node) -> Tensor | None:
    arrays = _operands(node)
    if arrays is None:
        return None
    test, a, b = arrays
    if object in (a.dtype, b.dtype):
        a, b = a.astype(object), b.astype(object)
    return known_tensor(normalize(np.where(test, a, b)), "i64")


def reduction(function: Callable[..., Any]) -> Fold:
    def fold(node: Node) -> Tensor | None:
        held = node.known_array(0)
        if held is None or node.tensor().kind != "i64" or held.dtype == object:
            return None
        axes = node.integers(1, "axes") if node.has_operand(1) else node.list("axes")
        if not axes and node.integer("noop_with_empty_axes"):
            return node.tensor()
        chosen = tuple(node.axis(n, held.ndim) for n in axes) if axes else tuple(range(held.ndim))
        return known_tensor(np.asarray(function(held, axis=chosen, keepdims=bool(node.integer("keepdims", 1)))))

    return fold


def _expand(a: Known, shape: Known) -> Known:
    # Both ways: an extent of 1 in the wanted shape takes that of the operand.
    sizes = np.broadcast_shapes(a.shape, tuple(int(n) for n in shape))
    if prod(sizes) > _MOST:
        raise ValueError("too large")
    return np.broadcast_to(a, sizes)


def fold_expand(node: Node) -> Tensor | None:
    if node.tensor().kind != "i64" or node.known_array(0) is None:
        return None
    numbers = node.integers(1, "shape") or []
    held = node.known_array(0)
    assert held is not None
    try:
        return known_tensor(_expand(held, np.array(numbers)))
    except ValueError:
        node.refuse("integers of 64 bits are expanded to a shape that does not agree, or is large")


FOLDING: Final[Mapping[str, Fold]] = {
    "Constant": fold_constant,
    "Shape": fold_shape,
    "Size": fold_size,
    "ConstantOfShape": fold_filled,
    "Range": fold_range,
    "Cast": fold_cast_to_integers,
    "CastLike": fold_cast_to_type,
    "Gather": fold_gather,
    "Concat": fold_concat,
    "Reshape": fold_reshape,
    "Squeeze": fold_squeeze,
    "Unsqueeze": fold_unsqueeze,
    "Slice": fold_slice,
    "Split": fold_split,
    "Where": fold_selection,
    "Expand": fold_expand,
    "Add": arithmetic("add", np.add),
    "Sub": arithmetic("sub", np.subtract),
    "Mul": arithmetic("mul", np.multiply),
    "Div": arithmetic("div", _cut_division),
    "Mod": fold_remainder,
    "Max": arithmetic("max", np.maximum),
    "Min": arithmetic("min", np.minimum),
    "Neg": fold_arrays(np.negative),
    "Abs": fold_arrays(np.abs),
    "Equal": relation(np.equal),
    "Less": relation(np.less),
    "LessOrEqual": relation(np.less_equal),
    "Greater": relation(np.greater),
    "GreaterOrEqual": relation(np.greater_equal),
    "ReduceProd": reduction(np.prod),
    "ReduceSum": reduction(np.sum),
    "ReduceMax": reduction(np.max),
    "ReduceMin": reduction(np.min),
}
