# SPDX-License-Identifier: Apache-2.0
"""What has no circuit is refused at its key, and what is no tool by the command that installs one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.conftest import Golden
from tests.targets.tcpa.rtl.conftest import TINY, tiny_circuit
from tests.targets.tcpa.rtl.random_programs import random_program

from polyloom.cli.entry import main
from polyloom.diagnostics import PolyloomError
from polyloom.targets.tcpa.rtl.bus_words import configuration_words
from polyloom.targets.tcpa.rtl.simulator import TOOL, build_simulator
from polyloom.targets.tcpa.words import concrete_file

CHANGES = {
    "unlimited": ("fifo_depth = 32", 'fifo_depth = "unlimited"'),
    "hop_delay": ("channels = 2", "channels = 2\nhop_delay = 0"),
    "type": ('types = ["i8", "i16", "i32", "u8", "u16", "u32", "bool"]\noperations = ["add"', 'operations = ["add"'),
    "base": ("generator_dimensions = 3\n", ""),
    "divider": ("pipelined = false\n", ""),
    "root": (
        'types = ["i8", "i16", "i32", "u8", "u16", "u32"]\noperations = ["div", "rem", "floordiv", "mod"]\n'
        "latency = 5\npipelined = false\n",
        'types = ["f32"]\noperations = ["sqrt"]\nlatency = 5\n',
    ),
}


@pytest.mark.parametrize("name", CHANGES)
def test_machines_without_a_circuit(
    name: str, golden: Golden, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before, after = CHANGES[name]
    text = TINY.read_text(encoding="utf-8")
    assert before in text
    monkeypatch.chdir(tmp_path)
    Path("mine.toml").write_text(text.replace(before, after, 1), encoding="utf-8")
    assert main(["rtl", "mine.toml", "--array", "2x2", "-o", "made"]) == 1
    assert not Path("made").exists()
    golden(name, capsys.readouterr().err)


def test_array_larger_than_the_machine(
    golden: Golden, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    text = TINY.read_text(encoding="utf-8").replace("channels = 2", "channels = 2\nrows = 4\ncolumns = 6")
    Path("mine.toml").write_text(text, encoding="utf-8")
    assert main(["rtl", "mine.toml", "--array", "4x7", "-o", "made"]) == 1
    assert not Path("made").exists()
    golden("larger", capsys.readouterr().err)
    assert main(["rtl", "mine.toml", "--array", "4x6", "-o", "made"]) == 0


FILES = {
    "folder-is-a-file": ["rtl", str(TINY), "--array", "2x2", "-o", "taken"],
    "folder-nowhere": ["rtl", str(TINY), "--array", "2x2", "-o", "nowhere/made"],
    "no-configuration": ["cosim", "taken", "--on", f"tcpa:{TINY}"],
}


@pytest.mark.parametrize("name", FILES)
def test_files_that_are_none(
    name: str, golden: Golden, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("taken").write_text("mine", encoding="utf-8")
    assert main(FILES[name]) == 1
    golden(name, capsys.readouterr().err)
    assert Path("taken").read_text(encoding="utf-8") == "mine"


def test_verilog_is_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One module per file, whatever the size of the array."""
    assert main(["rtl", str(TINY), "--array", "2x3", "-o", str(tmp_path / "a b"), "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert (data["rows"], data["columns"], data["top"]) == (2, 3, "array")
    for path in map(Path, data["files"]):
        if path.suffix == ".v":
            assert path.read_text(encoding="utf-8").count("\nmodule ") == 1
    header = (tmp_path / "a b" / "machine.vh").read_text(encoding="utf-8")
    assert "parameter COLUMNS = 3," in header


def _built(folder: Path, monkeypatch: pytest.MonkeyPatch, script: str | None) -> str:
    """The error of a build where the tool is a script, or is missing."""
    tools = folder / "tools"
    tools.mkdir()
    if script is not None:
        (tools / TOOL).write_text(f"#!/bin/sh\n{script}\n")
        (tools / TOOL).chmod(0o755)
    monkeypatch.setenv("PATH", str(tools))
    with pytest.raises(PolyloomError) as caught:
        build_simulator(tiny_circuit(), folder)
    return str(caught.value)


def test_missing_tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    message = _built(tmp_path, monkeypatch, None)
    assert "PL0660" in message
    assert "apt-get install verilator" in message


@pytest.mark.parametrize(("script", "what"), [("echo no; exit 3", "exit code 3\nno"), ("exit 0", "without a program")])
def test_failing_tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, what: str) -> None:
    message = _built(tmp_path, monkeypatch, script)
    assert "PL0661" in message
    assert what in message


def test_configuration_that_does_not_fit() -> None:
    circuit = tiny_circuit()
    concrete = concrete_file.decode(random_program(circuit.machine, 1)[0])
    small = type(circuit)(circuit.machine, 1, 2, circuit.lanes)
    with pytest.raises(PolyloomError, match=r"PL0640.*uses 2 rows, and the circuit has 1"):
        configuration_words(small, concrete)
