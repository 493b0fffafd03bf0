# SPDX-License-Identifier: Apache-2.0
"""The layout of the paper's Table 1: the time of program instantiation relative to one element, with the processor classes.

Beside it the microseconds of the C library and those of the paper's algorithms on isl (`isl/`), in the same run, both in CPU time on
one thread: concretization through functional-unit programs, the median of a thousand warm runs. The library checks the request and chooses
tiles in it, which isl's part leaves out; both make groups, classes, kernels, control flow, signals and programs. `whole` is all
that the library does but emission: besides, it reads and checks the file, and makes FIFO depths, interconnect and address generators.
`least` is the row's least factor, `met` whether it reaches the goal.
"""

from __future__ import annotations

from collections.abc import Mapping
from statistics import median
from time import thread_time
from typing import Final

from polyloom import _core
from polyloom.cli.bench import isl
from polyloom.cli.bench.regions import EXTENTS, LARGE, REGIONS, TRIANGULAR, Region, bounds, by_region, candidate, instance, loop, regions
from polyloom.targets.tcpa import concrete_file

GOAL: Final = 100
"""How many times faster the library is to be, in every cell."""
RUNS: Final = 1000
_PEER_RUNS: Final = 9
_PEER_SECONDS: Final = 1.0
"""No further run of the peer begins after so much time."""
_COLUMNS: Final = (*REGIONS, *LARGE)
PUBLISHED: Final[Mapping[str, tuple[str, ...]]] = {
    "bits": ("1.00 (1)", "0.94 (1)", "1.04 (1)"),
    "fir": ("1.00 (1)", "2.64 (3)", "2.72 (3)", "9.06 (9)", "8.98 (9)", "8.23 (9)"),
    "matmul": ("1.00 (1)", "0.94 (1)", "0.99 (1)", "1.86 (2)", "1.74 (2)", "1.78 (2)"),
    "conv": ("1.00 (1)", "1.77 (2)", "1.78 (2)", "9.22 (4)", "9.33 (4)", "9.06 (4)"),
}
"""The paper's Table 1."""


def rows() -> list[dict[str, object]]:
    kernels = (*EXTENTS, *TRIANGULAR)
    return [row for kernel in kernels for row in (*_published(kernel), *_rows(kernel, perfect=True), *_rows(kernel, perfect=False))]


def chosen(kernel: str) -> tuple[Region, ...]:
    """The regions of a row. The classes of lu grow with the region, and the peer's time with them."""
    if kernel == "lu":
        return (1, 1), (4, 4)
    return regions(kernel) if kernel == "bits" else (*regions(kernel), *LARGE)


def _published(kernel: str) -> list[dict[str, object]]:
    cells = PUBLISHED.get(kernel)
    return [_row(kernel, None, "paper, relative", dict(zip(REGIONS, cells, strict=False)))] if cells else []


def _row(kernel: str, tiling: str | None, what: str, cells: Mapping[Region, object]) -> dict[str, object]:
    return {"kernel": kernel, "tiling": tiling, "time": what, **by_region(cells, _COLUMNS), "least": None, "met": None}


def _rows(kernel: str, *, perfect: bool) -> list[dict[str, object]]:
    tiling = "perfect" if perfect else "imperfect"
    measured = {r: (*seconds(kernel, r, perfect=perfect), *peer_seconds(kernel, r, perfect=perfect)) for r in chosen(kernel)}
    alone = measured[1, 1][0]
    factors = {r: theirs / ours for r, (ours, _, theirs, _) in measured.items()}
    least = min(factors.values())
    return [
        _row(kernel, tiling, "relative", {r: f"{ours / alone:.2f} ({classes})" for r, (ours, _, _, classes) in measured.items()}),
        _row(kernel, tiling, "C, us", {r: round(1e6 * ours, 1) for r, (ours, _, _, _) in measured.items()}),
        _row(kernel, tiling, "C, whole, us", {r: round(1e6 * whole, 1) for r, (_, whole, _, _) in measured.items()}),
        _row(kernel, tiling, "isl, us", {r: round(1e6 * theirs) for r, (_, _, theirs, _) in measured.items()}),
        {**_row(kernel, tiling, "isl / C", {r: round(f, 2) for r, f in factors.items()}), "least": round(least, 2), "met": least >= GOAL},
    ]


def seconds(kernel: str, region: Region, *, perfect: bool, times: int = RUNS) -> tuple[float, float]:
    """The library's medians: program instantiation, and all but emission."""
    values = bounds(kernel, region, perfect=perfect)
    ordered = [values[name] for name in loop(kernel).symbolic.parameters]
    runs, _, _ = _core.instantiation_seconds(loop(kernel).data, ordered, *region, candidate(kernel), times, 0)
    return median(programs for programs, _ in runs), median(whole for _, whole in runs)


def peer(kernel: str, region: Region, *, perfect: bool) -> isl.Instance:
    """What the peer makes, for the tiles that the library chooses."""
    return isl.instantiate(isl.prepare(loop(kernel).symbolic, candidate(kernel)), *_request(kernel, region, perfect=perfect))


def peer_seconds(kernel: str, region: Region, *, perfect: bool) -> tuple[float, int]:
    """The peer's median, and its number of processor classes."""
    prepared, request = isl.prepare(loop(kernel).symbolic, candidate(kernel)), _request(kernel, region, perfect=perfect)
    times: list[float] = []
    count = 0
    while len(times) < _PEER_RUNS and sum(times) < _PEER_SECONDS:
        start = thread_time()
        made = isl.instantiate(prepared, *request)
        times.append(thread_time() - start)
        count = len(made.classes)
    return median(times), count


def _request(kernel: str, region: Region, *, perfect: bool) -> tuple[list[int], Region, list[int]]:
    """Values by parameter, the region, and tile sizes by dimension: those of 4x4 elements where the region is larger, which are the same."""
    symbolic = loop(kernel).symbolic
    values = bounds(kernel, region, perfect=perfect)
    small = region if region in REGIONS else (4, 4)
    made = concrete_file.decode(instance(kernel, small, perfect=perfect))
    sizes = dict(zip(symbolic.candidates[candidate(kernel)].order, made.extents, strict=True))
    return [values[name] for name in symbolic.parameters], region, [sizes[m] for m in range(len(sizes))]
