# SPDX-License-Identifier: Apache-2.0
"""What a person reads when a kernel cannot run: the programs in `refused/`, and what `polyloom compile` says about
each."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest
from tests.conftest import Golden

from polyloom.cli import main
from polyloom.diagnostics import INFEASIBLE, INPUT

FOLDER = Path(__file__).parent / "refused"
MACHINES = {"missing_unit.py": "tcpa:fau"}
C = pytest.mark.skipif(find_spec("ziglang") is None, reason="C needs the extra `c`")


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(p.name, marks=[C] if p.suffix == ".c" else [])
        for p in sorted(FOLDER.iterdir())
        if p.suffix in (".py", ".c")
    ],
)
def test_refusal(
    name: str, golden: Golden, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.chdir(FOLDER)
    status = main(["compile", name, "--on", MACHINES.get(name, "tcpa:wide"), "-o", str(tmp_path / "made.plsc")])
    shown = capsys.readouterr()
    assert status == (INFEASIBLE if name in MACHINES else INPUT)
    assert not shown.out
    assert not list(tmp_path.iterdir())
    golden(name.replace(".", "_"), f"exit code {status}\n{shown.err}")
