# SPDX-License-Identifier: Apache-2.0
"""`polyloom litmus`: the form of its answer, its exit codes, files that are no tests, and the comparison with logs of
tools and machines."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.riscv.rvwmo.shapes import cycle

from polyloom.cli import main
from polyloom.diagnostics import Source
from polyloom.riscv.rvwmo.hash import computed_hash, declared_hash, litmus_hash
from polyloom.riscv.rvwmo.log import parse_log
from polyloom.riscv.rvwmo.reader import read_litmus

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


HARDWARE = """Test SB Allow
Histogram (2 states)
289   :> 0:s0=0; 1:x8=1; x=1; y=-1;
499805*> 0:x8=-1; 1:x8=0x0; x=1; y=-1;
No
Witnesses
Positive: 1 Negative: 500093
Condition ~exists (0:x8=0 /\\ 1:x8=0) is not validated
{hash}Time SB 391.10

"""
SWAPS = r"""RISCV 2+2Swap
"PodWW Wse PodWW Wse"
{
0:x6=x; 0:x8=y;
1:x6=y; 1:x8=x;
}
 P0                     | P1                     ;
 ori x5,x0,2            | ori x5,x0,2            ;
 amoswap.w x10,x5,0(x6) | amoswap.w x10,x5,0(x6) ;
 ori x7,x0,1            | ori x7,x0,1            ;
 amoswap.w x11,x7,0(x8) | amoswap.w x11,x7,0(x8) ;
exists
(x=2 /\ y=2 /\ 0:x10=1 /\ 0:x11=0 /\ 1:x10=1 /\ 1:x11=0)
"""
CONTROL = r"""RISCV ISA-DEP-CTRL
{
 int64_t x;
 int64_t y;
 int64_t z;
 0:s0=x; 0:s1=y;
 1:s0=x; 1:s1=y; 1:s2=z;
}
  P0         | P1             ;
 ld a0,0(s1) | li t1,1        ;
 fence r,rw  | ld a0,0(s0)    ;
 li t1,1     | bne a0,x0,NEXT ;
 sd t1,0(s0) | sd t1,0(s2)    ;
             |NEXT:           ;
             | sd t1,0(s1)    ;
~exists (0:a0=1 /\ 1:a0=1)
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
    assert capsys.readouterr().out == "1 agree, 0 differ, 0 refused\n1 not in the log\n"


def test_a_difference_is_an_error(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "herd.log").write_text(LOG.replace("Sometimes 1 3", "Sometimes 1 4"))
    assert main(["litmus", ".", "--against", "herd.log", "--json"]) == 4
    captured = capsys.readouterr()
    data = {"agree": 0, "differ": ["SB.litmus"], "forbidden": [], "refused": [], "other_hash": [], "absent": 1}
    assert json.loads(captured.out) == data
    assert captured.err.startswith("error[PL0946]: 1 litmus test")


def test_what_cannot_be_judged_is_listed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "SB.litmus").write_text(SB.replace("lw x8,0(x7)", "lb x8,0(x7)"))
    assert main(["litmus", ".", "--against", "herd.log"]) == 0
    assert "refused: SB.litmus: 'y' is accessed with 1 and with 4 bytes" in capsys.readouterr().out


def test_one_malformed_file_does_not_lose_the_others(
    folder: Path, capsys: pytest.CaptureFixture[str], golden: Callable[[str, str], None]
) -> None:
    (folder / "bad.litmus").write_text(SB.replace("lw x8,0(x7)", "lw x8,0)x7("))
    assert main(["litmus", "SB.litmus", "bad.litmus", "nowhere.litmus", "more/MP.litmus"]) == 1
    captured = capsys.readouterr()
    golden("batch", f"{captured.out}--- stderr\n{captured.err}")
    assert main(["litmus", "SB.litmus", "bad.litmus", "nowhere.litmus", "more/MP.litmus", "--json"]) == 1
    names = [
        (each.get("name"), each.get("path"), each.get("code"), each.get("line"))
        for each in json.loads(capsys.readouterr().out)
    ]
    assert names == [
        ("SB", None, None, None),
        (None, "bad.litmus", "PL0940", 6),
        (None, "nowhere.litmus", "PL0807", None),
        ("MP fence w,w addr",) + 3 * (None,),
    ]


def test_a_malformed_file_goes_before_one_that_takes_too_long(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "bad.litmus").write_text("RISCV bad")
    assert main(["litmus", "SB.litmus", "bad.litmus", "--max-executions", "2"]) == 1
    assert main(["litmus", "SB.litmus", "more/MP.litmus", "--max-executions", "2"]) == 3
    capsys.readouterr()


