# SPDX-License-Identifier: Apache-2.0
"""examples/firmware: its own `make check`, refusals included."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.device.devices import FIRMWARE, RV32, caches, missing

REASON = missing(RV32)
pytestmark = pytest.mark.skipif(REASON is not None, reason=str(REASON))


def make(build: Path, *words: str) -> subprocess.CompletedProcess[str]:
    tools = (f"PYTHON={sys.executable}", f"BUILD={build}")
    path = os.pathsep.join(p for p in sys.path if p)
    return subprocess.run(
        ["make", "-C", str(FIRMWARE), *tools, *words],
        capture_output=True,
        text=True,
        env={**caches(), "PYTHONPATH": path},
    )


CASES = {
    "../kernels/gemm.py": ("NI=7 NJ=6 NK=5", "1 configuration"),
    "../kernels/covariance.py": ("M=9 N=12", "4 configurations"),
    "floyd_warshall.py": ("N=9", "9 configurations"),
}


@pytest.mark.parametrize("kernel", [pytest.param(k, marks=[] if "floyd" in k else pytest.mark.long) for k in CASES])
def test_the_array_gets_the_words_that_this_machine_makes(kernel: str, tmp_path: Path) -> None:
    bounds, count = CASES[kernel]
    made = make(tmp_path, "check", f"KERNEL={kernel}", f"BOUNDS={bounds}")
    assert made.returncode == 0, made.stderr
    assert f"{Path(kernel).stem}: {count} of " in made.stdout


def test_a_refusal_reaches_the_host(tmp_path: Path) -> None:
    made = make(tmp_path, "check", "KERNEL=floyd_warshall.py", "BOUNDS=N=-1")
    assert "polyloom explain PL0503" in made.stderr
