# SPDX-License-Identifier: Apache-2.0
"""Convolutions in their spellings, the masks at padded borders, and the sums' order."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from tests.conftest import Golden
from tests.targets.minion.convolution.kernels import Kernel

import polyloom as pl
from polyloom.diagnostics import PolyloomError

ROOT = Path(__file__).parents[4]
EQUATIONS = """parameter M >= 1, C >= 1, H >= 1, W >= 1
input image[H, W, C]: i8, weight[M, 3, C]: u8
output result[H, W, M]: i32

for 0 <= m < M, 0 <= h < H, 0 <= w < W, 0 <= s < 3, 0 <= c < C do
  x[m, h, w, s, c] = image[h, w + s - 1, c] if m = 0 and w + s >= 1 and w + s <= W
  x[m, h, w, s, c] = 0                      if m = 0 and w + s < 1
  x[m, h, w, s, c] = 0                      if m = 0 and w + s > W
  x[m, h, w, s, c] = x[m-1, h, w, s, c]     if m >= 1
  p[m, h, w, s, c] = to_i32(x[m, h, w, s, c]) * to_i32(weight[m, s, c])
  deep[m, h, w, s, c] = p[m, h, w, s, c]                             if c = 0
  deep[m, h, w, s, c] = deep[m, h, w, s, c-1] + p[m, h, w, s, c]     if c >= 1
  wide[m, h, w, s, c] = deep[m, h, w, s, c]                          if c = C - 1 and s = 0
  wide[m, h, w, s, c] = wide[m, h, w, s-1, c] + deep[m, h, w, s, c]  if c = C - 1 and s >= 1
  result[h, w, m] = wide[m, h, w, s, c]                              if c = C - 1 and s = 2
"""
C = """
void conv(int c, int h, int w, int m, const float x[c][h][w], const float k[m][c][3][3], float y[m][h][w]) {
  for (int o = 0; o < m; o++)
    for (int i = 0; i < h; i++)
      for (int j = 0; j < w; j++) {
        float sum = 0.0f;
        for (int q = 0; q < c; q++)
          for (int r = 0; r < 3; r++)
            for (int s = 0; s < 3; s++) {
              int a = i + r - 1, b = j + s - 1;
              if (a >= 0 && a < h && b >= 0 && b < w) sum += x[q][a][b] * k[o][q][r][s];
            }
        y[o][i][j] = sum;
      }
}
"""
CLAMPED = """import polyloom as pl

H, C, M = pl.sizes("H C M")


@pl.kernel
def conv(x: pl.f32[H, C], k: pl.f32[5, C, M], y: pl.f32[H, M]) -> None:
    for h in range(H):
        for m in range(M):
            y[h, m] = 0.0
            for r in range(max(0, 2 - h), min(5, H + 2 - h)):
                for c in range(C):
                    y[h, m] += x[h + r - 2, c] * k[r, c, m]
"""


def run(path: str, on: str, options: Any = None, **sizes: Any) -> pl.Result:
    chosen: dict[str, Any] = options or {}
    result = pl.compile(path, on=on, **chosen).run(**sizes)
    assert result.verified
    assert result.data["hazards"] == []
    return result


def phases(result: pl.Result) -> list[str]:
    return cast("list[str]", result.data["phases"])


def test_equations_with_zeros_around_the_image(tmp_path: Path) -> None:
    path = tmp_path / "conv.pla"
    path.write_text(EQUATIONS)
    assert phases(run(str(path), "minion:4", M=17, C=6, H=2, W=19)) == ["convolution"]


def test_a_c_function_with_channels_first(tmp_path: Path) -> None:
    path = tmp_path / "conv.c"
    path.write_text(C)
    assert phases(run(f"{path}:conv", "minion:3", c=18, h=4, w=18, m=17)) == ["convolution"]


def test_ranges_that_are_clamped(tmp_path: Path) -> None:
    path = tmp_path / "clamped.py"
    path.write_text(CLAMPED)
    assert phases(run(f"{path}:conv", "minion:2", H=21, C=18, M=5)) == ["convolution"]


def test_sums_of_sums_need_leave_to_change_their_order() -> None:
    path, sizes = str(ROOT / "examples" / "conv.pla"), {"M": 5, "C": 6, "H": 3, "W": 5, "R": 2, "S": 2}
    assert phases(run(path, "minion:2", **sizes)) == ["simd"]
    assert phases(run(path, "minion:2", {"fp": "reassociate"}, **sizes)) == ["convolution"]


def test_pixels_outside_are_neither_loaded_nor_multiplied(tmp_path: Path) -> None:
    """A border of infinities would show: what lies around the image in memory is another image."""
    x = np.full((3, 5, 6, 4), np.inf, np.float32)
    x[1] = 1.0
    kernel = Kernel(image="nhwc", result="nhwm")
    k = np.ones((3, 3, 4, 2), np.float32)
    result = run(kernel.path(tmp_path), "minion:2", N=3, H=5, W=6, C=4, M=2, x=x, k=k)
    assert np.asarray(result.outputs["y"])[1, 0, 0, 0] == 16.0


def test_a_tap_outside_for_the_whole_tile_takes_no_time(tmp_path: Path) -> None:
    """Of three rows of taps, the single row of pixels has one."""
    kernel = Kernel(window=(3, 1), padding=(1, 0))
    counters = cast("dict[str, int]", run(kernel.path(tmp_path), "minion:1", H=1, W=16, C=16, M=16).data["counters"])
    assert counters["tensor_fma"] == 2


@pytest.mark.parametrize("order", ["rsc", "crs", "csr"])
def test_special_values(order: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(7)
    special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1e-40, -1e-40, 2.0**-126, 3e38, 1.0], np.float32)
    kernel = replace(Kernel(), order=order)
    x, k = (rng.choice(special, shape) for shape in ((4, 5, 7), (3, 3, 7, 5)))
    run(kernel.path(tmp_path), "minion:2", H=4, W=5, C=7, M=5, x=x, k=k)


def test_strict_floats_are_loops_which_are_slower(tmp_path: Path) -> None:
    kernel, sizes = Kernel(window=(1, 3), padding=(0, 1)), {"H": 4, "W": 8, "C": 16, "M": 8}
    path = kernel.path(tmp_path)
    convolved, loops = run(path, "minion:2", **sizes), run(path, "minion:2", {"fp": "strict"}, **sizes)
    assert (phases(convolved), phases(loops)) == (["convolution"], ["simd"])
    assert 10 * cast(int, convolved.data["cycles"]) < cast(int, loops.data["cycles"])


@pytest.mark.parametrize("option", [{"resident": True}, {"split_k": 2, "fp": "reassociate"}, {"broadcast": True}])
def test_options_of_products_are_refused(option: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(PolyloomError) as error:
        pl.compile(Kernel().path(tmp_path), on="minion:2", **option).prepare_instance({"H": 4, "W": 4, "C": 4, "M": 4})
    assert error.value.code == "PL1339"


def test_rows_that_are_too_long_for_masks(tmp_path: Path, golden: Golden) -> None:
    path = tmp_path / "clamped.py"
    path.write_text(CLAMPED)
    with pytest.raises(PolyloomError) as error:
        pl.compile(f"{path}:conv", on="minion:2").prepare_instance({"H": 40000, "C": 1, "M": 1})
    golden("long-rows", str(error.value))


def test_a_matrix_and_a_vector() -> None:
    for name in ("matvec", "atax"):
        path = str(ROOT / "examples" / "kernels" / f"{name}.py")
        assert set(phases(run(path, "minion:5", N=37, M=50))) == {"matrix-vector"}
