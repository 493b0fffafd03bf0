# SPDX-License-Identifier: Apache-2.0
"""Columns of a comparison's table, from the data of `polyloom compare --json`; docs/compare.md defines each one.

What is not known is a dash. Columns of whole time, clock, energy and area are there only where a machine has them;
those of clock, energy and area say that a file of the user's states them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final

from polyloom.report import verdict
from polyloom.targets.account import CATEGORIES
from polyloom.targets.report import Table

Row = Mapping[str, Any]
Cell = Callable[[Row], str | None]


def _integer_cell(key: str) -> Cell:
    return lambda row: None if row[key] is None else f"{row[key]:,}"


def _decimal_cell(key: str) -> Cell:
    return lambda row: None if row[key] is None else format_figure(row[key])


def format_figure(value: float) -> str:
    """Three digits that count."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def _share(key: str, row: Row) -> str | None:
    share = row[key]
    # Below a tenth a whole percent would hide a factor of two.
    return None if share is None else f"{share:.1%}" if share < 0.1 else f"{share:.0%}"


def outcome(row: Row) -> str:
    """The verdict on the outputs, or the code of the refusal."""
    return f"refused: {row['refused']['code']}" if row["refused"] is not None else verdict.brief(row)


def _seconds(row: Row) -> str | None:
    seconds = row["stated_seconds"]
    return None if seconds is None else f"{seconds * 1e6:,.4g} us"


def _energy(row: Row) -> str | None:
    energy = row["stated_picojoules"]
    return None if energy is None else f"{energy / 1e3:,.4g} nJ"


def _energy_shares(row: Row) -> str | None:
    """The greatest shares, down to a tenth."""
    found: Mapping[str, float] | None = row["energy_shares"]
    if found is None:
        return None
    ordered = sorted(found.items(), key=lambda item: -item[1])
    return ", ".join(f"{name.replace('_', ' ')} {share:.0%}" for name, share in ordered if share >= 0.1)


def _area(row: Row) -> str | None:
    return None if row["area"] is None else f"{row['area']:,.0f} {row['area_unit']}"


def _area_time(row: Row) -> str | None:
    """Area times seconds where the clock is stated, else times cycles: less is better."""
    cycles = row["cycles"] if row["whole_time"] is None else row["whole_time"]["total"]
    if row["area"] is None or cycles is None:
        return None
    seconds = row["stated_seconds"]
    if seconds is not None:
        return f"{row['area'] * seconds * 1e6:,.4g} {row['area_unit']} us"
    return f"{row['area'] * cycles:,.4g} {row['area_unit']} cycles"


COLUMNS: Final[Mapping[str, Cell]] = {
    "on": lambda row: row["on"],
    "verdict": outcome,
    "cycles": _integer_cell("cycles"),
    "kind of time": lambda row: row["time"],
    "work": _integer_cell("work"),
    "issued": _integer_cell("issued"),
    "units": _integer_cell("units"),
    "work/cycle": _decimal_cell("work_per_cycle"),
    "of unit bound": partial(_share, "share_of_unit_bound"),
    "unit-cycles/op": _decimal_cell("unit_cycles_per_operation"),
    "bytes moved": _integer_cell("moved_bytes"),
    "compulsory": _integer_cell("compulsory_bytes"),
    "of memory bound": partial(_share, "share_of_memory_bound"),
    "code bytes": _integer_cell("code_bytes"),
    "bound by": lambda row: row["bound_by"],
}
STATED: Final[Mapping[str, Cell]] = {
    "whole time": lambda row: None if row["whole_time"] is None else f"{row['whole_time']['total']:,}",
    "time by your clock": _seconds,
    "energy by your file": _energy,
    "energy shares": _energy_shares,
    "area by your file": _area,
    "area x time": _area_time,
}


def _class_share(name: str, row: Row) -> str | None:
    """Share of the unit-cycles of a row that is of one class; 0 where the account has none."""
    found: Mapping[str, Any] | None = row.get("account")
    if not found or not found["unit_cycles"]:
        return None
    return f"{found['classes'][name] / found['unit_cycles']:.1%}"


def _lost(name: str, row: Row) -> bool:
    return _class_share(name, row) not in (None, "0.0%")


def columns(data: Mapping[str, Any]) -> Mapping[str, Cell]:
    """Those that a comparison has: every one of `COLUMNS`, one for each class of cycles that a row has, and of `STATED`
    what a row tells."""
    rows = list_rows(data)
    classes: dict[str, Cell] = {
        name: partial(_class_share, name) for name in CATEGORIES if any(_lost(name, row) for row in rows)
    }
    # Beside the cycles of a run: "work" there is a number of operations, and here a share of unit-cycles.
    named = {f"account: {name}": cell for name, cell in classes.items()}
    return {**COLUMNS, **named, **{name: cell for name, cell in STATED.items() if any(map(cell, rows))}}


def list_rows(data: Mapping[str, Any]) -> Sequence[Row]:
    """The rows, each with the compulsory bytes, which are the source's; a refused one has no part in them."""
    shared = data["compulsory_bytes"]
    return [{**row, "compulsory_bytes": None if row["refused"] else shared} for row in data["rows"]]


def headline(data: Mapping[str, Any]) -> str:
    """Kernel, parameters, and what they come to."""
    values = "".join(f" {name}={value}" for name, value in data["parameters"].items())
    return f"{data['kernel']}{values}"


def totals(data: Mapping[str, Any]) -> str:
    """The work and the compulsory bytes of the source, in a sentence."""
    if data["work"] is None:
        return "its work is not counted, as the function is no loop nest"
    parts = ", ".join(f"{count:,} {name}" for name, count in data["work_by_operation"].items())
    moved = "" if data["compulsory_bytes"] is None else f"; {data['compulsory_bytes']:,} compulsory bytes"
    return f"{data['work']:,} arithmetic operations ({parts}){moved}" if parts else f"no arithmetic operation{moved}"


def make_table(data: Mapping[str, Any]) -> Table:
    """All columns of all rows, what is not known as a dash; the title is the work."""
    shown = columns(data)
    rows = tuple(tuple(cell(row) or "–" for cell in shown.values()) for row in list_rows(data))
    return Table(totals(data), tuple(shown), rows)


def notes(data: Mapping[str, Any]) -> list[tuple[str, str]]:
    """A line for each row that was refused, or whose bits are not the source's."""
    found: list[tuple[str, str]] = []
    for row in data["rows"]:
        if row["refused"] is not None:
            code, message, help = (row["refused"][key] for key in ("code", "message", "help"))
            found.append((row["on"], f"{code}, {message}; {help}" if help else f"{code}, {message}"))
        elif row["why"] is not None:
            found.append((row["on"], f"{verdict.run_verdict(row)}; {row['why']}"))
    return found
