# SPDX-License-Identifier: Apache-2.0
"""Milliseconds to instantiate, in Python, by region: from the symbolic configuration in memory to the concrete one."""

from __future__ import annotations

from polyloom.cli.bench.regions import EXTENTS, bounds, by_region, candidate, compiled, regions
from polyloom.cli.bench.timing import median_seconds
from polyloom.targets.tcpa import symbolic_file
from polyloom.targets.tcpa.instantiate import instantiate


def rows() -> list[dict[str, object]]:
    return [_row(kernel) for kernel in EXTENTS]


def _row(kernel: str) -> dict[str, object]:
    return {"kernel": kernel, **by_region({region: _milliseconds(kernel, region) for region in regions(kernel)})}


def _milliseconds(kernel: str, region: tuple[int, int]) -> float:
    symbolic, values, number = symbolic_file.decode(compiled(kernel).data), bounds(kernel, region), candidate(kernel)
    return round(1e3 * median_seconds(lambda: instantiate(symbolic, values, *region, candidate=number)), 1)
