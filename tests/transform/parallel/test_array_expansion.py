# SPDX-License-Identifier: Apache-2.0
"""Temporaries that each iteration of a loop has to itself become arrays of their own, so that the loop is parallel; and
arrays that only look so."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

import polyloom as pl
from polyloom.transform.parallel import array_expansion

KERNELS = Path(__file__).parents[3] / "examples" / "kernels"
HEAD = """
import polyloom as pl

N, M = pl.sizes("N M")


@pl.kernel
def f(a: pl.i32[N, M], b: pl.i32[N, M], t: pl.i32[M], u: pl.i32[M]):
"""
PARALLEL = {
    "a row": """
    for i in range(N):
        for j in range(M):
            t[j] = a[i, j] * 2
        for j in range(M):
            b[i, j] = t[M - 1 - j] + t[j]
""",
    "two rows": """
    for i in range(N):
        for j in range(M):
            t[j] = a[i, j] * 2
        for j in range(M):
            u[j] = t[M - 1 - j] + 1
        for j in range(M):
            b[i, j] = u[M - 1 - j] + t[j]
""",
    "a row that is summed": """
    for i in range(N):
        for j in range(M):
            t[j] = 0
            for k in range(M):
                t[j] += a[i, k] * (j - k)
        for j in range(M):
            b[i, j] = t[M - 1 - j] + b[i, j]
""",
    "read behind the loop": """
    for i in range(N):
        for j in range(M):
            t[j] = a[i, j] * 2
        for j in range(M):
            b[i, j] = t[M - 1 - j]
    for j in range(M):
        u[j] = t[j]
""",
    "forwards and backwards": """
    for i in reversed(range(N)):
        for j in range(M):
            t[j] = a[i, j] * 2
        for j in range(1, M):
            t[j] = t[j] + t[j - 1]
        for j in range(M):
            b[i, j] = t[M - 1 - j]
""",
}
SERIAL = {
    "of the iteration before": """
    for i in range(N):
        for j in range(M):
            b[i, j] = t[M - 1 - j] + t[j]
        for j in range(M):
            t[j] = a[i, j] * 2
""",
    "not all of it written": """
    for i in range(N):
        for j in range(1, M):
            t[j] = a[i, j] * 2
        for j in range(M):
            b[i, j] = t[M - 1 - j] + t[j]
""",
    "not all of it written in each": """
    for i in range(N):
        for j in range(M):
            if j <= i:
                t[j] = a[i, j] * 2
        for j in range(M):
            if j <= i:
                b[i, j] = t[j] + 1
""",
    "an order of its own": """
    for i in range(N):
        for j in range(M):
            t[j] = a[i, j] * 2
        for j in range(M):
            b[i, j] = t[M - 1 - j]
        for j in range(M):
            u[j] = u[M - 1 - j] * 3 + t[j]
""",
}


def run(tmp_path: Path, body: str, place: str = "minion:4", n: int = 12, m: int = 19) -> pl.Result:
    path = tmp_path / "f.py"
    path.write_text(HEAD + body)
    result = pl.compile(str(path), on=place).run(N=n, M=m)
    assert result.verified
    assert result.outcome.compared_with == ("arithmetic", "source")
    assert result.data["hazards"] == []
    return result


@pytest.mark.parametrize("name", PARALLEL)
def test_temporaries_keep_no_order(name: str, tmp_path: Path) -> None:
    assert run(tmp_path, PARALLEL[name]).data["serial"] == []


@pytest.mark.parametrize("name", SERIAL)
def test_others_keep_it(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with_it = run(tmp_path, SERIAL[name])
    monkeypatch.setattr(array_expansion, "_FEWEST", 1 << 30)
    assert run(tmp_path, SERIAL[name]).cycles == with_it.cycles


def test_doitgen_is_shared_out() -> None:
    compiled = pl.compile(str(KERNELS / "doitgen.py"), on="minion:32", fp="strict")
    result = compiled.run(NQ=16, NR=16, NP=32)
    assert result.verified
    assert result.data["serial"] == []
    assert result.cycles is not None
    assert result.cycles < 130_000


def temporaries(rng: Random) -> str:
    """A loop over rows with statements on two temporaries, of which some read what an iteration before has left."""
    lines = ["    for i in range(N):" if rng.random() < 0.8 else "    for i in reversed(range(N)):"]
    for _ in range(rng.randint(2, 5)):
        target = rng.choice(["t[j]", "u[j]", "b[i, j]"])
        low, high = rng.choice([("0", "M"), ("0", "M"), ("1", "M"), ("0", "M - 1")])
        read = rng.choice(["t[j]", "u[j]", "t[M - 1 - j]", "a[i, j]", "b[i, j]", "t[j - 1]" if low == "1" else "u[j]"])
        value = rng.choice([f"{read} * 2", f"{read} + a[i, j]", "a[i, j]", f"{read} - {target}"])
        lines += [f"        for j in range({low}, {high}):", f"            {target} = {value}"]
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("seed", range(8))
def test_random_temporaries(seed: int, tmp_path: Path) -> None:
    rng = Random(seed)
    run(tmp_path, temporaries(rng), f"minion:{rng.randint(1, 9)}", rng.randint(1, 20), rng.randint(2, 30))


@pytest.mark.long
@pytest.mark.parametrize("seed", range(100, 500))
def test_many_random_temporaries(seed: int, tmp_path: Path) -> None:
    rng = Random(seed)
    run(tmp_path, temporaries(rng), f"minion:{rng.randint(1, 9)}", rng.randint(1, 20), rng.randint(2, 30))
