# SPDX-License-Identifier: Apache-2.0
"""Sums that are convolutions over channels: result[n, h, w, m] = sum over r, s, c of image[n, a h + d r - p, ..., c] *
weight[r, s, c, m], with dimensions in any order, any number of windows, and terms outside of the image left out.

What counts is the relation between elements, computed by isl from the iterations of the sum: which element of the image
meets which of the weights in which of the result. Loops may be of any shape, borders conditions or clamped ranges.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import islpy as isl

from polyloom.analysis.contraction import Step
from polyloom.sets import Affine, Condition, Polyhedron
from polyloom.sets.isl import affine_map, affines, to_set


@dataclass(frozen=True, slots=True)
class Place:
    """A dimension of the image at `stride` · that of the result + `dilation` · that of the weights + `offset`, which
    has parameters only; None: without that one."""

    result: int | None
    weight: int | None
    stride: int
    dilation: int
    offset: Affine


@dataclass(frozen=True, slots=True)
class Convolution:
    """`places` of the image's dimensions; `weights`: the dimension of the result that each of the weights is, None
    where the sum runs over it. `order`: the dimensions of the weights over which the sum runs, outermost first; None
    where it has no order that is one of them. `widened`: the conversion that both factors go through. `extents` are
    those of the weights. `steps`: what becomes of the sum; vectors are along output channels. Each sum begins with the
    element of the array `begins` that is at the place of the result's, where one is named."""

    image: str
    weight: str
    result: str
    places: tuple[Place, ...]
    weights: tuple[int | None, ...]
    order: tuple[int, ...] | None
    widened: str
    extents: tuple[Affine, ...] = ()
    steps: tuple[Step, ...] = ()
    begins: str = ""

    @property
    def channel(self) -> int:
        """The image's dimension of input channels."""
        return next(n for n, place in enumerate(self.places) if place.result is None)

    @property
    def output(self) -> int | None:
        """The result's dimension of output channels; None where there is one channel."""
        return next((n for n in self.weights if n is not None), None)

    @property
    def windows(self) -> tuple[int, ...]:
        """The weights' dimensions along which windows lie."""
        return tuple(p.weight for p in self.places if p.result is not None and p.weight is not None)


@dataclass(frozen=True, slots=True)
class Access:
    """An array, its extents, and the element that an iteration touches."""

    array: str
    shape: tuple[Affine, ...]
    index: tuple[Affine, ...]


@dataclass(frozen=True, slots=True)
# Both readers, of equations and of nests, give this form; the recognition below looks at no syntax.
class Summed:
    """A sum of products: its iterations `where` over `dims`, and the elements that meet in one. `loops` are the
    dimensions along which the sum of one element runs, in order; None where it is a tree of sums. `links`: what becomes
    of the sum, operations with the other operand, if there is one."""

    dims: tuple[str, ...]
    params: tuple[str, ...]
    assumptions: Condition
    where: isl.Set
    result: Access
    factors: tuple[Access, Access]
    widened: str
    loops: tuple[str, ...] | None
    down: frozenset[str] = frozenset()
    links: tuple[tuple[str, Access | None], ...] = ()


def convolutions(found: Summed) -> tuple[Convolution, ...]:
    """Recognition of convolutions: all that a sum of products is, with either factor as the image; one dimension of
    input channels, at most one of output channels. Without windows it is a product of matrices or of a matrix and a
    vector.
    """
    first, second = found.factors
    return tuple(made for pair in ((first, second), (second, first)) if (made := _convolution(found, *pair)))


def _convolution(found: Summed, image: Access, weight: Access) -> Convolution | None:
    """Convolution with the roles of image and weights fixed; None where the sum is none."""
    weights = tuple(_index_position(index, found.result.index) for index in weight.index)
    # Two dimensions shared by weights and result would be groups, which no target computes.
    if len([n for n in weights if n is not None]) > 1 or not image.index or not found.result.index:
        return None
    met = _image_relation(found, image, weight)
    if met is None:
        return None
    where, indices = met
    places = tuple(_place(index, weights) for index in indices)
    if any(place is None for place in places):
        return None
    made = Convolution(
        image.array,
        weight.array,
        found.result.array,
        tuple(p for p in places if p is not None),
        weights,
        _order(found, weight, weights),
        found.widened,
        weight.shape,
    )
    steps = _steps(found, made)
    if steps is None:
        return None
    made = replace(made, steps=steps)
    return made if _has_roles(made, found, weight) and _covers_all_terms(found, image, weight, made, where) else None


def _steps(found: Summed, made: Convolution) -> tuple[Step, ...] | None:
    """None where an operand is no vector along output channels."""
    steps, result, at = list[Step](), found.result, made.output
    for operation, vector in found.links:
        if vector is None:
            steps.append(Step(operation))
        elif at is None or (vector.index, vector.shape) != ((result.index[at],), (result.shape[at],)):
            return None
        else:
            steps.append(Step(operation, vector.array))
    return tuple(steps)


def _index_position(index: Affine, others: Sequence[Affine]) -> int | None:
    """Position of an index among others; None for a constant, which is no dimension."""
    return next((n for n, other in enumerate(others) if other == index and not index.is_constant), None)


def _names(side: str, access: Access) -> tuple[str, ...]:
    return tuple(f"{side}.{n}" for n in range(len(access.index)))


