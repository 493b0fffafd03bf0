# SPDX-License-Identifier: Apache-2.0
"""examples/firmware: its own `make check`, refusals included."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.device.devices import FIRMWARE, RV32, caches, missing

REASON = missing(RV32)
pytestmark = pytest.mark.skipif(REASON is not None, reason=str(REASON))


def make(build: Path, *variables: str) -> subprocess.CompletedProcess[str]:
    tools = (f"PYTHON={sys.executable}", f"POLYLOOM={sys.executable} -m polyloom", f"BUILD={build}")
    path = os.pathsep.join(p for p in sys.path if p)
    return subprocess.run(
        ["make", "-C", str(FIRMWARE), "check", *tools, *variables],
        capture_output=True,
        text=True,
        env={**caches(), "PYTHONPATH": path},
    )


def test_the_array_gets_the_file_that_this_machine_writes(tmp_path: Path) -> None:
    made = make(tmp_path)
    assert made.returncode == 0, made.stderr
    shutil.copy(tmp_path / "device.plcc", tmp_path / "first.plcc")
    assert make(tmp_path, "VALUES=40 3", "BOUNDS=N=40 T=3", "REGION=2x3").returncode == 0
    assert (tmp_path / "device.plcc").read_bytes() != (tmp_path / "first.plcc").read_bytes()
    assert "polyloom explain PL0503" in make(tmp_path, "VALUES=13 -1").stderr
