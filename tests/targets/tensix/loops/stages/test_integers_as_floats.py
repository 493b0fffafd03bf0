# SPDX-License-Identifier: Apache-2.0
"""Arrays of integers in a program of floats: the tile carries them as floats, with the integers' own results where a
format holds them; what might wrap is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.conftest import Golden
from tests.targets.tensix.loops.stages.test_sabotage import WRONG, sabotaged

import polyloom as pl
from polyloom.diagnostics import PolyloomError
from polyloom.targets.tensix.map.loops.functions import ROUNDINGS, library_function
from polyloom.targets.tensix.map.loops.lanes import Computed
from polyloom.targets.tensix.map.oracle.function_errors import rounding_error
from polyloom.transform.stages.integers.ranges import CARRIED

ROWS, DEPTH, COLUMNS = 5, 75, 34
HEAD = "import numpy as np\nimport polyloom as pl\n\nT, K = pl.sizes('T K')\n\n\n@pl.kernel\n"
GIVEN = f"(x: pl.f32[T, {DEPTH}], w: pl.i8[{DEPTH}, {COLUMNS}], y: pl.f32[T, {COLUMNS}]) -> None:\n"
SUM = "np.matmul(np.rint(x).astype(np.int8).astype(np.int32), w.astype(np.int32))"
EDGES = [-128.5, -128.4, -127.5, -0.5, 0.5, 1.5, 2.5, 126.5, 127.4, 127.5, 1e9, -np.inf, np.inf, np.nan, -0.0]
"""Ties, which go to the even neighbour, and what saturates."""


def compiled(folder: Path, text: str, **options: Any) -> Any:
    file = folder / "f.py"
    file.write_text(HEAD + text)
    return pl.compile(str(file), on="tensix", **options)


def factors() -> tuple[np.ndarray, np.ndarray]:
    """Both factors of a product, with the largest and the least integers."""
    random = np.random.default_rng(2)
    x = random.uniform(-128.5, 127.4, (ROWS, DEPTH)).astype(np.float32)
    # NumPy's conversions wrap or are undefined beyond the type's range.
    near = [each for each in EDGES if -128.5 <= each < 127.5]
    x[0, : len(near)], x[1], x[2] = near, -128, 127
    w = random.integers(-128, 128, (DEPTH, COLUMNS)).astype(np.int8)
    w[:, 0], w[:, 1] = -128, 127
    return x, w


def exact_sums() -> np.ndarray:
    """The sums in integers of any size."""
    x, w = factors()
    return np.rint(x).astype(np.int64) @ w.astype(np.int64)


@pytest.mark.parametrize("name", ROUNDINGS)
def test_conversions_are_exact(name: str) -> None:
    """Over numbers of all sizes by a stride, and around all ties of 8 bits."""
    ties = (np.arange(-600, 600) / 2).astype(np.float32)
    near = [ties, np.nextafter(ties, np.float32(-np.inf)), np.nextafter(ties, np.float32(np.inf))]
    stride = np.array(range(0, 2**32, 100003), np.uint32).view(np.float32)
    x = np.concatenate([*near, np.array(EDGES, np.float32), stride])
    bits = np.resize(x, (-(-x.size // 32), 32)).view(np.uint32)
    got = library_function(Computed(bits.shape), name, bits).view(np.float32)
    with np.errstate(all="ignore"):
        want, error = rounding_error(name, bits.view(np.float32).astype(np.float64), np.zeros(bits.shape))
    np.testing.assert_array_equal(got, want.astype(np.float32))
    assert not error[~np.isnan(bits.view(np.float32))].any()
    if name != "rint":
        low, high = CARRIED[name.split("_")[1]]  # pyright: ignore[reportArgumentType]: a type's name
        assert (got.min(), got.max()) == (low, high) and not np.signbit(got[got == 0]).any()


def test_products_are_those_of_integers(tmp_path: Path) -> None:
    """Products of up to 14 bits would be rounded where the matrix unit aligns them; the split factor's are not."""
    x, w = factors()
    run = compiled(tmp_path, f"def f{GIVEN}    y[:, :] = {SUM}.astype(np.float32)\n").run(T=ROWS, x=x, w=w)
    assert run.verified
    np.testing.assert_array_equal(run.outputs["y"], exact_sums())


