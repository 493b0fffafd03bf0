# SPDX-License-Identifier: Apache-2.0
"""`x[...]`: views with affine bounds and constant steps, as NumPy's basic indexing has them, and gathers by an array of
integers ("Advanced indexing" of NumPy's manual).

Whether an index counts from the end is decided for all sizes. A slice that ends behind its array is cut there, if that
is known; where only the smallest values of one size say otherwise, these are no sizes of the function.
"""

from __future__ import annotations

from typing import Any

from polyloom.frontend.python.arrays.site import Site
from polyloom.frontend.python.arrays.values import Data, as_bool, as_items, as_sequence, slice_bounds
from polyloom.ir.arrays.program import Form, Gather, Read, axis, element_view
from polyloom.ir.arrays.quotients import bound, ceiling_quotient
from polyloom.ir.arrays.verify import print_shape
from polyloom.ir.operations import INTEGERS
from polyloom.ir.pla import Constant
from polyloom.sets import Affine

Item = tuple[Affine, Affine | None]
"""The index of an axis of the base, in `$` of an own axis of the view, and the extent of this axis if there is one."""
_OWN = axis(0)


def index_array(site: Site, data: Data, index: Any) -> Data:
    """The view, or the element, of an array."""
    items: list[Any] = list(as_sequence(index) or ()) if isinstance(index, tuple) else [index]
    given = sum(item is not None and item is not Ellipsis for item in items)
    rank = len(data.shape)
    if given > rank:
        message = f"`{site.source_text}` has {given} indices, and the array has the shape {print_shape(data.shape)}"
        raise site.error("PL0138", message, "give an index for each dimension at most")
    ellipses = sum(item is Ellipsis for item in items)
    if ellipses > 1:
        raise site.error("PL0138", f"`{site.source_text}` has {ellipses} times `...`", "write it once")
    if not ellipses:
        items.append(Ellipsis)
    _check_gathered_axes(site, items)
    gathered = list[tuple[int, Data]]()
    forms, extents, n = list[Affine](), list[Affine](), 0
    for item in items:
        if item is Ellipsis:
            for _ in range(rank - given):
                forms.append(axis(len(extents)))
                extents.append(data.shape[n])
                n += 1
        elif item is None:
            extents.append(Affine((), 1))
        elif _is_data(item):
            gathered.append((len(extents), _data_index(site, item)))
            forms.append(axis(len(extents)))
            extents.append(data.shape[n])
            n += 1
        else:
            form, extent = _item(site, item, data.shape[n])
            forms.append(form.substitute({"$0": axis(len(extents))}))
            extents += [] if extent is None else [extent]
            n += 1
    # NumPy's element is a copy, its view of rank 0 (`x[..., 0]` of a vector) is rare.
    is_element = not extents
    found = element_view(data.value, forms, tuple(extents), site.span)
    is_view = data.is_view and isinstance(found, Read) and not is_element
    # From the last axis on, so that those before keep their numbers.
    # The view has each such axis as a whole.
    for along, own in reversed(gathered):
        found = Gather(found, own.value, along, site.span)
    return Data(found, wide=data.wide, exact=data.exact, is_view=is_view and not gathered)


def _is_data(item: object) -> bool:
    """Whether an index is known only when the kernel runs."""
    return isinstance(item, Data) and not (isinstance(item.value, Form) and not item.shape)


def _check_gathered_axes(site: Site, items: list[Any]) -> None:
    """Errors: PL0137 where NumPy joins several indices, or moves the axes of one to the front."""
    # NumPy counts an integer beside an array as an array of indices, too.
    chosen = [n for n, item in enumerate(items) if _is_data(item) or isinstance(item, Affine)]
    arrays = sum(isinstance(item, Data) and bool(item.shape) for item in items)
    if arrays > 1:
        help = "index one axis after the other, `x[rows][:, columns]`, or write a loop over the elements"
        raise site.error("PL0137", f"`{site.source_text}` is indexed by {arrays} arrays at once", help)
    if arrays and len(chosen) != chosen[-1] - chosen[0] + 1:
        help = "choose the element first: `x[k][:, rows]`"
        raise site.error("PL0137", f"`{site.source_text}` has a slice between an integer and an array", help)


def _data_index(site: Site, data: Data) -> Data:
    """An index that is data, as integers of at most 32 bits."""
    if data.dtype == "bool" and data.shape:
        help = "the length of a result may not depend on data: write `np.where(mask, x, other)`"
        raise site.error("PL0137", f"`{site.source_text}` chooses elements by a mask", help)
    if data.dtype not in INTEGERS or (data.wide and not data.exact):
        help = "convert it: `.astype(np.int32)`"
        raise site.error("PL0137", f"`{site.source_text}` has no integer of 32 bits as an index", help)
    guard = site.builder.guard
    if guard is None:
        return data
    # Where a test does not hold, nothing is read, and an index may be any number.
    value = site.select(Data(as_bool(guard)), data, Data(Constant(0, data.dtype)))
    return Data(value.value, wide=data.wide, exact=True)


