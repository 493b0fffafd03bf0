# SPDX-License-Identifier: Apache-2.0
"""Timing parameters of the model, from timing.toml: value, unit, source and status of each (docs/targets/minion.md,
"Time").

The model takes the values by name and reports which it used; a result lists those among them that are extrapolated.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final, Literal

from polyloom.machine.table import Table, parse

Status = Literal["documented", "fitted", "extrapolated"]
_STATUSES: Final[Mapping[str, Status]] = {
    "documented": "documented",
    "fitted": "fitted",
    "extrapolated": "extrapolated",
}
_FILE: Final = Path(__file__).with_name("timing.toml")


@dataclass(frozen=True, slots=True)
class Parameter:
    """Row of the table: `about` says what it is of, `source` where the value is from."""

    name: str
    value: float
    unit: str
    status: Status
    source: str
    about: str


@cache
def parameter_table() -> Mapping[str, Parameter]:
    """Parameters by name, in the file's order."""
    # A file beside the code, as every value has a source to cite and a status.
    content = parse(_FILE.read_text(encoding="utf-8"), _FILE.name)
    return {name: _parameter(name, content.table(name)) for name in content.content}


def parameters() -> dict[str, float]:
    """The values by name, as the model takes them."""
    return {row.name: row.value for row in parameter_table().values()}


def extrapolated_parameters(used: Iterable[str]) -> tuple[str, ...]:
    """Parameters that a run used and that no measurement backs, in the file's order."""
    names = frozenset(used)
    return tuple(row.name for row in parameter_table().values() if row.name in names and row.status == "extrapolated")


def _parameter(name: str, row: Table) -> Parameter:
    """Row of timing.toml, whose keys are checked."""
    row.reject_unknown(("value", "unit", "status", "source", "about"))
    value = row.content["value"]
    assert isinstance(value, int | float), f"timing.toml: {name}.value is a number"
    return Parameter(
        name, float(value), row.text("unit"), _STATUSES[row.text("status")], row.text("source"), row.text("about")
    )
