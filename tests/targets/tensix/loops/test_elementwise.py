# SPDX-License-Identifier: Apache-2.0
"""Element-wise programs on the tile: formats, shapes, arrays of fewer dimensions, scalars, random formulas; what runs
equals the meaning of the vector operations in bits and the program within its bound."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.conftest import Golden
from tests.targets.tensix.loops.programs import source

import polyloom as pl
from polyloom.cli import main
from polyloom.diagnostics import PolyloomError
from polyloom.ir.stage import Formula
from polyloom.targets.forms.loops import load_source
from polyloom.targets.tensix.map.loops.form import TILE
from polyloom.targets.tensix.map.loops.pointwise import select_operations
from polyloom.targets.tensix.map.loops.steps import Pointwise, Spread, Step
from polyloom.transform.stages.recognize import recognize_stage

EXAMPLES = Path(__file__).parents[4] / "examples"
N, M, K = pl.sizes("N M K")


@pl.kernel
def axpy_in_place(a: pl.f32, x: pl.f32[N], y: pl.f32[N]) -> None:
    for i in range(N):
        y[i] = a * x[i] + y[i]


@pl.kernel
def spread(x: pl.f32[N, M], rows: pl.f32[N], columns: pl.f32[M], turned: pl.f32[M, N], y: pl.f32[N, M]) -> None:
    for i in range(N):
        for j in range(M):
            y[i, j] = x[i, j] * rows[i] + columns[j] - turned[j, i]


@pl.kernel
def three(x: pl.f32[N, M, K], y: pl.f32[N, M, K]) -> None:
    for i in range(N):
        for j in range(M):
            for k in range(K):
                y[i, j, k] = abs(x[i, j, k]) - 0.5


@pl.kernel
def integers(a: pl.i32, x: pl.i32[N], y: pl.i32[N], z: pl.i32[N]) -> None:
    for i in range(N):
        z[i] = min(max(x[i] - y[i], a), 1000000) + abs(y[i]) if x[i] > y[i] else -x[i] ^ y[i]


@pl.kernel
def bend(a: pl.f32, x: pl.f32[N], y: pl.f32[N], z: pl.f32[N]) -> None:
    for i in range(N):
        t = x[i] * y[i] - a * x[i]
        z[i] = t * 0.5 if t > a else -x[i] * 3.25 + 0.1


@pl.kernel
def constant(y: pl.f32[N]) -> None:
    for i in range(N):
        y[i] = 1.5


def test_axpy_is_one_mad_of_two_arrays_and_a_scalar() -> None:
    program = recognize_stage(load_source(str(EXAMPLES / "axpy.pla")).plan, TILE)
    (stage,) = program.stages
    assert isinstance(stage, Formula)
    found = select_operations(stage, program)
    step = Step("sfpmad", (("scalar", 0), ("array", 0), ("array", 1)), (0,), is_fused=True)
    assert found == Pointwise("z", "f32", (Spread("x", (0,)), Spread("y", (0,))), ("a",), (step,), ("step", 0))


@pytest.mark.parametrize("format", [None, "tf32", "bf16", "fp16"])
@pytest.mark.parametrize("name", ["axpy", "relu", "clamp"])
def test_examples(name: str, format: str | None) -> None:
    sizes = {"N": 70, "M": 33} if name == "relu" else {"N": 2100}
    result = pl.compile(EXAMPLES / f"{name}.pla", on="tensix", format=format).run(**sizes)  # pyright: ignore[reportArgumentType]: an option of the target
    assert result.verified and result.outcome.compared_with == ("arithmetic", "equations")
    assert result.data["format"] == (format if format in ("bf16", "fp16") else "fp32")
    assert cast(float, result.data["max_error"]) <= cast(float, result.data["bound"])
    if name != "axpy" and format in (None, "tf32"):
        assert result.data["max_error"] == 0


@pytest.mark.parametrize("kernel", [axpy_in_place, bend, constant])
@pytest.mark.parametrize("size", [0, 1, 32, 1023, 1024, 1025, 5000])
def test_vectors_of_any_length(kernel: Any, size: int) -> None:
    result = pl.compile(kernel, on="tensix").run(N=size)
    assert result.verified and result.data["tiles"] == -(-size // 1024)


@pytest.mark.parametrize("sizes", [(1, 1), (32, 64), (33, 31), (5, 200), (0, 4)])
def test_arrays_of_fewer_dimensions_and_in_other_orders(sizes: tuple[int, int]) -> None:
    assert pl.compile(spread, on="tensix").run(N=sizes[0], M=sizes[1]).verified


def test_more_than_two_dimensions() -> None:
    result = pl.compile(three, on="tensix").run(N=3, M=15, K=40)
    assert result.verified and result.data["tiles"] == 2 * 2


def test_integers_equal_the_program() -> None:
    rng = np.random.default_rng(0)
    x, y = (rng.integers(-(2**30), 2**30, 3000).astype(np.int32) for _ in range(2))
    result = pl.compile(integers, on="tensix").run(N=3000, a=17, x=x, y=y)
    assert result.verified and result.data["format"] == "i32" and result.data["max_error"] == 0


def test_halves_of_dst_overlap_the_threads() -> None:
    """Unpacking two tiles takes 132 cycles, 32 vectors of five words 160, packing 64: together, not in turn."""
    short, long = (pl.compile(EXAMPLES / "axpy.pla", on="tensix").run(N=1024 * n).cycles or 0 for n in (4, 24))
    assert 160 <= (long - short) / 20 <= 200


def test_long_kernels_do_not_fit_the_replay_buffer_and_run() -> None:
    text = " + ".join(f"abs(x[i] - {n}.5) * {n + 1}.25" for n in range(12))
    program = f"parameter N >= 0\ninput x[N]: f32\noutput y[N]: f32\n\nfor 0 <= i < N do\n  y[i] = {text}\n"
    result = pl.compile(source(program), on="tensix").run(N=1500)
    assert result.verified and result.data["replayed"] == 0
    assert cast(int, result.data["instructions"]) > 2 * 32 * 32


def balanced(leaves: list[str]) -> str:
    """A tree of differences, as deep as it can be for its leaves."""
    if len(leaves) == 1:
        return leaves[0]
    half = len(leaves) // 2
    return f"({balanced(leaves[:half])} - {balanced(leaves[half:])})"


def test_a_formula_that_does_not_fit_into_the_registers(golden: Golden) -> None:
    def program(count: int) -> Any:
        formula = balanced([f"abs(x[i] - {n}.5)" for n in range(count)])
        return source(f"parameter N >= 0\ninput x[N]: f32\noutput y[N]: f32\n\nfor 0 <= i < N do\n  y[i] = {formula}\n")

    assert pl.compile(program(32), on="tensix").run(N=100).verified
    with pytest.raises(PolyloomError) as error:
        pl.compile(program(256), on="tensix").run(N=100)
    assert (error.value.code, error.value.exit_code) == ("PL1280", 3)
    golden("elements-registers", str(error.value))


FLOATS = ("+", "-", "*", "min", "max", "neg", "abs", "select", "madd")


@st.composite
def formulas(draw: st.DrawFn, depth: int) -> str:
    if depth == 0:
        return draw(st.sampled_from(["x[i]", "y[i]", "a[]", "b[]", "0.0", "-0.0", "1.0", "0.3", "2.5"]))
    inner = formulas(depth - 1)  # pyright: ignore[reportCallIssue]: hypothesis gives `draw`
    kind = draw(st.sampled_from(FLOATS))
    one, two = f"({draw(inner)})", f"({draw(inner)})"
    if kind in ("neg", "abs"):
        return f"-{one}" if kind == "neg" else f"abs({one})"
    if kind in ("min", "max"):
        return f"{kind}({one}, {two})"
    if kind == "madd":
        return f"madd({one}, {two}, {draw(inner)})"
    if kind == "select":
        relation = draw(st.sampled_from(["<", "<=", "==", "!=", ">=", ">"]))
        return f"select({one} {relation} {two}, {draw(inner)}, {draw(inner)})"
    return f"{one} {kind} {two}"


@settings(max_examples=20)
@given(formulas(2), st.integers(0, 1000))  # pyright: ignore[reportCallIssue]: hypothesis gives `draw`
def test_random_formulas(formula: str, seed: int) -> None:
    text = (
        "parameter N >= 0\ninput x[N]: f32, y[N]: f32, a: f32, b: f32\noutput z[N]: f32\n\nfor 0 <= i < N do\n"
        f"  z[i] = ({formula}) + 0.0 * x[i] + 0.0 * y[i] + 0.0 * (a[] + b[])\n"
    )
    rng = np.random.default_rng(seed)
    x, y = (rng.choice([-1.0, 0.5, 0.0, 2.0, 3.1, -0.7], 100).astype(np.float32) for _ in range(2))
    result = pl.compile(source(text), on="tensix").run(N=100, x=x, y=y, a=0.5, b=-1.25)
    assert result.verified


REFUSED = {
    "neighbour": "X[i] = x[i]\n  z[i] = X[i] + 1.0 if i = 0\n  z[i] = X[i-1] + X[i] if i >= 1",
    "comparison": "z[i] = select((x[i] < y[i]) + 1, x[i], y[i])",
    "piecewise": "z[i] = x[i] if i = 0\n  z[i] = y[i] if i >= 1",
    "reversed": "z[i] = x[N - 1 - i]",
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_element_wise_is_refused_by_name(name: str, golden: Golden) -> None:
    text = "parameter N >= 1\ninput x[N]: f32, y[N]: f32\noutput z[N]: f32\n\nfor 0 <= i < N do\n  "
    with pytest.raises(PolyloomError) as error:
        pl.compile(source(text + REFUSED[name] + "\n"), on="tensix")
    assert error.value.code in ("PL1230", "PL1231")
    golden(f"elements-{name}", str(error.value))


@pytest.mark.parametrize("name", ["mod", "floordiv"])
def test_integers_are_not_divided(name: str, golden: Golden) -> None:
    formula = f"{name}(x[i], 3)"
    text = f"parameter N >= 0\ninput x[N]: i32\noutput z[N]: i32\n\nfor 0 <= i < N do\n  z[i] = {formula}\n"
    with pytest.raises(PolyloomError) as error:
        pl.compile(source(text), on="tensix")
    assert error.value.code == "PL1231"
    golden(f"integers-{name}", str(error.value))


def test_more_scalars_than_there_is_room_for(golden: Golden) -> None:
    def program(inputs: str, formula: str) -> Any:
        return source(f"parameter N >= 0\ninput {inputs}\noutput z[N]: f32\n\nfor 0 <= i < N do\n  z[i] = {formula}\n")

    scalars = "pqrs"
    with pytest.raises(PolyloomError) as error:
        text = program(", ".join(f"{n}: f32" for n in scalars), " + ".join(f"{n}[]" for n in scalars))
        pl.compile(text, on="tensix")
    golden("elements-room", str(error.value))


def test_more_arrays_than_dst_holds_are_several_stages() -> None:
    arrays = "abcde"
    inputs, formula = ", ".join(f"{n}[N]: f32" for n in arrays), " + ".join(f"{n}[i]" for n in arrays)
    text = f"parameter N >= 0\ninput {inputs}\noutput z[N]: f32\n\nfor 0 <= i < N do\n  z[i] = {formula}\n"
    result = pl.compile(source(text), on="tensix").run(N=100)
    assert result.verified and len(cast("list[Any]", result.data["stages"])) == 2


def test_mixed_types_and_formats(golden: Golden) -> None:
    def refused(program: Any, **options: Any) -> str:
        with pytest.raises(PolyloomError) as error:
            pl.compile(program, on="tensix", **options)
        assert error.value.code == "PL1232"
        return str(error.value)

    mixed = "parameter N >= 0\ninput x[N]: i8\noutput z[N]: i8\n\nfor 0 <= i < N do\n  z[i] = x[i]\n"
    golden(
        "elements-unfit",
        "\n".join(
            [
                refused(source(mixed)),
                refused(bend, format="i8"),
                refused(integers, format="bf16"),
                refused(bend, dest=16),
                refused(bend, fidelity=2),
            ]
        ),
    )


def test_fp16_overflow_is_above_the_bound(golden: Golden) -> None:
    x = np.full(3, 60000, np.float32)
    with pytest.raises(PolyloomError) as error:
        pl.compile(axpy_in_place, on="tensix", format="fp16").run(N=3, a=8.0, x=x, y=x.copy())  # pyright: ignore[reportArgumentType]: an option of the target
    assert (error.value.code, error.value.exit_code) == ("PL1235", 4)
    golden("elements-above-bound", str(error.value))


def test_the_file_is_the_program(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = str(tmp_path / "axpy.elf")
    assert main(["compile", str(EXAMPLES / "axpy.pla"), "N=40", "--on", "tensix", "-o", file]) == 0
    for name in "xy":
        np.save(tmp_path / f"{name}.npy", np.arange(40, dtype=np.float32))
    given = [w for n in "xy" for w in ("--in", f"{n}={tmp_path / n}.npy")]
    assert main(["simulate", file, "a=2", *given, "--out", f"z={tmp_path / 'z.npy'}"]) == 0
    assert np.array_equal(np.load(tmp_path / "z.npy"), 3 * np.arange(40, dtype=np.float32))
    assert main(["verify", file]) == 0
    capsys.readouterr()
    assert main(["show", file]) == 0
    assert "SFPMAD" in capsys.readouterr().out


def test_passes_of_the_vector_kernel_are_seen(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", str(EXAMPLES / "axpy.pla"), "N=4", "--on", "tensix", "--print-after", "words"]) == 0
    assert "SFPMAD" in capsys.readouterr().out.split("t0:")[0]


def test_stages_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", str(EXAMPLES / "axpy.pla"), "N=4", "--on", "tensix", "--print-after", "cut"]) == 0
    assert "formula z_2[i] = madd(a[], x[i], y[i])" in capsys.readouterr().out


@pytest.mark.parametrize("format", ["tf32", "bf16", "fp16"])
def test_what_vanishes_below_zero(format: Any) -> None:
    """The packer makes 0 of the -0 of a Dst of 16 bits."""
    x = np.array([-(2.0**-120), -(2.0**-20), -0.0, -1.0], np.float32)
    result = pl.compile(axpy_in_place, on="tensix", format=format).run(N=4, a=2.0**-15, x=x, y=-x * 0)
    assert result.verified
