# SPDX-License-Identifier: Apache-2.0
"""Every program of the comparison on every target, on its example's place: verified, or refused with its code.

A cell is the run's cycles, of targets without time its instructions, where its outputs equal the source's bits. Behind
`≈` they have other bits for a reason that the target gives, and are within its bound. Else the cell is `differs`, or
the code of the refusal.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from polyloom.cli.bench.programs import Listed, programs
from polyloom.comparison.pipeline import compare
from polyloom.comparison.result import Comparison
from polyloom.comparison.rows import Row
from polyloom.frontend.source import Options
from polyloom.targets.entry import entries
from polyloom.targets.subject import Progress

WITHIN: Final = "≈ "


def rows() -> Iterator[dict[str, object]]:
    yield from map(row, programs())


def row(listed: Listed) -> dict[str, object]:
    """One program on all targets."""
    made = compare_places(listed, places())
    bounds = "x".join(map(str, listed.values.values()))
    return {
        "program": listed.name,
        "bounds": bounds,
        "work": made.work,
        **{each.on: outcome(each) for each in made.rows},
    }


def places() -> list[str]:
    """Example places of all targets."""
    return [entry.example for entry in entries().values()]


def compare_places(listed: Listed, on: Sequence[str], progress: Progress | None = None) -> Comparison:
    """Comparison of one program. Errors: those of reading it."""
    return compare(
        listed.path, listed.values, on=on, options=Options(reassociate=listed.reassociate), progress=progress
    )


def outcome(made: Row) -> str:
    """Cell of a row of a comparison."""
    if made.refused is not None:
        return made.refused.code
    count = made.cycles if made.cycles is not None else made.costs.issued
    if not made.verified or count is None:
        return str(made.verdict)
    return f"{'' if made.verdict == 'equal bits' else WITHIN}{count:,}"
