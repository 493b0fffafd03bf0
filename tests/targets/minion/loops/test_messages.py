# SPDX-License-Identifier: Apache-2.0
"""What loops are refused for, and in which words."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import polyloom as pl
from polyloom.diagnostics import PolyloomError

SKEWED = """parameter N >= 4
input a[N, N]: f32
output y[N, N]: f32
for 0 <= i < N, 0 <= j < N do
  x[i, j] = a[i, j]                      if i = 0 or i = N - 1 or j <= 1 or j = N - 1
  x[i, j] = x[i-1, j+1] + x[i+1, j-2]    if 1 <= i <= N - 2 and 2 <= j <= N - 2
  y[i, j] = x[i, j]
"""
WIDE = """parameter N >= 1
input a[N]: f32
output y[N]: f64
for 0 <= i < N do
  y[i] = to_f64(a[i])
"""
LOCALS = [f"t{n}" for n in range(20)]
CROWDED = "\n".join(
    [
        "import polyloom as pl",
        'N = pl.size("N")',
        "@pl.kernel",
        "def crowded(a: pl.f32[N], b: pl.f32[N]):",
        "    for i in range(N):",
        *(f"        {name} = a[i] * {n}.0" for n, name in enumerate(LOCALS)),
        f"        b[i] = {' * '.join(LOCALS)}",
        "",
    ]
)


@pytest.mark.parametrize(
    ("name", "text", "code"),
    [("skewed.pla", SKEWED, "PL1350"), ("crowded.py", CROWDED, "PL1352"), ("wide.pla", WIDE, "PL1353")],
)
def test_refusals(
    name: str, text: str, code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, golden: Callable[[str, str], None]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path(name).write_text(text, encoding="utf-8")
    with pytest.raises(PolyloomError) as error:
        pl.compile(name, "minion:2").run(N=8)
    assert error.value.code == code
    golden(code, str(error.value))
