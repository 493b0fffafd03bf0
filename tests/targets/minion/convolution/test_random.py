# SPDX-License-Identifier: Apache-2.0
"""Random convolutions: types, orders of dimensions, windows, strides, padding, numbers of minions."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from tests.targets.minion.convolution.kernels import some

import polyloom as pl

MINIONS = [1, 2, 3, 5, 8, 32, 64]


def check(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    kernel = some(rng)
    sizes: dict[str, Any] = {"C": rng.randint(1, 40), "M": rng.randint(1, 40)}
    sizes |= {"H": rng.randint(4, 6), "W": rng.randint(4, 20)}
    sizes |= {"N": rng.randint(1, 3)} if "n" in kernel.image else {}
    if kernel.element in ("i8", "u8"):
        sizes |= {"C": rng.randint(1, 9), "M": rng.randint(1, 18), "H": 4, "W": rng.randint(4, 18)}
    result = pl.compile(kernel.path(tmp_path), on=f"minion:{rng.choice(MINIONS)}").run(**sizes)
    assert result.verified
    assert result.data["hazards"] == []
    assert result.data["phases"] == ["convolution"]


@pytest.mark.parametrize("seed", range(10))
def test_random_convolutions(seed: int, tmp_path: Path) -> None:
    check(seed, tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(100, 400))
def test_many_random_convolutions(seed: int, tmp_path: Path) -> None:
    check(seed, tmp_path)
