# SPDX-License-Identifier: Apache-2.0
"""`polyloom bench polybench` and `generic`: their columns, and fewer cycles than every published figure for the same
loops."""

from __future__ import annotations

import pytest
from tests.conftest import Golden

from polyloom.cli.answer import table
from polyloom.cli.bench import generic, polybench


@pytest.mark.parametrize(
    "kernel", [k if k in ("gemm", "fir") else pytest.param(k, marks=pytest.mark.long) for k in polybench.PUBLISHED]
)
def test_fewer_cycles_than_published(kernel: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(polybench, "SIZES", {kernel: polybench.SIZES[kernel]})
    (row,) = polybench.rows()
    cycles, published, utilization = row["cycles"], row["published cycles"], row["utilization"]
    assert isinstance(cycles, int) and isinstance(published, int) and isinstance(utilization, float)
    assert cycles < published
    assert 0 < utilization <= 1
    assert row["pi"] == row["minimum"]


def test_equal_units(golden: Golden) -> None:
    """Every figure of the table is determined: none is a time."""
    rows = list(generic.rows())
    assert all(
        row["verdict"] == "equal bits" and row["units per element"] == row["its units per element"] == 1 for row in rows
    )
    golden("generic", table(rows))


def test_kernels_with_published_figures_exist() -> None:
    assert {*polybench.PUBLISHED, *polybench.REASSOCIATED} <= polybench.SIZES.keys()
