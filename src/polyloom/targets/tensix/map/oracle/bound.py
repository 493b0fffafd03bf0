# SPDX-License-Identifier: Apache-2.0
"""Error bound of a product on the tile against the exact one, from format and fidelity; distance of results in ulp.

With u for a factor's rounding into the format and t for what the fidelity leaves out of its mantissa, an element misses
the sum of |a b| by at most (1 + u)(1 + t) - 1 of it, per factor. Each product is aligned to the largest of its group of
eight, half a unit of 2**-10 of it; later phases have 2**-5, 2**-7 and 2**-12 of that. Each MVMUL aligns two sums and
Dst, and rounds its result: four half units of Dst's mantissa and one of sums, of what is accumulated so far. Last comes
what the program itself rounds. Method: Higham, Accuracy and Stability of Numerical Algorithms (2002), chapter 3.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from polyloom.targets.tensix.options import Dest
from polyloom.targets.tensix.words.arrays import tiles
from polyloom.targets.tensix.words.arrays.formats import FP16, Format, Result

Array = NDArray[Any]
_GROUP: Final = 8
_ROUNDING: Final = {"tf32": 2.0**-10, "bf16": 2.0**-8, "fp16": 2.0**-11}
"""Of an operand, relative: TF32 by cutting off, the others to nearest."""
_LEAST: Final = {"tf32": 2.0**-126, "bf16": 2.0**-126, "fp16": 2.0**-14}
"""Below this, operands are zero."""
_LEFT_OUT: Final = {1: (2.0**-6, 2.0**-4), 2: (2.0**-6, 2.0**-10), 3: (2.0**-10, 2.0**-10), 4: (0.0, 2.0**-10)}
"""By fidelity: of the left factor, which is in SrcB (7 bits at a time), and of the right one, in SrcA (5 bits, and one
that no phase reads)."""
_PHASES: Final = (1.0, 2.0**-5, 2.0**-7, 2.0**-12)


def product_bound(left: Array, right: Array, f: Format, dest: Dest, fidelity: int) -> Array:
    """Bound for each element, by how much it may differ from the program's. Of i8: 0 at fidelity 4."""
    a, b = np.abs(left.astype(np.float64)), np.abs(right.astype(np.float64))
    if f.name == "i8":
        return _integer_bound(a, b, fidelity)
    total, largest = a @ b, _largest_of_groups(a, b)
    # Errors of both factors multiply, as each is a relative change of the product.
    factor = 1.0
    for left_out in _LEFT_OUT[fidelity]:
        factor *= (1 + _ROUNDING[f.name]) * (1 + left_out)
    phases = sum(_PHASES[:fidelity])
    # Two MVMULs per tile along k and phase, each of which rounds.
    steps = fidelity * tiles.tile_count(left.shape[1]) * 2
    bits = 24 if dest == 32 else 11 if f.name == "fp16" else 8
    each = 4 * 2.0**-24 + 2.0**-bits + (0 if dest == 32 else 3 * 2.0**-11)
    few = fidelity * left.shape[1] + steps  # products and results that vanish
    small = _LEAST[f.name] * (a.sum(axis=1)[:, None] + b.sum(axis=0)[None, :] + few)
    inner = (factor - 1) * total + small + _GROUP * 2.0**-11 * phases * largest
    return (inner + steps * each * 1.125 * (total + inner)) + left.shape[1] * 2.0**-24 * total


def _integer_bound(a: Array, b: Array, fidelity: int) -> Array:
    """Bound of i8 products: what no phase multiplies, the low 4 bits of the left factor, the low 5 of the right one, or
    both.
    """
    low_a, low_b = np.minimum(a, 15), np.minimum(b, 31)
    missing = {1: low_a @ b + a @ low_b, 2: low_a @ b, 3: low_a @ low_b}
    return missing.get(fidelity, np.zeros((len(a), b.shape[1])))


def _largest_of_groups(a: Array, b: Array) -> Array:
    """Sum over groups of eight of the largest product, bounded by rows' and columns' largest operands' products."""
    depth = -(-a.shape[1] // _GROUP) * _GROUP
    wide = np.pad(a, ((0, 0), (0, depth - a.shape[1]))).reshape(len(a), depth // _GROUP, _GROUP).max(axis=2)
    tall = np.pad(b, ((0, depth - b.shape[0]), (0, 0))).reshape(depth // _GROUP, _GROUP, b.shape[1]).max(axis=1)
    return wide @ tall


def ulp_distance(expected: Array, got: Array, result: Result) -> Array:
    """Distance in units of the last place of the result's format: steps in the ordered list of its values, in which
    denormals and both zeros are one.
    """
    if expected.dtype.kind != "f":
        return np.abs(expected.astype(np.int64) - got.astype(np.int64))
    return np.abs(_format_rank(expected, result) - _format_rank(got, result))


def _format_rank(values: Array, result: Result) -> Array:
    bits = result.encode(values).astype(np.int64)
    sign, least = (31, 1 << 23) if result.width == 4 else (15, 1 << 10 if result.code == FP16 else 1 << 7)
    # All denormals are rank 0, since the tile flushes them.
    size = np.maximum((bits & (1 << sign) - 1) - least + 1, 0)
    return np.where(bits >> sign & 1, -size, size)