def place(site: Site, data: Data, index: Any) -> Data:
    """What `x[...] = ...` stores to."""
    found = index_array(site, data, index)
    if isinstance(found.value, Gather):
        help = "write a loop over the elements, as a kernel of its own, for RISC-V or the belt machine"
        raise site.error("PL0137", f"`{site.source_text}` is stored to, and data choose its elements", help)
    if not isinstance(found.value, Read) or not data.is_view:
        help = "give the array a name first, `t = ...`, and store to that"
        raise site.error("PL0133", f"`{site.source_text}` stores to a value that has no name", help)
    return found


def _item(site: Site, given: object, extent: Affine) -> Item:
    item: Any = given
    if isinstance(given, slice):
        return _slice(site, *slice_bounds(item), extent)
    if isinstance(item, Affine):
        return from_start(site, item, extent), None
    if isinstance(item, Data) and isinstance(item.value, Form) and not item.shape:
        return from_start(site, item.value.value, extent), None
    raise site.error(
        "PL0137", f"`{site.source_text}` has no integer as an index", "use integers, slices, `...` or `None`"
    )


def from_start(site: Site, form: Affine, extent: Affine) -> Affine:
    """An index counted from the start; negative ones count from the end."""
    if site.builder.proves(form):
        return form
    if site.builder.proves(-form - 1):
        return form + extent
    if site.builder.require(form):
        return form
    help = f"say which: `assert {form} >= 0` at the head of the function, or count from the end by `[-1 - k]`"
    raise site.error(
        "PL0137", f"the index {form} of `{site.source_text}` may count from the start or from the end", help
    )


def _slice(site: Site, start: Any, stop: Any, step: Any, extent: Affine) -> Item:
    by = 1 if step is None else _constant(site, step)
    if by > 0:
        first = Affine() if start is None else _clamp_bound(site, _bound(site, start), extent)
        end = extent if stop is None else _clamp_bound(site, _bound(site, stop), extent)
        length = _length(site, end - first)
        return first + _OWN * by, length if by == 1 else ceiling_quotient(length, by)
    first = extent - 1 if start is None else _clamp_bound(site, _bound(site, start), extent - 1)
    past = Affine((), -1) if stop is None else _clamp_bound(site, _bound(site, stop), extent)
    length = _length(site, first - past)
    return first + _OWN * by, length if by == -1 else ceiling_quotient(length, -by)


def _constant(site: Site, step: Any) -> int:
    if isinstance(step, Affine) and step.is_constant and step.constant:
        return step.constant
    raise site.error("PL0137", f"the step of `{site.source_text}` is no constant", "step by an integer that is not 0")


def _bound(site: Site, value: Any) -> Affine:
    if isinstance(value, Affine):
        return value
    if isinstance(value, Data) and isinstance(value.value, Form) and not value.shape:
        return value.value.value
    help = "bounds of slices are sums of loops, sizes and integers; the length of a result may not depend on data"
    raise site.error("PL0137", f"a bound of `{site.source_text}` is not affine", help)


def _clamp_bound(site: Site, form: Affine, extent: Affine) -> Affine:
    """A bound from the start, no further than the extent."""
    builder = site.builder
    form = from_start(site, form, extent)
    if builder.proves(extent - form):
        return form
    if builder.proves(form - extent):
        return extent
    if not builder.require(extent - form):
        help = f"write `assert {form} <= {extent}` at the head of the function, or shorten the slice"
        raise site.error("PL0149", f"`{site.source_text}` may end at {form}, behind the extent {extent}", help)
    return form


def _length(site: Site, length: Affine) -> Affine:
    builder = site.builder
    if builder.proves(-length):
        return Affine()
    if not builder.require(bound(length)):
        help = f"write `assert {length} >= 0` at the head of the function"
        raise site.error("PL0149", f"`{site.source_text}` has {length} elements, which may be less than none", help)
    return length


def read_axes(site: Site, value: Any, rank: int) -> tuple[int, ...]:
    """`axis=`: one or several, negative ones from the end; all where it is None."""
    if value is None:
        return tuple(range(rank))
    items = as_items(value)
    found = [item.constant if isinstance(item, Affine) and item.is_constant else rank for item in items]
    if any(not -rank <= n < rank for n in found):
        what = f"{rank} dimension{'s' * (rank != 1)}"
        help = f"give an axis from 0 to {rank - 1}" if rank > 1 else "leave the axis out"
        raise site.error("PL0149", f"`{site.source_text}` names an axis that an array of {what} has not", help)
    return tuple(n % rank for n in found)