def test_sums_are_integers_to_what_comes_behind(tmp_path: Path) -> None:
    text = f"def f{GIVEN}    q = {SUM}\n    y[:, :] = np.where(q == 0, 1, np.maximum(q, -9) - 2).astype(np.float32)\n"
    x, w = factors()
    found, q = compiled(tmp_path, text).run(T=ROWS, x=x, w=w), exact_sums()
    assert found.verified
    np.testing.assert_array_equal(found.outputs["y"], np.where(q == 0, 1, np.maximum(q, -9) - 2))


def test_in_bf16_a_sum_is_a_float(tmp_path: Path) -> None:
    x, w = factors()
    scaled = f"def f{GIVEN}    y[:, :] = {SUM}.astype(np.float32) * np.float32(0.125)\n"
    run = compiled(tmp_path, scaled, format="bf16").run(T=ROWS, x=x, w=w)
    want = exact_sums() * 0.125
    assert run.verified and np.abs(run.outputs["y"] - want).max() <= 2e-2 * np.abs(want).max()


@pytest.mark.parametrize(("name", "number", "flip"), [("MVMUL", 0, 8), ("SFPADD", 0, 1 << 8), ("PACR", -1, 1 << 8)])
def test_changed_words(name: str, number: int, flip: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sabotaged(monkeypatch, name, number, flip)
    x, w = factors()
    with pytest.raises(PolyloomError) as error:
        made = compiled(tmp_path, f"def f{GIVEN}    y[:, :] = {SUM}.astype(np.float32)\n")
        made.run(T=ROWS, x=x, w=w, max_cycles=20000)
    assert error.value.code in WRONG


LONG = f"(x: pl.f32[T, 1030], w: pl.i8[1030, 3], y: pl.f32[T, 3]) -> None:\n    y[:, :] = {SUM}.astype(np.float32)\n"
REFUSED = {
    "above-2-24": f"def f{LONG}",
    "size": "def f(x: pl.f32[T, K], w: pl.i8[K, 3], y: pl.f32[T, 3]) -> None:\n"
    f"    y[:, :] = {SUM}.astype(np.float32)\n",
    "wraps": "def f(x: pl.f32[T, 4], w: pl.i8[T, 4], y: pl.f32[T, 4]) -> None:\n"
    "    y[:, :] = x * (w + w).astype(np.float32)\n",
    "argument": "def f(x: pl.f32[T, 4], w: pl.i32[T, 4], y: pl.f32[T, 4]) -> None:\n"
    "    y[:, :] = x * w.astype(np.float32)\n",
    "operation": "def f(x: pl.f32[T, 4], w: pl.i8[T, 4], y: pl.f32[T, 4]) -> None:\n"
    "    y[:, :] = x * (w ^ 3).astype(np.float32)\n",
}


def error_text(error: PolyloomError) -> str:
    """Text of an error, without the place of the test's file."""
    (found,) = error.diagnostics
    assert found.span is not None
    place = found.span.source.text[found.span.start : found.span.end]
    return f"error[{found.code}]: {found.message}\n at `{place}`\nhelp: {found.help}\n"


@pytest.mark.parametrize("name", REFUSED)
def test_what_floats_do_not_carry_is_refused(name: str, tmp_path: Path, golden: Golden) -> None:
    with pytest.raises(PolyloomError) as error:
        compiled(tmp_path, REFUSED[name])
    golden(f"carried-{name}", error_text(error.value))


def test_a_rounded_sum_is_no_integer(tmp_path: Path, golden: Golden) -> None:
    with pytest.raises(PolyloomError) as error:
        compiled(tmp_path, f"def f{GIVEN}    y[:, :] = np.maximum({SUM}, 0).astype(np.float32)\n", format="bf16")
    golden("carried-rounded", error_text(error.value))


def test_zeros_of_integers_have_no_sign(tmp_path: Path) -> None:
    """A float's negation, its product and its sums with 0 may be -0.0; of integers there is one zero."""
    given = "(w: pl.i8[T, 4], v: pl.i8[4, 3], a: pl.f32[T, 4], b: pl.f32[T, 4], c: pl.f32[T, 3]) -> None:\n"
    wide = "w.astype(np.int32)"
    negated, product = f"(-{wide}).astype(np.float32)", f"({wide} * np.minimum({wide}, -5)).astype(np.float32)"
    total = f"np.matmul({wide}, v.astype(np.int32)).astype(np.float32)"
    text = f"def f{given}    a[:, :] = {negated}\n    b[:, :] = {product}\n    c[:, :] = {total}\n"
    w = np.array([[0, 0, 0, 0], [0, 1, -1, 7]], np.int8)
    run = compiled(tmp_path, text).run(T=2, w=w, v=np.full((4, 3), -3, np.int8))
    assert run.verified
    for name in "abc":
        made = run.outputs[name]
        assert not np.signbit(made[made == 0]).any(), name


def test_what_saturates_by_way_of_i32_is_a_conversion(tmp_path: Path) -> None:
    """ONNX operator QuantizeLinear: rounded to i32, then limited to the type."""
    onnx = pytest.importorskip("onnx")
    make, number = onnx.helper.make_node, onnx.TensorProto
    nodes = [
        make("QuantizeLinear", ["x", "step"], ["q"], output_dtype=number.INT8),
        make("DequantizeLinear", ["q", "step"], ["y"]),
    ]
    x, y = (onnx.helper.make_tensor_value_info(n, number.FLOAT, ["T", 4]) for n in "xy")
    step = onnx.numpy_helper.from_array(np.array(0.5, np.float32), "step")
    graph = onnx.helper.make_graph(nodes, "f", [x], [y], [step])
    opset = [onnx.helper.make_opsetid("", 21)]
    (tmp_path / "f.onnx").write_bytes(onnx.helper.make_model(graph, opset_imports=opset).SerializeToString())
    # Of infinities, quotients are anything.
    numbers = np.array([*filter(np.isfinite, EDGES)], np.float32).reshape(-1, 4) / 2
    run = pl.compile(pl.model(tmp_path / "f.onnx"), on="tensix").run(T=len(numbers), x=numbers)
    assert run.verified
    np.testing.assert_array_equal(run.outputs["y"], np.clip(np.rint(numbers / np.float32(0.5)), -128, 127) / 2)


FIRST = {
    # No stage has running sums, and phases no scalars of i32.
    "neither": "def f(x: pl.f32[T, 4], w: pl.i32[T, 4], y: pl.f32[T, 4]) -> None:\n"
    "    y[:, :] = np.cumsum(x, axis=1) * w.astype(np.float32)\n",
    # Phases have no formats of 16 bits.
    "half": "def f(x: pl.f32[T, 4], w: pl.i8[T, 4], y: pl.f32[T, 4]) -> None:\n"
    "    y[:, :] = np.cumsum(x, axis=1) * w.astype(np.float32)\n",
}


@pytest.mark.parametrize("name", FIRST)
def test_the_first_reason_is_told(name: str, tmp_path: Path, golden: Golden) -> None:
    """What stages lack, at its place, and what phases lack besides."""
    with pytest.raises(PolyloomError) as error:
        compiled(tmp_path, FIRST[name], **({"format": "bf16"} if name == "half" else {}))
    golden(f"first-reason-{name}", str(error.value).replace(f"{tmp_path}/", ""))
