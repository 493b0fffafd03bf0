# SPDX-License-Identifier: Apache-2.0
"""What a `for` of an array program runs over: ranges, arrays, pairs and numbered elements of such."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from polyloom.frontend.python.arrays.indexing import index_array
from polyloom.frontend.python.arrays.site import Site
from polyloom.frontend.python.arrays.values import Data, as_sequence
from polyloom.ir.arrays.quotients import ceiling_quotient
from polyloom.sets import Affine


@dataclass(frozen=True, slots=True)
class Range:
    """`range(first, end, step)`."""

    first: Affine
    end: Affine
    step: int


@dataclass(frozen=True, slots=True)
class Enumeration:
    """`enumerate(items, start)`."""

    items: Any
    start: Affine


@dataclass(frozen=True, slots=True)
class Zip:
    """`zip(...)`."""

    parts: tuple[Any, ...]


def make_range(site: Site, *bounds: Any) -> Range:
    """A range over integers, by a constant."""
    if not 1 <= len(bounds) <= 3 or not all(isinstance(b, Affine) for b in bounds):
        help = "bounds of a range are sums of loops, sizes and integers; what depends on data cannot bound a loop here"
        raise site.error("PL0136", f"a bound of `{site.source_text}` is not affine", help)
    first, end = (Affine(), bounds[0]) if len(bounds) == 1 else bounds[:2]
    step = bounds[2] if len(bounds) == 3 else Affine((), 1)
    if not step.is_constant or not step.constant:
        raise site.error(
            "PL0136", f"the step of `{site.source_text}` is no constant", "count by a constant that is not 0"
        )
    return Range(first, end, step.constant)


def reverse(site: Site, items: Any) -> Any:
    """`reversed`."""
    if isinstance(items, Range) and abs(items.step) == 1:
        return Range(items.end - items.step, items.first - items.step, -items.step)
    if (found := as_sequence(items)) is not None:
        return found[::-1]
    if isinstance(items, Data) and items.shape:
        return index_array(site, items, slice(None, None, Affine((), -1)))
    raise site.error("PL0136", f"`{site.source_text}` cannot be reversed", "count down: `range(last, first - 1, -1)`")


def sequence(site: Site, items: Any) -> Sequence[Any] | None:
    """The elements one by one, where Python has them all; None for what a loop runs over."""
    match items:
        case tuple() | list():
            return as_sequence(items)
        case Enumeration(items=inner, start=start):
            found = sequence(site, inner)
            return None if found is None else [(start + n, each) for n, each in enumerate(found)]
        case Zip(parts=parts):
            found = [sequence(site, part) for part in parts]
            if all(f is None for f in found):
                return None
            length = min(len(f) for f in found if f is not None)
            columns = [
                f if f is not None else [element(site, part, Affine((), n)) for n in range(length)]
                for f, part in zip(found, parts, strict=True)
            ]
            return list(zip(*columns, strict=False))
        case _:
            return None


def length(site: Site, items: Any) -> Affine:
    """How often a loop over items runs; raises PL0136 for what no loop runs over, PL0149 for unequal parts."""
    match items:
        case Range(first=first, end=end, step=step):
            return ceiling_quotient(end - first if step > 0 else first - end, abs(step))
        case Data() if items.shape:
            return items.shape[0]
        case Enumeration(items=inner):
            return length(site, inner)
        case Zip(parts=parts):
            found = [length(site, part) for part in parts]
            for other in found[1:]:
                if not site.builder.proves_equality(found[0], other):
                    help = "loop over the shorter one, or declare both by one size"
                    raise site.error("PL0149", f"`{site.source_text}` pairs {found[0]} elements with {other}", help)
            return found[0]
        case _:
            help = "write `for i in range(...)`, or loop over an array, `enumerate` or `zip`"
            raise site.error("PL0136", f"a kernel cannot iterate over `{site.source_text}`", help)


def element(site: Site, items: Any, number: Affine) -> Any:
    """What stands at a place."""
    match items:
        case Range(first=first, step=step):
            return first + number * step
        case Data():
            return index_array(site, items, number)
        case Enumeration(items=inner, start=start):
            return start + number, element(site, inner, number)
        case Zip(parts=parts):
            return tuple(element(site, part, number) for part in parts)
        case _:
            raise site.error("PL0136", f"a kernel cannot iterate over `{site.source_text}`", None)
