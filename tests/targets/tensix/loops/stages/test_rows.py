# SPDX-License-Identifier: Apache-2.0
"""Numbers that are the same for all of a row: maxima and minima on the vector unit, sums on the matrix unit, and what
formulas make of them; arguments that are read from DRAM before their stages."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

import polyloom as pl
from polyloom.diagnostics import PolyloomError
from polyloom.targets.tensix.map.loops import compile as stages
from polyloom.targets.tensix.map.loops.dram import page_areas
from polyloom.targets.tensix.map.loops.rows.fold import fold_bits
from polyloom.targets.tensix.words.arrays.area import DATA
from polyloom.targets.tensix.words.arrays.tiles import tile_pitch

HEAD = (
    "from typing import Any\nimport numpy as np\nimport polyloom as pl\n\nN, M, K = pl.sizes('N M K')\n\n\n@pl.kernel\n"
)


def compiled(folder: Path, text: str, **options: Any) -> Any:
    file = folder / "f.py"
    file.write_text(f"{HEAD}def f{text}")
    return pl.compile(str(file), on="tensix", **options)


def _holds_nothing(*_: object) -> bool:
    return False


def whats(result: Any) -> list[str]:
    return [stage["what"] for stage in cast("list[dict[str, Any]]", result.data["stages"])]


@pytest.mark.parametrize("columns", [1, 15, 17, 31, 33, 128])
def test_the_largest_of_each_row(columns: int, tmp_path: Path) -> None:
    """Padding is 0, which is larger than all elements here."""
    text = "(x: pl.f32[N, M], y: pl.f32[N, M]) -> None:\n    y[:, :] = x * 2 - x.max(axis=-1, keepdims=True)\n"
    x = -1 - np.random.default_rng(columns).random((37, columns), np.float32)
    result = compiled(tmp_path, text).run(N=37, M=columns, x=x)
    assert result.verified and np.array_equal(result.outputs["y"], x * 2 - x.max(axis=-1, keepdims=True))
    assert "maximum" in whats(result)


def test_the_least_of_each_row_in_bf16(tmp_path: Path) -> None:
    text = "(x: pl.f32[N, M], y: pl.f32[N, M]) -> None:\n    y[:, :] = np.abs(x) + x.min(axis=1, keepdims=True)\n"
    result = compiled(tmp_path, text, format="bf16").run(N=3, M=40)
    assert result.verified and "minimum" in whats(result)


def test_long_rows_are_refused_with_the_room_that_there_is(tmp_path: Path) -> None:
    text = "(x: pl.f32[N, M], y: pl.f32[N, M]) -> None:\n    y[:, :] = x - x.max(axis=-1, keepdims=True)\n"
    with pytest.raises(PolyloomError, match="rows of 129 elements, and Dst holds 128 of each") as caught:
        compiled(tmp_path, text).run(N=3, M=129)
    assert caught.value.code == "PL1230" and caught.value.diagnostics[0].span is not None


@pytest.mark.parametrize("columns", [129, 700])
def test_long_rows_of_a_known_length_are_folded_in_parts(columns: int, tmp_path: Path) -> None:
    text = f"(x: pl.f32[N, {columns}], y: pl.f32[N, {columns}]) -> None:\n"
    text += "    y[:, :] = x * 2 - x.min(axis=-1, keepdims=True)\n"
    x = 1 + np.random.default_rng(columns).random((33, columns), np.float32)
    result = compiled(tmp_path, text).run(N=33, x=x)
    assert result.verified and np.array_equal(result.outputs["y"], x * 2 - x.min(axis=-1, keepdims=True))
    assert whats(result).count("minimum") == -(-columns // 128)


def test_a_softmax_has_a_quotient_for_each_row(tmp_path: Path) -> None:
    text = (
        "(x: pl.f32[N, M], y: pl.f32[N, M]) -> None:\n"
        "    e = np.exp(x - x.max(axis=-1, keepdims=True))\n    y[:, :] = e / e.sum(axis=-1, keepdims=True)\n"
    )
    result = compiled(tmp_path, text).run(N=5, M=40)
    assert result.verified and np.allclose(result.outputs["y"].sum(axis=1), 1, atol=2e-3)
    assert [stage["tiles"] for stage in cast("list[dict[str, Any]]", result.data["stages"])].count([1, 1]) >= 1


@pytest.mark.parametrize(("rows", "columns"), [(1, 40), (1, 64), (2, 64)])
def test_a_softmax_of_extents_that_are_numbers(rows: int, columns: int, tmp_path: Path) -> None:
    """One row: an axis of one element is none, and the row has one number, whose tile serves all columns."""
    text = (
        f"(x: pl.f32[{rows}, {columns}], y: pl.f32[{rows}, {columns}]) -> None:\n"
        "    e = np.exp(x - x.max(axis=-1, keepdims=True))\n    y[:, :] = e / e.sum(axis=-1, keepdims=True)\n"
    )
    result = compiled(tmp_path, text).run()
    assert result.verified and np.allclose(result.outputs["y"].sum(axis=1), 1, atol=2e-3)


@pytest.mark.parametrize("body", ["x.min(axis=0, keepdims=True)", "x.sum(axis=1).min(axis=0, keepdims=True)"])
def test_a_fold_of_one_element_is_the_element(body: str, tmp_path: Path) -> None:
    """Indices of an axis of one element are numbers: no dimension is left to fold."""
    result = compiled(tmp_path, f"(x: pl.f32[1, 4]) -> None:\n    return {body}\n").run()
    assert result.verified


def test_a_row_of_numbers_is_no_column_for_another_product(tmp_path: Path) -> None:
    """What a stage computes lies in L1 once: a vector of it is not there in all columns of its tiles."""
    text = (
        "(x: pl.f32[40, 33]) -> Any:\n    s = x.sum(axis=1)\n"
        "    return s / np.sqrt((s * s).mean(axis=-1, keepdims=True) + np.float32(0.01))\n"
    )
    assert compiled(tmp_path, text).run().verified


def test_a_number_of_each_row_is_multiplied_with_what_has_these_rows(tmp_path: Path) -> None:
    """Along the sum, m has one dimension: it goes to w, which it scales, and not to x, of which it would be a row."""
    body = "    m = np.abs(w).max(axis=-1, keepdims=True)\n    y[:, :] = x @ (w / m * m)\n"
    text = f"(x: pl.f32[40, 64], w: pl.f32[64, 34], y: pl.f32[40, 34]) -> None:\n{body}"
    result = compiled(tmp_path, text).run()
    assert result.verified and "phases" not in whats(result)


def test_the_order_of_bits_is_that_of_numbers() -> None:
    values = np.array([[-np.inf, -2.0, -0.0, 0.0], [-3.0, -1.5, -1e-30, -9.0], [1.0, np.inf, 2.0, -1.0]], np.float32)
    found = fold_bits("maximum", values.view(np.uint32)).view(np.float32)
    assert found.tolist() == [0.0, np.float32(-1e-30), np.inf] and not np.signbit(found[0])
    least = fold_bits("minimum", values.view(np.uint32)).view(np.float32)
    assert least.tolist() == [-np.inf, -9.0, -1.0]


def test_elements_that_lie_apart_in_vectors(tmp_path: Path) -> None:
    """An array whose last axis has one element is a vector: each iteration has its own element (it was wrong)."""
    text = (
        "(x: pl.f32[N, M], y: pl.f32[N, M]) -> None:\n    y[:, :] = x / np.sqrt((x * x).sum(axis=-1, keepdims=True))\n"
    )
    result = compiled(tmp_path, text, format="fp32").run(N=40, M=5)
    assert result.verified and whats(result) == ["phases"]


@pytest.mark.parametrize(
    ("form", "width", "body"), [("tf32", 4, "(x @ v) @ w"), ("bf16", 2, "((x @ v + z) * 0.5) @ w")]
)
def test_factors_come_from_dram_in_blocks_of_columns(
    form: str, width: int, body: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Where L1 is too small for all of a factor beside what a stage needs, which may have a formula; the same bits."""
    given = "(x: pl.f32[N, M], v: pl.f32[M, K], w: pl.f32[K, M], z: pl.f32[N, K], y: pl.f32[N, M])"
    text = f"{given} -> None:\n    y[:, :] = {body}\n"
    sizes = {"N": 40, "M": 70, "K": 200}
    inside = compiled(tmp_path, text, format=form).run(sizes)
    monkeypatch.setattr(stages, "is_resident", _holds_nothing)
    # The first stage has 6, 21 and 14 tiles, and 14 of the formula's array.
    monkeypatch.setattr(page_areas, "END", DATA + (38 if form == "tf32" else 52) * tile_pitch(width))
    outside = compiled(tmp_path, text, format=form).run(sizes)
    assert inside.verified and outside.verified
    assert np.array_equal(inside.outputs["y"], outside.outputs["y"])
    assert len(whats(outside)) > len(whats(inside)) == 2


