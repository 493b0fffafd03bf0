# SPDX-License-Identifier: Apache-2.0
"""Results of split sums that all minions of a group get back: alone, and as a factor of the product behind them, where
no barrier stands between the two."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
from tests.conftest import Golden
from tests.targets.minion.gemm.test_waits import MATMUL, waits_that_no_one_needs

import polyloom as pl
from polyloom.diagnostics import PolyloomError
from polyloom.targets.minion import compile as compiling
from polyloom.targets.minion.map.assembly import executable
from polyloom.targets.minion.map.frame import Part, Team, barrier
from polyloom.targets.minion.words.note import Note
from polyloom.targets.minion.words.tensor_words import BY_NAME, broadcast

CHAIN = """
import polyloom as pl

N, K, R, M = pl.sizes("N K R M")


@pl.kernel
def low(A: pl.f32[N, K], U: pl.f32[K, R], V: pl.f32[{shape}], T: pl.f32[N, R], D: pl.f32[{result}]) -> None:
    for i in range(N):
        for j in range(R):
            T[i, j] = 0.0
            for k in range(K):
                T[i, j] += A[i, k] * U[k, j]
    for i in range({rows}):
        for j in range({columns}):
            D[i, j] = 0.0
            for k in range({depth}):
                D[i, j] += {term}
"""
SIDES = {
    "left": {"shape": "R, M", "result": "N, M", "rows": "N", "columns": "M", "depth": "R", "term": "T[i, k] * V[k, j]"},
    "right": {
        "shape": "M, N",
        "result": "M, R",
        "rows": "M",
        "columns": "R",
        "depth": "N",
        "term": "V[i, k] * T[k, j]",
    },
    "transposed": {
        "shape": "M, R",
        "result": "N, M",
        "rows": "N",
        "columns": "M",
        "depth": "R",
        "term": "T[i, k] * V[j, k]",
    },
}


def chain(tmp_path: Path, side: str) -> str:
    path = tmp_path / f"{side}.py"
    path.write_text(CHAIN.format(**SIDES[side]))
    return f"{path}:low"


def _apart(*_: object, **__: object) -> None:
    """In place of `followed`."""


def counted(result: pl.Result, name: str) -> int:
    return cast("dict[str, int]", result.data["tensor_operations"])[name]


@pytest.mark.parametrize(
    ("parts", "minions", "n", "m", "k"), [(2, 2, 20, 18, 100), (8, 32, 40, 70, 100), (32, 64, 20, 18, 40)]
)
def test_each_of_a_group_stores_rows(parts: int, minions: int, n: int, m: int, k: int) -> None:
    options: dict[str, Any] = {"split_k": parts, "fp": "reassociate", "broadcast": True}
    result = pl.compile(MATMUL, on=f"minion:{minions}", **options).run(N=n, M=m, K=k)
    assert result.verified
    assert result.data["hazards"] == []
    assert result.data["broadcast"] is True
    blocks, each = -(-n // 16) * -(-m // 16), max(16 // parts, 1)
    heights = [min(16, n - 16 * row) for row in range(-(-n // 16))]
    assert counted(result, "tensor_store") == -(-m // 16) * sum(-(-height // each) for height in heights)
    # A tree has an edge for each minion but the root, and an edge two ends, up and down.
    assert counted(result, "tensor_reduce") == 4 * (parts - 1) * blocks


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize(("minions", "n", "k", "r", "m"), [(8, 37, 100, 20, 41), (64, 20, 70, 33, 18)])
def test_chains(side: str, minions: int, n: int, k: int, r: int, m: int, tmp_path: Path) -> None:
    kernel = pl.compile(chain(tmp_path, side), on=f"minion:{minions}", fp="reassociate", broadcast=True)
    result = kernel.run(N=n, K=k, R=r, M=m)
    assert result.verified
    assert result.data["hazards"] == []
    assert result.data["broadcast"] is True


def check(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    extents = [5, 16, 17, 33, 50]
    sizes: dict[str, Any] = {name: rng.choice(extents) for name in "NM"}
    sizes |= {"K": rng.choice(extents) * rng.choice([1, 8]), "R": rng.choice([5, 16, 20])}
    options: dict[str, Any] = {"fp": rng.choice(["contract", "reassociate"])}
    place = f"minion:{rng.choice([2, 4, 8, 16, 32, 64])}"
    result = pl.compile(chain(tmp_path, rng.choice(list(SIDES))), on=place, **options).run(**sizes)
    assert result.verified
    assert result.data["hazards"] == []


@pytest.mark.parametrize("seed", range(5))
def test_random_chains(seed: int, tmp_path: Path) -> None:
    check(seed, tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(100, 300))
def test_many_random_chains(seed: int, tmp_path: Path) -> None:
    check(seed, tmp_path)


def test_a_chain_of_whole_sums_sends_nothing(tmp_path: Path) -> None:
    result = pl.compile(chain(tmp_path, "left"), on="minion:64").run(N=1024, K=16, R=16, M=16)
    assert result.verified
    assert result.data["broadcast"] is False
    assert counted(result, "tensor_reduce") == 0
    # Without a barrier nobody takes a credit.
    assert cast("dict[str, int]", result.data["counters"])["stall_credit"] == 0


def test_the_prediction_decides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: dict[str, Any] = {"N": 512, "K": 64, "R": 16, "M": 32}
    kernel = pl.compile(chain(tmp_path, "left"), on="minion:64", fp="reassociate")
    one = kernel.run(**sizes)
    assert one.data["broadcast"] is True
    monkeypatch.setattr(compiling, "chain_products", _apart)
    apart = pl.compile(chain(tmp_path, "left"), on="minion:64", fp="reassociate").run(**sizes)
    assert apart.data["broadcast"] is False
    assert cast(int, one.cycles) < cast(int, apart.cycles)


def test_several_blocks_of_a_long_first_sum_stay_apart(tmp_path: Path) -> None:
    kernel = pl.compile(chain(tmp_path, "left"), on="minion:32", fp="reassociate")
    assert kernel.run(N=64, K=40, R=64, M=64).data["broadcast"] is False


@pytest.mark.parametrize("joined", [True, False])
def test_every_wait_is_needed(joined: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a chain, and of a split sum that a barrier parts from the product that reads it."""
    if not joined:
        monkeypatch.setattr(compiling, "chain_products", _apart)

    options: dict[str, Any] = {"split_k": 2, "fp": "reassociate"} | ({"broadcast": True} if joined else {})
    kernel = pl.compile(chain(tmp_path, "left"), on="minion:8", **options)
    assert waits_that_no_one_needs(monkeypatch, [kernel], {"N": 20, "K": 100, "R": 17, "M": 33}) == []


