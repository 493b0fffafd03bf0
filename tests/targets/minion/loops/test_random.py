# SPDX-License-Identifier: Apache-2.0
"""Random nests: imperfect, triangular, up and down, of four element types, on the model, with all barriers that are
possible and with those that are worth it."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from tests.kernels.nests import kernel

import polyloom as pl
from polyloom.diagnostics import PolyloomError
from polyloom.targets.minion.map import form
from polyloom.targets.minion.map.simd import parallel_machine


def _check(seed: int, tmp_path: Path) -> None:
    path, random = tmp_path / "nest.py", Random(seed)
    path.write_text(kernel(seed), encoding="utf-8")
    try:
        compiled = pl.compile(path, f"minion:{random.randint(1, 9)}")
    except PolyloomError as error:
        assert error.code == "PL0242", "no iteration of a random nest may write an argument"
        return
    result = compiled.run(N=random.randint(1, 20), seed=seed)
    assert result.verified
    assert result.data["hazards"] == []


@pytest.fixture
def nests(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whole nests, also where a phase is a product."""
    monkeypatch.setattr(form, "_planned_source", _no_plan)


def _no_plan(*given: object) -> None:
    del given


@pytest.mark.usefixtures("nests")
@pytest.mark.parametrize("seed", range(10))
def test_random_nests(seed: int, tmp_path: Path) -> None:
    _check(seed, tmp_path)


@pytest.mark.usefixtures("nests")
@pytest.mark.parametrize("seed", [3, 7, 20, 27, 31, 44])
def test_random_nests_with_every_barrier(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel_machine, "BARRIER", 0)
    _check(seed, tmp_path)


@pytest.mark.long
@pytest.mark.usefixtures("nests")
@pytest.mark.parametrize("seed", range(1000, 1400))
def test_many_random_nests(seed: int, tmp_path: Path) -> None:
    _check(seed, tmp_path)
