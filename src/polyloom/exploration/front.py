# SPDX-License-Identifier: Apache-2.0
"""Pareto front: the rows that no other row beats in every objective (Pareto 1906; docs/explore.md).

Rows of different problems are not compared: a larger size takes more cycles on any machine. A problem is the values of
the parameters, so each has a front of its own. So has each target: a cycle of one is not a cycle of another. Every
objective is a column to be small; `-column` is one to be large.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

from polyloom.exploration.row import Row

Cost = tuple[float, ...]


def cost_vector(row: Row, objectives: Sequence[str]) -> Cost | None:
    """Cost vector of a row, one number per objective, all to be small. None where a row has no number for some
    objective.
    """
    if not row.is_ok:
        return None
    columns = row.columns()
    found = list[float]()
    for objective in objectives:
        value = columns.get(objective.removeprefix("-"))
        if not isinstance(value, int | float):
            return None
        found.append(-value if objective.startswith("-") else value)
    return tuple(found)


def pareto_front(rows: Iterable[Row], objectives: Sequence[str], problem: Sequence[str]) -> list[Row]:
    """Pareto front of each problem, in the order of `rows`. Of equal costs all are kept (maxima of vectors; Kung,
    Luccio and Preparata 1975)."""
    by_problem: dict[Hashable, list[tuple[Cost, int, Row]]] = {}
    for number, row in enumerate(rows):
        if (own := cost_vector(row, objectives)) is not None:
            by_problem.setdefault(problem_key(row, problem), []).append((own, number, row))
    kept = [each for rivals in by_problem.values() for each in _undominated_rows(rivals)]
    return [row for _, row in sorted(kept, key=lambda pair: pair[0])]


def problem_key(row: Row, problem: Sequence[str]) -> tuple[Hashable, ...]:
    """What rows that are compared have in common: the target, and the values of the problem."""
    target, _, _ = str(row.point["on"]).partition(":")
    return target, *(row.point.get(name) for name in problem)


def _undominated_rows(rivals: list[tuple[Cost, int, Row]]) -> list[tuple[int, Row]]:
    """Sorted by cost, a row can only be beaten by one before it that is on the front: of two objectives by the last,
    which has the least of the second (Kung, Luccio and Preparata 1975, section 2)."""
    kept: list[Cost] = []
    found: list[tuple[int, Row]] = []
    for own, number, row in sorted(rivals, key=lambda each: each[:2]):
        # In the order of the first objective, the front's second one only falls.
        if not any(_dominates(other, own) for other in (kept if len(own) > 2 else kept[-1:])):
            # Equal costs stand beside each other in the order: one representative suffices for the comparisons.
            if not kept or kept[-1] != own:
                kept.append(own)
            found.append((number, row))
    return found


def _dominates(a: Cost, b: Cost) -> bool:
    return a != b and all(x <= y for x, y in zip(a, b, strict=True))
