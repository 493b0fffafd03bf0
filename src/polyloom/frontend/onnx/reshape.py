# SPDX-License-Identifier: Apache-2.0
"""Reshaping: an array seen with other extents and the same elements in row-major order.

Axes of both shapes are grouped, so that groups have as many elements, and each group is refined to factors of both
sides: what splits an axis is a view, and what merges axes is a store through such a view. A group whose factors do not
nest becomes one axis first.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import gcd, prod

from polyloom.frontend.onnx.node import Node
from polyloom.frontend.onnx.tensors import ONE, constant, extent
from polyloom.ir.arrays.program import Shape, Value, axes, dtype, element_view, shape
from polyloom.sets import Affine

Group = tuple[Shape, Shape]
"""Extents of the source and of the result that have as many elements."""
Size = tuple[tuple[str, ...], int]


def reshape_value(node: Node, value: Value, extents: Shape) -> Value:
    """A value with other extents. Raises PL0184 where sizes do not let the axes be told apart."""
    if shape(value) == extents:
        return value
    if Affine() in extents:
        return element_view(constant(0, dtype(value)), (), extents)
    # Extents of 1 belong to no group.
    value = squeeze_view(value, [n for n, each in enumerate(shape(value)) if each != ONE])
    found = _reshape_wide(node, value, tuple(each for each in extents if each != ONE))
    return unsqueeze_view(found, [n for n, each in enumerate(extents) if each == ONE])


def _reshape_wide(node: Node, value: Value, extents: Shape) -> Value:
    own = shape(value)
    if own == extents:
        return value
    groups = match_axes(own, extents)
    refined = None if groups is None else [common_factors(*group) for group in groups]
    if groups is None or refined is None or any(map(_is_stuck, groups, refined)):
        texts = [f"[{', '.join(map(str, each))}]" for each in (own, extents)]
        node.refuse(f"the shape {texts[0]} becomes {texts[1]}", "give the sizes: `--set NAME=VALUE`")
    if None in refined:
        flat = [(f[0] if r is not None else (_product(f[0]),)) for f, r in zip(groups, refined, strict=True)]
        return _reshape_wide(node, _reshape_wide(node, value, sum(flat, ())), extents)
    factors = tuple(factor for each in refined for factor in each or ())
    value = node.local(value)
    split = element_view(value, merged_index(own, factors), factors)
    if factors == extents:
        return split
    return node.assemble(extents, dtype(value), [(merged_index(extents, factors), split)])


def _is_stuck(group: Group, factors: Shape | None) -> bool:
    """Whether a group has no factors, and sizes among its extents: one axis of it would not help."""
    return factors is None and not _is_constant(group)


def _is_constant(group: Group) -> bool:
    return all(each.is_constant for side in group for each in side)


def match_axes(source: Shape, result: Shape) -> list[Group] | None:
    """The finest groups of neighbouring axes with equal numbers of elements; None where sizes do not agree."""
    groups, a, b = list[Group](), 0, 0
    while a < len(source) and b < len(result):
        i, j = a + 1, b + 1
        while (left := size(source[a:i])) != (right := size(result[b:j])):
            grows_left = (len(left[0]), left[1]) < (len(right[0]), right[1])
            if grows_left and i < len(source):
                i += 1
            elif not grows_left and j < len(result):
                j += 1
            elif i < len(source):
                i += 1
            elif j < len(result):
                j += 1
            else:
                return None
        groups.append((source[a:i], result[b:j]))
        a, b = i, j
    return groups if a == len(source) and b == len(result) else None


def size(extents: Sequence[Affine]) -> Size:
    """The number of elements, a product: the forms that are no numbers, without their common factors, and the rest."""
    forms, number = list[str](), 1
    for each in extents:
        factor = gcd(each.constant, *(c for _, c in each.terms)) if not each.is_constant else each.constant
        number *= factor
        if not each.is_constant:
            reduced = Affine(tuple((name, c // factor) for name, c in each.terms), each.constant // factor)
            forms.append(str(reduced))
    return tuple(sorted(forms)), number


def common_factors(left: Shape, right: Shape) -> Shape | None:
    """Extents of which both sides are products of neighbours; None where there are none such."""
    if left == right:
        return left
    if not _is_constant((left, right)):
        # A form may be the outermost extent alone: strides are products of the extents behind it.
        longer = max(left, right, key=len)
        inner = all(each.is_constant for each in longer[1:])
        return longer if inner and min(len(left), len(right)) == 1 else None
    cuts = sorted({*_strides(left), *_strides(right)}, reverse=True)
    pairs = [*pairwise(cuts)]
    return None if any(a % b for a, b in pairs) else tuple(extent(a // b) for a, b in pairs)


def _strides(extents: Sequence[Affine]) -> list[int]:
    """Elements below each axis, and those of all."""
    sizes = [each.constant for each in extents]
    return [prod(sizes[n:]) for n in range(len(sizes) + 1)]


def _product(extents: Sequence[Affine]) -> Affine:
    """The product of extents, of which at most one is no number."""
    forms = [each for each in extents if not each.is_constant]
    number = prod(each.constant for each in extents if each.is_constant)
    return forms[0] * number if forms else extent(number)


def merged_index(extents: Shape, factors: Shape) -> list[Affine]:
    """The index of an array of `extents` at places of factors, each extent a product of neighbours among these."""
    places, at, index = axes(len(factors)), 0, list[Affine]()
    for each in extents:
        end = at + 1
        while size(factors[at:end]) != size((each,)):
            end += 1
        strides = [prod(f.constant for f in factors[n + 1 : end]) for n in range(at, end)]
        index.append(sum((p * s for p, s in zip(places[at:end], strides, strict=True)), Affine()))
        at = end
    return index


def squeeze_view(value: Value, kept: Sequence[int]) -> Value:
    """Without axes of extent 1: those that are kept, in their order."""
    own, places = shape(value), axes(len(kept))
    index = [Affine()] * len(own)
    for place, n in zip(places, kept, strict=True):
        index[n] = place
    return element_view(value, index, tuple(own[n] for n in kept))


def unsqueeze_view(value: Value, added: Sequence[int]) -> Value:
    """With axes of extent 1 at the places `added` of the result."""
    own = shape(value)
    rank = len(own) + len(added)
    rest = iter(own)
    extents = tuple(ONE if n in added else next(rest) for n in range(rank))
    return element_view(value, [axes(rank)[n] for n in range(rank) if n not in added], extents)
