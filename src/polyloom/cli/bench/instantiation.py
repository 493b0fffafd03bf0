# SPDX-License-Identifier: Apache-2.0
"""The layout of the paper's Table 1: the time of program instantiation relative to one element, with the processor
classes.

Beside it the microseconds of the C library and those of the paper's algorithms on isl (`isl/`), in the same run, both
in CPU time on one thread: concretization through functional-unit programs, the median of a thousand warm runs. The
library checks the request and chooses tiles in it, which isl's part leaves out; both make groups, classes, kernels,
control flow, signals and programs. `whole` is all that the library does but emission: besides, it reads and checks the
file, and makes FIFO depths, interconnect and address generators. The two take turns, for the speed of a shared machine
changes by the second, and `isl / C` is the median of the factors of the turns. `least` is the row's least factor.

`request` is the library's whole time for a file, from bytes to bytes, and `Python` that of `Compiled.instantiate` for
the same values, region and candidate; they take turns as well, and `more` is the median of the differences of the
turns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from statistics import median
from time import thread_time
from typing import Final

from polyloom._native import instantiate as native
from polyloom.cli.bench import isl
from polyloom.cli.bench.regions import (
    EXTENTS,
    LARGE,
    REGIONS,
    TRIANGULAR,
    Region,
    bounds,
    candidate,
    compiled_kernel,
    instance,
    loop,
    measured_regions,
    region_columns,
)
from polyloom.targets.tcpa.words import concrete_file

RUNS: Final = 1000
_REQUEST_TURNS: Final = 9
_REQUESTS: Final = 25
"""In each turn, or fewer of those that take long: this many and this many seconds at most."""
_REQUEST_SECONDS: Final = 0.05
_TURNS: Final = 3, 9
"""At least and at most."""
_PEER_SECONDS: Final = 1.0
"""What the peer is to take in all turns."""
_COLUMNS: Final = (*REGIONS, *LARGE)
PUBLISHED: Final[Mapping[str, tuple[str, ...]]] = {
    "bits": ("1.00 (1)", "0.94 (1)", "1.04 (1)"),
    "fir": ("1.00 (1)", "2.64 (3)", "2.72 (3)", "9.06 (9)", "8.98 (9)", "8.23 (9)"),
    "matmul": ("1.00 (1)", "0.94 (1)", "0.99 (1)", "1.86 (2)", "1.74 (2)", "1.78 (2)"),
    "conv": ("1.00 (1)", "1.77 (2)", "1.78 (2)", "9.22 (4)", "9.33 (4)", "9.06 (4)"),
}
"""The paper's Table 1."""


def rows() -> Iterator[dict[str, object]]:
    for kernel in (*EXTENTS, *TRIANGULAR):
        yield from _published_rows(kernel)
        yield from _rows(kernel, perfect=True)
        yield from _rows(kernel, perfect=False)


def regions_of_kernel(kernel: str) -> tuple[Region, ...]:
    """The regions of a row. The classes of lu grow with the region, and the peer's time with them."""
    # Its control signals exceed a file's numbers on 8x8, and its classes grow with the region.
    if kernel == "lu":
        return (1, 1), (4, 4)
    return measured_regions(kernel) if kernel == "bits" else (*measured_regions(kernel), *LARGE)


def _published_rows(kernel: str) -> list[dict[str, object]]:
    cells = PUBLISHED.get(kernel)
    return [_row(kernel, None, "paper, relative", dict(zip(REGIONS, cells, strict=False)))] if cells else []


def _row(kernel: str, tiling: str | None, what: str, cells: Mapping[Region, object]) -> dict[str, object]:
    return {"kernel": kernel, "tiling": tiling, "time": what, **region_columns(cells, _COLUMNS), "least": None}


def _rows(kernel: str, *, perfect: bool) -> list[dict[str, object]]:
    tiling = "perfect" if perfect else "imperfect"
    measured = {r: _measure_programs(kernel, r, perfect=perfect) for r in regions_of_kernel(kernel)}
    alone = measured[1, 1].programs
    least = min(m.factor for m in measured.values())
    asked = {r: _measure_request(kernel, r, perfect=perfect) for r in regions_of_kernel(kernel) if r in REGIONS}
    return [
        _row(kernel, tiling, "relative", {r: f"{m.programs / alone:.2f} ({m.classes})" for r, m in measured.items()}),
        _row(kernel, tiling, "C, us", {r: round(1e6 * m.programs, 1) for r, m in measured.items()}),
        _row(kernel, tiling, "C, whole, us", {r: round(1e6 * m.whole, 1) for r, m in measured.items()}),
        _row(kernel, tiling, "isl, us", {r: round(1e6 * m.peer) for r, m in measured.items()}),
        {
            **_row(kernel, tiling, "isl / C", {r: round(m.factor, 2) for r, m in measured.items()}),
            "least": round(least, 2),
        },
        _row(kernel, tiling, "request, us", {r: round(1e6 * a.library, 1) for r, a in asked.items()}),
        _row(kernel, tiling, "Python, us", {r: round(1e6 * a.python, 1) for r, a in asked.items()}),
        _row(kernel, tiling, "more, us", {r: round(1e6 * a.more, 1) for r, a in asked.items()}),
    ]


