# SPDX-License-Identifier: Apache-2.0
"""Erratum 1.29: where vector code follows tensor operations, `--errata` makes programs on which the model reports
nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

import polyloom as pl
from polyloom.diagnostics import PolyloomError
from polyloom.targets.minion.map.product import compile as compiling

SOURCE = """import polyloom as pl

N, M, K = pl.sizes("N M K")


@pl.kernel
def layer(a: pl.f32[N, K], b: pl.f32[K, M], c: pl.f32[N, M], d: pl.f32[N, M]) -> None:
    for i in range(N):
        for j in range(M):
            c[i, j] = 0.0
            for k in range(K):
                c[i, j] += a[i, k] * b[k, j]
    for i in range(N):
        for j in range(M):
            d[i, j] = c[N - 1 - i, j] + 1.0
"""


def run(path: str) -> pl.Result:
    return pl.compile(path, on="minion:2", errata=True).run(N=20, M=17, K=18)


def test_vector_code_behind_a_product(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "layer.py"
    path.write_text(SOURCE)
    result = run(f"{path}:layer")
    assert result.verified
    assert result.data["phases"] == ["product", "simd"]
    assert result.data["hazards"] == []
    monkeypatch.setattr(compiling, "refresh_registers", list[str])
    with pytest.raises(PolyloomError) as error:
        run(f"{path}:layer")
    assert error.value.code == "PL1380"
    assert "erratum 1.29" in str(error.value)
