# SPDX-License-Identifier: Apache-2.0
"""Random products with something around them, beside NumPy and the source, without a hazard."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from tests.targets.minion.stages.kernels import inputs, kernel

import polyloom as pl

MINIONS = [1, 2, 3, 7, 8, 16, 32, 32, 64]


def check(seed: int, tmp_path: Path, minions: list[int] = MINIONS) -> None:
    made, rng = kernel(seed), Random(seed)
    path = tmp_path / "f.py"
    path.write_text(made.text)
    compiled = pl.compile(str(path), on=f"minion:{rng.choice(minions)}", exact=rng.random() < 0.25)
    assert compiled.subject is not None
    given = inputs(made, seed)
    taken = {a.name for a in compiled.subject.signature.arguments if a.is_input}
    arguments: dict[str, Any] = {**made.sizes, **{name: array for name, array in given.items() if name in taken}}
    result = compiled.run(**arguments)
    assert result.verified
    assert result.data["hazards"] == []
    for name, want in made.expected(given).items():
        got = result.outputs[name].astype(np.float64)
        allowed = 2e-5 * np.abs(want).max() + 1e-4 if made.element in ("f32", "f16") else 0
        assert np.abs(got - want).max() <= allowed


@pytest.mark.parametrize("seed", range(12))
def test_random_products_in_functions(seed: int, tmp_path: Path) -> None:
    check(seed, tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(100, 500))
def test_many_random_products_in_functions(seed: int, tmp_path: Path) -> None:
    check(seed, tmp_path)
