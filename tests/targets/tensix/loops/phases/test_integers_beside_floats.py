# SPDX-License-Identifier: Apache-2.0
"""Integers beside floats in loops: phases of vector code carry them as floats, with the integers' own results; what
might wrap, or is not bounded, is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.conftest import Golden

import polyloom as pl
from polyloom.diagnostics import PolyloomError

DEPTH = 40
QUANTIZED = f"""
#include <math.h>
void f(int n, const float x[n], const signed char w[n][{DEPTH}], const signed char v[{DEPTH}], float y[n],
       signed char q[n], unsigned char t[n], int s[n], short added) {{
  for (int i = 0; i < n; i++) {{
    int sum = 0;
    for (int j = 0; j < {DEPTH}; j++)
      sum += w[i][j] * v[j];
    s[i] = sum;
    q[i] = (signed char)rintf(x[i]);
    t[i] = (unsigned char)x[i];
    int above = sum > 3 * q[i];
    y[i] = (float)(sum + added) + (above ? 0.5f : 0.25f);
  }}
}}
"""


def compiled(folder: Path, text: str) -> Any:
    file = folder / "f.c"
    file.write_text(text)
    return pl.compile(str(file), on="tensix")


def test_sums_conversions_and_tests_are_those_of_integers(tmp_path: Path) -> None:
    """With ties, ends of types and a sum of the largest products."""
    random = np.random.default_rng(4)
    x = np.array([0.5, 1.5, -0.5, -128.25, 126.5, 3.99, 0.0], np.float32)
    w = random.integers(-128, 128, (len(x), DEPTH)).astype(np.int8)
    w[0], w[1] = -128, 0
    v = np.full(DEPTH, -128, np.int8)
    types = {"y": np.float32, "q": np.int8, "t": np.uint8, "s": np.int32}
    room = {name: np.zeros(len(x), kind) for name, kind in types.items()}
    run = compiled(tmp_path, QUANTIZED).run(n=len(x), x=x, w=w, v=v, added=-300, **room)
    assert run.verified
    sums = w.astype(np.int64) @ v.astype(np.int64)
    np.testing.assert_array_equal(run.outputs["q"], np.rint(x).astype(np.int8))
    np.testing.assert_array_equal(run.outputs["s"], sums)
    np.testing.assert_array_equal(run.outputs["y"], sums - 300 + np.where(sums > 3 * np.rint(x), 0.5, 0.25))


def test_a_zero_has_no_sign(tmp_path: Path) -> None:
    text = """void f(int n, const signed char w[n], float y[n], float z[n]) {
  for (int i = 0; i < n; i++) {
    y[i] = (float)(w[i] * -5);
    z[i] = (float)-w[i];
  }
}
"""
    w = np.array([0, 3, -3, 127, -128], np.int8)
    room = {name: np.zeros(len(w), np.float32) for name in "yz"}
    run = compiled(tmp_path, text).run(n=len(w), w=w, **room)
    assert run.verified and not np.signbit([run.outputs["y"][0], run.outputs["z"][0]]).any()


def test_a_result_of_whole_arrays_may_be_of_integers(tmp_path: Path) -> None:
    """Stages have no such results."""
    file = tmp_path / "f.py"
    file.write_text(
        "import numpy as np\nimport polyloom as pl\n\nT = pl.size('T')\n\n\n@pl.kernel\n"
        "def f(x: pl.f32[T, 4], y: pl.i8[T, 4]) -> None:\n    y[:, :] = np.rint(x).astype(np.int8)\n"
    )
    x = np.linspace(-127, 127, 12, dtype=np.float32).reshape(3, 4)
    run = pl.compile(str(file), on="tensix").run(T=3, x=x)
    assert run.verified and (run.outputs["y"] == np.rint(x)).all()


HEAD = "void f(int n, const float x[n], const signed char w[n], {} float y[n]) {{\n"
REFUSED = {
    "terms": HEAD.format("") + "  int sum = 0;\n  for (int i = 0; i < n; i++)\n    sum += w[i];\n"
    "  y[0] = x[0] * (float)sum;\n}\n",
    "above-2-24": HEAD.format("") + "  for (int i = 0; i < n; i++) {\n    int sum = 0;\n"
    "    for (int j = 0; j < 2000; j++)\n      sum += w[i] * w[i];\n    y[i] = x[i] * (float)sum;\n  }\n}\n",
    "branch": HEAD.format("") + "  int sum = 0;\n  for (int i = 0; i < n; i++) {\n    if (i > 2)\n      sum = 1;\n"
    "    else\n      for (int j = 0; j < 2; j++)\n        sum += w[i];\n    y[i] = x[i] * (float)sum;\n  }\n}\n",
    "argument": HEAD.format("const int v[n],") + "  for (int i = 0; i < n; i++)\n    y[i] = x[i] * (float)v[i];\n}\n",
    "own": HEAD.format("") + "  int last = 1;\n  for (int i = 0; i < n; i++)\n    last = last * w[i];\n"
    "  y[0] = x[0] * (float)last;\n}\n",
    "others": HEAD.format("") + "  int one = 1, other = 1;\n  for (int i = 0; i < n; i++) {\n    one = other + 1;\n"
    "    other = one;\n    y[i] = x[i] * (float)other;\n  }\n}\n",
    "wraps": HEAD.format("") + "  for (int i = 0; i < n; i++) {\n    signed char t = w[i] + w[i];\n"
    "    y[i] = x[i] * (float)t;\n  }\n}\n",
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_floats_do_not_carry_is_refused(name: str, tmp_path: Path, golden: Golden) -> None:
    with pytest.raises(PolyloomError) as error:
        compiled(tmp_path, REFUSED[name])
    golden(f"carried-{name}", str(error.value).replace(f"{tmp_path}/", ""))
