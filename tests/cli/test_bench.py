# SPDX-License-Identifier: Apache-2.0
"""The form of `polyloom bench`; its numbers are measured, not tested."""

from __future__ import annotations

import json

import pytest
from tests.cli.conftest import Call

from polyloom.cli import bench, examples
from polyloom.cli.answer import table
from polyloom.cli.bench import compilation, regions
from polyloom.cli.bench import examples as runs
from polyloom.cli.bench.timing import median_seconds
from polyloom.frontend import pla


def test_rows(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = {"one": [{"a": 1, "b": 0.5}, {"a": 22, "b": None}], "two": [{"c": True}]}
    monkeypatch.setattr(bench, "tables", lambda: dict.fromkeys(rows, ""))
    monkeypatch.setattr(bench, "_rows", rows.__getitem__)
    assert json.loads(call("bench", "one", "--json")[1]) == {"rows": [{"a": 1, "b": 0.5}, {"a": 22, "b": None}]}
    assert json.loads(call("bench", "--json")[1])["rows"][-1] == {"table": "two", "c": True}
    assert call("bench", "one")[1] == "| a   | b   |\n|-----|-----|\n| 1   | 0.5 |\n| 22  | –   |\n"
    assert table([]) == ""


def test_median() -> None:
    calls: list[int] = []
    assert median_seconds(lambda: calls.append(1), times=3) >= 0
    assert len(calls) == 3


def test_every_measured_program_has_its_parameters() -> None:
    """A renamed parameter would be found only by a long run otherwise."""
    asked = [(kernel, set(parameters)) for kernel, _, parameters, _ in runs.RUNS]
    asked += [(kernel, set(extents.values())) for kernel, extents in regions.EXTENTS.items()]
    asked += [(kernel, set(pla.load(examples.path(kernel)).parameters)) for kernel, _ in compilation.PLACES]
    assert all(set(pla.load(examples.path(kernel)).parameters) == names for kernel, names in asked)


def test_bounds_fill_the_tiles() -> None:
    assert regions.bounds("bits", (1, 16)) == {"N": 128}
    assert regions.bounds("bits", (1, 16), perfect=False) == {"N": 127}
