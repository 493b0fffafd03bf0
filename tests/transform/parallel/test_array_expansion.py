# SPDX-License-Identifier: Apache-2.0
"""Temporaries that each iteration of a loop has to itself become arrays of their own, so that the loop is parallel; and
arrays that only look so."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from tests.transform.parallel.kernels import EIGHT_LANES
from tests.transform.parallel.test_arrangement import assert_equal

from polyloom import frontend
from polyloom.frontend.source import Options
from polyloom.ir.nest import Nest
from polyloom.transform.parallel.array_expansion import expand_arrays
from polyloom.transform.parallel.specialization import specialize
from polyloom.transform.parallel.work_sharing import share_work

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


def nest_of(tmp_path: Path, body: str, n: int = 12, m: int = 19) -> Nest:
    path = tmp_path / "f.py"
    path.write_text(HEAD + body, encoding="utf-8")
    return specialize(frontend.python_nest(str(path), Options())[0], {"N": n, "M": m})


@pytest.mark.parametrize("name", PARALLEL)
def test_temporaries_keep_no_order(name: str, tmp_path: Path) -> None:
    nest = nest_of(tmp_path, PARALLEL[name])
    assert share_work(nest, EIGHT_LANES).serial_reasons
    made = expand_arrays(nest)
    assert share_work(made, EIGHT_LANES).serial_reasons == {}
    assert_equal(nest, made)


@pytest.mark.parametrize("name", SERIAL)
def test_others_keep_it(name: str, tmp_path: Path) -> None:
    nest = nest_of(tmp_path, SERIAL[name])
    assert expand_arrays(nest) == nest


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


@pytest.mark.parametrize("seed", range(24))
def test_random_temporaries(seed: int, tmp_path: Path) -> None:
    rng = Random(seed)
    nest = nest_of(tmp_path, temporaries(rng), rng.randint(1, 20), rng.randint(2, 30))
    assert_equal(nest, expand_arrays(nest), seed)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(100, 1000))
def test_many_random_temporaries(seed: int, tmp_path: Path) -> None:
    test_random_temporaries(seed, tmp_path)
