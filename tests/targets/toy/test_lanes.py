# SPDX-License-Identifier: Apache-2.0
"""A target of another package gets vector loops by asking for them, on 70 lines; and the first one stays small."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
KERNELS = HERE.parents[2] / "examples" / "kernels"
SCRIPT = """
import json, sys
import polyloom as pl

for kernel, place, sizes in json.loads(sys.argv[1]):
    result = pl.compile(kernel, on=place).run(**sizes)
    print(json.dumps([result.verified, result.cycles, result.data["vectors"]]))
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package as an installer leaves it."""
    made = tmp_path_factory.mktemp("lanes")
    shutil.copy(HERE / "lanes_target.py", made)
    about = made / "lanes-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: lanes\nVersion: 1.0\n", encoding="utf-8")
    (about / "entry_points.txt").write_text("[polyloom.targets]\nlanes = lanes_target:ENTRY\n", encoding="utf-8")
    return made


def run(folder: Path, *jobs: tuple[str, str, dict[str, int]]) -> list[Any]:
    asked = json.dumps([(str(KERNELS / f"{kernel}.py"), place, sizes) for kernel, place, sizes in jobs])
    own = {**os.environ, "PYTHONPATH": str(folder)}
    done = subprocess.run([sys.executable, "-c", SCRIPT, asked], cwd=folder, env=own, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_vector_loops_for_the_asking(folder: Path) -> None:
    gemm, jacobi = {"NI": 16, "NJ": 24, "NK": 8}, {"TSTEPS": 2, "N": 20}
    found = run(
        folder,
        *(("gemm", f"lanes:{lanes}", gemm) for lanes in (1, 4, 8)),
        ("jacobi2d", "lanes:8", jacobi),
        ("seidel2d", "lanes:8", jacobi),
    )
    assert all(verified for verified, _, _ in found)
    one, four, eight = (cycles for _, cycles, _ in found[:3])
    assert one > 3 * four > 5 * eight
    assert [vectors != [] for _, _, vectors in found] == [False, True, True, True, False]


def test_targets_of_other_packages_are_small() -> None:
    assert len((HERE / "toy_target.py").read_text(encoding="utf-8").splitlines()) <= 150
    assert len((HERE / "lanes_target.py").read_text(encoding="utf-8").splitlines()) <= 100
