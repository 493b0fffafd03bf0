# SPDX-License-Identifier: Apache-2.0
"""Waits of compiled convolutions: every one is needed. Without any one of them, the model reports."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.targets.minion.convolution.kernels import Kernel
from tests.targets.minion.gemm.test_waits import waits_that_no_one_needs

import polyloom as pl

SIZES: dict[str, Any] = {"H": 4, "W": 20, "C": 18, "M": 17}
PROGRAMS: dict[str, tuple[Kernel, tuple[int, ...], dict[str, Any]]] = {
    "own": (Kernel(), (2,), {}),
    # With 20, some have no tile, and wait for nothing but their part of the packing.
    "turned": (Kernel(image="chw", weight="mcrs", result="mhw", order="crs"), (2, 20), {"fp": "reassociate"}),
    "ordered": (Kernel(image="chw", weight="mcrs", result="mhw", order="crs"), (2,), {}),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_wait_is_needed(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kernel, several, options = PROGRAMS[name]
    path = kernel.path(tmp_path)
    kernels = [pl.compile(path, on=f"minion:{minions}", **options) for minions in several]
    assert waits_that_no_one_needs(monkeypatch, kernels, SIZES) == []
