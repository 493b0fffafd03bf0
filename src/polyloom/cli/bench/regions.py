# SPDX-License-Identifier: Apache-2.0
"""Regions of the paper's Tables 1 and 2 and two larger ones, and loop bounds that give all of them tiles of one size.

The tables follow one mapping of each loop, the one that needs the fewest cycles on 4x4 elements. Its row and column
dimensions have TILE iterations per element (one fewer altogether for imperfect tilings), the other dimensions TILE in
all. Of a kernel in phases the first is taken, which is the triangular one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Final, cast

from polyloom import api
from polyloom.cli import examples
from polyloom.targets.tcpa.run import program, report
from polyloom.targets.tcpa.words import symbolic_file
from polyloom.targets.tcpa.words.phases import stages
from polyloom.targets.tcpa.words.symbolic import Symbolic

Region = tuple[int, int]
REGIONS: Final = ((1, 1), (1, 16), (1, 32), (4, 4), (8, 8), (32, 32))
LARGE: Final = ((128, 128), (1024, 1024))
TILE: Final = 8
# `bits`, `fir` and their like have one mapped dimension, others two: their regions follow from it.
EXTENTS: Final[Mapping[str, Mapping[str, str]]] = {
    "bits": {"i": "N"},
    "fir": {"i": "N", "j": "T"},
    "matmul": {"i": "N", "j": "M", "k": "K"},
    "conv": {"m": "M", "c": "C", "h": "H", "w": "W", "r": "R", "s": "S"},
}
"""Of the paper's programs: the parameter that is the extent of each dimension."""
TRIANGULAR: Final[Mapping[str, int]] = {"trisolv": 0, "syrk": 0, "lu": -1}
"""N less TILE times the rows, where both mapped dimensions then have TILE iterations per element."""


@dataclass(frozen=True)
class Loop:
    """A symbolic configuration, the candidate that is measured, and parameter values by region."""

    data: bytes
    symbolic: Symbolic = field(repr=False)
    triangle: int | None = None

    def values(self, region: Region, number: int, *, perfect: bool) -> dict[str, int]:
        short = 0 if perfect else 1
        if self.triangle is not None:
            extents = dict.fromkeys(self.symbolic.parameters, TILE)
            return {**extents, "N": TILE * max(region) + self.triangle - short}
        mapped, parameters = self.symbolic.candidates[number], EXTENTS[self.symbolic.kernel]
        values = dict.fromkeys(parameters.values(), TILE)
        for dimension, count in ((mapped.rows, region[0]), (mapped.columns, region[1])):
            if dimension is not None:
                values[parameters[self.symbolic.dimensions[dimension]]] = TILE * count - short
        return values

    def instance(self, region: Region, number: int, *, perfect: bool) -> bytes:
        return program.instantiate(self.data, self.values(region, number, perfect=perfect), region, number)


@cache
def compiled_kernel(kernel: str) -> api.Compiled:
    # The paper's programs are equations; triangular nests are kernels in Python.
    path = str(examples.folder() / "kernels" / f"{kernel}.py") if kernel in TRIANGULAR else examples.path(kernel)
    return api.compile(path, on="tcpa:paper" if kernel == "bits" else "tcpa:ideal")


@cache
def loop(kernel: str) -> Loop:
    data = stages.phase_files(compiled_kernel(kernel).data)[0]
    return Loop(data, symbolic_file.decode(data), TRIANGULAR.get(kernel))


def measured_regions(kernel: str) -> tuple[Region, ...]:
    """Those of one row for a loop of one dimension; of triangular ones those of two dimensions."""
    if kernel in TRIANGULAR:
        return tuple(r for r in REGIONS if r[0] == r[1])
    return REGIONS if len(EXTENTS[kernel]) > 1 else tuple(r for r in REGIONS if r[0] == 1)


@cache
def candidate(kernel: str) -> int:
    """Of the candidates that map most dimensions to the array, which thus run equally many iterations, the fastest."""
    mapped = [(c.rows is not None) + (c.columns is not None) for c in loop(kernel).symbolic.candidates]
    return min((n for n, count in enumerate(mapped) if count == max(mapped)), key=lambda n: _cycles(kernel, n))


def _cycles(kernel: str, number: int) -> int:
    made = loop(kernel).instance((4, 4), number, perfect=True)
    return cast(int, report.facts(None, made)["predicted_cycles"])


def bounds(kernel: str, region: Region, *, perfect: bool = True) -> dict[str, int]:
    """Parameter values of `kernel` for `region`."""
    return loop(kernel).values(region, candidate(kernel), perfect=perfect)


def instance(kernel: str, region: Region, *, perfect: bool = True) -> bytes:
    """The concrete file."""
    return loop(kernel).instance(region, candidate(kernel), perfect=perfect)


def title(region: Region) -> str:
    return f"{region[0]}x{region[1]}"


def region_columns(values: Mapping[Region, object], columns: tuple[Region, ...] = REGIONS) -> dict[str, object]:
    """A row's cells; None where the loop does not run on the region."""
    return {title(region): values.get(region) for region in columns}
