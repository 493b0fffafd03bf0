# SPDX-License-Identifier: Apache-2.0
"""Waits of compiled convolutions: every one is needed. Without any one of them, the model reports."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.minion.convolution.kernels import Kernel
from tests.minion.gemm.test_waits import Edit

import polyloom as pl
from polyloom.diagnostics import PolyloomError
from polyloom.targets.minion.loops import compile as compiling

SIZES: dict[str, Any] = {"H": 4, "W": 20, "C": 18, "M": 17}
PROGRAMS: dict[str, tuple[Kernel, tuple[int, ...], dict[str, Any]]] = {
    "own": (Kernel(), (2,), {}),
    # With 20, some have no tile, and wait for nothing but their part of the packing.
    "turned": (Kernel(image="chw", weight="mcrs", result="mhw", order="crs"), (2, 20), {"fp": "reassociate"}),
    "ordered": (Kernel(image="chw", weight="mcrs", result="mhw", order="crs"), (2,), {}),
}


def _is_found(path: str, minions: int, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch, edit: Edit) -> bool:
    monkeypatch.setattr(compiling, "executable", edit)
    try:
        result = pl.compile(path, on=f"minion:{minions}", **options).run(**SIZES)
    except PolyloomError as error:
        assert error.code == "PL1380"
        return True
    assert result.data["hazards"] == []
    return False


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_wait_is_needed(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kernel, several, options = PROGRAMS[name]
    path, whole = kernel.path(tmp_path), Edit()
    assert not _is_found(path, several[0], options, monkeypatch, whole)
    for number in range(whole.waits):
        assert any(_is_found(path, minions, options, monkeypatch, Edit(number)) for minions in several), number
