# SPDX-License-Identifier: Apache-2.0
"""The six regions of the paper's Tables 1 and 2, and loop bounds that give all of them tiles of one size.

The tables follow one mapping, the one that needs the fewest cycles on 8x8 elements. Its row and column dimensions have TILE
iterations an element (one fewer altogether for imperfect tilings), the other dimensions TILE in all.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Final

from polyloom import api
from polyloom.cli import examples
from polyloom.targets.tcpa import symbolic_file
from polyloom.targets.tcpa.instantiate import instantiate, predicted_cycles

REGIONS: Final = ((1, 1), (1, 16), (1, 32), (4, 4), (8, 8), (32, 32))
TILE: Final = 8
EXTENTS: Final[Mapping[str, Mapping[str, str]]] = {
    "bits": {"i": "N"},
    "fir": {"i": "N", "j": "T"},
    "matmul": {"i": "N", "j": "M", "k": "K"},
    "conv": {"m": "M", "c": "C", "h": "H", "w": "W", "r": "R", "s": "S"},
}
"""By kernel: the parameter that is the extent of each dimension."""


@cache
def compiled(kernel: str) -> api.Compiled:
    return api.compile(examples.path(kernel), on="tcpa:paper" if kernel == "bits" else "tcpa:wide")


def regions(kernel: str) -> tuple[tuple[int, int], ...]:
    """Those of one row for a loop of one dimension."""
    return REGIONS if len(EXTENTS[kernel]) > 1 else tuple(r for r in REGIONS if r[0] == 1)


@cache
def candidate(kernel: str) -> int:
    """Of the candidates that map most dimensions to the array, which thus run equally many iterations, the fastest."""
    symbolic = symbolic_file.decode(compiled(kernel).data)
    mapped = [(c.rows is not None) + (c.columns is not None) for c in symbolic.candidates]
    return min((n for n, count in enumerate(mapped) if count == max(mapped)), key=lambda n: _cycles(kernel, n))


def _cycles(kernel: str, number: int) -> int:
    symbolic = symbolic_file.decode(compiled(kernel).data)
    return predicted_cycles(instantiate(symbolic, _bounds(kernel, (8, 8), number, perfect=True), 8, 8, candidate=number))


def bounds(kernel: str, region: tuple[int, int], *, perfect: bool = True) -> dict[str, int]:
    """Parameter values of `kernel` for `region`."""
    return _bounds(kernel, region, candidate(kernel), perfect=perfect)


def _bounds(kernel: str, region: tuple[int, int], number: int, *, perfect: bool) -> dict[str, int]:
    symbolic = symbolic_file.decode(compiled(kernel).data)
    mapped = symbolic.candidates[number]
    values = dict.fromkeys(EXTENTS[kernel].values(), TILE)
    for dimension, count in ((mapped.rows, region[0]), (mapped.columns, region[1])):
        if dimension is not None:
            values[EXTENTS[kernel][symbolic.dimensions[dimension]]] = TILE * count - (0 if perfect else 1)
    return values


def instance(kernel: str, region: tuple[int, int], *, perfect: bool = True) -> api.Instance:
    return compiled(kernel).instantiate(bounds(kernel, region, perfect=perfect), pes=region, candidate=candidate(kernel))


def title(region: tuple[int, int]) -> str:
    return f"{region[0]}x{region[1]}"


def by_region(values: Mapping[tuple[int, int], object]) -> dict[str, object]:
    """A row's cells; None where the loop does not run on the region."""
    return {title(region): values.get(region) for region in REGIONS}
