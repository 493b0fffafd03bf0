# SPDX-License-Identifier: Apache-2.0
"""Temporaries that became arrays of their own, on the model: shared out, without hazards, on any number of minions."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from tests.transform.parallel.test_array_expansion import HEAD, PARALLEL, temporaries

import polyloom as pl

KERNELS = Path(__file__).parents[4] / "examples" / "kernels"


def run(tmp_path: Path, body: str, place: str = "minion:4", n: int = 12, m: int = 19) -> pl.Result:
    path = tmp_path / "f.py"
    path.write_text(HEAD + body, encoding="utf-8")
    result = pl.compile(str(path), on=place).run(N=n, M=m)
    assert result.verified
    assert result.outcome.compared_with == ("arithmetic", "source")
    assert result.data["hazards"] == []
    return result


@pytest.mark.parametrize("name", PARALLEL)
def test_temporaries_keep_no_order(name: str, tmp_path: Path) -> None:
    assert run(tmp_path, PARALLEL[name]).data["serial"] == []


def test_doitgen_is_shared_out() -> None:
    compiled = pl.compile(str(KERNELS / "doitgen.py"), on="minion:32", fp="strict")
    result = compiled.run(NQ=16, NR=16, NP=32)
    assert result.verified
    assert result.data["serial"] == []
    assert result.cycles is not None
    assert result.cycles < 130_000


@pytest.mark.parametrize("seed", range(8))
def test_random_temporaries(seed: int, tmp_path: Path) -> None:
    rng = Random(seed)
    run(tmp_path, temporaries(rng), f"minion:{rng.randint(1, 9)}", rng.randint(1, 20), rng.randint(2, 30))


@pytest.mark.long
@pytest.mark.parametrize("seed", range(100, 500))
def test_many_random_temporaries(seed: int, tmp_path: Path) -> None:
    test_random_temporaries(seed, tmp_path)
