# SPDX-License-Identifier: Apache-2.0
"""Small networks on many minions: as many take part as pay, arrays between phases stay in the shire's scratchpad, and
results are those of the machine's arithmetic, of the source, and of NumPy."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

import polyloom as pl
from polyloom.cli.bench.minion_tables.networks import NETWORKS, SOURCE


def run(name: str, minions: int, folder: Path, **options: Any) -> tuple[pl.Result, dict[str, Any]]:
    path = folder / "network.py"
    path.write_text(SOURCE)
    rng = np.random.default_rng(3)
    names = {"layers": "XUVWabc", "attention": "QLV"}[name]
    arrays = {n: rng.standard_normal((64,) if n in "abc" else (64, 64)).astype(np.float32) for n in names}
    arguments: dict[str, Any] = {**arrays, "N": 64, "K": 64}
    return pl.compile(f"{path}:{name}", on=f"minion:{minions}", **options).run(**arguments), arrays


def expected(name: str, a: dict[str, Any]) -> Any:
    wide = {key: value.astype(np.float64) for key, value in a.items()}
    if name == "attention":
        return np.maximum(wide["Q"] @ wide["L"].T * 0.125, 0) @ wide["V"]
    made = wide["X"]
    for weights, bias in zip("UVW", "abc", strict=True):
        made = np.maximum(made @ wide[weights] + wide[bias], 0)
    return made


@pytest.mark.parametrize("name", NETWORKS)
def test_networks(name: str, tmp_path: Path) -> None:
    result, arrays = run(name, 256, tmp_path)
    assert result.verified
    assert result.data["hazards"] == []
    found, right = result.outputs["Y" if name == "layers" else "O"], expected(name, arrays)
    assert np.abs(found - right).max() <= 1e-4 * np.abs(right).max()
    one, _ = run(name, 32, tmp_path, all_minions=True)
    assert result.cycles is not None and one.cycles is not None
    assert cast(int, result.data["minions_used"]) > 32
    assert result.cycles < one.cycles
    assert abs(cast(int, result.data["predicted_cycles"]) / result.cycles - 1) < 0.12
    # Shires own rows, so that what is between phases stays in theirs.
    places = {where for _, where, _ in cast("list[tuple[str, str, int]]", result.data["intermediates"])}
    assert places == {"scratchpad"}
