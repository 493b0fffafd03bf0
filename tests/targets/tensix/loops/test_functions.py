# SPDX-License-Identifier: Apache-2.0
"""exp, exp2, log, sin, cos and tanh on the vector unit: their errors over all numbers by a stride, in programs of
Python and C, behind and in front of products; and that a wrong coefficient is noticed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.conftest import Golden
from tests.in_turns import in_turns

import polyloom as pl
from polyloom.analysis.calls import match_calls
from polyloom.analysis.contraction import results
from polyloom.analysis.dataflow import Apply, Leaf, Number, Term
from polyloom.diagnostics import PolyloomError
from polyloom.riscv import symbols
from polyloom.targets.forms.loops import load_source
from polyloom.targets.tensix.map.loops import functions
from polyloom.targets.tensix.map.loops.functions import FUNCTIONS, LARGEST_ANGLE, QUOTIENT, library_function
from polyloom.targets.tensix.map.loops.lanes import Computed
from polyloom.targets.tensix.map.oracle.function_errors import LEAST, MISSED, QUOTIENT_MISSED, REDUCED, function_error

N, M, K = pl.sizes("N M K")
FORMATS = (None, "bf16", "fp16")
CALLS = tuple(name for name in FUNCTIONS if name != "sqrt")
"""What front ends write out as several operations."""
EXACT: dict[str, Any] = {name: getattr(np, name) for name in FUNCTIONS}
SPECIAL = np.array(
    [
        *(0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 3e38, -3e38, 1.2e-38, 1e-45, -1e-45, 1e-30),
        *(88.72, 88.73, -87.3, -87.4, -103.0, -104.0, 127.99, 128.0, 128.5, -126.0, -126.5, -149.0, -151.0),
        *(0.55, 0.5499, 10.0, 9.0, 0.70710677, 1.4142135),
    ],
    np.float32,
)


@pl.kernel
def exp_of(x: pl.f32[N], y: pl.f32[N]) -> None:
    for i in range(N):
        y[i] = pl.exp(x[i])


@pl.kernel
def exp2_of(x: pl.f32[N], y: pl.f32[N]) -> None:
    for i in range(N):
        y[i] = pl.exp2(x[i])


@pl.kernel
def log_of(x: pl.f32[N], y: pl.f32[N]) -> None:
    for i in range(N):
        y[i] = pl.log(x[i])


@pl.kernel
def sin_of(x: pl.f32[N], y: pl.f32[N]) -> None:
    for i in range(N):
        y[i] = pl.sin(x[i])


@pl.kernel
def cos_of(x: pl.f32[N], y: pl.f32[N]) -> None:
    for i in range(N):
        y[i] = pl.cos(x[i])


@pl.kernel
def tanh_of(x: pl.f32[N], y: pl.f32[N]) -> None:
    for i in range(N):
        y[i] = pl.tanh(x[i])


@pl.kernel
def sqrt_of(x: pl.f32[N], y: pl.f32[N]) -> None:
    for i in range(N):
        y[i] = pl.sqrt(x[i])


@pl.kernel
def quotient(x: pl.f32[N], y: pl.f32[N], z: pl.f32[N]) -> None:
    for i in range(N):
        z[i] = x[i] / y[i]


KERNELS: dict[str, Any] = {
    "exp": exp_of, "exp2": exp2_of, "log": log_of, "sin": sin_of, "cos": cos_of, "tanh": tanh_of, "sqrt": sqrt_of,
}  # fmt: skip


@pl.kernel
def dense(w: pl.f32[M, K], x: pl.f32[K, N], b: pl.f32[M], y: pl.f32[M, N]) -> None:
    for i in range(M):
        for j in range(N):
            y[i, j] = b[i]
            for k in range(K):
                y[i, j] += w[i, k] * x[k, j]
            y[i, j] = np.tanh(y[i, j])  # pyright: ignore[reportCallIssue, reportArgumentType]: kernels may


@pl.kernel
def weighted(w: pl.f32[M, K], x: pl.f32[K, N], y: pl.f32[M, N]) -> None:
    for i in range(M):
        for j in range(N):
            y[i, j] = 0.0
            for k in range(K):
                y[i, j] += np.exp(w[i, k]) * x[k, j]  # pyright: ignore[reportCallIssue, reportArgumentType]: kernels may


def is_allowed(name: str, x: NDArray[np.float32]) -> NDArray[np.bool_]:
    """What the function takes: a denormal is 0."""
    if name in ("sin", "cos"):
        return np.abs(x) < LARGEST_ANGLE
    return (x == 0) | ~(np.abs(x) < LEAST) if name in ("log", "sqrt") else np.ones(x.shape, np.bool_)


def inputs(name: str, count: int, seed: int = 0) -> NDArray[np.float32]:
    """Special ones, any patterns, and those where the function does something."""
    rng = np.random.default_rng(seed)
    patterns = rng.integers(0, 2**32, count, np.uint32).view(np.float32)
    near = rng.normal(0, {"exp": 40, "exp2": 60, "tanh": 2}.get(name, 30), count).astype(np.float32)
    x = np.concatenate([SPECIAL, patterns, near])
    return x[is_allowed(name, x)]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_errors_over_all_numbers_by_a_stride(name: str) -> None:
    quarters = (np.arange(1, 20861) * (np.pi / 2)).astype(np.float32)  # where sin and cos are next to nothing
    near = [*range(0x3F000000, 0x43000000, 3001), *np.concatenate([SPECIAL, quarters]).view(np.uint32).tolist()]
    patterns = [*range(0, 2**32, 50021), *near, *(bits | 1 << 31 for bits in near)]
    bits = np.resize(np.array(patterns, np.uint32), (-(-len(patterns) // 32), 32))
    with np.errstate(all="ignore"):
        got = library_function(Computed(bits.shape), name, bits).view(np.float32).astype(np.float64)
        x = bits.view(np.float32)
        want = EXACT[name](x.astype(np.float64))
        rounded = want.astype(np.float32)
        allowed = MISSED[name] * 2.0**-23 * np.abs(want) + REDUCED.get(name, 0.0) + LEAST
        far = np.abs(got - want) > allowed
    finite, same = np.isfinite(rounded), (got == rounded) | (np.isnan(got) & np.isnan(want))
    wrong = (finite & (far | ~np.isfinite(got))) | (~finite & ~same)
    assert not x[wrong & is_allowed(name, x)].size
    if name in ("sin", "cos"):
        assert np.isnan(got[~is_allowed(name, x)]).all()


@pytest.mark.parametrize("name", FUNCTIONS)
def test_python_and_c(name: str, tmp_path: Path) -> None:
    x = inputs(name, 700)
    file = tmp_path / "one.c"
    body = f"for (int i = 0; i < N; i++) y[i] = {name}f(x[i]);"
    file.write_text(f"#include <math.h>\nvoid one(int N, const float x[N], float y[N]) {{ {body} }}\n")
    runs = [pl.compile(source, on="tensix").run(N=len(x), x=x) for source in (KERNELS[name], file)]
    assert all(run.verified and run.data["verdict"] in ("within", "equal bits") for run in runs)
    np.testing.assert_array_equal(runs[0].outputs["y"], runs[1].outputs["y"])


@pytest.mark.parametrize(("name", "format"), in_turns(FUNCTIONS, FORMATS, 3))
def test_formats(name: str, format: Any) -> None:
    x = np.random.default_rng(3).uniform(0.5, 8.0, 300).astype(np.float32)
    assert pl.compile(KERNELS[name], on="tensix", format=format).run(N=300, x=x).verified


@pytest.mark.parametrize(("kernel", "format"), in_turns([dense, weighted], FORMATS, 3))
def test_behind_and_in_front_of_a_product(kernel: Any, format: Any) -> None:
    run = pl.compile(kernel, on="tensix", format=format).run(M=40, N=33, K=50)
    assert run.verified and run.outcome.compared_with == ("arithmetic", "equations")


@pytest.mark.parametrize("name", FUNCTIONS)
def test_c_behind_a_product(name: str, tmp_path: Path) -> None:
    file = tmp_path / "layer.c"
    file.write_text(f"""#include <math.h>
