# SPDX-License-Identifier: Apache-2.0
"""Loops over triangles as products with masks: in the order of cycles of whole arrays, at sizes that are no multiples
of a tile; what lies outside of a triangle neither counts nor changes."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.targets.tensix.loops.stages import kernels, triangular

import polyloom as pl
from polyloom.diagnostics import PolyloomError
from polyloom.targets.forms.loops import load_source
from polyloom.targets.subject import Written
from polyloom.targets.tensix.map.loops.form import FORM
from polyloom.targets.tensix.map.phases import compile as phases
from polyloom.targets.tensix.options import Options
from polyloom.transform.stages.system_arrays import system_arrays

EXAMPLES = Path(__file__).parents[5] / "examples"
TWINS = {"syrk": 1.01, "syr2k": 1.01, "trmm": 1.01, "symm": 1.6, "covariance": 1.3}
"""Cycles of loops, at most so many times those of whole arrays."""
TRIANGLES = {name: {"M": 45, "N": 33} for name in TWINS}
PRODUCTS = {
    "both_bounds": 1, "band": 1, "upper_matvec": 1, "lower_product": 1, "chain": 2, "integers": 1,
}  # fmt: skip
QUICK = ("band", "chain", "integers")
PHASES = ("three_ways", "largest_terms", "windows", "running")
LONG = pytest.mark.long
RNG = np.random.default_rng(33)


@cache
def compiled(name: str) -> pl.Compiled:
    return pl.compile(EXAMPLES / "kernels" / f"{name}.py", on="tensix")


def uniform(*shape: int) -> Any:
    return RNG.uniform(-1, 1, shape).astype(np.float32)


def whats(result: pl.Result) -> list[str]:
    return [str(stage["what"]) for stage in cast("list[dict[str, Any]]", result.data["stages"])]


def check(result: pl.Result, products: int) -> None:
    assert result.verified and result.outcome.compared_with == ("arithmetic", "equations")
    assert cast("float", result.data["max_error"]) <= cast("float", result.data["bound"])
    assert sum("product" in what for what in whats(result)) == products


@pytest.mark.parametrize("name", [name if name == "covariance" else pytest.param(name, marks=LONG) for name in TWINS])
def test_loops_take_the_cycles_of_whole_arrays(name: str) -> None:
    # Both triangles of a covariance are one product.
    sizes, products = TRIANGLES[name], {"syr2k": 2, "symm": 2, "covariance": 3}.get(name, 1)
    result = compiled(name).run(sizes)
    check(result, products)
    file = "whole" if name == "covariance" else "triangles"
    twin = pl.compile(f"{EXAMPLES}/arrays/{file}.py:{name}", on="tensix").run(sizes)
    assert cast("int", result.cycles) <= TWINS[name] * cast("int", twin.cycles)


@pytest.mark.parametrize("name", [n if n in QUICK else pytest.param(n, marks=LONG) for n in PRODUCTS])
def test_bounds_of_loops(name: str) -> None:
    kernel = getattr(triangular, name)
    check(
        pl.compile(kernel, on="tensix").run({n: {"M": 45, "N": 33}[n] for n in kernel.nest.parameters}), PRODUCTS[name]
    )


@pytest.mark.parametrize("name", ["border", pytest.param("squares", marks=LONG), pytest.param("triangle", marks=LONG)])
def test_parts_and_squares(name: str) -> None:
    kernel = getattr(kernels, name)
    check(pl.compile(kernel, on="tensix").run({n: {"N": 45, "K": 33, "M": 40}[n] for n in kernel.nest.parameters}), 1)


@pytest.mark.parametrize("name", PHASES)
def test_what_is_no_masked_product_runs_as_phases(name: str) -> None:
    content = FORM.load(Written(getattr(triangular, name)), None, Options()).content
    assert isinstance(content, phases.Content)


def test_formats() -> None:
    check(pl.compile(EXAMPLES / "kernels" / "trmm.c", on="tensix", format="bf16").run(m=45, n=33), 1)


def test_triangles_of_one_row() -> None:
    check(compiled("symm").run(M=33, N=1), 2)


def test_a_sum_without_terms_is_what_it_begins_with() -> None:
    one = pl.compile(triangular.from_one, on="tensix")
    for size in (1, 33):
        check(one.run({"M": size}, fill="random"), 1)


def test_what_a_triangle_leaves_out_is_kept_and_never_read() -> None:
    above = np.triu_indices(45, 1)
    half, old = uniform(45, 45), uniform(45, 45)
    half[above] = old[above] = np.nan
    scalars: dict[str, Any] = {"alpha": 1.5, "beta": 0.5}
    syrk = compiled("syrk").run({"C": old, "A": uniform(45, 33), **scalars}, N=45, M=33)
    check(syrk, 1)
    assert np.isnan(syrk.outputs["C"][above]).all() and np.isfinite(np.tril(syrk.outputs["C"])[:, 0]).all()
    symm = compiled("symm").run({"A": half, "B": uniform(45, 33), "C": uniform(45, 33), **scalars}, M=45, N=33)
    check(symm, 2)


@pytest.mark.parametrize("value", [np.inf, pytest.param(np.nan, marks=LONG)])
def test_a_masked_factor_takes_no_numbers_in(value: float) -> None:
    """No sum of trmm has the first row of B."""
    b = uniform(45, 33)
    b[0] = value
    given: dict[str, Any] = {"A": np.tril(uniform(45, 45)), "B": b, "alpha": 1.5}
    result = compiled("trmm").run(given, M=45, N=33)
    assert (
        result.verified and np.isfinite(result.outputs["B"][1:]).all() and not np.isfinite(result.outputs["B"][0]).any()
    )


def test_a_product_with_infinity_that_is_no_number_is_a_difference() -> None:
    a, b = uniform(5, 7), uniform(7, 3)
    a[:, 2], b[2] = 0, np.inf
    with pytest.raises(PolyloomError) as error:
        pl.compile(EXAMPLES / "matmul.pla", on="tensix").run({"A": a, "B": b}, N=5, K=7, M=3)
    assert error.value.code == "PL1235"


def test_a_computed_factor_is_selected_not_multiplied() -> None:
    """1 / 0 outside of the triangle."""
    lower = np.tril(uniform(45, 45) + np.float32(2))
    compiled = pl.compile(triangular.reciprocals, on="tensix")
    check(compiled.run({"A": lower, "B": uniform(45, 33), "L": uniform(45, 45)}, M=45, N=33), 1)


def test_recurrences_are_arrays_over_boxes() -> None:
    """The array of a sum whose loop has no iteration is what the sum begins with."""
    system = load_source(EXAMPLES / "kernels" / "symm.py").system
    assert system is not None
    program, stores = system_arrays(system)
    assert [s.target.name for s in stores] == ["above.1", "C.1", "C.2", "C"] and program.written_arguments == ("C",)


@st.composite
def triangles(draw: st.DrawFn) -> str:
    """A product into one half of a matrix, or with one half of a factor, or both; begun and ended in some way."""
    j = draw(st.sampled_from(["M", "i + 1", "i", "i, M", "max(0, i - 3), i + 1"]))
    k = draw(st.sampled_from(["M", "i + 1", "i, M", "j + 1", "j, M", "1, M"]))
    right = draw(st.sampled_from(["B[k, j]", "B[j, k]", "A[j, k]"]))
    begin = draw(st.sampled_from(["0.0", "b * C[i, j]", "C[i, j]", "C[i, j] + B[i, j]"]))
    scale, end = (
        draw(st.sampled_from(["", "b * "])),
        draw(st.sampled_from(["C[i, j]", "C[i, j] * b", "max(C[i, j], b)"])),
    )
    sign = draw(st.sampled_from("+-"))
    return (
        "import polyloom as pl\nM = pl.size('M')\n\n@pl.kernel\n"
        "def f(b: pl.f32, A: pl.f32[M, M], B: pl.f32[M, M], C: pl.f32[M, M]) -> None:\n"
        f"    for i in range(M):\n        for j in range({j}):\n            C[i, j] = {begin}\n"
        f"            for k in range({k}):\n                C[i, j] {sign}= {scale}A[i, k] * {right}\n"
        f"            C[i, j] = {end}\n"
    )


def check_random(text: str, size: int, seed: int) -> None:
    with TemporaryDirectory() as folder:
        file = Path(folder, "random.py")
        file.write_text(text)
        result = pl.compile(file, on="tensix").run({"M": size}, seed=seed, fill="random")
        # A loop from 1 may be empty: some such sums have two beginnings, and are phases.
        check(result, sum("product" in what for what in whats(result)) if "(1, M)" in text else 1)


@settings(max_examples=3)
@given(triangles(), st.sampled_from([1, 2, 5, 33, 45]), st.integers(0, 1000))  # pyright: ignore[reportCallIssue]: hypothesis gives `draw`
def test_random_triangles(text: str, size: int, seed: int) -> None:
    check_random(text, size, seed)


@pytest.mark.long
@settings(max_examples=60)
@given(triangles(), st.sampled_from([1, 2, 5, 33, 45, 70]), st.integers(0, 1000))  # pyright: ignore[reportCallIssue]: hypothesis gives `draw`
def test_many_random_triangles(text: str, size: int, seed: int) -> None:
    check_random(text, size, seed)
