# SPDX-License-Identifier: Apache-2.0
"""Products of all types in all layouts, split sums, resident operands, cooperative loads; and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest
from tests.conftest import Golden

import polyloom as pl
from polyloom.diagnostics import PolyloomError

ROOT = Path(__file__).parents[4]
MATMUL = str(ROOT / "examples" / "matmul.pla")
TYPES = {"f32": ("f32", ""), "f16": ("f32", "to_f32"), "i8": ("i32", "to_i32"), "u8": ("i32", "to_i32")}


def numbers(result: pl.Result, key: str) -> dict[str, int]:
    """An object of numbers among a run's data."""
    return cast("dict[str, int]", result.data[key])


def source(tmp_path: Path, element: str, layout: str) -> str:
    """A product whose factors are transposed where the layout has a t."""
    result, convert = TYPES[element]
    shapes = [("K, N" if layout[0] == "t" else "N, K"), ("M, K" if layout[1] == "t" else "K, M")]
    a, b = ("k, i" if layout[0] == "t" else "i, k"), ("j, k" if layout[1] == "t" else "k, j")
    term = f"{convert}(A[{a}]) * {convert}(B[{b}])" if convert else f"A[{a}] * B[{b}]"
    path = tmp_path / f"{element}_{layout}.pla"
    path.write_text(
        f"parameter N >= 0, M >= 0, K >= 0\ninput A[{shapes[0]}]: {element}, B[{shapes[1]}]: {element}\n"
        f"output C[N, M]: {result}\n\nfor 0 <= i < N, 0 <= j < M, 0 <= k < K do\n"
        f"  c[i, j, k] = {term} if k = 0\n  c[i, j, k] = c[i, j, k-1] + {term} if k >= 1\n"
        "  C[i, j] = c[i, j, k] if k = K - 1\n"
    )
    return str(path)


@pytest.mark.parametrize("element", TYPES)
@pytest.mark.parametrize("layout", ["nn", "nt", "tn", "tt"])
def test_types_and_layouts(element: str, layout: str, tmp_path: Path) -> None:
    result = pl.compile(source(tmp_path, element, layout), on="minion:5").run(N=21, M=37, K=75)
    assert result.verified
    assert result.data["hazards"] == []


@pytest.mark.parametrize(("parts", "minions", "k"), [(2, 2, 100), (8, 32, 100), (32, 32, 40), (64, 64, 130)])
def test_sums_over_minions(parts: int, minions: int, k: int) -> None:
    result = pl.compile(MATMUL, on=f"minion:{minions}", split_k=parts, fp="reassociate").run(N=20, M=18, K=k)
    assert result.verified
    assert result.data["split_k"] == parts
    assert numbers(result, "bytes")["messages"] > 0
    assert result.verdict == "within" and result.error is not None and result.bound is not None
    assert result.error <= result.bound


@pytest.mark.parametrize("name", ["mm3", "atax"])
def test_errors_grow_from_phase_to_phase(name: str) -> None:
    sizes: dict[str, Any] = {"mm3": {"NI": 7, "NJ": 11, "NK": 13, "NL": 5, "NM": 17}, "atax": {"M": 11, "N": 13}}[name]
    path = str(ROOT / "examples" / "kernels" / f"{name}.py")
    result = pl.compile(path, on="minion:4", fp="reassociate").run(**sizes)
    assert result.verified
    assert result.verdict == "within" and result.error is not None and result.bound is not None
    assert result.error <= result.bound


def test_sums_of_integers_are_split_without_a_flag(tmp_path: Path) -> None:
    path = source(tmp_path, "i8", "nt")
    assert pl.compile(path, on="minion:8", split_k=8).run(N=17, M=16, K=300).verified


@pytest.mark.parametrize("element", ["f32", "f16", "i8"])
def test_resident_operands(element: str, tmp_path: Path) -> None:
    result = pl.compile(source(tmp_path, element, "tn"), on="minion:64", resident=True).run(N=70, M=50, K=90)
    assert result.verified
    assert numbers(result, "bytes")["dram"] == 0


def test_bytes_are_loaded_together(tmp_path: Path) -> None:
    result = pl.compile(source(tmp_path, "i8", "nn"), on="minion:32", resident=True).run(N=128, M=64, K=640)
    counters = numbers(result, "counters")
    assert result.verified
    assert counters["bytes_shire"] < 64 * counters["tensor_load_lines"] / 4


def test_steps_of_resident_operands_take_529_cycles() -> None:
    result = pl.compile(MATMUL, on="minion:32", resident=True).run(N=128, M=64, K=160)
    counters = numbers(result, "counters")
    assert counters["fma_loop_cycles"] == 529 * 10


def test_second_harts_stage() -> None:
    counters = numbers(pl.compile(MATMUL, on="minion:64").run(N=130, M=100, K=250), "counters")
    assert counters["tensor_load_l2"] > 0


def test_one_program_is_the_same_bytes() -> None:
    made = [pl.compile(MATMUL, on="minion:64").prepare_instance({"N": 130, "M": 100, "K": 250}).data for _ in range(2)]
    assert made[0] == made[1]


REFUSED: dict[str, tuple[str, dict[str, Any], dict[str, int]]] = {
    "floats": ("minion:8", {"split_k": 2}, {"N": 16, "M": 16, "K": 64}),
    "parts": ("minion:8", {"split_k": 8, "fp": "reassociate"}, {"N": 16, "M": 16, "K": 7}),
    "minions": ("minion:2", {"split_k": 4, "fp": "reassociate"}, {"N": 16, "M": 16, "K": 70}),
    "scratchpad": ("minion:1", {"resident": True}, {"N": 2000, "M": 16, "K": 2000}),
    "both": ("minion:2", {"resident": True, "split_k": 2, "fp": "reassociate"}, {"N": 16, "M": 16, "K": 64}),
    "empty": ("minion:1", {}, {"N": 0, "M": 16, "K": 16}),
    "dram": ("minion:1", {}, {"N": 1 << 17, "M": 1 << 17, "K": 16}),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name: str, golden: Golden) -> None:
    place, options, sizes = REFUSED[name]
    with pytest.raises(PolyloomError) as error:
        pl.compile(MATMUL, on=place, **options).prepare_instance(sizes)
    golden(f"refused-{name}", str(error.value))
