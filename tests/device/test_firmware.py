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


def test_the_array_gets_the_words_that_this_machine_makes(tmp_path: Path) -> None:
    made = make(tmp_path, "all-checks")
    assert made.returncode == 0, made.stderr
    told = [line for line in made.stdout.splitlines() if line.endswith("words move between banks")]
    assert [line.split(",")[0] for line in told] == [
        "gemm: 1 configuration of 7532 bytes",
        "covariance: 4 configurations of 9728 bytes",
        "floyd_warshall: 9 configurations of 29600 bytes",
    ]
    small = make(tmp_path, "check", "BOUNDS=NI=3 NJ=2 NK=1", "REGION=1x1")
    assert "gemm: 1 configuration of" in small.stdout
    assert "polyloom explain PL0503" in make(tmp_path, "check", "BOUNDS=NI=3 NJ=-1 NK=1").stderr
