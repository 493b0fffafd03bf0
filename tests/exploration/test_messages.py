# SPDX-License-Identifier: Apache-2.0
"""What `polyloom explore` says of commands that it refuses, and what it prints."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.conftest import Golden

from polyloom.cli import main
from polyloom.cli.examples import folder

REFUSED = {
    "no-range": ["--sweep", "N=16..4"],
    "endless-range": ["--sweep", "N=0..4"],
    "no-axis": ["--sweep", "N"],
    "twice": ["--sweep", "N=1", "N=2"],
    "too-many": ["--sweep", "N=1..99999999+1"],
    "no-parameter": ["T=4", "--sweep", "M=4", "--sweep", "N=4"],
    "no-condition": ["--where", "N in 4"],
    "no-key": ["T=4", "--sweep", "N=4", "--set", "fifo_dept=4"],
    "no-keys-at-all": ["T=4", "--sweep", "N=4", "--set", "fifo_depth=4", "--on", "riscv"],
    "no-column": ["T=4", "--sweep", "N=4", "--objective", "cycle"],
    "no-target": ["T=4", "--sweep", "N=4", "--on", "tcpa:wide,tpca"],
    "no-result": ["T=4", "--sweep", "N=4", "--sweep", "pes=99999x1,1x99999"],
    "no-time": ["T=4", "--sweep", "N=4", "--timeout", "0"],
    "time-of-a-scheduler": ["T=4", "--sweep", "N=4", "--timeout", "9", "--scheduler", "tcp://localhost:1"],
    "no-jobs": ["--jobs", "0"],
}


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "fir.pla").write_text((folder() / "fir.pla").read_text())
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("name", REFUSED)
def test_refusals(name: str, here: Path, golden: Golden, capsys: pytest.CaptureFixture[str]) -> None:
    status = main(["explore", "fir.pla", *REFUSED[name]])
    out, err = capsys.readouterr()
    golden(name, f"$ polyloom explore fir.pla {' '.join(REFUSED[name])}\nexit code {status}\n{out}{err}")
    assert sorted(path.name for path in here.iterdir()) == ["fir.pla"]


def test_the_text(here: Path, golden: Golden, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["explore", "fir.pla", "T=4", "--sweep", "N=8,16", "--sweep", "pes=1x1..1x4", "--sweep", "candidate=0,99"]
    assert main([*words, "--out", "t.csv"]) == 0
    golden("text", capsys.readouterr().out)
    golden("table", (here / "t.csv").read_text(encoding="utf-8"))
