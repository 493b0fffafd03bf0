# SPDX-License-Identifier: Apache-2.0
"""`polyloom litmus`: the form of its answer, its exit codes, and the comparison with a log."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.rvwmo.shapes import cycle

from polyloom.cli import main

SB = """RISCV SB
{ 0:x6=x; 0:x7=y; 1:x6=x; 1:x7=y; }
 P0          | P1          ;
 li x5,1     | li x5,-1    ;
 sw x5,0(x6) | sw x5,0(x7) ;
 lw x8,0(x7) | lw x8,0(x6) ;
locations [y; x;]
~exists (0:x8=0 /\\ 1:x8=0)
"""
LOG = """Test SB Forbidden
States 4
0:x8=0; 1:x8=0; x=1; y=-1;
0:x8=0; 1:x8=1; x=1; y=18446744073709551615;
0:x8=-1; 1:x8=0; [x]=1; [y]=-1;
0:x8=-1; 1:x8=1; [x]=1; [y]=-1;
No
Witnesses
Positive: 3 Negative: 1
Condition ~exists (0:x8=0 /\\ 1:x8=0)
Observation SB Sometimes 1 3
Time SB 0.00

Test Loop Allowed
States 1

Loop Ok
Witnesses
Positive: 1 Negative: 0
Observation Loop Always 1 0
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "SB.litmus").write_text(SB)
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "MP.litmus").write_text(cycle("MP", ["fence w,w", "addr"]))
    (tmp_path / "herd.log").write_text(LOG)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_json(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["litmus", "SB.litmus", "more/MP.litmus", "--json"]) == 0
    first, second = json.loads(capsys.readouterr().out)
    assert first == {
        "name": "SB",
        "states": [
            "0:x8=-1; 1:x8=0; [x]=1; [y]=-1;",
            "0:x8=-1; 1:x8=1; [x]=1; [y]=-1;",
            "0:x8=0; 1:x8=0; [x]=1; [y]=-1;",
            "0:x8=0; 1:x8=1; [x]=1; [y]=-1;",
        ],
        "positive": 1,
        "negative": 3,
        "verdict": "Sometimes",
        "condition_holds": False,
    }
    assert (second["name"], second["verdict"]) == ("MP fence w,w addr", "Never")


def test_any_bound_on_executions(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["litmus", "SB.litmus", "--max-executions", "9" * 100]) == 0
    assert capsys.readouterr().out.startswith("SB: Sometimes")


def test_a_folder(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["litmus", "."]) == 0
    assert [line for line in capsys.readouterr().out.splitlines() if ": " in line and line[0].isupper()] == [
        "SB: Sometimes, ~exists does not hold",
        "MP fence w,w addr: Never, exists does not hold",
    ]


def test_against_a_log(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["litmus", ".", "--against", "herd.log"]) == 0
    assert capsys.readouterr().out == "1 agree, 0 differ, 0 refused\n"


def test_a_difference_is_an_error(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "herd.log").write_text(LOG.replace("Sometimes 1 3", "Sometimes 1 4"))
    assert main(["litmus", ".", "--against", "herd.log", "--json"]) == 4
    captured = capsys.readouterr()
    assert json.loads(captured.out) == {"agree": 0, "differ": ["SB.litmus"], "refused": []}
    assert captured.err.startswith("error[PL0946]: 1 litmus test")


def test_what_cannot_be_judged_is_listed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "SB.litmus").write_text(SB.replace("lw x8,0(x7)", "lb x8,0(x7)"))
    assert main(["litmus", ".", "--against", "herd.log"]) == 0
    assert "refused: SB.litmus: 'y' is accessed with 1 and with 4 bytes" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "status", "code"),
    [
        ("litmus", 2, "PL0801"),
        ("litmus nowhere.litmus", 1, "PL0807"),
        ("litmus SB.litmus --max-executions many", 1, "PL0804"),
        ("litmus SB.litmus --max-executions 0", 2, "PL0801"),
        ("litmus SB.litmus --max-executions 2", 3, "PL0944"),
        ("litmus SB.litmus --against nowhere.log", 1, "PL0807"),
        ("litmus SB.litmus --against SB.litmus", 1, "PL0807"),
        ("litmus herd.log", 1, "PL0940"),
        ("litmus long.litmus", 1, "PL0940"),
        ("litmus empty", 1, "PL0807"),
        ("litmus binary.litmus", 1, "PL0807"),
    ],
)
def test_errors(words: str, status: int, code: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "empty").mkdir()
    (folder / "binary.litmus").write_bytes(b"RISCV \xff")
    (folder / "long.litmus").write_text(SB.replace("0:x8=0", "0:x8=" + "9" * 5000))
    assert main(words.split()) == status
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith(f"error[{code}]")
    assert "help: " in captured.err