def test_a_factor_of_two_products_comes_twice_in_blocks(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Reads of one place in DRAM are apart (they had one label)."""
    given = "(x: pl.f32[N, M], z: pl.f32[N, M], v: pl.f32[M, K], y: pl.f32[N, K], u: pl.f32[N, K])"
    text = f"{given} -> None:\n    y[:, :] = np.abs(x @ v)\n    u[:, :] = np.abs(z @ v)\n"
    inside = compiled(tmp_path, text, format="bf16").run(N=40, M=70, K=200)
    monkeypatch.setattr(stages, "is_resident", _holds_nothing)
    # The second stage has 6, 21 and 14 tiles beside 14 of the first one's result.
    monkeypatch.setattr(page_areas, "END", DATA + 52 * tile_pitch(2))
    outside = compiled(tmp_path, text, format="bf16").run(N=40, M=70, K=200)
    assert inside.verified and outside.verified
    assert all(np.array_equal(inside.outputs[name], outside.outputs[name]) for name in ("y", "u"))
    assert len(whats(outside)) > len(whats(inside)) == 2


def test_arguments_come_from_dram(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Where L1 is too small for all stages together; the same bits."""
    text = "(x: pl.f32[N, M], v: pl.f32[M, K], w: pl.f32[K, M], y: pl.f32[N, M]) -> None:\n    y[:, :] = (x @ v) @ w\n"
    kernel = compiled(tmp_path, text, format="bf16")
    inside = kernel.run(N=40, M=70, K=33)
    # Beyond DATA there is room for the largest stage, and not for all of them.
    monkeypatch.setattr(stages, "is_resident", _holds_nothing)
    outside = compiled(tmp_path, text, format="bf16").run(N=40, M=70, K=33)
    assert inside.verified and outside.verified
    assert np.array_equal(inside.outputs["y"], outside.outputs["y"])
    assert "port" not in inside.data
    assert cast("list[dict[str, Any]]", outside.data["port"])[1]["read"] > 0