@dataclass(frozen=True, slots=True)
class _Asked:
    """Medians in seconds: of a request to the library, of the same one in Python, and of the differences."""

    library: float
    python: float
    more: float


def _measure_request(kernel: str, region: Region, *, perfect: bool) -> _Asked:
    values, number = bounds(kernel, region, perfect=perfect), candidate(kernel)
    # The library takes parameters by position, in the file's order.
    ordered = [values[name] for name in loop(kernel).symbolic.parameters]
    ours = partial(compiled_kernel(kernel).instantiate, values, pes=region, candidate=number)
    # A first call loads modules; it also says how many fit into a turn.
    once = _seconds(ours)
    times = max(3, min(_REQUESTS, int(_REQUEST_SECONDS / once)))
    turns = list[tuple[float, float]]()
    for _ in range(_REQUEST_TURNS):
        library = native.seconds(loop(kernel).data, ordered, *region, number, 0, times)[1]
        turns.append(
            (
                median(prepared + emitted for prepared, emitted, *_ in library),
                median(_seconds(ours) for _ in range(times)),
            )
        )
    return _Asked(median(a for a, _ in turns), median(b for _, b in turns), median(b - a for a, b in turns))


def _seconds(call: Callable[[], object]) -> float:
    """CPU seconds of a call."""
    start = thread_time()
    call()
    return thread_time() - start


@dataclass(frozen=True, slots=True)
class _Measured:
    """Medians in seconds: of the library, of all but emission, of the peer; and of the factors."""

    programs: float
    whole: float
    peer: float
    factor: float
    classes: int


def _measure_programs(kernel: str, region: Region, *, perfect: bool) -> _Measured:
    prepared, request = _prepare_peer(kernel, region, perfect=perfect), _request(kernel, region, perfect=perfect)
    peer = partial(isl.instantiate, prepared, *request)
    # isl caches its objects per context: the first run is not measured.
    warm, made = _timed_call(peer)
    turns = min(max(_TURNS[0], int(_PEER_SECONDS / warm)), _TURNS[1])
    ours, theirs, factors = list[tuple[float, float]](), list[float](), list[float]()
    for _ in range(turns):
        runs = _runs(kernel, region, perfect=perfect, times=-(-RUNS // turns))
        theirs.append(_timed_call(peer)[0])
        factors.append(theirs[-1] / median(programs for programs, _ in runs))
        ours += runs
    programs, whole = (median(column) for column in zip(*ours, strict=True))
    return _Measured(programs, whole, median(theirs), median(factors), len(made.classes))


def _timed_call(call: Callable[[], isl.Instance]) -> tuple[float, isl.Instance]:
    """The CPU seconds of a call, and what it gives."""
    start = thread_time()
    made = call()
    return thread_time() - start, made


def _runs(kernel: str, region: Region, *, perfect: bool, times: int) -> list[tuple[float, float]]:
    values = bounds(kernel, region, perfect=perfect)
    ordered = [values[name] for name in loop(kernel).symbolic.parameters]
    return native.seconds(loop(kernel).data, ordered, *region, candidate(kernel), times, 0)[0]


def seconds(kernel: str, region: Region, *, perfect: bool, times: int = RUNS) -> float:
    """The library's median of program instantiation."""
    return median(programs for programs, _ in _runs(kernel, region, perfect=perfect, times=times))


def peer(kernel: str, region: Region, *, perfect: bool) -> isl.Instance:
    """What the peer makes, for the tiles that the library chooses."""
    return isl.instantiate(_prepare_peer(kernel, region, perfect=perfect), *_request(kernel, region, perfect=perfect))


def _prepare_peer(kernel: str, region: Region, *, perfect: bool) -> isl.Prepared:
    # The library may choose a multiple of the schedule's interval: both make programs for the same one.
    interval = concrete_file.decode(instance(kernel, region, perfect=perfect)).initiation_interval
    return isl.prepare(loop(kernel).symbolic, candidate(kernel), interval)


def _request(kernel: str, region: Region, *, perfect: bool) -> tuple[list[int], Region, list[int]]:
    """Values by parameter, the region, and tile sizes by dimension: those of 4x4 elements where the region is larger,
    which are the same."""
    symbolic = loop(kernel).symbolic
    values = bounds(kernel, region, perfect=perfect)
    small = region if region in REGIONS else (4, 4)
    made = concrete_file.decode(instance(kernel, small, perfect=perfect))
    sizes = dict(zip(symbolic.candidates[candidate(kernel)].order, made.extents, strict=True))
    return [values[name] for name in symbolic.parameters], region, [sizes[m] for m in range(len(sizes))]