void layer(int M, int N, int K, const float a[M][K], const float b[K][N], float c[M][N]) {{
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {{
            c[i][j] = 0.5f;
            for (int k = 0; k < K; k++) c[i][j] += a[i][k] * b[k][j];
            c[i][j] = {name}f(c[i][j]) * 0.25f;
        }}
}}
""")
    rng = np.random.default_rng(4)
    a, b = (rng.uniform(0, 1, shape).astype(np.float32) for shape in ((20, 17), (17, 33)))
    run = pl.compile(file, on="tensix").run(M=20, N=33, K=17, a=a, b=b)
    assert run.verified
    # The product's own error is about 2^-10 of it, and no function here makes much more of that but exp and exp2.
    exact = EXACT[name](0.5 + a.astype(np.float64) @ b) * 0.25
    np.testing.assert_allclose(run.outputs["c"].astype(np.float64), exact, rtol=0.05, atol=0.01)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_errors_of_operands_are_followed(name: str) -> None:
    """The bound holds the function of both ends, and is not much wider where the function is steepest in between."""
    rng = np.random.default_rng(6)
    x = rng.normal(0, 30, 20000)
    d = np.abs(x) * 2.0 ** rng.uniform(-30, 2, x.size)
    with np.errstate(all="ignore"):
        value, error = function_error(name, x, d)
        np.testing.assert_array_equal(value, EXACT[name](x))
        ends = [EXACT[name](x - d), EXACT[name](x + d)]
        furthest = np.max(np.abs(np.array(ends) - value), axis=0)
    meant = np.isfinite(furthest) & (furthest < 1e300)
    assert (furthest <= error)[meant].all()
    if name in ("exp", "exp2", "log"):
        assert (error <= furthest * 1.6 + np.abs(value) * 2.0**-20 + 2.0**-120)[meant & (error < np.inf)].all()


def test_a_logarithm_of_what_may_be_negative(tmp_path: Path) -> None:
    """The product's error decides whether it is a number at all."""
    file = tmp_path / "near.c"
    file.write_text("""#include <math.h>
void near(int M, int N, int K, const float a[M][K], const float b[K][N], float c[M][N]) {
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            c[i][j] = 0.0f;
            for (int k = 0; k < K; k++) c[i][j] += a[i][k] * b[k][j];
            c[i][j] = logf(c[i][j]);
        }
}
""")
    rng = np.random.default_rng(7)
    a, b = (rng.normal(0, 1, shape).astype(np.float32) for shape in ((60, 3), (3, 60)))
    a[:, 2], b[2] = -a[:, 0], b[0] * np.float32(1 + 2.0**-12)
    run = pl.compile(file, on="tensix").run(M=60, N=60, K=3, a=a * np.array([1, 0, 1], np.float32), b=b)
    assert run.verified


