# SPDX-License-Identifier: Apache-2.0
"""Every latency, throughput and interlock that the sources state, measured on the model; and the page's table of them,
which is made of the same rows."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path
from typing import Final

import pytest
from tests.targets.tensix.time import cores, movement, units, vector
from tests.targets.tensix.time.row import Row

PAGE: Final = Path(__file__).parents[4] / "docs" / "targets" / "tensix-tile.md"
BEGIN: Final = "<!-- times: measured and made by tests/targets/tensix/time/test_times.py -->"
END: Final = "<!-- end of times -->"
ROWS: Final = (*units.front(), *units.units(), *vector.rows(), *movement.rows(), *cores.rows())
HOW: Final = {"": "", "waits": "the hardware waits", "reported": "the old value; reported"}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.group}: {row.what}")
def test_the_model_takes_what_the_source_says(row: Row) -> None:
    assert row.measure() == (row.cycles, row.how)


def table() -> str:
    lines = [BEGIN]
    for group, rows in groupby(ROWS, key=lambda row: row.group):
        lines += ["", f"### {group}", "", "| what | measured | if it is too early | source |", "|---|---|---|---|"]
        lines += [f"| {row.what} | {_number(row)} | {HOW[row.how]} | {row.source} |" for row in rows]
    return "\n".join([*lines, "", END])


def _number(row: Row) -> str:
    return f"{row.cycles} {row.unit[:-1] if row.cycles == 1 and row.unit == 'cycles' else row.unit}"


def test_the_page_has_the_table(request: pytest.FixtureRequest) -> None:
    text = PAGE.read_text(encoding="utf-8")
    begin, end = text.index(BEGIN), text.index(END) + len(END)
    made = text[:begin] + table() + text[end:]
    if request.config.getoption("--update-golden"):
        PAGE.write_text(made, encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == made
    assert len({(row.group, row.what) for row in ROWS}) == len(ROWS)
