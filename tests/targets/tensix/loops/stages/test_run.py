# SPDX-License-Identifier: Apache-2.0
"""Programs of several stages on the tile: kernels of examples/, formats, what runs equals the tile's arithmetic in bits
and the program within its bound; the file is all that a run needs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from tests.conftest import Golden
from tests.in_turns import in_turns
from tests.targets.tensix.loops.programs import TRAVELS, product, source
from tests.targets.tensix.loops.stages import kernels
from tests.targets.tensix.loops.test_bound import spread

import polyloom as pl
from polyloom.cli import main

KERNELS = Path(__file__).parents[5] / "examples" / "kernels"
RUN: dict[str, tuple[dict[str, int], list[str]]] = {
    "gemm": ({"NI": 40, "NJ": 33, "NK": 50}, ["C product", "C element-wise"]),
    "mm2": (
        {"NI": 40, "NJ": 33, "NK": 50, "NL": 35},
        ["tmp fused product", "D product", "D element-wise"],
    ),
    "mm3": ({"NI": 40, "NJ": 33, "NK": 50, "NL": 35, "NM": 20}, ["E product", "F product", "G product"]),
    "atax": ({"M": 40, "N": 50}, ["tmp product", "y product"]),
    "bicg": ({"M": 40, "N": 50}, ["s product", "q product"]),
    "mvt": ({"N": 40}, ["x1 product", "x1 element-wise", "x2 product", "x2 element-wise"]),
    "gesummv": ({"N": 40}, ["tmp product", "y product", "y element-wise"]),
    "gemver": (
        {"N": 70},
        ["A element-wise", "A element-wise", "x product", "x element-wise", "w product", "w element-wise"],
    ),
    "doitgen": ({"NR": 5, "NQ": 7, "NP": 40}, ["total product"]),
}


def stages(result: pl.Result) -> list[dict[str, Any]]:
    return cast("list[dict[str, Any]]", result.data["stages"])


def within(result: pl.Result) -> bool:
    return cast(float, result.data["max_error"]) <= cast(float, result.data["bound"])


# From one language only: tests/frontend/c/test_kernels.py shows that both give one nest.
@pytest.mark.parametrize(("name", "ending"), [(name, ("py", "c")[n % 2]) for n, name in enumerate(RUN)])
def test_kernels_that_run(name: str, ending: str) -> None:
    sizes, expected = RUN[name]
    values = sizes if ending == "py" else {key.lower(): n for key, n in sizes.items()}
    result = pl.compile(KERNELS / f"{name}.{ending}", on="tensix").run(values)
    assert result.verified and result.outcome.compared_with == ("arithmetic", "equations")
    assert [f"{s['array']} {s['what']}" for s in stages(result)] == expected
    assert sum(s["cycles"] for s in stages(result)) == result.cycles
    assert all(0 < s["busy"] <= 1 and s["line"] > 0 for s in stages(result)) and within(result)


@pytest.mark.parametrize(
    ("name", "format"),
    in_turns(
        ["layer", "layers", "gram", "minus", "weighted", "both_ways", "two"],
        ["tf32", "bf16", "fp16"],
        3,
    ),
)
def test_formats(name: str, format: Any) -> None:
    kernel = getattr(kernels, name)
    values = {n: size for n, size in {"N": 40, "M": 33, "K": 50, "L": 35}.items() if n in kernel.nest.parameters}
    result = pl.compile(kernel, on="tensix", format=format).run(values)
    assert result.verified and within(result)


@pytest.mark.parametrize(
    ("dest", "format", "fidelity"), [(16, "bf16", 4), (16, "fp16", 2), (32, "bf16", 1), (32, "tf32", 3)]
)
def test_dst_and_fidelity(dest: Any, format: Any, fidelity: int) -> None:
    made = pl.compile(kernels.layers, on="tensix", format=format, dest=dest, fidelity=fidelity)
    result = made.run(N=70, M=40, K=33, L=20)
    assert result.verified and within(result)
    assert [result.data[key] for key in ("format", "dest", "fidelity")] == [format, dest, fidelity]


@pytest.mark.parametrize("sizes", [(1, 1, 1, 1), (300, 40, 20, 33), (33, 300, 20, 290), (32, 64, 32, 32)])
def test_shapes(sizes: tuple[int, ...]) -> None:
    """More than 256 rows are several blocks, of a factor that a stage made, too."""
    result = pl.compile(kernels.layers, on="tensix").run(dict(zip("NMKL", sizes, strict=True)))
    assert result.verified and [s["tiles"][:2] for s in stages(result)][-1] == [-(-sizes[0] // 32), -(-sizes[3] // 32)]


@pytest.mark.parametrize("sizes", [(40, 33), (33, 300), (300, 40)])
def test_a_computed_factor_is_turned(sizes: tuple[int, int]) -> None:
    """Both factors are the same array, of which one has to be the transpose."""
    assert pl.compile(kernels.gram, on="tensix").run(N=sizes[0], K=sizes[1]).verified


@pytest.mark.parametrize("sizes", [(3, 5, 40), (40, 33, 1)])
def test_functions_of_padding_that_are_zero(sizes: tuple[int, ...]) -> None:
    """sin and tanh of 0 are 0 on the tile, so that padding of one factor adds nothing."""
    assert pl.compile(kernels.clean_factor, on="tensix").run(dict(zip("NMK", sizes, strict=True))).verified


def test_vectors_that_no_product_reads_fill_tiles() -> None:
    result = pl.compile(kernels.two, on="tensix").run(N=1100, M=3)
    assert result.verified and [s["tiles"] for s in stages(result)] == [[2, 1], [35, 1]]


def test_integers_are_the_programs() -> None:
    rng = np.random.default_rng(7)
    x, w = (rng.integers(-127, 128, shape).astype(np.int32) for shape in ((40, 60), (60, 33)))
    b = rng.integers(-(2**20), 2**20, 33).astype(np.int32)
    result = pl.compile(kernels.quantised, on="tensix").run(N=40, M=33, K=60, x=x, W=w, b=b)
    assert np.array_equal(result.outputs["y"], np.clip(x @ w + b, -10000, 10000))
    assert result.data["format"] == "i8" and result.data["max_error"] == 0


def test_equations_with_what_follows_the_sum() -> None:
    text = product(
        body=TRAVELS + "  c[i, j, k] = a[i, j, k] * b[i, j, k] if k = 0\n"
        "  c[i, j, k] = madd(a[i, j, k], b[i, j, k], c[i, j, k-1]) if k >= 1\n"
        "  C[i, j] = max(c[i, j, k] * 2.0, 0.5) if k = K - 1\n"
    )
    result = pl.compile(source(text), on="tensix").run(N=40, M=33, K=50)
    assert result.verified and [s["what"] for s in stages(result)] == ["fused product"]


def test_several_results_of_equations() -> None:
    text = (
        "parameter N >= 0\ninput x[N]: f32, a: f32\noutput y[N]: f32, z[N]: f32\n\n"
        "for 0 <= i < N do\n  y[i] = x[i] * a[]\n  z[i] = x[i] + 1.5\n"
    )
    result = pl.compile(source(text), on="tensix").run(N=100)
    assert result.verified and set(result.outputs) == {"y", "z"} and "fidelity" not in result.data


def test_the_same_source_gives_the_same_bytes() -> None:
    values = {"N": 40, "M": 33, "K": 50, "L": 20}
    assert len({pl.compile(kernels.layers, on="tensix").prepare_instance(values).data for _ in range(2)}) == 1


def test_the_file_is_the_program(tmp_path: Path, capsys: pytest.CaptureFixture[str], golden: Golden) -> None:
    file = str(tmp_path / "gemm.elf")
    sizes = ["NI=32", "NJ=32", "NK=32"]
    assert main(["compile", str(KERNELS / "gemm.py"), *sizes, "--on", "tensix", "-o", file]) == 0
    made = {"A": np.eye(32), "B": np.arange(1024).reshape(32, 32), "C": np.ones((32, 32))}
    for name, array in made.items():
        np.save(tmp_path / f"{name}.npy", array.astype(np.float32))
    given = [w for name in made for w in ("--in", f"{name}={tmp_path / name}.npy")]
    out = str(tmp_path / "out.npy")
    assert main(["simulate", file, "alpha=2", "beta=3", *given, "--out", f"C={out}"]) == 0
    assert np.array_equal(np.load(out), 2 * made["B"] + 3)
    assert main(["verify", file]) == 0
    capsys.readouterr()
    assert main(["show", file]) == 0
    golden("gemm-listing", capsys.readouterr().out)


def test_keys_of_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", str(KERNELS / "gemm.py"), "NI=40", "NJ=33", "NK=50", "--on", "tensix", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["verified"] is True and data["tiles"] == [[2, 2, 2], [2, 2]]
    assert set(data["stages"][0]) == {"array", "what", "line", "tiles", "cycles", "unit", "busy", "shares"}
    assert [s["unit"] for s in data["stages"]] == ["matrix", "vector"]


def test_a_trace_has_spans_of_all_stages() -> None:
    spans = pl.compile(kernels.layer, on="tensix").run(N=33, M=5, K=40, trace=True).events
    assert {"unpack0", "unpack1", "matrix", "vector", "packer"} <= {span.lane.split()[0] for span in spans}


@pytest.mark.parametrize("format", ["tf32", "bf16"])
def test_a_function_that_returns_a_number(format: Any) -> None:
    result = pl.compile(Path(__file__).parent / "dot.c", on="tensix", format=format).run(n=100)
    assert result.verified and [s["what"] for s in stages(result)] == ["fused product"]


@pytest.mark.parametrize(("format", "decades"), [("tf32", 6.0), ("tf32", 1.0), ("bf16", 4.0), ("fp16", 0.5)])
def test_numbers_of_many_magnitudes(format: Any, decades: float) -> None:
    """No error exceeds its bound, which goes on from stage to stage."""
    rng = np.random.default_rng(5)
    shapes = {"x": (20, 50), "W": (50, 33), "b": (1, 33), "V": (33, 10), "c": (1, 10)}
    arrays = {name: spread(rng, shape, decades) for name, shape in shapes.items()}
    given = {**arrays, "b": arrays["b"][0], "c": arrays["c"][0]}
    result = pl.compile(kernels.layers, on="tensix", format=format).run(given, N=20, M=33, K=50, L=10)
    assert result.verified and within(result)
