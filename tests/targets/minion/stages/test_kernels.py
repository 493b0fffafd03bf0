# SPDX-License-Identifier: Apache-2.0
"""Functions that are products with something around them: on the tensor units, in few cycles, in the bits of the source
or within a bound."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import polyloom as pl
from polyloom.targets.minion.map import form

KERNELS = Path(__file__).parents[4] / "examples" / "kernels"
SMALL: dict[str, dict[str, int]] = {
    "gemm": {"NI": 20, "NJ": 25, "NK": 30},
    "mm2": {"NI": 16, "NJ": 18, "NK": 22, "NL": 24},
    "mm3": {"NI": 16, "NJ": 18, "NK": 20, "NL": 22, "NM": 24},
    "doitgen": {"NQ": 8, "NR": 10, "NP": 12},
    "mvt": {"N": 40},
    "gemver": {"N": 40},
    "gesummv": {"N": 30},
}
HEAD = "import polyloom as pl\n\nN, M, K = pl.sizes('N M K')\n\n\n@pl.kernel\n"
ALL = "A: pl.f32[N, K], B: pl.f32[K, M], C: pl.f32[N, M], D: pl.f32[N, M], x: pl.f32, y: pl.f32"
SIZES = {"N": 21, "M": 35, "K": 19}


def function(term: str, *, before: str = "", after: str = "", arguments: str = ALL) -> str:
    """C[i, j] += `term`, with statements before and after."""
    lines = ["for i in range(N):", "    for j in range(M):"]
    lines += [f"        {before}"] if before else []
    lines += ["        for k in range(K):", f"            C[i, j] {term}"]
    lines += [f"        {after}"] if after else []
    return f"{HEAD}def f({arguments}) -> None:\n" + "".join(f"    {line}\n" for line in lines)


def run(path: Path, text: str, place: str = "minion:4", **options: Any) -> pl.Result:
    file = path / "f.py"
    file.write_text(text)
    names = [name for name in SIZES if f"{name}, " in text.split("def f")[1] or f"{name}]" in text.split("def f")[1]]
    sizes: dict[str, Any] = {name: SIZES[name] for name in names}
    return pl.compile(str(file), on=place, **options).run(**sizes)


def data(result: pl.Result) -> dict[str, Any]:
    return dict(result.data)


def phases(result: pl.Result) -> list[str]:
    return data(result)["phases"]


@pytest.mark.parametrize(
    ("name", "sizes", "most"),
    [
        ("gemm.py", {"NI": 96, "NJ": 96, "NK": 96}, 12_000),
        ("gemm.c", {"ni": 96, "nj": 96, "nk": 96}, 12_000),
        ("mm2.py", {"NI": 64, "NJ": 64, "NK": 64, "NL": 64}, 9_500),
        ("mm2.c", {"ni": 64, "nj": 64, "nk": 64, "nl": 64}, 9_500),
        ("mm3.py", {"NI": 64, "NJ": 64, "NK": 64, "NL": 64, "NM": 64}, 11_000),
        ("doitgen.py", {"NQ": 16, "NR": 16, "NP": 32}, 6_000),
        ("mvt.py", {"N": 64}, 6_000),
        ("gemver.py", {"N": 64}, 9_500),
    ],
)
def test_cycles_on_32_minions(name: str, sizes: dict[str, Any], most: int) -> None:
    result = pl.compile(str(KERNELS / name), on="minion:32").run(**sizes)
    assert result.verified
    assert result.cycles is not None
    assert result.cycles <= most
    assert data(result)["off_tensor"] == []


@pytest.mark.parametrize("name", SMALL)
def test_results_are_those_of_the_source(name: str) -> None:
    sizes: dict[str, Any] = SMALL[name]
    result = pl.compile(str(KERNELS / f"{name}.py"), on="minion:3").run(**sizes)
    assert result.verified
    assert result.outcome.compared_with == ("arithmetic", "source")
    assert {"product", "matrix-vector"} & {*phases(result)}


def _nothing(*given: object) -> None:
    del given


@pytest.mark.parametrize("name", ["gemm", "mm2", "mm3", "doitgen", "mvt"])
def test_bits_are_those_of_loops_on_vectors(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: dict[str, Any] = SMALL[name]
    path = str(KERNELS / f"{name}.py")
    ours = pl.compile(path, on="minion:8", exact=True).run(**sizes)
    monkeypatch.setattr(form, "sums_products", _nothing)
    monkeypatch.setattr(form, "_planned_source", _nothing)
    monkeypatch.setattr(form.convolutions, "nest_convolution", _nothing)
    theirs = pl.compile(path, on="minion:8").run(**sizes)
    assert "simd" not in phases(ours) or {"product", "matrix-vector"} & {*phases(ours)}
    assert phases(theirs) == ["simd"]
    for array in theirs.outputs:
        assert np.array_equal(ours.outputs[array].view(np.uint32), theirs.outputs[array].view(np.uint32)), array


@pytest.mark.parametrize(
    "text",
    [
        function("+= A[i, k] * B[k, j]"),
        function("-= A[i, k] * B[k, j]"),
        function("+= x * A[i, k] * B[k, j]", before="C[i, j] *= y"),
        function("+= A[i, k] * (B[k, j] * x)"),
        function("+= (A[i, k] - x) * B[k, j]", before="C[i, j] = D[i, j] * y"),
        function("+= A[i, k] * B[k, j]", before="C[i, j] = 0.0", after="C[i, j] = x * C[i, j] + y * D[i, j]"),
        function("+= A[i, k] * B[k, j]", before="C[i, j] = 1.5", after="C[i, j] = max(C[i, j], y)"),
    ],
)
def test_the_bits_of_the_source(text: str, tmp_path: Path) -> None:
    result = run(tmp_path, text, exact=True)
    assert result.verified
    assert "product" in phases(result)
    assert data(result)["comparisons"][0]["verdict"] == "equal bits"


@pytest.mark.parametrize(
    "text",
    [
        function("+= A[i, k] * B[k, j] * x"),
        function("+= x * (A[i, k] * B[k, j])", before="C[i, j] *= y"),
        function(
            "+= A[i, k] * B[k, j] + D[i, k] * B[k, j]", arguments=ALL.replace("D: pl.f32[N, M]", "D: pl.f32[N, K]")
        ),
    ],
)
def test_other_bits_within_a_bound(text: str, tmp_path: Path) -> None:
    result = run(tmp_path, text)
    assert result.verified
    assert "product" in phases(result)
    assert data(result)["comparisons"][0]["verdict"] == "within"
    assert 0 <= data(result)["error"] <= data(result)["bound"]
    forbidden = run(tmp_path, text, exact=True)
    assert forbidden.verified
    assert phases(forbidden) == ["simd"]
    assert "--exact" in data(forbidden)["off_tensor"][0]


@pytest.mark.parametrize(
    ("declared", "term", "exact"),
    [
        ("f16", "pl.to_f32(A[i, k]) * pl.to_f32(B[k, j])", ["simd", "simd", "product"]),
        ("f16", "x * pl.to_f32(A[i, k]) * pl.to_f32(B[k, j])", ["simd", "simd", "product"]),
    ],
)
def test_halves(declared: str, term: str, exact: list[str], tmp_path: Path) -> None:
    arguments = ALL.replace("A: pl.f32", f"A: pl.{declared}").replace("B: pl.f32", f"B: pl.{declared}")
    text = function(f"+= {term}", arguments=arguments)
    result = run(tmp_path, text)
    assert result.verified
    assert data(result)["counters"]["fp16_operations"] > 0
    assert "bound" in data(result)
    same = run(tmp_path, text, exact=True)
    assert same.verified
    assert phases(same) == exact
    assert "bound" not in data(same)


@pytest.mark.parametrize("term", ["{a} * {b}", "x * {a} * {b}", "{a} * {b} * x"])
@pytest.mark.parametrize("sign", "+-")
def test_bytes(term: str, sign: str, tmp_path: Path) -> None:
    arguments = ALL.replace("f32", "i32").replace("A: pl.i32", "A: pl.i8").replace("B: pl.i32", "B: pl.u8")
    inner = term.format(a="pl.to_i32(A[i, k])", b="pl.to_i32(B[k, j])")
    result = run(
        tmp_path, function(f"{sign}= {inner}", before="C[i, j] = C[i, j] * y", arguments=arguments), exact=True
    )
    assert result.verified
    assert data(result)["counters"]["int8_operations"] > 0
    assert result.outcome.compared_with == ("arithmetic", "source")


@pytest.mark.parametrize("sizes", [(1, 1, 1), (1, 40, 3), (40, 1, 3), (5, 7, 200), (200, 5, 7), (3, 200, 1)])
@pytest.mark.parametrize("minions", [1, 32, 64])
def test_thin_and_tiny_sizes(sizes: tuple[int, int, int], minions: int) -> None:
    ni, nj, nk = sizes
    result = pl.compile(str(KERNELS / "gemm.py"), on=f"minion:{minions}").run(NI=ni, NJ=nj, NK=nk)
    assert result.verified
    assert data(result)["hazards"] == []


@pytest.mark.parametrize(("n", "k"), [(144, 144), (208, 80)])
def test_minions_without_a_block_free_their_slots(n: int, k: int) -> None:
    path = str(KERNELS.parent / "matmul.pla")
    result = pl.compile(path, on="minion:8").run(N=n, M=n, K=k)
    assert result.verified


def test_blocks_have_fewer_rows_where_minions_would_be_idle() -> None:
    result = pl.compile(str(KERNELS.parent / "matmul.pla"), on="minion:32").run(N=96, M=96, K=96)
    assert result.verified
    assert result.cycles is not None
    assert result.cycles < 7_000


def test_split_sums_begin_with_the_array_once(tmp_path: Path) -> None:
    text = function("+= A[i, k] * B[k, j]")
    result = run(tmp_path, text, place="minion:8", fp="reassociate", split_k=4)
    assert result.verified
    assert data(result)["split_k"] == 4
    integers = run(tmp_path, text, place="minion:8", errata=True)
    assert integers.verified


def test_exact_and_another_order_contradict(tmp_path: Path) -> None:
    with pytest.raises(pl.PolyloomError) as caught:
        run(tmp_path, function("+= A[i, k] * B[k, j]"), exact=True, fp="reassociate")
    assert caught.value.code == "PL0801"


@pytest.mark.parametrize(
    ("name", "sizes", "why"),
    [
        ("syrk", {"N": 9, "M": 5}, "is not computed for whole rows and columns"),
        ("cholesky", {"N": 9}, "`A`"),
    ],
)
def test_why_a_product_is_not_on_tensor_units(name: str, sizes: dict[str, Any], why: str) -> None:
    result = pl.compile(str(KERNELS / f"{name}.py"), on="minion:2").run(**sizes)
    (note,) = data(result)["off_tensor"]
    assert why in note
    assert f"{name}.py:" in note


def test_a_function_without_products_has_no_note() -> None:
    result = pl.compile(str(KERNELS / "jacobi2d.py"), on="minion:2").run(TSTEPS=1, N=12)
    assert data(result)["off_tensor"] == []


def test_strict_products_are_loops(tmp_path: Path) -> None:
    result = run(tmp_path, function("+= x * A[i, k] * B[k, j]"), fp="strict")
    assert phases(result) == ["simd"]
    assert "--fp strict" in data(result)["off_tensor"][0]
