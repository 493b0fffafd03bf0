# SPDX-License-Identifier: Apache-2.0
"""Views of other shapes, and piecewise arrays: transposes, reshapes, flips; pads, rolls, joined arrays, triangles."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from polyloom.frontend.python.arrays.functions.creation import extents
from polyloom.frontend.python.arrays.functions.elementwise import to_array
from polyloom.frontend.python.arrays.indexing import read_axes
from polyloom.frontend.python.arrays.site import Site
from polyloom.frontend.python.arrays.values import Data, as_items, as_sequence, common_type
from polyloom.ir.arrays.program import Cases, Read, Shape, Value, axes, axis, element_view
from polyloom.ir.arrays.verify import print_shape
from polyloom.sets import Affine, Condition, Polyhedron

_ONE = Affine((), 1)


def view(site: Site, data: Data, index: Sequence[Affine], shape: Sequence[Affine]) -> Data:
    """A view of data, which is one of its base if the data are."""
    found = element_view(data.value, index, tuple(shape), site.span)
    return Data(found, data.weak, data.wide, data.exact, data.is_view and isinstance(found, Read))


def transpose(site: Site, a: Any, *axes: Any) -> Any:
    data = site.data(to_array(site, a))
    rank = len(data.shape)
    # NumPy takes the order as one tuple, or as arguments of their own; None and nothing both mean the reverse.
    first = as_sequence(axes[0]) if len(axes) == 1 else None
    given = first if first is not None else () if axes == (None,) else axes
    order = read_axes(site, tuple(given), rank) if given else tuple(reversed(range(rank)))
    if sorted(order) != [*range(rank)]:
        raise site.error("PL0149", f"`{site.source_text}` does not name each axis once", "give a permutation")
    return view(site, data, [axis(order.index(n)) for n in range(rank)], [data.shape[n] for n in order])


def swapaxes(site: Site, a: Any, axis1: Any, axis2: Any) -> Any:
    rank = len(site.data(a).shape)
    (m,), (n,) = read_axes(site, axis1, rank), read_axes(site, axis2, rank)
    order = [*range(rank)]
    order[m], order[n] = n, m
    return transpose(site, a, tuple(Affine((), k) for k in order))


def moveaxis(site: Site, a: Any, source: Any, destination: Any) -> Any:
    rank = len(site.data(a).shape)
    (m,), (n,) = read_axes(site, source, rank), read_axes(site, destination, rank)
    # The others keep their order around the axis that moves.
    order = [k for k in range(rank) if k != m]
    order.insert(n, m)
    return transpose(site, a, tuple(Affine((), k) for k in order))


def expand_dims(site: Site, a: Any, axis: Any) -> Any:
    data = site.data(a)
    (at_axis,) = read_axes(site, axis, len(data.shape) + 1)
    shape = [*data.shape]
    shape.insert(at_axis, _ONE)
    return view(site, data, [axis_symbol(n + (n >= at_axis)) for n in range(len(data.shape))], shape)


def axis_symbol(number: int) -> Affine:
    return axis(number)


def squeeze(site: Site, a: Any, axis: Any = None) -> Any:
    data = site.data(a)
    # An extent that is 1 for some sizes only keeps its axis: the rank is known when the kernel is compiled.
    ones = [n for n, e in enumerate(data.shape) if e == _ONE]
    gone = ones if axis is None else [*read_axes(site, axis, len(data.shape))]
    if not set(gone) <= set(ones):
        raise site.error("PL0149", f"`{site.source_text}` leaves out an extent that is not 1", "leave out extents of 1")
    rest = [n for n in range(len(data.shape)) if n not in gone]
    index = [axis_symbol(rest.index(n)) if n in rest else Affine() for n in range(len(data.shape))]
    return view(site, data, index, [data.shape[n] for n in rest])


def reshape(site: Site, a: Any, *shape: Any, order: Any = "C") -> Any:
    """Axes split by constants are a view; axes that are joined are copied, by constants too."""
    data = site.data(to_array(site, a))
    first = as_sequence(shape[0]) if len(shape) == 1 else None
    given = shape if first is None else first
    wanted = _infer_extent(site, data, list(given))
    if order != "C":
        raise site.error("PL0134", f"`{site.source_text}` with another order", "transpose before and after it")
    # Axes of one element change no place in memory, so they are left out before groups are compared.
    plan = _plan(site, [e for e in data.shape if e != _ONE], [e for e in wanted if e != _ONE])
    if plan is None:
        help = "a product of two sizes is no affine extent: keep the axes, and name them in loops, `axis=` or `einsum`"
        message = (
            f"`{site.source_text}` gives an array of the shape {print_shape(data.shape)} that of {print_shape(wanted)}"
        )
        raise site.error("PL0149", message, help)
    data = squeeze(site, data) if _ONE in data.shape else data
    data = _join_axes(site, data, plan)
    return _split(site, data, plan, wanted)


Plan = list[tuple[list[Affine], list[Affine]]]
"""Groups of axes of the array, and the axes that they become."""


def _infer_extent(site: Site, data: Data, given: list[Any]) -> list[Affine]:
    """With the extent that -1 stands for."""
    for each in given:
        if not isinstance(each, Affine):
            raise site.error(
                "PL0149", f"an extent of `{site.source_text}` is not affine", "use sums of sizes and integers"
            )
    free = [n for n, e in enumerate(given) if e == Affine((), -1)]
    if not free:
        return given
    # What is left of the product once each extent that is given has taken its own: equal ones first, then constant
    # factors.
    rest = [*data.shape]
    for e in given:
        if e in rest and e != Affine((), -1):
            rest.remove(e)
        elif e.is_constant and e.constant > 0:
            rest.append(Affine((), -e.constant))
    found = _product([e for e in rest if not (e.is_constant and e.constant < 0)])
    for e in rest:
        if found is not None and e.is_constant and e.constant < 0:
            found = _exact_quotient(found, -e.constant)
    if found is None or len(free) > 1:
        if len(given) == 1:
            message = f"`{site.source_text}` joins the axes of {print_shape(data.shape)}, whose product is not affine"
            raise site.error("PL0149", message, "keep the axes, and name them by `axis=` or in loops")
        help = "a product of two sizes is no affine extent: write the extent"
        raise site.error("PL0149", f"the extent -1 of `{site.source_text}` cannot be found", help)
    given[free[0]] = found
    return given


def _product(factors: Sequence[Affine]) -> Affine | None:
    found = _ONE
    for factor in factors:
        # A product of two sizes is no affine form.
        if not factor.is_constant and not found.is_constant:
            return None
        found = found * factor.constant if factor.is_constant else factor * found.constant
    return found


def _exact_quotient(value: Affine, by: int) -> Affine | None:
    # Quotients that are not whole for all sizes are no affine forms.
    if not by or any(number % by for number in (value.constant, *(c for _, c in value.terms))):
        return None
    return Affine(tuple((name, c // by) for name, c in value.terms), value.constant // by)


def _plan(site: Site, given: list[Affine], wanted: list[Affine]) -> Plan | None:
    """Groups from the left whose products are equal; within one, all but the first axis are constant."""
    groups, m, n = Plan(), 0, 0
    while m < len(given) or n < len(wanted):
        left, right = given[m : m + 1], wanted[n : n + 1]
        m, n = m + 1, n + 1
        while True:
            a, b = _product(left), _product(right)
            if a is None or b is None:
                return None
            if site.builder.proves_equality(a, b):
                break
            # The smaller product takes the next axis; sizes tell which one that is.
            grows_left = m < len(given) and (n >= len(wanted) or site.builder.proves(b - a))
            if grows_left:
                left.append(given[m])
                m += 1
            elif n < len(wanted):
                right.append(wanted[n])
                n += 1
            else:
                return None
        # The place in a group is first * constants + rest: any but the first axis would be multiplied by a size.
        if not all(e.is_constant for e in (*left[1:], *right[1:])):
            return None
        groups.append((left, right))
    return groups


def _join_axes(site: Site, data: Data, plan: Plan) -> Data:
    """With one axis for each group: a copy in memory where a group has several."""
    if all(len(left) == 1 for left, _ in plan):
        return data
    shape = tuple(_product(left) or _ONE for left, _ in plan)
    room = site.builder.array("t", data.dtype, shape, site.span)
    index, n = list[Affine](), 0
    for left, _ in plan:
        form = Affine()
        for extent in left:
            form = form * extent.constant + axis(n) if extent.is_constant else axis(n)
            n += 1
        index.append(form)
    target = element_view(room, index, data.shape)
    assert isinstance(target, Read)
    # The copy is a temporary: it is made whether or not the branch that asks for it is taken.
    guard, site.builder.guard = site.builder.guard, None
    site.builder.store(target, data.value, site.span)
    site.builder.guard = guard
    return Data(room, data.weak, data.wide, data.exact)


def _split(site: Site, data: Data, plan: Plan, wanted: list[Affine]) -> Data:
    places = [n for n, e in enumerate(wanted) if e != _ONE]
    index, n = list[Affine](), 0
    for _, right in plan:
        form = Affine()
        for extent in right:
            form = form * (extent.constant if extent.is_constant else 1) + axis(places[n])
            n += 1
        index.append(form)
    if not data.shape:
        return site.fill_shape(data, tuple(wanted))
    return view(site, data, index, wanted)


def ravel(site: Site, a: Any, order: Any = "C") -> Any:
    return reshape(site, a, Affine((), -1), order=order)


def broadcast_to(site: Site, array: Any, shape: Any) -> Any:
    return site.fill_shape(site.data(array), extents(site, shape))


def flip(site: Site, m: Any, axis: Any = None) -> Any:
    data = site.data(m)
    over = read_axes(site, axis, len(data.shape))
    index = [e - 1 - axis_symbol(n) if n in over else axis_symbol(n) for n, e in enumerate(data.shape)]
    return view(site, data, index, data.shape)


def diagonal(site: Site, a: Any) -> Any:
    data = site.data(a)
    if len(data.shape) != 2 or not site.builder.proves_equality(data.shape[0], data.shape[1]):
        raise site.error("PL0149", f"`{site.source_text}` is no square", "give a square array")
    return view(site, data, [axis(0), axis(0)], data.shape[:1])


def diag(site: Site, v: Any) -> Any:
    """Of a vector, the square with it as the diagonal; of a square, its diagonal."""
    data = site.data(v)
    if len(data.shape) == 2:
        return diagonal(site, v)
    # Row = column as two inequalities: conditions have no equations.
    difference = axis(1) - axis(0)
    where = Condition((Polyhedron((difference, -difference)),))
    shape = (data.shape[0], data.shape[0])
    return piecewise(site, where, view(site, data, [axis(0)], shape), zero(site, data), shape)


def zero(site: Site, data: Data) -> Data:
    return site.element(False if data.dtype == "bool" else Affine(), data.dtype)


def piecewise(site: Site, where: Condition, inside: Data, outside: Data, shape: Sequence[Affine]) -> Data:
    value: Value = Cases(where, inside.value, outside.value, tuple(shape), site.span)
    return Data(value, inside.weak and outside.weak, inside.wide, inside.exact and outside.exact)


def triangle(upper: bool) -> Callable[..., Any]:
    """`triu` and `tril`."""

    def function(site: Site, m: Any, k: Any = None) -> Any:
        data = site.data(m)
        if len(data.shape) < 2:
            raise site.error("PL0149", f"`{site.source_text}` is of a matrix", "give an array of two dimensions")
        # Of an array of more dimensions NumPy takes the triangle of each matrix in the last two.
        row, column = (axis_symbol(len(data.shape) - n) for n in (2, 1))
        by = k if isinstance(k, Affine) else Affine()
        form = column - row - by if upper else row - column + by
        where = Condition((Polyhedron((form,)),))
        return piecewise(site, where, data, zero(site, data), data.shape)

    return function


def roll(site: Site, a: Any, shift: Any, axis: Any = None) -> Any:
    """Elements that leave at an end come in at the other."""
    data = site.data(a)
    if axis is None and len(data.shape) != 1:
        raise site.error("PL0134", f"`{site.source_text}` rolls all axes as one", "give `axis=`")
    shifts = as_items(shift)
    over = read_axes(site, axis if axis is not None else Affine(), len(data.shape))
    for by, n in zip(shifts, over, strict=True):
        data = _roll_axis(site, data, by, n)
    return data


def _roll_axis(site: Site, data: Data, by: Any, n: int) -> Data:
    extent = data.shape[n]
    if not isinstance(by, Affine):
        raise site.error("PL0137", f"the distance of `{site.source_text}` is data", "roll by an integer")
    # A distance that is negative for all sizes counts from the other end; one of unknown sign is refused below.
    if site.builder.proves(-by - 1):
        by = by + extent
    if not site.builder.require(by, extent - by):
        help = "roll by less than the extent; `assert` what is known of sizes"
        raise site.error("PL0149", f"`{site.source_text}` rolls by {by} of {extent}", help)
    symbols = axes(len(data.shape))
    where = Condition((Polyhedron((symbols[n] - by,)),))
    moved = [
        Data(
            element_view(data.value, [*symbols[:n], form, *symbols[n + 1 :]], data.shape, site.span),
            data.weak,
            data.wide,
            data.exact,
        )
        for form in (symbols[n] - by, symbols[n] - by + extent)
    ]
    return piecewise(site, where, moved[0], moved[1], data.shape)


def pad(site: Site, array: Any, pad_width: Any, mode: Any = "constant", constant_values: Any = None) -> Any:
    """Constants, or the elements at the border, around an array."""
    data = site.data(array)
    value = site.element(Affine() if constant_values is None else constant_values, data.dtype)
    # One axis after the other, as NumPy does: corners are padded from what the axis before was padded with.
    for n, (before, behind) in enumerate(_widths(site, pad_width, len(data.shape))):
        if before == Affine() and behind == Affine():
            continue
        extent = data.shape[n]
        shape = [*data.shape]
        shape[n] = extent + before + behind
        symbols = axes(len(shape))
        inner = symbols[n] - before

        # Defaults bind the values of this turn of the loop.
        def shift_axis(form: Affine, data: Data = data, n: int = n, shape: Shape = tuple(shape)) -> Data:
            index = [*axes(len(shape))[:n], form, *axes(len(shape))[n + 1 :]]
            return Data(element_view(data.value, index, shape, site.span), data.weak, data.wide, data.exact)

        low, high = {
            "constant": (value, value),
            "edge": (shift_axis(Affine()), shift_axis(extent - 1)),
            "reflect": (shift_axis(-inner), shift_axis(-inner + (extent - 1) * 2)),
            "symmetric": (shift_axis(-inner - 1), shift_axis(-inner + extent * 2 - 1)),
            "wrap": (shift_axis(inner + extent), shift_axis(inner - extent)),
        }.get(mode if isinstance(mode, str) else "", (None, None))
        if low is None or high is None:
            raise site.error(
                "PL0134", f"`{site.source_text}` pads by another mode", "pad by constant, edge, reflect or wrap"
            )
        above = Condition((Polyhedron((inner - extent,)),))
        first = piecewise(site, above, high, shift_axis(inner), shape) if mode != "constant" else shift_axis(inner)
        inside = (inner, extent - 1 - inner) if mode == "constant" else (inner,)
        data = piecewise(site, Condition((Polyhedron(inside),)), first, low, shape)
    return data


def _widths(site: Site, given: Any, rank: int) -> list[tuple[Affine, Affine]]:
    """The widths before and behind each axis."""
    if isinstance(given, Affine):
        return [(given, given)] * rank
    items = as_items(given)
    if len(items) == 2 and all(isinstance(i, Affine) for i in items):
        return [(items[0], items[1])] * rank
    pairs = [(as_items(i)[0], as_items(i)[-1]) for i in items if as_items(i)]
    pairs = pairs * rank if len(pairs) == 1 else pairs
    if len(pairs) != rank or not all(isinstance(w, Affine) and site.builder.require(w) for pair in pairs for w in pair):
        raise site.error("PL0149", f"`{site.source_text}` has no width for each axis", "give pairs of integers")
    return pairs


def as_arrays(site: Site, given: Any) -> list[Data]:
    """A tuple or a list of arrays."""
    items = as_sequence(given)
    if not items:
        raise site.error("PL0134", f"`{site.source_text}` is given no arrays in a tuple or a list", "write `(a, b)`")
    return [site.data(to_array(site, a)) for a in items]


def concatenate(site: Site, arrays: Any, axis: Any = None) -> Any:
    """One array behind the other along an axis."""
    datas = as_arrays(site, arrays)
    kind = common_type([*datas]) or np.dtype(np.int64)
    datas = [site.convert_data(d, kind) for d in datas]
    (n,) = read_axes(site, Affine() if axis is None else axis, len(datas[0].shape))
    return concatenate_data(site, datas, n)


def concatenate_data(site: Site, datas: Sequence[Data], n: int) -> Data:
    """A chain of cases; raises PL0149 where other extents differ."""
    first = datas[0]
    for other in datas[1:]:
        same = len(other.shape) == len(first.shape) and all(
            k == n or site.builder.proves_equality(a, b)
            for k, (a, b) in enumerate(zip(first.shape, other.shape, strict=True))
        )
        if not same:
            shapes = " and ".join(print_shape(d.shape) for d in (first, other))
            help = "all extents but that of the joined axis have to be equal for all sizes"
            raise site.error("PL0149", f"`{site.source_text}` joins arrays of the shapes {shapes}", help)
    total = sum((d.shape[n] for d in datas[1:]), first.shape[n])
    shape = (*first.shape[:n], total, *first.shape[n + 1 :])
    symbols, starts = axes(len(shape)), [Affine()]
    for data in datas:
        starts.append(starts[-1] + data.shape[n])
    moved = [
        Data(
            element_view(d.value, [*symbols[:n], symbols[n] - start, *symbols[n + 1 :]], shape, site.span),
            d.weak,
            d.wide,
            d.exact,
        )
        for d, start in zip(datas, starts, strict=False)
    ]
    # From the last array backwards: a place belongs to the first array whose end is behind it.
    found = moved[-1]
    for data, end in zip(moved[-2::-1], starts[-2:0:-1], strict=True):
        found = piecewise(site, Condition((Polyhedron((end - symbols[n] - 1,)),)), data, found, shape)
    return found


def stack(site: Site, arrays: Any, axis: Any = None) -> Any:
    """Arrays of one shape along a new axis."""
    datas = as_arrays(site, arrays)
    kind = common_type([*datas]) or np.dtype(np.int64)
    typed = [site.convert_data(d, kind) for d in datas]
    (n,) = read_axes(site, Affine() if axis is None else axis, len(datas[0].shape) + 1)
    return concatenate_data(site, [_with_axis(site, d, n) for d in typed], n)


def _with_axis(site: Site, data: Data, n: int) -> Data:
    if not data.shape:
        return site.fill_shape(data, (_ONE,))
    return expand_dims(site, data, Affine((), n))


def hstack(site: Site, tup: Any) -> Any:
    # Vectors are joined along their only axis, all else along the second one.
    rank = len(as_arrays(site, tup)[0].shape)
    return concatenate(site, tup, Affine((), min(1, rank - 1)))


def vstack(site: Site, tup: Any) -> Any:
    datas = as_arrays(site, tup)
    return concatenate(site, [expand_dims(site, d, Affine()) if len(d.shape) == 1 else d for d in datas])


def column_stack(site: Site, tup: Any) -> Any:
    datas = as_arrays(site, tup)
    columns = [expand_dims(site, d, Affine((), 1)) if len(d.shape) == 1 else d for d in datas]
    return concatenate(site, columns, Affine((), 1))


def diff(site: Site, a: Any, n: Any = None, axis: Any = None) -> Any:
    """Differences of neighbours."""
    del n
    data = site.data(a)
    (along,) = read_axes(site, Affine((), -1) if axis is None else axis, len(data.shape))
    if not site.builder.require(data.shape[along] - 1):
        raise site.error("PL0149", f"`{site.source_text}` is of no elements", "assert that there is one")
    shape = tuple(e - (k == along) for k, e in enumerate(data.shape))
    symbols = axes(len(shape))
    ahead = [s + 1 if k == along else s for k, s in enumerate(symbols)]
    a_view, b_view = (Data(element_view(data.value, i, shape, site.span)) for i in (ahead, symbols))
    return site.apply("sub", a_view, b_view)


def sliding_window_view(site: Site, x: Any, window_shape: Any, axis: Any = None) -> Any:
    """All windows: an axis for their place, and one within."""
    data = site.data(x)
    sizes = as_items(window_shape)
    over = read_axes(site, axis, len(data.shape)) if axis is not None else tuple(range(len(sizes)))
    rank = len(data.shape)
    shape, index = [*data.shape], [*axes(rank)]
    for k, (n, size) in enumerate(zip(over, sizes, strict=True)):
        shape[n] = shape[n] - size + 1
        if not site.builder.require(shape[n]):
            raise site.error(
                "PL0149", f"`{site.source_text}`: a window is longer than its axis", "assert that it is not"
            )
        index[n] = index[n] + axis_symbol(rank + k)
    return view(site, data, index, [*shape, *sizes])


def flipud(site: Site, m: Any) -> Any:
    return flip(site, m, Affine())


def fliplr(site: Site, m: Any) -> Any:
    return flip(site, m, Affine((), 1))


FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.transpose: transpose,
    np.swapaxes: swapaxes,
    np.moveaxis: moveaxis,
    np.expand_dims: expand_dims,
    np.squeeze: squeeze,
    np.reshape: reshape,
    np.ravel: ravel,
    np.broadcast_to: broadcast_to,
    np.flip: flip,
    np.flipud: flipud,
    np.fliplr: fliplr,
    np.diagonal: diagonal,
    np.diag: diag,
    np.triu: triangle(True),
    np.tril: triangle(False),
    np.roll: roll,
    np.pad: pad,
    np.concatenate: concatenate,
    np.stack: stack,
    np.hstack: hstack,
    np.vstack: vstack,
    np.column_stack: column_stack,
    np.diff: diff,
    np.lib.stride_tricks.sliding_window_view: sliding_window_view,
}
