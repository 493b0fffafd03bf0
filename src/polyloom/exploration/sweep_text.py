# SPDX-License-Identifier: Apache-2.0
"""Text of a sweep: what came of the points, and the rows of the front."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from typing import Any, Final

from polyloom.exploration.front import cost_vector, problem_key
from polyloom.exploration.results import Results
from polyloom.exploration.row import Row
from polyloom.report import verdict
from polyloom.report.markdown import table

_SHOWN: Final = 40
"""Rows of the front that are printed."""


def report(sweep: Results) -> str:
    """What `polyloom explore` prints."""
    lines, front = [f"{sweep.title}: {outcome(sweep)}"], front_rows(sweep)
    if front:
        lines += ["", f"{heading(sweep)}:", "", table(front[:_SHOWN])]
    if len(front) > _SHOWN:
        lines += ["", f"and {len(front) - _SHOWN} more, which --out, --report and --json have"]
    return "\n".join(lines)


def heading(sweep: Results) -> str:
    """Of the front."""
    return f"the front of {list_names(sweep.objectives)}"


def list_names(names: Sequence[str]) -> str:
    """In a sentence."""
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def outcome(sweep: Results) -> str:
    """A line: how many points, how many of them verified, which codes the others have."""
    parts = ["1 point" if len(sweep.rows) == 1 else f"{len(sweep.rows)} points"]
    predicted = sum(row.is_ok and row.level == "predict" for row in sweep.rows)
    ran = sum(row.is_ok and row.level == "run" for row in sweep.rows)
    verified = sum(row.verified is True for row in sweep.rows)
    counts = ((predicted, "predicted"), (ran, "run"), (verified, "verified"))
    parts += [f"{count} {what}" for count, what in counts if count]
    codes = Counter(row.code for row in sweep.rows if row.code is not None)
    parts += [f"{count} without a result ({code})" for code, count in sorted(codes.items())]
    return ", ".join(parts)


def front_rows(sweep: Results) -> list[dict[str, Any]]:
    """The front's rows: the values that were asked for, the objectives, and how well they are known."""
    names = [objective.removeprefix("-") for objective in sweep.objectives]
    found = sorted(sweep.front(), key=_sort_key(sweep)) if sweep.rows else []
    return [
        {**asked_values(row, names), **{n: row.columns().get(n) for n in names}, "known by": certainty(row)}
        for row in found
    ]


def _sort_key(sweep: Results) -> Callable[[Row], tuple[float, ...]]:
    """Problem by problem in the order of the points, and in each by the first objective."""
    numbers: dict[Hashable, int] = {}
    for row in sweep.rows:
        numbers.setdefault(problem_key(row, sweep.problem), len(numbers))
    return lambda row: (numbers[problem_key(row, sweep.problem)], *(cost_vector(row, sweep.objectives[:1]) or (0.0,)))


def asked_values(row: Row, without: list[str]) -> dict[str, Any]:
    """The values of a point, without what follows from them."""
    return {name: value for name, value in row.point.items() if name not in (*without, "rows", "columns", "elements")}


def certainty(row: Row) -> str:
    """How the cycles of a row are known."""
    if row.code is not None:
        return row.code
    if row.level == "predict":
        return "prediction" if row.exact else "prediction, at most"
    return "run" if row.verdict is None else f"run, {verdict.brief(row.columns())}"


def cell_text(value: object) -> str:
    """A value as tables for people show it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "" if value is None else f"{value:,}" if isinstance(value, int | float) else str(value)
