# SPDX-License-Identifier: Apache-2.0
"""Milliseconds to instantiate, in Python, from the bytes of the symbolic file to those of the concrete one, by region."""

from __future__ import annotations

from polyloom import api
from polyloom.cli import examples
from polyloom.cli.bench.regions import KERNELS, REGIONS, bounds, title
from polyloom.cli.bench.timing import median_seconds


def rows() -> list[dict[str, object]]:
    return [_row(kernel) for kernel in KERNELS]


def _row(kernel: str) -> dict[str, object]:
    compiled = api.compile(examples.path(kernel), on="tcpa:paper" if kernel == "bits" else "tcpa:wide")
    return {"kernel": kernel, **{f"{title(r)} ms": _milliseconds(compiled, kernel, r) for r in REGIONS}}


def _milliseconds(compiled: api.Compiled, kernel: str, region: tuple[int, int]) -> float:
    return round(1e3 * median_seconds(lambda: compiled.instantiate(bounds(kernel, region), pes=region)), 2)
