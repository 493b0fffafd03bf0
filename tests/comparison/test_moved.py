# SPDX-License-Identifier: Apache-2.0
"""Bytes that were moved, where they can be counted by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest

import polyloom as pl

MATMUL = Path(__file__).parents[2] / "examples" / "matmul.pla"


@pytest.mark.parametrize("place", ["riscv:rv64gc", "riscv:rv32imf"])
def test_loads_and_stores_of_a_hart(place: str, tmp_path: Path) -> None:
    """A function that calls nothing and needs no stack loads and stores the elements of its arrays."""
    (tmp_path / "f.c").write_text(
        "void f(int n, const float a[n], const signed char b[n], float c[n]) {\n"
        "  for (int i = 0; i < n; i++) c[i] += a[i] * b[i];\n}\n"
    )
    (row,) = pl.compare(tmp_path / "f.c", n=50, on=place).rows
    assert row.verified
    assert row.costs.moved == 50 * (4 + 1 + 4 + 4)


@pytest.mark.parametrize(("own", "size"), [({}, 4), ({"format": "bf16"}, 2)])
def test_lines_of_l1(own: dict[str, str], size: int) -> None:
    """Two tiles of 32 x 32 are read, one is written, in the format of the tiles; the result's has 4 bytes."""
    (row,) = pl.compare(MATMUL, N=32, M=32, K=32, on="tensix", own=own).rows
    assert row.verified
    assert row.costs.moved == 32 * 32 * (2 * size + 4)


def test_lines_of_stages() -> None:
    """Matrices of one tile: the product reads two and writes one; the other stage reads that and C, and writes C."""
    (row,) = pl.compare(MATMUL.parent / "kernels" / "gemm.py", NI=20, NJ=25, NK=30, on="tensix").rows
    assert row.verified
    assert row.costs.moved == 32 * 32 * 4 * (3 + 3)


def test_a_row_without_bytes_has_no_boundary() -> None:
    kernels = MATMUL.parent / "sfpi" / "kernels.py"
    (row,) = cast(Any, pl.compare(f"{kernels}:absolute", on="tensix").data["rows"])
    assert [row[key] for key in ("moved_bytes", "boundary", "boundary_bytes_per_cycle")] == [None] * 3