def test_too_few_registers_are_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words = {broadcast(height, 32): broadcast(height, 31) for height in range(5)}
    assert BY_NAME["tensor_broadcast"].fixed == 2

    def fewer(parts: list[Part], note: Note) -> bytes:
        lines = [[_replaced(line, words) for line in part.lines] for part in parts]
        assert lines != [list(part.lines) for part in parts]
        return executable([replace(part, lines=tuple(own)) for part, own in zip(parts, lines, strict=True)], note)

    monkeypatch.setattr(compiling, "executable", fewer)
    for path, sizes in (
        (chain(tmp_path, "left"), {"N": 16, "K": 64, "R": 16, "M": 20}),
        (MATMUL, {"N": 16, "M": 16, "K": 64}),
    ):
        arguments: dict[str, Any] = sizes
        with pytest.raises(PolyloomError) as error:
            pl.compile(path, on="minion:4", fp="reassociate", broadcast=True).run(**arguments)
        assert error.value.code == "PL1337"


def _replaced(line: str, words: dict[int, int]) -> str:
    start, _, number = line.rpartition(" ")
    return f"{start} {words[int(number)]}" if number.isdigit() and int(number) in words else line


def test_nothing_to_broadcast(golden: Golden) -> None:
    with pytest.raises(PolyloomError) as error:
        pl.compile(MATMUL, on="minion:4", broadcast=True).run(N=16, M=16, K=16)
    golden("broadcast", str(error.value) + "\n")


@pytest.mark.parametrize(("name", "met"), [("mm3", ["p2.join"]), ("bicg", []), ("atax", ["p1.join"])])
def test_who_shares_nothing_does_not_wait(name: str, met: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Of three products, the last one reads what the other two have computed; the results of bicg are independent."""
    found = list[str]()

    def counted(team: Team, label: str, number: int) -> Part:
        found.append(label)
        return barrier(team, label, number)

    monkeypatch.setattr(compiling, "barrier", counted)
    monkeypatch.setattr(compiling, "chain_products", _apart)
    sizes: dict[str, Any] = {"M": 20, "N": 20} if name != "mm3" else dict.fromkeys(("NI", "NJ", "NK", "NL", "NM"), 20)
    result = pl.compile(MATMUL.replace("matmul.pla", f"kernels/{name}.py"), on="minion:3").run(**sizes)
    assert (result.verified, result.data["hazards"], found) == (True, [], met)
