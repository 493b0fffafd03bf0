# SPDX-License-Identifier: Apache-2.0
"""Pictures on pages are what the program draws today; `--update-golden` draws them again."""

from __future__ import annotations

from pathlib import Path

import pytest

import polyloom as pl
from polyloom.report import activity

_ROOT = Path(__file__).parents[2]


def test_gemm(request: pytest.FixtureRequest) -> None:
    path = _ROOT / "docs" / "pictures" / "gemm.svg"
    compiled = pl.compile(_ROOT / "examples" / "kernels" / "gemm.py", on="tcpa:4x4")
    found = compiled.instantiate(NI=20, NJ=25, NK=30, pes=(4, 4)).run().activity
    drawn = activity.picture(found, largest=64_000, alone=True) + "\n"
    if request.config.getoption("--update-golden"):
        path.write_text(drawn, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == drawn