COEFFICIENTS = {"exp": "_EXP", "exp2": "_EXP2", "log": "_LOG", "sin": "_SIN", "cos": "_SIN", "tanh": "_TANH"}


@pytest.mark.parametrize("name", CALLS)
def test_a_wrong_coefficient_is_noticed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the last but one, a few units of 2^-13; tile and arithmetic agree, the program does not."""
    x = np.random.default_rng(5).uniform(0.4, 1.4, 500).astype(np.float32)
    assert pl.compile(KERNELS[name], on="tensix").run(N=500, x=x).verified
    *others, last, one = getattr(functions, COEFFICIENTS[name])
    monkeypatch.setattr(functions, COEFFICIENTS[name], (*others, last * (1 + 2.0**-11), one))
    with pytest.raises(PolyloomError) as error:
        pl.compile(KERNELS[name], on="tensix").run(N=500, x=x)
    assert (error.value.code, error.value.exit_code) == ("PL1235", 4)


def test_an_angle_that_is_too_large(golden: Golden) -> None:
    with pytest.raises(PolyloomError) as error:
        pl.compile(sin_of, on="tensix").run(N=2, x=np.array([1.0, 40000.0], np.float32))
    golden("function-angle", str(error.value))


def test_programs_longer_than_a_branch_reaches_and_than_8_kib(tmp_path: Path) -> None:
    def program(count: int) -> Path:
        text = " + ".join(f"tanhf(x[i] * {n + 1}.0f)" for n in range(count))
        file = tmp_path / "sums.c"
        file.write_text(
            f"#include <math.h>\nvoid sums(int N, const float x[N], float y[N]) {{\n"
            f"    for (int i = 0; i < N; i++) y[i] = {text};\n}}\n"
        )
        return file

    assert pl.compile(program(12), on="tensix").run(N=2500).verified
    compiled = pl.compile(program(24), on="tensix")
    assert sum(len(code) for _, code in symbols.read_tables(compiled.prepare_instance({"N": 10}).data).code) > 8192
    assert compiled.run(N=10).verified


def test_quotients_of_all_numbers_by_a_stride() -> None:
    rng = np.random.default_rng(9)
    x, y = (rng.integers(0, 2**32, 1 << 15, np.uint32).view(np.float32) for _ in range(2))
    with np.errstate(all="ignore"):
        exact = x.astype(np.float64) / y.astype(np.float64)
        ok = np.isfinite(x) & np.isfinite(y) & (np.minimum(np.abs(x), np.abs(y)) >= LEAST)
        ok &= (np.abs(exact) < 2.0**126) & (np.abs(exact) >= LEAST)
        bits = [each.view(np.uint32).reshape(-1, 32) for each in (x, y)]
        got = library_function(Computed(bits[0].shape), QUOTIENT, *bits).view(np.float32).ravel()
        missed = np.abs(got.astype(np.float64) - exact) / (2.0**-23 * np.abs(exact))
    assert ok.sum() > 20000 and missed[ok].max() <= QUOTIENT_MISSED


def test_quotients_run() -> None:
    rng = np.random.default_rng(2)
    x, y = rng.normal(0, 3, 200).astype(np.float32), rng.normal(0, 3, 200).astype(np.float32)
    run = pl.compile(quotient, on="tensix").run(N=200, x=x, y=y)
    assert run.verified and float(str(run.data["max_ulp"])) <= 2


def term_of(kernel: Any) -> Term:
    ((_, term),) = results(load_source(kernel).plan.phases[0].program)
    return term


@pytest.mark.parametrize("name", CALLS)
def test_a_call_is_found_and_what_is_nearly_one_is_not(name: str) -> None:
    term = term_of(KERNELS[name])
    found = match_calls(term)
    assert isinstance(found, Apply) and found.operation == name
    assert isinstance(found.operands[0], Leaf) and found.operands[0].array == "x"
    numbers = list(dict.fromkeys(each for each in parts(term) if isinstance(each, Number)))
    for number in numbers[:: max(1, len(numbers) // 6)]:
        nearly = match_calls(changed(term, number))
        assert not isinstance(nearly, Apply) or nearly.operation != name


def parts(term: Term) -> list[Term]:
    inner = [part for o in term.operands for part in parts(o)] if isinstance(term, Apply) else []
    return [term, *inner]


def changed(term: Term, number: Number) -> Term:
    if isinstance(term, Apply):
        return Apply(term.operation, tuple(changed(o, number) for o in term.operands), term.span)
    return Number(0.123) if term == number else term


@st.composite
def formulas(draw: st.DrawFn, depth: int) -> str:
    if depth == 0:
        return draw(st.sampled_from(["x[i]", "y[i]", "a", "0.5f", "-1.25f"]))
    inner = formulas(depth - 1)
    kind = draw(st.sampled_from(["expf", "exp2f", "logf", "sinf", "cosf", "tanhf", "+", "*", "-"]))
    if kind in "+*-":
        return f"({draw(inner)} {kind} {draw(formulas(0))})"
    operand = draw(inner)
    return f"logf(fabsf({operand}) + 0.5f)" if kind == "logf" else f"{kind}({operand})"


@settings(max_examples=6)
@given(formulas(3), st.integers(0, 1000))
def test_random_formulas(tmp_path_factory: pytest.TempPathFactory, formula: str, seed: int) -> None:
    file = tmp_path_factory.mktemp("random") / "random.c"
    file.write_text(f"""#include <math.h>
void random(int N, float a, const float x[N], const float y[N], float z[N]) {{
    for (int i = 0; i < N; i++) z[i] = {formula} + x[i] * y[i] * a;
}}
""")
    result = pl.compile(file, on="tensix").run(N=200, seed=seed)
    assert result.verified
