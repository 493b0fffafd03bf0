# SPDX-License-Identifier: Apache-2.0
"""Random shapes, types, layouts and numbers of minions; and notes that nobody wrote so."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from tests.targets.minion.gemm.test_kinds import MATMUL, TYPES, source

import polyloom as pl
from polyloom.targets.minion.words import note

MINIONS = [*range(1, 33), 64]


def check(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    path = source(tmp_path, rng.choice(list(TYPES)), rng.choice(["nn", "nt", "tn", "tt"]))
    sizes: dict[str, Any] = {name: rng.randint(1, 100) for name in "NMK"}
    result = pl.compile(path, on=f"minion:{rng.choice(MINIONS)}").run(**sizes)
    assert result.verified
    assert result.data["hazards"] == []


@pytest.mark.parametrize("seed", range(12))
def test_random_products(seed: int, tmp_path: Path) -> None:
    check(seed, tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(100, 400))
def test_many_random_products(seed: int, tmp_path: Path) -> None:
    check(seed, tmp_path)


def test_notes_that_do_not_fit_are_none_of_ours() -> None:
    data = pl.compile(MATMUL, on="minion:32", resident=True).prepare_instance({"N": 64, "M": 32, "K": 16}).data
    start = data.index(b'{"addresses"')
    end = data.index(b"}", data.index(b'"version"')) + 1
    made = json.loads(data[start:end])
    assert note.decode(data) is not None
    wrong: list[dict[str, Any]] = [
        {"minions": 0},
        {"minions": 33},
        {"machine": ["x", 1 << 40, 512, 1024, 2560]},
        {"machine": ["x", 32, 512, 1024, 2561]},
        {"addresses": {"A": 0, "B": 0, "C": 0}},
        {"home": {"product": [1, 1, 1, 1, 4, 64, 32, 16], "matrices": made["home"]["matrices"]}},
        {"home": {"product": made["home"]["product"], "matrices": [["A", [0], [7]]] * 3}},
        {"home": {"product": [], "matrices": []}},
    ]
    for change in wrong:
        text = json.dumps({**made, **change}, sort_keys=True, separators=(",", ":")).encode()
        if len(text) <= end - start:
            assert note.decode(data[:start] + text.ljust(end - start) + data[end:]) is None, change