def test_a_malformed_file_that_a_log_knows(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Also beside a test that agrees; a folder may hold texts that the log does not know."""
    (folder / "bad.litmus").write_text(SB.replace("lw x8", "lw ??"))
    (folder / "other.litmus").write_text("AArch64 other\n{}\n")
    assert main(["litmus", ".", "--against", "herd.log"]) == 1
    captured = capsys.readouterr()
    assert (
        captured.out
        == "1 agree, 0 differ, 1 refused\nrefused: bad.litmus: unexpected character '?'\n2 not in the log\n"
    )
    assert captured.err.startswith("error[PL0940]: unexpected character '?'\n --> bad.litmus:6:5\n")
    assert main(["litmus", "SB.litmus", "nowhere.litmus", "--against", "herd.log"]) == 1


@pytest.mark.parametrize("hash", ["", f"Hash={computed_hash(read_litmus(Source('SB', SB)))}\n"])
def test_hardware_shows_a_subset(hash: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "machine.log").write_text(HARDWARE.format(hash=hash))
    assert main(["litmus", "SB.litmus", "--against", "machine.log"]) == 0
    assert capsys.readouterr().out == "1 agree, 0 differ, 0 refused\n"


def test_hardware_shows_what_is_forbidden(
    folder: Path, capsys: pytest.CaptureFixture[str], golden: Callable[[str, str], None]
) -> None:
    (folder / "machine.log").write_text(HARDWARE.format(hash="").replace("x=1; y=-1;", "x=7; y=-1;", 1))
    assert main(["litmus", "SB.litmus", "--against", "machine.log", "--against", "herd.log", "--json"]) == 4
    data = json.loads(capsys.readouterr().out)
    assert data["forbidden"] == [{"path": "SB.litmus", "states": ["0:x8=0; 1:x8=1; [x]=7; [y]=-1;"]}]
    assert main(["litmus", "SB.litmus", "--against", "machine.log"]) == 4
    captured = capsys.readouterr()
    golden("hardware", f"{captured.out}--- stderr\n{captured.err}")


def test_a_tools_histogram_with_an_observation_is_of_a_machine(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """litmus7 prints how often; herd7 prints all states, and a subset of these is a difference."""
    observed = HARDWARE.format(hash="Observation SB Sometimes 1 500093\n")
    (folder / "machine.log").write_text(observed)
    assert main(["litmus", "SB.litmus", "--against", "machine.log"]) == 0
    as_tool = observed.replace("Histogram (2 states)", "States 2").replace("289   :>", "").replace("499805*>", "")
    (folder / "machine.log").write_text(as_tool)
    assert main(["litmus", "SB.litmus", "--against", "machine.log"]) == 4
    capsys.readouterr()


def test_a_test_that_has_another_hash_is_another_test(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = LOG.replace(
        "Sometimes 1 3\nTime SB 0.00\n", "Sometimes 2 2\nTime SB 0.00\nHash=760e481b3c7b9ad1c78990727e5fcf50\n"
    )
    (folder / "herd.log").write_text(other)
    assert main(["litmus", "SB.litmus", "--against", "herd.log"]) == 0
    assert "another Hash: SB.litmus" in capsys.readouterr().out
    (folder / "SB.litmus").write_text(SB.replace("SB\n", "SB\nHash = 760E481B3C7B9AD1C78990727E5FCF50\n", 1))
    assert main(["litmus", "SB.litmus", "--against", "herd.log"]) == 4


def test_a_test_is_found_under_another_name(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = (
        HARDWARE.format(hash=f"Hash={computed_hash(read_litmus(Source('SB', SB)))}\n")
        .replace("SB", "Renamed")
        .replace("x=1", "x=7")
    )
    (folder / "machine.log").write_text(log)
    assert main(["litmus", "SB.litmus", "--against", "machine.log"]) == 4
    capsys.readouterr()


def test_logs_that_end_early_are_left_out() -> None:
    """And a text of a megabyte that is no log takes no time."""
    assert [each.name for each in parse_log(LOG[: LOG.index("Loop Ok")] + "\n" + HARDWARE)] == ["SB", "SB"]
    assert list(parse_log("Test \nTest x\nStates 1\n" * 50_000)) == []


def test_hashes_are_those_of_the_tools() -> None:
    """Of a log of a machine in the collection litmus-tests/litmus-tests-riscv (hw-results), and of that collection's
    file ISA13."""
    assert computed_hash(read_litmus(Source("", SWAPS))) == "760e481b3c7b9ad1c78990727e5fcf50"
    assert computed_hash(read_litmus(Source("", CONTROL))) == "4b7cc27655fc88b787996b02dcf86e17"
    assert declared_hash(('"Cycle"', "hash =A05b05209e12b622034855bb94db48cd ")) == "a05b05209e12b622034855bb94db48cd"
    assert litmus_hash(read_litmus(Source("", SWAPS.replace("\n{", "\nHash=ab12\n{", 1)))) == "ab12"


@pytest.mark.parametrize(
    ("change", "same"),
    [
        (("2+2Swap", "other"), True),
        (("exists", "~exists"), True),
        (("{\n", "{\n\n"), True),
        (("x0,2 ", "x0,3 "), False),
        (("x=2 /\\ ", ""), False),
    ],
)
def test_a_hash_is_of_what_a_test_does(change: tuple[str, str], same: bool) -> None:
    changed = SWAPS.replace(*change)
    assert changed != SWAPS
    assert (computed_hash(read_litmus(Source("", changed))) == computed_hash(read_litmus(Source("", SWAPS)))) == same


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
        ("litmus SB.litmus --ordering fence", 2, "PL0801"),
        ("litmus SB.litmus --emit", 2, "PL0801"),
        ("litmus SB.litmus --isa rv64gc", 2, "PL0801"),
        ("litmus SB.litmus --ssa 0", 2, "PL0801"),
        ("litmus SB.litmus -D x", 2, "PL0801"),
        ("litmus SB.litmus --function f", 2, "PL0801"),
        ("litmus SB.litmus f.c:f", 2, "PL0801"),
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
