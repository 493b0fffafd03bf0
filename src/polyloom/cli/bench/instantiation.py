# SPDX-License-Identifier: Apache-2.0
"""Milliseconds to instantiate, by region, from the symbolic file to the concrete one, both in memory: by the C library, which the
package calls and which also chooses the candidate, and by the Python pipeline that it is compared with, for one candidate."""

from __future__ import annotations

from collections.abc import Callable

from polyloom import _core
from polyloom.cli.bench.regions import EXTENTS, bounds, by_region, candidate, compiled, regions
from polyloom.cli.bench.timing import median_seconds
from polyloom.targets.tcpa import symbolic_file
from polyloom.targets.tcpa.instantiate import instantiate

Milliseconds = Callable[[str, tuple[int, int]], float]


def rows() -> list[dict[str, object]]:
    makers: tuple[tuple[str, Milliseconds], ...] = (("C", _library), ("Python", _pipeline))
    return [_row(kernel, *maker) for kernel in EXTENTS for maker in makers]


def _row(kernel: str, name: str, milliseconds: Milliseconds) -> dict[str, object]:
    return {"kernel": kernel, "in": name, **by_region({region: milliseconds(kernel, region) for region in regions(kernel)})}


def _library(kernel: str, region: tuple[int, int]) -> float:
    data, values = compiled(kernel).data, bounds(kernel, region)
    ordered = [values[name] for name in compiled(kernel).parameters]
    return round(1e3 * median_seconds(lambda: _core.instantiate(data, ordered, *region)), 2)


def _pipeline(kernel: str, region: tuple[int, int]) -> float:
    symbolic, values, number = symbolic_file.decode(compiled(kernel).data), bounds(kernel, region), candidate(kernel)
    return round(1e3 * median_seconds(lambda: instantiate(symbolic, values, *region, candidate=number)), 1)