def _image_relation(found: Summed, image: Access, weight: Access) -> tuple[isl.Set, tuple[Affine, ...]] | None:
    """Relation of elements, computed by isl: which elements of the result and the weights meet, by names, and the
    element of the image then; None where a pair meets twice, or no affine index tells.
    """
    names = (*_names("y", found.result), *_names("w", weight))
    anywhere = isl.Map.from_multi_aff(affine_map((*found.result.index, *weight.index), found.dims, found.params))
    pairs = anywhere.intersect_domain(found.where)
    # A pair that meets twice would be added twice, as no convolution does.
    if not pairs.is_injective():
        return None
    elements = isl.Map.from_multi_aff(affine_map(image.index, found.dims, found.params))
    # Where indices alone tell, a window of one element keeps its place in them.
    relation = (anywhere if anywhere.is_injective() else pairs).reverse().apply_range(elements)
    pieces = list[isl.MultiAff]()
    isl.PwMultiAff.from_map(relation).foreach_piece(lambda _, value: pieces.append(value))
    indices = {affines(value, names) for value in pieces}
    if len(indices) != 1:
        return None
    (index,) = indices
    return None if index is None else (pairs.range(), index)


def _place(index: Affine, weights: Sequence[int | None]) -> Place | None:
    """Affine subscript of the image as stride, dilation and offset (ONNX operator Conv: `strides`, `dilations`,
    `pads`).
    """
    of_result = [(int(name[2:]), c) for name, c in index.terms if name.startswith("y.")]
    of_weight = [(int(name[2:]), c) for name, c in index.terms if name.startswith("w.")]
    if len(of_result) > 1 or len(of_weight) > 1 or any(weights[n] is not None for n, _ in of_weight):
        return None
    # What is left are parameters: padding of any size.
    offset = Affine.from_terms({n: c for n, c in index.terms if n[:2] not in ("y.", "w.")}, index.constant)
    (result, stride), (weight, dilation) = [*of_result, (None, 0)][0], [*of_weight, (None, 0)][0]
    return Place(result, weight, stride, dilation, offset) if stride >= 0 and dilation >= 0 else None


def _order(found: Summed, weight: Access, weights: Sequence[int | None]) -> tuple[int, ...] | None:
    """Order of summation over the weights' dimensions; None where it has no order that is one of them."""
    if found.loops is None:
        return None
    places = {n: index for n, index in enumerate(weight.index) if weights[n] is None}
    made = list[int]()
    for loop in found.loops:
        own = [n for n, index in places.items() if index.coefficient(loop)]
        if len(own) != 1 or set(places[own[0]].symbols & set(found.loops)) != {loop}:
            return None
        # The index rises by one with each turn of the loop: else the sum has another order.
        if places[own[0]].coefficient(loop) != (-1 if loop in found.down else 1):
            return None
        made += own
    return tuple(made)


def _has_roles(made: Convolution, found: Summed, weight: Access) -> bool:
    """Every dimension has its part: each of the result's is output channels or one of the image's, each of the
    weights' over which the sum runs one of the image's, and one of them is input channels."""
    of_result = [p.result for p in made.places if p.result is not None]
    of_weight = [p.weight for p in made.places if p.weight is not None]
    summed = [n for n in range(len(weight.index)) if made.weights[n] is None]
    channels = [p for p in made.places if p.result is None]
    is_plain = len(channels) == 1 and (channels[0].dilation, channels[0].offset) == (1, Affine((), 0))
    own = [] if made.output is None else [made.output]
    whole = sorted([*of_result, *own]) == list(range(len(found.result.index)))
    return is_plain and whole and sorted(of_weight) == summed


def _covers_all_terms(found: Summed, image: Access, weight: Access, made: Convolution, where: isl.Set) -> bool:
    """Completeness: the terms are all those whose element of the image there is; elsewhere the image is zero, as with
    padding.
    """
    y, w = _names("y", found.result), _names("w", weight)
    limits = list[Affine]()
    for names, access in ((y, found.result), (w, weight)):
        for name, extent in zip(names, access.shape, strict=True):
            limits += _bounds(Affine.symbol(name), extent)
    for n, place in enumerate(made.weights):
        if place is not None:
            same = Affine.symbol(w[n]) - Affine.symbol(y[place])
            limits += [same, -same]
    for place, extent in zip(made.places, image.shape, strict=True):
        at = place.offset
        at += Affine.from_terms({y[place.result]: place.stride}) if place.result is not None else 0
        at += Affine.from_terms({w[place.weight]: place.dilation}) if place.weight is not None else 0
        limits += _bounds(at, extent)
    expected = to_set(Condition((Polyhedron(tuple(limits)),)), (*y, *w), found.params)
    extents = [extent - 1 for access in (image, weight, found.result) for extent in access.shape]
    some = to_set(found.assumptions, (), found.params).params()
    # Empty arrays are left out: with an extent of 0 the sets are equal for no reason.
    some = some.intersect(to_set(Condition((Polyhedron(tuple(extents)),)), (), found.params).params())
    for n, name in enumerate((*y, *w)):
        where = where.set_dim_name(isl.dim_type.set, n, name)
    return bool(expected.intersect_params(some).is_equal(where.intersect_params(some)))


def _bounds(value: Affine, extent: Affine) -> Iterator[Affine]:
    """Bounds of a subscript as constraints: 0 <= value < extent."""
    yield value
    yield extent - 1 - value
