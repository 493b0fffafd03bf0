# SPDX-License-Identifier: Apache-2.0
"""Shares of loops that the modulo schedulers solve: three seeded families of 10 to 120 operations (iterative modulo
scheduling: Rau 1994).

`proved`: the share for which `exact` proves its interval minimal within 10 seconds of CPU time. `iterative` and
`torus`: the share of these that each of the two meets alone. Times are CPU time, so that other work on the machine
counts for nobody.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from statistics import median
from time import thread_time
from typing import Final

from polyloom.cli.bench import modulo_graphs, modulo_loops
from polyloom.diagnostics import PolyloomError
from polyloom.modulo.problem import Problem, Solution
from polyloom.modulo.solve import EXACT, ITERATIVE, TORUS, Solver, solve

GRAPHS: Final = 200
"""Of each family that is made up."""
# Seconds; a proof that takes longer would make the share depend on the machine.
LIMIT: Final = 10.0
Row = dict[str, object]
_COLUMNS: Final = (
    "family",
    "graphs",
    "proved %",
    "iterative %",
    "torus %",
    "exact ms",
    "iterative ms",
    "torus ms",
    "longest exact s",
)
_EMPTY: Final[Row] = {**dict.fromkeys(_COLUMNS)}


def rows() -> Iterator[Row]:
    yield _loops()
    yield measure_family("sparse graphs", (modulo_graphs.sparse(seed) for seed in range(GRAPHS)))
    yield measure_family("tight circuits", (modulo_graphs.tight(seed) for seed in range(GRAPHS)))
    yield _large()


def _loops() -> Row:
    try:
        return measure_family("loops of C examples", (problem for _, problem in modulo_loops.problems()))
    except PolyloomError as error:
        if error.code != "PL0150":
            raise
        return _EMPTY | {"family": "loops of C examples: need clang", "graphs": 0}


def measure_family(family: str, problems: Iterable[Problem]) -> Row:
    """One row: shares in percent, times in milliseconds."""
    found = [_solve_with_solvers(problem) for problem in problems]
    proved = [f for f in found if f[EXACT.name][0].proved and f[EXACT.name][1] <= LIMIT]
    row: Row = {"family": family, "graphs": len(found), "proved %": _percent(len(proved), len(found))}
    for solver in (ITERATIVE, TORUS):
        # Only where the minimum is known can a heuristic be said to miss it.
        met = [f for f in proved if f[solver.name][0].schedule.interval == f[EXACT.name][0].schedule.interval]
        row[f"{solver.name} %"] = _percent(len(met), len(proved))
    for solver in (EXACT, ITERATIVE, TORUS):
        row[f"{solver.name} ms"] = round(1000 * median(f[solver.name][1] for f in found), 1)
    return row | {"longest exact s": round(max(f[EXACT.name][1] for f in found), 1)}


def _percent(part: int, whole: int) -> float:
    return round(100 * part / max(1, whole), 1)


def _solve_with_solvers(problem: Problem) -> dict[str, tuple[Solution, float]]:
    return {solver.name: _timed_solution(problem, solver) for solver in (TORUS, ITERATIVE, EXACT)}


def _timed_solution(problem: Problem, solver: Solver) -> tuple[Solution, float]:
    start = thread_time()
    solution = solve(problem, solver)
    return solution, thread_time() - start


def _large() -> Row:
    """One sparse graph of 2,500 operations and 6,000 dependences; only times are of interest."""
    problem = modulo_graphs.sparse(0, 2500, 6000)
    times: Row = {
        f"{solver.name} ms": round(1000 * _timed_solution(problem, solver)[1], 1) for solver in (ITERATIVE, TORUS)
    }
    return _EMPTY | {"family": "2,500 operations, 6,000 dependences", "graphs": 1} | times
