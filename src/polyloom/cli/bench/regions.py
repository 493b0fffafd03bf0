# SPDX-License-Identifier: Apache-2.0
"""The six regions of the paper's Tables 1 and 2, and loop bounds that give all of them tiles of one size.

Every dimension that may be mapped to the array has TILE times the longer side of the region iterations (one fewer in each for
imperfect tilings), so that tiles are alike whichever dimensions a candidate maps.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

REGIONS: Final = ((1, 1), (1, 16), (1, 32), (4, 4), (8, 8), (32, 32))
TILE: Final = 4
_FILTER: Final = 3  # the convolution's window; it stays within an element


def _convolution(n: int) -> dict[str, int]:
    return {"M": n, "C": n, "H": n, "W": n, "R": _FILTER, "S": _FILTER}


KERNELS: Final[Mapping[str, Callable[[int], dict[str, int]]]] = {
    "bits": lambda n: {"N": n},
    "fir": lambda n: {"N": n, "T": n},
    "matmul": lambda n: {"N": n, "M": n, "K": n},
    "conv": _convolution,
}


def bounds(kernel: str, region: tuple[int, int], *, perfect: bool = True) -> dict[str, int]:
    """Parameter values of `kernel` for `region`."""
    return KERNELS[kernel](TILE * max(region) - (0 if perfect else 1))


def title(region: tuple[int, int]) -> str:
    return f"{region[0]}x{region[1]}"
