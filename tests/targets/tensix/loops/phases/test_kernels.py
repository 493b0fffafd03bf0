# SPDX-License-Identifier: Apache-2.0
"""Kernels of examples/ that are no products, as phases of vector code: what runs equals the tile's arithmetic in bits
and the program within its bound."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from tests.conftest import Golden
from tests.targets.tensix.loops.stages import kernels

import polyloom as pl
from polyloom.diagnostics import PolyloomError
from polyloom.riscv import source_lines

N = pl.sizes("N")
ROOT = Path(__file__).parents[5]
KERNELS = ROOT / "examples" / "kernels"
SIZES: dict[str, dict[str, int]] = {
    "trisolv": {"N": 9}, "lu": {"N": 9}, "cholesky": {"N": 9}, "durbin": {"N": 7},
    "fdtd2d": {"TMAX": 2, "NX": 6, "NY": 7}, "fir": {"N": 30, "T": 7}, "floyd_warshall": {"N": 6},
    "gramschmidt": {"M": 7, "N": 5}, "heat3d": {"TSTEPS": 1, "N": 6}, "jacobi1d": {"TSTEPS": 2, "N": 950},
    "jacobi2d": {"TSTEPS": 2, "N": 9}, "mttkrp": {"NI": 3, "NJ": 5, "NK": 3, "NL": 4},
    "conv2d": {"N": 4, "M": 7},
    # No loop is parallel: every statement is a vector of one element.
    "seidel2d": {"TSTEPS": 2, "N": 6},
}  # fmt: skip
OTHERS: dict[str, dict[str, int]] = {
    "row_sums": {"N": 6, "K": 7}, "two_loops": {"N": 6, "K": 3, "L": 4},
}  # fmt: skip


def definite(n: int) -> np.ndarray[Any, Any]:
    """A symmetric matrix whose eigenvalues are positive."""
    a = np.random.default_rng(1).uniform(-1, 1, (n, n))
    return (a @ a.T + n * np.eye(n)).astype(np.float32)


def inputs(name: str, sizes: dict[str, int]) -> dict[str, Any]:
    if name in ("lu", "cholesky"):
        return {"A": definite(sizes["N"])}
    if name == "trisolv":
        return {"L": definite(sizes["N"]), "b": np.ones(sizes["N"], np.float32)}
    if name == "durbin":
        return {"r": (0.5 ** np.arange(1, sizes["N"] + 1)).astype(np.float32)}
    return {}


def within(result: pl.Result) -> bool:
    error, bound = result.data["max_error"], result.data["bound"]
    return bool(np.isfinite(float(cast("float", error)))) and cast("float", error) <= cast("float", bound) < 0.1


@pytest.mark.parametrize("name", SIZES)
def test_kernels_that_run(name: str) -> None:
    given = {**SIZES[name], **inputs(name, SIZES[name])}
    result = pl.compile(KERNELS / f"{name}.py", on="tensix").run(given, fill="random")
    assert result.verified and result.outcome.compared_with == ("arithmetic", "equations")
    assert within(result) and result.data["stages"][0]["what"] == "phases"  # pyright: ignore[reportIndexIssue, reportCallIssue, reportArgumentType, reportOptionalSubscript]: JSON


def test_words_have_the_lines_of_their_statements() -> None:
    data = pl.compile(KERNELS / "fdtd2d.py", on="tensix").prepare_instance(SIZES["fdtd2d"]).data
    places = source_lines.decode_lines(data).places
    source = (KERNELS / "fdtd2d.py").read_text().splitlines()
    lines = {n for n, line in enumerate(source, 1) if "] -= " in line or "] = fict" in line}
    assert {place.line for place in places} == lines
    assert {place.line for place in places if not place.reason} == lines


@pytest.mark.parametrize("name", ["lu", "fir", "durbin"])
def test_functions_in_c(name: str) -> None:
    sizes = {key.lower(): n for key, n in SIZES[name].items()}
    assert pl.compile(KERNELS / f"{name}.c", on="tensix").run(sizes).verified


@pytest.mark.parametrize("name", OTHERS)
def test_what_stages_do_not_take_runs(name: str) -> None:
    assert pl.compile(getattr(kernels, name), on="tensix").run(OTHERS[name]).verified


@pytest.mark.parametrize("sizes", [{"N": 1, "T": 1}, {"N": 2000, "T": 3}])
def test_vectors_shorter_and_longer_than_a_strip(sizes: dict[str, int]) -> None:
    assert pl.compile(KERNELS / "fir.py", on="tensix").run(sizes).verified


@pl.kernel
def polynomials(x: pl.f32[N], a: pl.f32, b: pl.f32, c: pl.f32, d: pl.f32, e: pl.f32, y: pl.f32[N]) -> None:
    for _ in range(2):
        for i in range(1, N):
            y[i] = (((x[i] * a + b) * x[i - 1] + c) * x[i] + d) * x[i] + e
        for i in range(N):
            x[i] = y[i] * 0.5


def test_scalars_beyond_the_constant_registers_are_gathered() -> None:
    assert pl.compile(polynomials, on="tensix").run(N=37).verified


def test_arrays_beyond_l1(golden: Golden) -> None:
    with pytest.raises(PolyloomError) as error:
        pl.compile(KERNELS / "jacobi2d.py", on="tensix").run({"TSTEPS": 1, "N": 500})
    assert (error.value.code, error.value.exit_code) == ("PL1233", 3)
    golden("beyond-l1", str(error.value))


def test_no_elements() -> None:
    with pytest.raises(PolyloomError) as error:
        pl.compile(KERNELS / "trisolv.py", on="tensix").run({"N": 0})
    assert error.value.code == "PL1237"


def test_formats_that_do_not_fit(golden: Golden) -> None:
    with pytest.raises(PolyloomError) as error:
        pl.compile(KERNELS / "fir.py", on="tensix", format="bf16")
    assert error.value.code == "PL1232"
    golden("unfit-format", str(error.value))


def test_a_statement_with_integers_inside_is_named(golden: Golden, tmp_path: Path) -> None:
    path = tmp_path / "f.py"
    path.write_text(
        "import polyloom as pl\n\nN = pl.size('N')\n\n\n@pl.kernel\n"
        "def f(x: pl.f32[N], y: pl.f32[N]):\n    for i in range(1, N):\n        n = pl.to_i32(x[i])\n"
        "        x[i] = x[i - 1] + pl.to_f32(n)\n        y[i] = pl.to_f32(n + 1)\n"
    )
    with pytest.raises(PolyloomError) as error:
        pl.compile(path, on="tensix")
    golden("unfit-integers", str(error.value).replace(f"{tmp_path}/", ""))
