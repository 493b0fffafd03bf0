# SPDX-License-Identifier: Apache-2.0
"""New arrays: of one value, of steps, of constants, and copies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from polyloom.frontend.python.arrays.functions.reductions import numpy_dtype
from polyloom.frontend.python.arrays.site import Site
from polyloom.frontend.python.arrays.values import Data, as_items, as_sequence, convert_element, numpy_type
from polyloom.ir.arrays.program import Cases, Form, Shape, Value, axis, element_view
from polyloom.ir.arrays.quotients import ceiling_quotient
from polyloom.ir.operations import FLOATS
from polyloom.ir.pla import Constant
from polyloom.sets import Affine, Condition, Polyhedron

MOST_ELEMENTS = 256
"""Of an array of constants that is written out."""


def extents(site: Site, given: Any) -> Shape:
    """A shape as a call gives it."""
    items = as_items(given)
    for item in items:
        if not isinstance(item, Affine):
            raise site.error(
                "PL0149", f"an extent of `{site.source_text}` is not affine", "use sums of sizes and integers"
            )
        if not site.builder.require(item):
            may = "is" if item.is_constant else "may be"
            help = "write an integer of at least 0" if item.is_constant else f"assert {item} >= 0"
            raise site.error("PL0149", f"the extent {item} of `{site.source_text}` {may} negative", help)
    return items


def full(site: Site, shape: Any, fill_value: Any, dtype: Any = None, order: Any = "C") -> Any:
    del order
    value = site.data(fill_value)
    if dtype is not None:
        value = site.convert_data(value, numpy_dtype(site, dtype))
    elif value.weak:
        value = site.convert_data(value, np.dtype(np.float64 if value.dtype in FLOATS else np.int64))
    return site.fill_shape(value, extents(site, shape))


def constant_handler(number: float) -> Callable[..., Any]:
    """`zeros`, `ones`, and `empty`, whose elements are 0 here."""

    def function(site: Site, shape: Any, dtype: Any = float, order: Any = "C") -> Any:
        return full(site, shape, number, np.float64 if dtype is None else dtype, order)

    return function


def constant_like_handler(number: float | None) -> Callable[..., Any]:
    """`zeros_like` and the like."""

    def function(site: Site, a: Any, *more: Any, dtype: Any = None, shape: Any = None, fill_value: Any = None) -> Any:
        data = site.data(a)
        value = fill_value if fill_value is not None else more[0] if number is None else number
        kind = numpy_dtype(site, dtype) if dtype is not None else numpy_type(data)
        return site.fill_shape(site.convert_data(value, kind), data.shape if shape is None else extents(site, shape))

    return function


def arange(site: Site, start: Any, stop: Any = None, step: Any = None, dtype: Any = None) -> Any:
    """Steps from a start; of integers, an affine form of the axis."""
    first, end = (Affine(), start) if stop is None else (start, stop)
    by = Affine((), 1) if step is None else step
    if not all(isinstance(v, Affine) for v in (first, end, by)) or not by.is_constant or not by.constant:
        help = "give integers and a constant step; for others write `start + np.arange(n) * step`"
        raise site.error("PL0134", f"the length of `{site.source_text}` is no affine form of integers", help)
    # An empty range is allowed; one of negative length for some sizes would be empty in NumPy and is refused here.
    length = end - first if by.constant > 0 else first - end
    if not site.builder.require(length):
        raise site.error("PL0149", f"`{site.source_text}` has {length} elements", f"assert that {length} >= 0")
    number = ceiling_quotient(length, abs(by.constant))
    found = Data(Form(first + axis(0) * by.constant, "i32", (number,), site.span), wide=True, exact=True)
    return found if dtype is None else site.convert_data(found, numpy_dtype(site, dtype))


def linspace(site: Site, start: Any, stop: Any, num: Any = 50, endpoint: bool = True, dtype: Any = None) -> Any:
    """As NumPy does: start + n * ((stop - start) / (num - 1)), with the last one exactly."""
    number = Affine((), num) if isinstance(num, int) else num
    parts = number - 1 if endpoint else number
    if not site.builder.require(parts - 1):
        raise site.error("PL0149", f"`{site.source_text}` has too few elements", f"assert that {number} >= 2")
    double = np.dtype(np.float64)
    kind = numpy_dtype(site, dtype) if dtype is not None else double
    # NumPy computes in doubles, and converts to integers at the end.
    work = kind if kind.kind == "f" else double
    a, b = (
        site.convert_data(
            v if isinstance(v, Data) else float(v.constant) if isinstance(v, Affine) and v.is_constant else v, work
        )
        for v in (start, stop)
    )
    step = site.apply("div", site.apply("sub", b, a), site.convert_data(parts, work))
    steps = site.convert_data(Data(Form(axis(0), "i32", (number,), site.span), wide=True, exact=True), work)
    found = site.apply("add", site.apply("mul", steps, step), a)
    if endpoint:
        # NumPy stores the end itself, which the steps might miss by a rounding.
        last = Condition((Polyhedron((axis(0) - (number - 1),)),))
        found = Data(Cases(last, b.value, found.value, (number,), site.span))
    return site.convert_data(found, kind)


def eye(site: Site, N: Any, M: Any = None, k: Any = None, dtype: Any = float) -> Any:
    """Ones on a diagonal."""
    shape = extents(site, (N, N if M is None else M))
    kind = numpy_dtype(site, dtype)
    one, zero = (site.convert_data(v, kind).value for v in (1.0 if kind.kind == "f" else Affine((), 1), Affine()))
    # The diagonal as two inequalities: conditions have no equations.
    difference = axis(1) - axis(0) - (k if isinstance(k, Affine) else 0)
    where = Condition((Polyhedron((difference, -difference)),))
    return Data(Cases(where, one, zero, shape, site.span))


def array(site: Site, object: Any, dtype: Any = None, copy: Any = True, order: Any = None) -> Any:
    """Of nested lists: a piecewise value, or a copy of an array."""
    del copy, order
    if isinstance(object, Data):
        found = Data(object.value, object.weak, object.wide, object.exact)
        return found if dtype is None else site.convert_data(found, numpy_dtype(site, dtype))
    if isinstance(object, np.ndarray):
        return table(site, object if dtype is None else object.astype(numpy_dtype(site, dtype)))
    items = as_lists(object)
    kinds = [site.data(item) for item in flatten_lists(items)]
    kind = numpy_dtype(site, dtype) if dtype is not None else None
    if kind is None:
        # Numbers of Python take the type of arrays beside them (NEP 50).
        strong = [numpy_type(d) for d in kinds if not d.weak]
        floats = any(d.dtype in FLOATS for d in kinds)
        kind = np.result_type(*strong) if strong else np.dtype(np.float64 if floats else np.int64)
    return stack_items(site, items, kind)


def as_lists(value: Any) -> Any:
    found = as_sequence(value)
    return value if found is None else [as_lists(v) for v in found]


def flatten_lists(value: Any) -> list[Any]:
    found = as_sequence(value)
    return [value] if found is None else [each for v in found for each in flatten_lists(v)]


def stack_items(site: Site, items: Any, kind: Any) -> Data:
    inner = as_sequence(items)
    if inner is None:
        return site.convert_data(items, kind)
    parts = [stack_items(site, item, kind) for item in inner]
    if len(flatten_lists(items)) > MOST_ELEMENTS or not parts:
        help = "make it a table of the module, or an argument"
        raise site.error("PL0134", f"`{site.source_text}` has {len(flatten_lists(items))} elements", help)
    return site.call(site, np.stack, [parts], {})


def table(site: Site, constants: Any) -> Data:
    """An array of the module as a local array, whose elements are stored one by one."""
    kind = np.dtype(constants.dtype)
    if kind.kind not in "biuf":
        help = "convert it in front of the function: `.astype(np.float32)`"
        raise site.error("PL0139", f"`{site.source_text}` has elements of the type {kind}", help)
    if constants.size > MOST_ELEMENTS:
        help = f"pass it as an argument: tables of the module have up to {MOST_ELEMENTS} numbers"
        raise site.error("PL0140", f"`{site.source_text}` is a table of {constants.size} elements", help)
    wide = kind == np.int64
    name = site.convert_data(0.0 if kind.kind == "f" else Affine(), kind).dtype
    shape = tuple(Affine((), n) for n in constants.shape)
    read = site.builder.array("table", name, shape, site.span)
    # A table is there before any test is made.
    guard, site.builder.guard = site.builder.guard, None
    for point in np.ndindex(*constants.shape):
        number = constants[point].item()
        value: Value = Constant(float(number) if name in FLOATS else int(number), name, site.span)
        target = read.__class__(read.name, name, tuple(Affine((), n) for n in point), (), site.span)
        site.builder.store(target, value, site.span)
    site.builder.guard = guard
    return Data(read, wide=wide, exact=wide, is_view=True)


def copy(site: Site, a: Any, order: Any = None) -> Any:
    del order
    data = site.data(a)
    return Data(data.value, data.weak, data.wide, data.exact)


def astype(site: Site, a: Any, dtype: Any, copy: Any = True) -> Any:
    """A conversion; of floats to integers as everywhere in a kernel."""
    del copy
    data = site.data(a)
    kind = numpy_dtype(site, dtype)
    if data.wide and kind.kind in "iu" and kind.itemsize <= 4:
        return site.convert_data(Data(data.value, weak=False), kind)
    if data.weak and data.dtype in FLOATS and kind.kind in "iu":
        return Data(convert_element(data.value, site.convert_data(Affine(), kind).dtype))
    return site.convert_data(data, kind)


def asarray(site: Site, a: Any, dtype: Any = None) -> Any:
    """The array itself where it has the type."""
    # No copy: a store through the result shows in the array.
    if isinstance(a, Data) and (dtype is None or numpy_dtype(site, dtype) == numpy_type(a)):
        return a
    return array(site, a, dtype)


def index_array(site: Site, shape: Any, number: int) -> Any:
    found = extents(site, shape)
    return Data(Form(axis(number), "i32", found, site.span), wide=True, exact=True)


def indices(site: Site, dimensions: Any) -> Any:
    shape = extents(site, dimensions)
    return tuple(index_array(site, shape, n) for n in range(len(shape)))


def meshgrid(site: Site, *xi: Any, indexing: str = "xy") -> Any:
    """The views of vectors as arrays of all their axes."""
    datas = [site.data(x) for x in xi]
    # Cartesian indexing, NumPy's default, exchanges the first two axes.
    order = [1, 0, *range(2, len(datas))] if indexing == "xy" and len(datas) > 1 else [*range(len(datas))]
    shape = tuple(datas[n].shape[0] for n in order)
    return tuple(
        Data(element_view(d.value, [axis(order.index(n))], shape, site.span), d.weak, d.wide, d.exact)
        for n, d in enumerate(datas)
    )


def length(site: Site, value: Any) -> Any:
    """`len(x)`."""
    if isinstance(value, Data) and value.shape:
        return value.shape[0]
    if (items := as_sequence(value)) is not None:
        return Affine((), len(items))
    raise site.error("PL0138", f"`{site.source_text}`: a number has no length", "take that of an array")


def number(kind: Any) -> Callable[..., Any]:
    """`float(x)` and `int(x)`."""

    def function(site: Site, x: Any) -> Any:
        if isinstance(x, Affine) and (kind is int or x.is_constant):
            return x if kind is int else float(x.constant)
        if isinstance(x, float):
            return x if kind is float else Affine((), int(x))
        data = site.data(x)
        if kind is float:
            found = site.convert_data(data, np.dtype(np.float64)) if data.dtype != "f32" else data
            return Data(found.value, weak=found.dtype == "f64")
        if data.wide:
            return data
        return Data(convert_element(data.value, "i32"), wide=True, exact=True)

    return function


def identity(site: Site, n: Any, dtype: Any = float) -> Any:
    return eye(site, n, dtype=dtype)


def shape_tuple(site: Site, a: Any) -> Any:
    return site.data(a).shape


def rank(site: Site, a: Any) -> Any:
    return Affine((), len(site.data(a).shape))


def test(site: Site, x: Any) -> Any:
    return site.truth(x)


FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.full: full,
    np.zeros: constant_handler(0.0),
    np.ones: constant_handler(1.0),
    np.empty: constant_handler(0.0),
    np.zeros_like: constant_like_handler(0.0),
    np.ones_like: constant_like_handler(1.0),
    np.empty_like: constant_like_handler(0.0),
    np.full_like: constant_like_handler(None),
    np.arange: arange,
    np.linspace: linspace,
    np.eye: eye,
    np.identity: identity,
    np.array: array,
    np.asarray: asarray,
    np.ascontiguousarray: asarray,
    np.asanyarray: asarray,
    np.copy: copy,
    np.indices: indices,
    np.meshgrid: meshgrid,
    np.shape: shape_tuple,
    np.ndim: rank,
    len: length,
    float: number(float),
    int: number(int),
    bool: test,
}
