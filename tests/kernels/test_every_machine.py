# SPDX-License-Identifier: Apache-2.0
"""One script for every machine: instances for sizes, and outputs of which only a part is written, where the rest holds
what was given (C11 6.5.16: assignment changes nothing but the object assigned to)."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

import polyloom as pl
from polyloom.diagnostics import PolyloomError

pytestmark = pytest.mark.skipif(find_spec("ziglang") is None, reason="C needs the extra `c`")
MACHINES = ("tcpa:4x4", "riscv", "belt:silver", "tensix", "minion:1", "minion:32")
INNER = "void inner(int n, const float x[n], float y[n]) { for (int i = 2; i < n - 1; i++) y[i] = x[i] + x[i - 1]; }"
ROWS = """
void rows(int n, const float A[n][n], const float B[n][n], float C[n][n]) {
  for (int i = 1; i < n - 1; i++)
    for (int j = 0; j < n; j++) {
      float sum = 0;
      for (int k = 0; k < n; k++) sum += A[i][k] * B[k][j];
      C[i][j] = sum;
    }
}
"""
BORDER = """
void border(int n, const float x[n][n], const float w[3][3], float y[n][n]) {
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < n - 1; j++) {
      float sum = 0;
      for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++) sum += x[i + a - 1][j + b - 1] * w[a][b];
      y[i][j] = sum;
    }
}
"""
N = 8
PROGRAMS = {
    "inner": (INNER, "y", (slice(2, -1),)),
    "rows": (ROWS, "C", (slice(1, -1), slice(None))),
    "border": (BORDER, "y", (slice(1, -1), slice(1, -1))),
}


@pytest.mark.parametrize("on", MACHINES)
@pytest.mark.parametrize("name", PROGRAMS)
def test_elements_that_are_not_written_hold_what_was_given(on: str, name: str, tmp_path: Path) -> None:
    text, output, written = PROGRAMS[name]
    path = tmp_path / f"{name}.c"
    path.write_text(text, encoding="utf-8")
    given = np.full((N,) * len(written), 7, np.float32)
    result = pl.compile(path, on=on).run({"n": N, output: given}, fill="random")
    assert result.verified
    is_kept = np.ones_like(given, bool)
    is_kept[written] = False
    np.testing.assert_array_equal(result.outputs[output] == 7, is_kept)


@pytest.mark.parametrize("on", MACHINES)
def test_instances_have_sizes_of_which_they_are_told_once(on: str, tmp_path: Path) -> None:
    path = tmp_path / "inner.c"
    path.write_text(INNER, encoding="utf-8")
    compiled = pl.compile(path, on=on)
    assert compiled.instantiate(n=8).run().outputs["y"].shape == (8,)
    assert compiled.instantiate({"n": 9}).run(x=np.ones(9, np.float32), fill="random").verified
    with pytest.raises(PolyloomError, match=r"PL0230.*`inner` has no parameter `m`"):
        compiled.instantiate(m=8)
    with pytest.raises(PolyloomError, match=r"PL0230.*the parameter `n` has no value"):
        compiled.instantiate()
