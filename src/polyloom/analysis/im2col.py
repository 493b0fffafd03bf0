# SPDX-License-Identifier: Apache-2.0
"""Convolutions as one product of matrices, in NumPy: im2col (Chellapilla, Puri, Simard, "High performance convolutional
neural networks for document processing", 2006)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from itertools import product
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polyloom.analysis.convolution import Convolution, Place

Array = NDArray[Any]


def convolution_matrices(
    c: Convolution, values: Mapping[str, int], read: Mapping[str, Array], shape: tuple[int, ...]
) -> tuple[Array, Array]:
    """im2col (Chellapilla, Puri, Simard 2006): a row for each pixel of the result, with +0 where a tap is outside of
    the image, and a column for each output channel; the sum in the order of the convolution, else windows first.
    """
    image, weight = read[c.image], read[c.weight]
    deep = next(p.weight for p in c.places if p.result is None)
    order = c.order or (*sorted(c.windows), *(() if deep is None else (deep,)))
    windows = [n for n in order if n != deep]
    places = {p.result: (at, p) for at, p in enumerate(c.places)}
    others = [places[n] for n in range(len(shape)) if n != c.output]
    if not others:
        return image[None], weight.transpose((deep or 0, c.weights.index(c.output)))
    extents = [shape[p.result] for _, p in others if p.result is not None]
    turned = image.transpose([*(at for at, _ in others), c.channel])
    columns = list[Array]()
    for taps in product(*(range(weight.shape[n]) for n in windows)):
        steps = dict(zip(windows, taps, strict=True))
        at = [_pixel_positions(p, e, values, steps) for (_, p), e in zip(others, extents, strict=True)]
        inside = [(a >= 0) & (a < turned.shape[n]) for n, a in enumerate(at)]
        # Places outside are clipped to some pixel first, and then masked: an index must be valid.
        block = turned[np.ix_(*(np.clip(a, 0, turned.shape[n] - 1) for n, a in enumerate(at)))]
        whole = _outer_conjunction(inside)
        # +0 and not -0: a padded term adds nothing to any sum but -0.
        columns.append(np.where(whole[..., None], block, np.zeros((), image.dtype)).reshape(prod(extents), -1))
    wide = () if c.output is None else (c.weights.index(c.output),)
    turned = weight.transpose((*windows, *(() if deep is None else (deep,)), *wide))
    pixels, weights = np.stack(columns), turned.reshape(len(columns), -1, 1 if c.output is None else shape[c.output])
    # Channels are the last of the sum, or the first.
    axes = (1, 2, 0) if order[0] == deep and len(order) > 1 else (1, 0, 2)
    pixels = pixels.transpose(axes).reshape(pixels.shape[1], -1)
    return pixels, weights.transpose((1, 0, 2) if axes[1] == 2 else (0, 1, 2)).reshape(-1, weights.shape[2])


def _pixel_positions(place: Place, extent: int, values: Mapping[str, int], steps: Mapping[int, int]) -> Array:
    """Where the pixels are in the image at a tap."""
    tap = 0 if place.weight is None else place.dilation * steps[place.weight]
    return place.stride * np.arange(extent) + tap + place.offset.evaluate(values)


def _outer_conjunction(inside: list[Array]) -> Array:
    """Where all hold, each along a dimension."""
    return reduce(np.logical_and.outer, inside)


def matrix_to_result(c: Convolution, sums: Array, shape: tuple[int, ...]) -> Array:
    """Sums of pixels by output channels as the result, which has this shape."""
    if c.output is None:
        return sums.reshape(shape)
    extents = [n for at, n in enumerate(shape) if at != c.output]
    return np.ascontiguousarray(np.moveaxis(sums.reshape([*extents, shape[c.output]]), -1, c.output))
