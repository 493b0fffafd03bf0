# SPDX-License-Identifier: Apache-2.0
"""Account of cycles as five lines of text, and as plain values (docs/account.md)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Final, cast

from polyloom.targets.account import CATEGORIES, Account, Category, Timeline
from polyloom.targets.account_advice import largest_loss, percent
from polyloom.targets.target import Json

_DETAILS: Final = 3
"""Details of a class that a line has room for."""


def text(account: Account, statements: Mapping[int, str]) -> str:
    """Five lines: the units and their cycles, the classes, what the largest loss is made of, the hottest line, and what
    to change. `statements` are lines of the source by number.
    """
    return "\n".join(_lines(account, statements))


def _lines(account: Account, statements: Mapping[int, str]) -> Iterator[str]:
    units = "unit" if account.units == 1 else "units"
    yield f"Account of {account.units:,} {units} x {account.cycles:,} {account.counts}: {account.unit_cycles:,}"
    yield "  classes: " + ", ".join(f"{name} {percent(account, n)}" for name, n in account.categories.items())
    yield f"  {_details(account, largest_loss(account))}"
    yield f"  {_hottest(account, statements)}"
    yield f"  to change: {account.advice}"


def _details(account: Account, category: Category) -> str:
    found = account.details(category)
    shown = ", ".join(f"{detail or 'not told'} {percent(account, n)}" for detail, n in islice(found.items(), _DETAILS))
    rest = f", and {len(found) - _DETAILS} more" if len(found) > _DETAILS else ""
    return f"{category}: {shown}{rest}" if shown else f"{category}: none"


def _hottest(account: Account, statements: Mapping[int, str]) -> str:
    line = account.hottest
    if not line:
        return "hottest line: the program does not tell its lines"
    share, statement = percent(account, account.lines[line]), statements.get(line, "")
    loop = account.hottest_loop
    around = f"; hottest loop: {loop}, {percent(account, account.loops[loop])}" if loop else ""
    return f"hottest line: {line}, {share}{around}" + (f"  {statement}" if statement else "")


def as_json(account: Account) -> dict[str, Json]:
    """Account as plain values: totals, classes with their details, lines, loops, units, and classes over time."""
    total = account.unit_cycles
    return {
        "unit_cycles": total,
        "units": account.units,
        "cycles": account.cycles,
        "counts": account.counts,
        "classes": cast("dict[str, Json]", account.categories),
        "details": {name: dict[str, Json](account.details(name)) for name in account.categories},
        "lines": [_line(account, line, n) for line, n in account.lines.items() if line],
        "loops": dict[str, Json](account.loops),
        "by_unit": dict[str, Json](account.unit_totals),
        "hottest_line": account.hottest or None,
        "advice": account.advice,
        "timeline": _timeline(account.timeline),
    }


def _timeline(timeline: Timeline | None) -> Json:
    """Account over time: cycles of a column, and by class the unit-cycles of each column."""
    if timeline is None:
        return None
    names: list[Category] = [name for name in CATEGORIES if any(name in column for column in timeline.slices)]
    classes: dict[str, Json] = {name: [column.get(name, 0) for column in timeline.slices] for name in names}
    return {"step": timeline.step, "classes": classes}


def _line(account: Account, line: int, unit_cycles: int) -> dict[str, Json]:
    classes = dict[str, Json]()
    for row in account.rows:
        if row.line == line:
            before = classes.get(row.category, 0)
            assert isinstance(before, int)
            classes[row.category] = before + row.unit_cycles
    return {"line": line, "unit_cycles": unit_cycles, "share": account.share(unit_cycles), "classes": classes}
