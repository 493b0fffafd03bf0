# SPDX-License-Identifier: Apache-2.0
"""Products of arrays as contractions: `@`, `dot`, `inner`, `outer`, `einsum`, `tensordot`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from string import ascii_letters
from typing import Any

import numpy as np

from polyloom.frontend.python.arrays.functions.elementwise import to_array
from polyloom.frontend.python.arrays.functions.reductions import store_result
from polyloom.frontend.python.arrays.functions.shaping import pad
from polyloom.frontend.python.arrays.indexing import read_axes
from polyloom.frontend.python.arrays.site import Site
from polyloom.frontend.python.arrays.values import Data, as_sequence, common_type, is_wide
from polyloom.ir.arrays.program import Contract, axes, axis, element_view
from polyloom.ir.arrays.verify import print_shape
from polyloom.sets import Affine


def contract(site: Site, labels: Sequence[str], result: str, operands: Sequence[Data]) -> Data:
    """An Einstein sum in the common type; raises PL0149 where extents of a label differ."""
    kind = common_type([*operands]) or np.dtype(np.int64)
    datas = [site.convert_data(o, kind) for o in operands]
    if datas[0].dtype == "bool":
        help = "convert them: `.astype(np.int32)`, or write `np.any(a & b, axis)`"
        raise site.error("PL0139", f"`{site.source_text}` is a product of bools", help)
    extents = dict[str, Affine]()
    for names, data in zip(labels, datas, strict=True):
        for label, extent in zip(names, data.shape, strict=True):
            known = extents.setdefault(label, extent)
            if not site.builder.proves_equality(known, extent):
                shapes = " and ".join(print_shape(d.shape) for d in datas)
                help = f"the extents {known} and {extent} have to be equal for all sizes"
                message = f"`{site.source_text}` multiplies arrays of the shapes {shapes}"
                raise site.error("PL0149", message, help)
    made = [
        Data(element_view(d.value, axes(len(names)), tuple(extents[n] for n in names), site.span))
        for names, d in zip(labels, datas, strict=True)
    ]
    wide = is_wide(kind)
    return Data(Contract(tuple(labels), result, tuple(d.value for d in made), site.span), wide=wide)


def matmul(site: Site, x1: Any, x2: Any, out: Any = None) -> Any:
    """`@`: the last axis of the first with the last but one of the second; axes before them are batches."""
    a, b = (site.data(to_array(site, x)) for x in (x1, x2))
    if not a.shape or not b.shape:
        raise site.error("PL0149", f"`{site.source_text}` multiplies a number by `@`", "multiply by `*`")
    # A vector has no batches, and its missing axis none in the result.
    batch = max(len(a.shape), len(b.shape), 2) - 2
    letters = ascii_letters[3 : 3 + batch]
    if len(a.shape) > 2 or len(b.shape) > 2:
        common = site.common_shape([a.shape[:-2], b.shape[:-2]])
        a, b = (_broadcast_batch(site, d, common) for d in (a, b))
    left = "b" if len(a.shape) == 1 else f"{letters[batch - len(a.shape) + 2 :]}ab"
    right = "b" if len(b.shape) == 1 else f"{letters[batch - len(b.shape) + 2 :]}bc"
    result = letters + ("a" if len(a.shape) > 1 else "") + ("c" if len(b.shape) > 1 else "")
    return store_result(site, out, contract(site, [left, right], result, [a, b]))


def _broadcast_batch(site: Site, data: Data, common: Sequence[Affine]) -> Data:
    if len(data.shape) <= 2:
        return data
    return site.spread(data, (*common, *data.shape[-2:]))


def dot(site: Site, a: Any, b: Any, out: Any = None) -> Any:
    """The last axis of the first with the last but one of the second."""
    x, y = (site.data(to_array(site, v)) for v in (a, b))
    if not x.shape or not y.shape:
        return store_result(site, out, site.apply("mul", a, b))
    left = ascii_letters[: len(x.shape)]
    own = ascii_letters[10 : 10 + len(y.shape)]
    place = max(0, len(own) - 2)
    right = own[:place] + left[-1] + own[place + 1 :]
    return store_result(site, out, contract(site, [left, right], left[:-1] + own[:place] + own[place + 1 :], [x, y]))


def inner(site: Site, a: Any, b: Any) -> Any:
    x, y = (site.data(to_array(site, v)) for v in (a, b))
    if not x.shape or not y.shape:
        return site.apply("mul", a, b)
    left, own = ascii_letters[: len(x.shape)], ascii_letters[10 : 9 + len(y.shape)]
    return contract(site, [left, own + left[-1]], left[:-1] + own, [x, y])


def outer(site: Site, a: Any, b: Any, out: Any = None) -> Any:
    """All products of two vectors."""
    x, y = (site.data(to_array(site, v)) for v in (a, b))
    if len(x.shape) != 1 or len(y.shape) != 1:
        raise site.error("PL0149", f"`{site.source_text}` is of vectors", "write `np.multiply` with new axes by `None`")
    extents = (x.shape[0], y.shape[0])
    views = [
        Data(element_view(d.value, [axis(n)], extents, site.span), d.weak, d.wide, d.exact)
        for n, d in enumerate((x, y))
    ]
    return store_result(site, out, site.apply("mul", *views))


def einsum(site: Site, subscripts: Any, *operands: Any, out: Any = None, optimize: Any = None) -> Any:
    """A contraction as NumPy writes it: `ik,kj->ij`."""
    del optimize
    if not isinstance(subscripts, str) or "." in subscripts:
        raise site.error("PL0134", f"`{site.source_text}` has no plain text of labels", "write 'ik,kj->ij'")
    given, arrow, result = subscripts.replace(" ", "").partition("->")
    labels = given.split(",")
    datas = [site.data(to_array(site, o)) for o in operands]
    if len(labels) != len(datas) or any(len(n) != len(d.shape) for n, d in zip(labels, datas, strict=False)):
        shapes = ", ".join(print_shape(d.shape) for d in datas)
        raise site.error(
            "PL0149", f"`{site.source_text}` has operands of the shapes {shapes}", "give a label for each axis"
        )
    if not arrow:
        result = "".join(sorted(n for n in set("".join(labels)) if "".join(labels).count(n) == 1))
    if not set(result) <= set("".join(labels)) or len(set(result)) != len(result) or not all(map(str.isalpha, labels)):
        raise site.error("PL0149", f"`{site.source_text}` gives labels that no operand has", "write 'ik,kj->ij'")
    return store_result(site, out, contract(site, labels, result, datas))


def tensordot(site: Site, a: Any, b: Any, axes: Any = None) -> Any:
    """The last axes of the first with the first ones of the second, or pairs of axes."""
    x, y = (site.data(to_array(site, v)) for v in (a, b))
    first, second = [*ascii_letters[: len(x.shape)]], [*ascii_letters[10 : 10 + len(y.shape)]]
    count = 2 if axes is None else axes.constant if isinstance(axes, Affine) else None
    if count is not None:
        pairs = [(len(first) - count + n, n) for n in range(count)]
    else:
        left, right = as_sequence(axes) or ((), ())
        sides = read_axes(site, left, len(first)), read_axes(site, right, len(second))
        pairs = list(zip(*sides, strict=True))
    for m, n in pairs:
        second[n] = first[m]
    over = {first[m] for m, _ in pairs}
    result = "".join(n for n in (*first, *second) if n not in over)
    return contract(site, ["".join(first), "".join(second)], result, [x, y])


def trace(site: Site, a: Any) -> Any:
    data = site.data(a)
    return contract(site, ["aa"], "", [data])


def convolve(site: Site, a: Any, v: Any, mode: Any = "full") -> Any:
    """Sums of products with a window that runs backwards."""
    return _correlate(site, a, v, mode, -1)


def correlate(site: Site, a: Any, v: Any, mode: Any = "valid") -> Any:
    return _correlate(site, a, v, mode, 1)


def _correlate(site: Site, a: Any, v: Any, mode: Any, step: int) -> Any:
    x, w = (site.data(to_array(site, d)) for d in (a, v))
    if len(x.shape) != 1 or len(w.shape) != 1 or mode not in ("full", "same", "valid"):
        raise site.error(
            "PL0134", f"`{site.source_text}` cannot stand in a kernel", "give vectors, and a mode of NumPy's"
        )
    taps = w.shape[0]
    if mode != "valid":
        if mode == "same" and not taps.is_constant:
            raise site.error(
                "PL0149", f"`{site.source_text}`: the window has {taps} elements", "give a constant length"
            )
        before = (
            taps - 1 if mode == "full" else Affine((), taps.constant // 2 if step > 0 else (taps.constant - 1) // 2)
        )
        behind = taps - 1 - before if mode == "same" else taps - 1
        x = pad(site, x, ((before, behind),))
    length = x.shape[0] - taps + 1
    if not site.builder.require(length):
        raise site.error(
            "PL0149", f"`{site.source_text}`: the window may be longer than the array", "assert that it is not"
        )
    # Windows are a view: no window is copied.
    windows = element_view(x.value, [axis(0) + axis(1)], (length, taps), site.span)
    index = axis(0) if step > 0 else -axis(0) + (taps - 1)
    weights = element_view(w.value, [index], (taps,), site.span)
    return contract(site, ["nk", "k"], "n", [Data(windows), Data(weights)])


FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.matmul: matmul,
    np.dot: dot,
    np.vdot: dot,
    np.inner: inner,
    np.outer: outer,
    np.einsum: einsum,
    np.tensordot: tensordot,
    np.trace: trace,
    np.convolve: convolve,
    np.correlate: correlate,
}
