# SPDX-License-Identifier: Apache-2.0
"""Locals of a loop that one hart executes: those for which there are no registers stay in memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import polyloom as pl

COUNT = 20


def test_more_locals_than_registers(tmp_path: Path) -> None:
    """Every element needs the one before, so that no loop is parallel."""
    defined = "\n".join(f"        s{n} = y[i] * x[{n}]" for n in range(COUNT))
    total = " + ".join(f"s{n}" for n in range(COUNT))
    (tmp_path / "many.py").write_text(
        f"""import polyloom as pl
N = pl.size("N")

@pl.kernel
def many(x: pl.f32[{COUNT}], y: pl.f32[N]) -> None:
    for i in range(N - 2):
{defined}
        for j in range(2):
            y[i + 1 + j] = y[i + j] + ({total})
"""
    )
    x, y = (np.random.default_rng(n).uniform(0.01, 0.05, n).astype(np.float32) for n in (COUNT, 6))
    run = pl.compile(tmp_path / "many.py", on="minion:32").run(N=6, x=x, y=y)
    assert run.verified
    expected = y.copy()
    for i in range(4):
        scaled = [expected[i] * each for each in x]
        for j in range(2):
            expected[i + 1 + j] = expected[i + j] + np.sum(scaled, dtype=np.float32)
    found: Any = run.outputs["y"]
    np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_locals_that_live_one_after_another_share_registers(tmp_path: Path) -> None:
    """Rows are shared out; each has more locals that its inner loops read than a hart has registers."""
    parts = "\n".join(
        f"""        s{n} = x[i, {n}] * 2
        for j in range(8):
            y[i, j] = y[i, j] + s{n} * x[i, j]"""
        for n in range(COUNT)
    )
    (tmp_path / "rows.py").write_text(
        f"""import polyloom as pl
N = pl.size("N")

@pl.kernel
def rows(x: pl.f32[N, {COUNT}], y: pl.f32[N, 8]) -> None:
    for i in range(N):
{parts}
"""
    )
    random = np.random.default_rng(0)
    x, y = (random.standard_normal((3, n)).astype(np.float32) for n in (COUNT, 8))
    assert pl.compile(tmp_path / "rows.py", on="minion:32").run(N=3, x=x, y=y).verified
