# SPDX-License-Identifier: Apache-2.0
"""Reductions and scans with `axis`, `dtype` and `keepdims`.

NumPy sums small integers in 64 bits; here their low 32 bits are computed, and what needs the others is refused.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable
from functools import reduce
from typing import Any, cast

import numpy as np

from polyloom.frontend.python.arrays.functions.elementwise import binary, square, to_array, unary
from polyloom.frontend.python.arrays.indexing import read_axes
from polyloom.frontend.python.arrays.site import Site
from polyloom.frontend.python.arrays.values import Data, Generator, as_bool, as_sequence, truth
from polyloom.frontend.python.types import NAMED
from polyloom.ir.arrays.program import Reduce, Scan, Shape, axis, element_view
from polyloom.ir.numbers import NUMPY
from polyloom.ir.operations import FLOATS
from polyloom.sets import Affine

_ONE = Affine((), 1)


def numpy_dtype(site: Site, named: Any) -> np.dtype[Any]:
    """The type that `dtype=` names."""
    if isinstance(named, type) and named in NAMED:
        return NUMPY[NAMED[named]]
    if isinstance(named, np.dtype):
        return cast(np.dtype[Any], named)
    # Python's own types as NumPy understands them; `np.dtype(int)` would depend on the host.
    known: dict[Any, Any] = {float: np.float64, int: np.int64, bool: np.bool_}
    try:
        found: np.dtype[Any] = np.dtype(known.get(named, named))
        return found
    except (TypeError, ValueError):
        raise site.error("PL0142", f"`{site.source_text}` names no element type", "write `np.float32`") from None


def total(name: str) -> Callable[..., Any]:
    """`sum` or `prod`."""

    def function(
        site: Site, a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False
    ) -> Any:
        data = site.data(to_array(site, a))
        if dtype is not None:
            data = site.convert_data(data, numpy_dtype(site, dtype))
        elif data.dtype not in FLOATS and data.dtype not in ("u32",):
            # Each term fits 32 bits; of the sum, the low ones are known. A count of bools is the whole number.
            exact = data.dtype == "bool" and name == "add"
            # The sum of 32-bit terms modulo 2^32 is the low half of NumPy's.
            data = Data(site.element(data, "i32").value, wide=True, exact=exact) if not data.wide else data
            found = reduce_axes(site, name, data, axis, keepdims)
            return store_result(site, out, Data(found.value, wide=True, exact=exact))
        elif data.dtype == "u32":
            help = "choose the type: `dtype=np.uint32`"
            raise site.error("PL0139", f"`{site.source_text}` has 64 bits in NumPy", help)
        return store_result(site, out, reduce_axes(site, name, data, axis, keepdims))

    return function


def store_result(site: Site, out: Any, found: Data) -> Any:
    """`out=`."""
    if out is None:
        return found
    site.store(out, found)
    return out


def reduce_axes(site: Site, name: Any, data: Data, axis: Any, keepdims: Any) -> Data:
    """A reduction along axes."""
    # A number has no axes: its sum is the number.
    over = read_axes(site, axis, len(data.shape))
    if not over:
        return data
    if name in ("maximum", "minimum", "argmax", "argmin") and not site.builder.require(
        *(data.shape[n] - 1 for n in over)
    ):
        help = "write `assert N >= 1` for its extents"
        raise site.error("PL0149", f"`{site.source_text}` may be of no elements", help)
    found = Data(Reduce(name, over, data.value, site.span), wide=data.wide)
    return keep_dimensions(site, found, over, data.shape) if keepdims else found


def keep_dimensions(site: Site, found: Data, over: tuple[int, ...], extents: Shape) -> Data:
    """With an extent of 1 for each axis that is gone (`keepdims`)."""
    rest = [n for n in range(len(extents)) if n not in over]
    index = tuple(map(axis, rest))
    shape = tuple(_ONE if n in over else e for n, e in enumerate(extents))
    # A reduction along all axes is a number, which no view can index.
    if not found.shape:
        return site.fill_shape(found, shape)
    return Data(element_view(found.value, index, shape, site.span), found.weak, found.wide, found.exact)


def extreme(name: str) -> Callable[..., Any]:
    """`max` or `min`: a NaN where there is one."""

    def function(site: Site, a: Any, axis: Any = None, out: Any = None, keepdims: bool = False) -> Any:
        data = site.data(to_array(site, a))
        if data.dtype == "bool":
            return truths("or" if name == "maximum" else "and")(site, data, axis, out, keepdims)
        found = reduce_axes(site, name, data, axis, keepdims)
        return store_result(site, out, Data(found.value, wide=data.wide, exact=data.exact))

    return function


def place(name: str) -> Callable[..., Any]:
    """`argmax` or `argmin`: an integer of 64 bits that 32 always hold."""

    def function(site: Site, a: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
        data = site.data(to_array(site, a))
        # The place counts through all elements, as in NumPy.
        if axis is None and len(data.shape) > 1:
            data = site.call(site, np.ravel, [data], {})
        over = (0,) if axis is None else read_axes(site, axis, len(data.shape))
        data = site.element(data, "i32") if data.dtype == "bool" else data
        found = reduce_axes(site, name, data, tuple(Affine((), n) for n in over), keepdims)
        return Data(found.value, wide=True, exact=True)

    return function


def truths(name: str) -> Callable[..., Any]:
    """`any` or `all`."""

    def function(site: Site, a: Any, axis: Any = None, out: Any = None, keepdims: bool = False) -> Any:
        data = site.truth(to_array(site, a))
        if not data.shape:
            return data
        # As integers: reductions of bools would need operations of their own on every machine.
        bits = Data(truth(data.value))
        found = reduce_axes(site, name, bits, axis, keepdims)
        return store_result(site, out, Data(as_bool(found.value)))

    return function


def mean(site: Site, a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False) -> Any:
    """The sum, divided by the number of elements."""
    data = site.data(to_array(site, a))
    kind = numpy_dtype(site, dtype) if dtype is not None else None
    real = kind or (NUMPY[data.dtype] if data.dtype in FLOATS else np.dtype(np.float64))
    data = site.convert_data(data, real)
    found = reduce_axes(site, "add", data, axis, keepdims)
    number = site.convert_data(count(site, data.shape, read_axes(site, axis, len(data.shape))), real)
    return store_result(site, out, site.apply("div", found, number))


def count(site: Site, extents: Shape, over: tuple[int, ...]) -> Any:
    """How many elements are along axes: no array has as many as 32 bits do not hold."""
    found = reduce(lambda a, b: binary(site, "*", a, b), [extents[n] for n in over], _ONE)
    return Data(found.value, wide=True, exact=True) if isinstance(found, Data) else found


def variance(
    site: Site, a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: Any = 0, keepdims: bool = False
) -> Any:
    """The mean of the squares of differences from the mean."""
    data = site.data(to_array(site, a))
    over = read_axes(site, axis, len(data.shape))
    # Bound to a name: otherwise the mean would be computed again for each element.
    middle = site.bind_name(mean(site, data, axis, dtype, None, True))
    squares = square(site, site.apply("sub", data, middle))
    found = reduce_axes(site, "add", squares, axis, keepdims)
    ddof = Affine((), ddof) if isinstance(ddof, int) else ddof
    number = binary(site, "-", count(site, data.shape, over), ddof)
    return store_result(site, out, site.apply("div", found, site.convert_data(number, NUMPY[found.dtype])))


def deviation(
    site: Site, a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: Any = 0, keepdims: bool = False
) -> Any:
    return store_result(site, out, unary(site, "sqrt", variance(site, a, axis, dtype, None, ddof, keepdims)))


def norm(site: Site, x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    """The root of the sum of squares."""
    if ord is not None:
        raise site.error("PL0134", f"`{site.source_text}` with another norm than the usual one", "write it out")
    return unary(site, "sqrt", reduce_axes(site, "add", square(site, site.data(to_array(site, x))), axis, keepdims))


def scan(name: Any) -> Callable[..., Any]:
    """`cumsum` or `cumprod`."""

    def function(site: Site, a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
        data = site.data(to_array(site, a))
        if axis is None and len(data.shape) > 1:
            data = site.call(site, np.ravel, [data], {})
        wide = False
        if dtype is not None:
            data = site.convert_data(data, numpy_dtype(site, dtype))
        elif data.dtype not in FLOATS:
            data, wide = site.element(data, "i32"), True
        (along,) = (0,) if axis is None else read_axes(site, axis, len(data.shape))
        return store_result(site, out, Data(Scan(name, along, data.value, site.span), wide=wide))

    return function


def sum_of_python(site: Site, a: Any, start: Any = None) -> Any:
    """Python's `sum`: of an array its first axis, of a generator a loop."""
    begin = Affine() if start is None else start
    if isinstance(a, Generator):
        return site.call(site, a, [begin], {})
    if isinstance(a, Data):
        data = a
        if data.dtype not in FLOATS and not data.wide and data.dtype != "bool":
            found = reduce_axes(site, "add", data, Affine(), False)
        else:
            found = total("add")(site, data, Affine())
        return found if start is None else binary(site, "+", found, start)
    items = as_sequence(a)
    if items is None:
        help = "sum an array, a tuple, or `x[i] for i in range(N)`"
        raise site.error("PL0134", f"`{site.source_text}` sums what is none of these", help)
    return reduce(lambda x, y: binary(site, "+", x, y), items, begin)


