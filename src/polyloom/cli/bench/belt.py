# SPDX-License-Identifier: Apache-2.0
"""Loops on the members of the belt family: initiation intervals beside their bounds, spills and rounds; vectors; and
the speed of the model.

A row of a member covers the sixty loops of `examples/loops`, always pipelined: `II/bound` is the mean of the interval
over the bound of the loop before spills, fills and recurs; `again 0, 1, 2, more` are the shares of loops that were
scheduled again so many times. The method's description says: about a fifth once, a few per cent twice, none more.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import fmean, median
from time import process_time
from typing import Any, Final

import numpy as np

from polyloom import api
from polyloom.cli.bench import loops
from polyloom.cli.bench.hexagon import compiled_facts
from polyloom.diagnostics import PolyloomError
from polyloom.frontend.source import Options
from polyloom.targets.belt.run import model

Row = dict[str, object]
MEMBERS: Final = ("tin", "copper", "silver", "gold", "gold5", "hex4", "unit")
SOLVERS: Final = ("torus", "exact", "best")
LIMITS: Final[dict[str, tuple[int, int]]] = {
    "dot": (2, 1),
    "saxpy": (2, 2),
    "dot_float": (4, 4),
    "fir4": (4, 2),
    "fir8": (6, 3),
    "iir": (5, 5),
    "complex_product": (3, 1),
    "clipped_sum": (2, 1),
    "choose": (2, 1),
    "length": (1, 1),
    "copy": (1, 1),
    "find_either": (2, 1),
    "add_1": (2, 2),
    "add_3": (2, 1),
    "add_7": (2, 1),
}
"""By loop: the initiation intervals that are asked for on silver and on gold."""
VECTORS: Final = {"dot": 1100, "saxpy": 1100, "clipped_sum": 1100, "length": 340, "copy": 340}
"""By loop: the cycles that are asked for on silver with vectors, for n = `LONG`."""
MEANS: Final = {"silver": 1.06, "gold": 1.03}
"""The greatest mean of the interval over the bound that is asked for."""
LONG: Final = 4096
_COLUMNS: Final = (
    *("what", "member", "solver", "II", "limit", "pipelined", "II/bound", "goal", "spills"),
    *("again 0", "again 1", "again 2", "more", "bundles a second"),
)


def rows() -> Iterator[Row]:
    for row in _rows():
        yield {column: row.get(column) for column in _COLUMNS}


def _rows() -> Iterator[Row]:
    yield from _intervals()
    yield from _vectors()
    yield from _members()
    yield _speed()


def _loops_by_name() -> dict[str, loops.Loop]:
    return {loop.name: loop for loop in loops.loops()}


def _intervals() -> Iterator[Row]:
    known = _loops_by_name()
    for name, limits in LIMITS.items():
        for member, limit in zip(("silver", "gold"), limits, strict=True):
            interval = compiled_facts(known[name], f"belt:{member}")["initiation_interval"]
            yield {"what": name, "member": member, "solver": "best", "II": interval, "limit": limit}


def _vectors() -> Iterator[Row]:
    for name, limit in VECTORS.items():
        cycles = _run(_loops_by_name()[name], LONG, vectorize="always", spl="always").cycles
        yield {"what": f"{name}, vectors, cycles", "member": "silver", "solver": "best", "II": cycles, "limit": limit}


def _run(loop: loops.Loop, n: int, **own: Any) -> Any:
    made = api.compile(loop.path, "belt:silver", options=Options(function=loop.name), **own)
    return made.run(loops.arguments(loop, made.signature, n))


def _members() -> Iterator[Row]:
    for member in MEMBERS:
        for solver in SOLVERS:
            found = [_facts(loop, member, solver) for loop in loops.loops()]
            goal = MEANS.get(member) if solver == "best" else None
            yield {"what": "sixty loops", "member": member, "solver": solver, **_summary(found), "goal": goal}


def _facts(loop: loops.Loop, member: str, solver: str) -> Sequence[dict[str, Any]]:
    """Of every innermost loop of a function; none where the member is too small for it."""
    try:
        return compiled_facts(loop, f"belt:{member}", solver=solver)["loops"]
    # A member without a needed unit cannot compile some loops: they count as not pipelined.
    except PolyloomError:
        return ()


def _summary(functions: Sequence[Sequence[dict[str, Any]]]) -> Row:
    pipelined = [loop for function in functions for loop in function if loop["pipelined"]]
    # Rounds count how often spills and fills were added and the loop scheduled again.
    again = [loop["rounds"] for loop in pipelined]
    shares = [sum(n == k for n in again) for k in range(3)] + [sum(n > 2 for n in again)]
    share = [f"{100 * n / max(1, len(again)):.0f} %" for n in shares]
    return {
        "pipelined": sum(bool(f) and all(loop["pipelined"] for loop in f) for f in functions),
        "II/bound": round(fmean(interval_ratio(loop) for loop in pipelined), 3),
        "spills": sum(loop["spills"] for loop in pipelined),
        **dict(zip(("again 0", "again 1", "again 2", "more"), share, strict=True)),
    }


def interval_ratio(loop: dict[str, Any]) -> float:
    """Interval over the greater of both lower bounds, resources and recurrences (Rau 1994)."""
    return loop["initiation_interval"] / max(1, loop["resource_bound"], loop["recurrence_bound"])


def _speed() -> Row:
    """Of the model alone, on `dot`: bundles per second of CPU time, the median of five runs."""
    made = api.compile(_loops_by_name()["dot"].path, "belt:silver", options=Options(function="dot"), spl="always")
    ones = np.ones(1_000_000, np.int32)
    speeds: list[float] = []
    # The median of five: the machine has other work.
    for _ in range(5):
        start = process_time()
        cycles = model.run(made.data, [len(ones), ones, ones]).cycles
        speeds.append(cycles / (process_time() - start))
    return {"what": "dot, the model", "member": "silver", "bundles a second": round(median(speeds))}
