# SPDX-License-Identifier: Apache-2.0
"""`polyloom bench explore`: what sweeps of gemm cost, in seconds of CPU of this process.

The compilation is part of every sweep. What a sweep is compared with is each point by itself: instantiated, run and
compared, as `polyloom run` does; that is measured on every tenth point, and taken times ten.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from time import process_time
from typing import Any, Final, TypeVar

from polyloom import api, temporary
from polyloom.cli import examples
from polyloom.exploration.entry_point import explore
from polyloom.exploration.sweep import Sweep

T = TypeVar("T")
_ON: Final = "tcpa:wide"
_SIZES: Final = "16..30+2"
_REGIONS: Final = "1x1..16x16"
_EVERY: Final = 10


def rows() -> Iterator[dict[str, object]]:
    kernel = str(examples.folder() / "kernels" / "gemm.py")
    _, warm = _timed_call(lambda: explore(kernel, _ON, sweep={"NI,NJ,NK": 8}, level="predict"))
    yield _row("one point, with its compilation", 1, warm)
    verified, together = _timed_call(lambda: _verified_sweep(kernel, "verify"))
    alone, points = _separate_runs(kernel, verified), len(verified)
    yield _row("each by itself, verified", points, alone)
    yield _row("all verified", points, together, f"{alone / together:.1f} times less")
    _, front = _timed_call(lambda: _verified_sweep(kernel, None))
    yield _row("predicted, the front verified", points, front, f"{alone / front:.1f} times less")
    with temporary.temporary_folder() as folder:
        kept = str(folder / "sweep")
        many, predicted = _timed_call(lambda: _predicted_sweep(kernel, kept))
        again, resumed = _timed_call(lambda: _predicted_sweep(kernel, kept))
    assert (many.computed, again.computed) == (len(many), 0)
    yield _row("predicted", len(many), predicted, f"{1000 * (predicted - warm) / len(many):.2f} ms per point")
    yield _row("resumed, nothing missing", len(many), resumed)


def _row(what: str, points: int, seconds: float, note: str = "") -> dict[str, object]:
    return {"sweep": what, "points": points, "seconds": round(seconds, 2), "": note}


def _timed_call(action: Callable[[], T]) -> tuple[T, float]:
    start = process_time()
    return action(), process_time() - start


def _verified_sweep(kernel: str, level: str | None) -> Sweep:
    return explore(kernel, _ON, sweep={"NI,NJ,NK": _SIZES, "pes": _REGIONS}, level=level)


def _predicted_sweep(kernel: str, folder: str) -> Sweep:
    """10,000 points."""
    axes = {"NI": "8..32+1", "NJ": "8..32+1", "pes": "1x1..8x8"}
    return explore(kernel, _ON, sweep=axes, level="predict", resume=folder, NK=16)


def _separate_runs(kernel: str, sweep: Sweep) -> float:
    compiled = api.compile(kernel, _ON)
    start = process_time()
    # Each tenth point stands for ten: all would take minutes.
    for row in sweep.rows[::_EVERY]:
        point: Any = row.point
        pes = tuple(map(int, point["pes"].split("x")))
        result = compiled.instantiate({n: point[n] for n in ("NI", "NJ", "NK")}, pes=pes).run()
        assert (result.cycles, bool(result.data)) == (row.cycles, True)
    return _EVERY * (process_time() - start)
