# SPDX-License-Identifier: Apache-2.0
"""A disk without room, wherever a sweep writes: a message, no half of a file, and what was computed is printed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests.conftest import Golden

from polyloom.cli.examples import folder

LIMITED = """
import resource, sys
sys.dont_write_bytecode = True  # half a file of bytecode would stay
from polyloom.cli import main
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]),) * 2)
sys.exit(main(sys.argv[2:]))
"""
SWEEP = ["explore", "fir.pla", "T=4", "--sweep", "N=16,32", "--level", "predict"]
WHERE: dict[str, tuple[int, list[str], list[str]]] = {
    # Bytes that a file may have, words of the command, files that are not empty afterwards.
    "out": (100, ["--out", "t.csv"], []),
    "report": (4000, ["--out", "t.csv", "--report", "p.html"], ["t.csv"]),
    "specification": (100, ["--resume", "s"], []),
    "rows": (2000, ["--resume", "s"], ["s/spec.json"]),
}


@pytest.mark.parametrize("name", WHERE)
def test_a_disk_without_room(name: str, tmp_path: Path, golden: Golden) -> None:
    limit, words, left = WHERE[name]
    (tmp_path / "fir.pla").write_text((folder() / "fir.pla").read_text())
    ran = subprocess.run(
        [sys.executable, "-c", LIMITED, str(limit), *SWEEP, *words], cwd=tmp_path, capture_output=True, text=True
    )
    shown = f"$ polyloom {' '.join([*SWEEP, *words])}\nexit code {ran.returncode}\n{ran.stdout}{ran.stderr}"
    golden(f"full-{name}", shown)
    whole = (path for path in sorted(tmp_path.rglob("*")) if path.is_file() and path.stat().st_size != 0)
    assert [str(path.relative_to(tmp_path)) for path in whole] == ["fir.pla", *left]


@pytest.mark.parametrize("name", ["specification", "rows"])
def test_the_same_command_goes_on_where_there_is_room(name: str, tmp_path: Path) -> None:
    limit, words, _ = WHERE[name]
    (tmp_path / "fir.pla").write_text((folder() / "fir.pla").read_text())
    for most in (limit, 1 << 30):
        ran = subprocess.run([sys.executable, "-c", LIMITED, str(most), *SWEEP, *words], cwd=tmp_path)
    assert ran.returncode == 0
    assert not list((tmp_path / "s").glob("*-wal"))
