# SPDX-License-Identifier: Apache-2.0
"""Reference arithmetic in floating point equals that over integers, in every bit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import pytest
from numpy.typing import NDArray

from polyloom.targets.tensix.map.oracle import arithmetic
from polyloom.targets.tensix.words.arrays.formats import FORMATS

Array = NDArray[Any]


def wide(rng: np.random.Generator, shape: tuple[int, int]) -> Array:
    """Numbers over 40 binades, of which alignment loses most."""
    return rng.standard_normal(shape) * 2.0 ** rng.integers(-20, 20, shape)


def ties(rng: np.random.Generator, shape: tuple[int, int]) -> Array:
    """Small integers, and zeros: alignments end in halves, sums in -1."""
    return np.round(rng.standard_normal(shape) * 3) * 2.0 ** rng.integers(0, 12, shape)


def holes(rng: np.random.Generator, shape: tuple[int, int]) -> Array:
    """Groups of zeros, and columns that nearly cancel."""
    made = rng.standard_normal(shape)
    made[:, : shape[1] // 2] *= rng.integers(0, 2, (shape[0], 1))
    return made


def low(rng: np.random.Generator, shape: tuple[int, int]) -> Array:
    """Numbers whose products in the last phase are about the least that floating point takes."""
    return np.clip(rng.standard_normal(shape), -1, 1) * 2.0 ** rng.integers(-36, -28, shape)


KINDS: Final[list[Callable[[np.random.Generator, tuple[int, int]], Array]]] = [wide, ties, holes, low]


@pytest.mark.parametrize("seed", range(32))
def test_floating_point_equals_integers(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(seed)
    n, m, k = (int(x) for x in rng.integers(1, 70, 3))
    f, fidelity, kind = FORMATS["tf32" if seed // 4 % 2 else "bf16"], seed // 8 + 1, KINDS[seed % 4]
    a, b = (f.encode(kind(rng, shape).astype(np.float32)) for shape in ((n, k), (k, m)))
    used = list[bool]()

    def choose(*given: Any) -> bool:
        used.append(found := plain(*given))
        return found and not only_integers

    plain, only_integers = arithmetic.has_plain_exponents, False
    monkeypatch.setattr(arithmetic, "has_plain_exponents", choose)
    fast = arithmetic.multiply_tiles(a, b, f, 32, fidelity)
    only_integers = True
    assert np.array_equal(fast, arithmetic.multiply_tiles(a, b, f, 32, fidelity))
    assert used[0] or kind in (wide, low) or not (a.any() and b.any())


def test_many_numbers_near_zero_are_left_to_floating_point() -> None:
    """Of millions of uniform numbers, the least are about 2**-30."""
    f = FORMATS["bf16"]
    a, b = (arithmetic.tiles.pad_to_tiles(f.encode(np.full((2, 2), 2.0**-30, np.float32))) for _ in range(2))
    left, right = (arithmetic._float_factor(x, f, 4, of_left=left) for x, left in ((a, True), (b, False)))  # pyright: ignore[reportPrivateUsage]
    assert arithmetic.has_plain_exponents(left, right, -127, 4)


def test_numbers_far_apart_are_left_to_integers() -> None:
    """Their sums would underflow or overflow in floating point."""
    f = FORMATS["tf32"]
    for scale in (2.0**-70, 2.0**70):
        a, b = (f.encode(np.full((2, 2), scale, np.float32)) for _ in range(2))
        assert arithmetic.multiply_tiles(a, b, f, 32, 1).shape == (2, 2)
