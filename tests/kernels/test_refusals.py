# SPDX-License-Identifier: Apache-2.0
"""What a person reads when a kernel cannot run: the programs in `refused/`, and what `polyloom compile` says about
each."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from tests.conftest import Golden

import polyloom as pl
from polyloom.cli import main
from polyloom.diagnostics import INFEASIBLE, INPUT
from polyloom.frontend.python import load_kernel

N = pl.size("N")
FOLDER = Path(__file__).parent / "refused"
MACHINES = {"missing_unit.py": "tcpa:fau"}
C = pytest.mark.skipif(find_spec("ziglang") is None, reason="C needs the extra `c`")


@pl.kernel
def floyd_warshall_step(path: pl.i32[N, N], k: int) -> None:
    assert k < N
    for i in range(N):
        for j in range(N):
            path[i, j] = min(path[i, j], path[i, k] + path[k, j])


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


def test_a_step_of_floyd_warshall() -> None:
    """What its help says leads to the shortest paths."""
    step = pl.compile(floyd_warshall_step)
    random = np.random.default_rng(3).integers(1, 50, (6, 6)).astype(np.int32)
    expected, path = random.copy(), random
    load_kernel(str(FOLDER / "floyd_warshall.py"))(expected)
    for k in range(6):
        path = step.instantiate(N=6, k=k, pes=(2, 2)).run(path=path).outputs["path"]
    assert (path == expected).all()


@pytest.mark.parametrize("words", [["--reassociate"], []])
def test_the_help_helps(words: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """`--reassociate` is named exactly where it is what lacks."""
    monkeypatch.chdir(FOLDER)
    assert (main(["compile", "two_loops.py", *words, "-o", str(tmp_path / "made.plsc")]) == 0) == bool(words)