def count_nonzero(site: Site, a: Any, axis: Any = None) -> Any:
    return total("add")(site, site.truth(a), axis)


FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.sum: total("add"),
    np.prod: total("mul"),
    np.max: extreme("maximum"),
    np.amax: extreme("maximum"),
    np.min: extreme("minimum"),
    np.amin: extreme("minimum"),
    np.mean: mean,
    np.average: mean,
    np.var: variance,
    np.std: deviation,
    np.any: truths("or"),
    np.all: truths("and"),
    np.argmax: place("argmax"),
    np.argmin: place("argmin"),
    np.cumsum: scan("add"),
    np.cumprod: scan("mul"),
    np.linalg.norm: norm,
    np.count_nonzero: count_nonzero,
    builtins.sum: sum_of_python,
    builtins.any: truths("or"),
    builtins.all: truths("and"),
}
METHODS: dict[str, Any] = {
    "sum": np.sum,
    "prod": np.prod,
    "max": np.max,
    "min": np.min,
    "mean": np.mean,
    "var": np.var,
    "std": np.std,
    "any": np.any,
    "all": np.all,
    "argmax": np.argmax,
    "argmin": np.argmin,
    "cumsum": np.cumsum,
    "cumprod": np.cumprod,
    "clip": np.clip,
    "dot": np.dot,
    "transpose": np.transpose,
    "swapaxes": np.swapaxes,
    "squeeze": np.squeeze,
    "copy": np.copy,
    "ravel": np.ravel,
    "trace": np.trace,
    "diagonal": np.diagonal,
    "round": np.rint,
}
