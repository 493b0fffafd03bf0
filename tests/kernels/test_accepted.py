# SPDX-License-Identifier: Apache-2.0
"""Small functions that were refused on the array without need, each in one idiom, on several sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path

import pytest

import polyloom as pl
from polyloom.frontend.source import Options

pytestmark = pytest.mark.usefixtures("roughly_scheduled")

C = pytest.mark.skipif(find_spec("ziglang") is None, reason="C needs the extra `c`")
SIZES: Mapping[str, Sequence[Mapping[str, int]]] = {
    "n": [{"n": 1}, {"n": 2}, {"n": 7}],
    "nm": [{"n": 1, "m": 1}, {"n": 3, "m": 4}, {"n": 5, "m": 1}, {"n": 1, "m": 6}],
    "N": [{"N": 1}, {"N": 2}, {"N": 7}],
}

IN_C: Mapping[str, tuple[str, str]] = {
    "sine": (
        "n",
        "#include <math.h>\n"
        "void f(int n, float a[n], float b[n]) { for (int i = 0; i < n; i++) b[i] = sinf(a[i]) - cosf(a[i]); }",
    ),
    "last_column": (
        "nm",
        "void f(int n, int m, float a[n * m], float b[n]) { __builtin_assume(n >= 1); __builtin_assume(m >= 1);"
        " for (int i = 0; i < n; i++) b[i] = a[i * m + (m - 1)]; }",
    ),
    "last_columns": (
        "nm",
        "void f(int n, int m, float a[n * m], float b[n]) { __builtin_assume(n >= 1); __builtin_assume(m >= 1);"
        " for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) b[i] = b[i] * 2 - a[i * m + m - 1 - j]; }",
    ),
    "last_row": (
        "nm",
        "void f(int n, int m, float a[n * m], float b[m]) { __builtin_assume(n >= 1); __builtin_assume(m >= 1);"
        " for (int j = 0; j < m; j++) b[j] = a[(n - 1) * m + j]; }",
    ),
    "last_of_constant_rows": (
        "n",
        "void f(int n, int a[4 * n], int b[n]) {"
        " for (int i = 0; i < n; i++) b[i] = a[i * 4 + 3] - a[(i + 1) * 4 - 2]; }",
    ),
    "sum_in_condition": (
        "n",
        "void f(int n, int a[n]) { for (int i = 0; i + 1 < n; i++) a[i] = a[i + 1];"
        " for (unsigned i = 0; n > i + 1; i++) a[i] ^= 3; for (int i = n - 1; i - 1 >= 0; i--) a[i] += a[i - 1]; }",
    ),
    "behind_unit_loops": (
        "n",
        "void f(int n, int a[n], int r[2]) { int i; for (i = 0; i < n; i++) a[i] += 1; r[0] = i;"
        " for (i = 1; i < n - 2; i++) a[i] *= 3; r[1] = i; }",
    ),
    "behind_steps": (
        "n",
        "int f(int n, int a[n]) { int i, s = 0; for (i = 0; i < n; i += 3) s += a[i];"
        " for (i = n - 1; i > 1; i -= 2) s ^= a[i]; return s * 100 + i; }",
    ),
    "steps": (
        "n",
        "void f(int n, int a[2 * n], int b[n]) { for (int i = 0; i < 2 * n; i += 2) a[i] = a[i / 2] - a[i + 1];"
        " for (int i = n - 1; i >= 0; i--)"
        " if ((i & 1) == 0) b[i] += a[i] * b[i / 3]; else b[i % 3 < n ? i % 3 : 0]--; }",
    ),
    "remainder_of_a_size": (
        "n",
        "void f(int n, int a[n + 1], int b[n]) { for (int i = n - 1; i >= 0; i -= 2) b[i / 2] += a[i % 2] + i; }",
    ),
    "parity_of_two": (
        "n",
        "void f(int n, int a[n][n]) { for (int i = 0; i < n; i++) for (int j = i; j < n; j++)"
        " if ((i + j) % 2 == 0) a[j][j] -= a[i][i]; }",
    ),
}
IN_PYTHON: Mapping[str, tuple[str, str]] = {
    "sine": (
        "N",
        "def f(a: pl.f32[N], b: pl.f32[N]) -> None:\n    for i in range(N):\n"
        "        b[i] = np.sin(a[i]) + np.cos(a[i])",
    ),
    "parity": (
        "N",
        "def f(s: pl.i32[N + 1], t: pl.i32[N]) -> None:\n    assert N >= 1\n    for x in range(N):\n"
        "        s[x + 1] = s[1] + t[x]\n        if x % 2 == 0:\n            s[x] -= t[x]",
    ),
    "halves_and_thirds": (
        "N",
        "def f(a: pl.i32[N + 3], b: pl.i32[N]) -> None:\n    for i in range(N - 1, -1, -1):\n"
        "        a[i % 3] += b[i // 2]\n    for i in range(1, N, 2):\n        b[i // 3] -= a[i]",
    ),
    "remainder_of_a_size": (
        "N",
        "def f(a: pl.i32[N + 2], b: pl.i32[N]) -> None:\n    for i in range(N - 1, -1, -2):\n"
        "        b[i // 2] += a[i % 2] + i",
    ),
    "parity_of_two": (
        "N",
        "def f(a: pl.i32[N, N]) -> None:\n    for i in range(N):\n        for j in range(i, N):\n"
        "            if (i + j) % 2 == 0:\n                a[j, j] -= a[i, i]",
    ),
    "nested_quotients": (
        "N",
        "def f(a: pl.i32[N], b: pl.i32[N]) -> None:\n    for i in range(N):\n"
        "        b[i] = a[i // 2] - a[(i // 2) % 2]\n        a[i] = b[i] + 1",
    ),
}
HEADER = "import numpy as np\nimport polyloom as pl\n\nN = pl.size('N')\n\n\n@pl.kernel\n"


def runs(path: Path, sizes: str) -> None:
    made = pl.compile(path, on="tcpa:wide")
    for values in SIZES[sizes]:
        if all(values[name] >= least for name, least in least_sizes(made).items()):
            assert made.instantiate(values, pes=(2, 2)).run().verified


def least_sizes(made: pl.Compiled) -> Mapping[str, int]:
    """Sizes below which accesses would leave their arrays."""
    assert made.source is not None
    pieces = made.source.plan.assumptions.pieces
    bounds = [(c.terms[0][0], -c.constant) for p in pieces for c in p.constraints if len(c.terms) == 1]
    return {name: max(least for other, least in bounds if other == name) for name, _ in bounds}


@C
@pytest.mark.parametrize("name", IN_C)
def test_c(name: str, tmp_path: Path) -> None:
    sizes, text = IN_C[name]
    path = tmp_path / "f.c"
    path.write_text(text, encoding="utf-8")
    runs(path, sizes)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.long if name in ("remainder_of_a_size", "parity_of_two") else ())
        for name in IN_PYTHON
    ],
)  # those two are nests of `IN_C`, too
def test_python(name: str, tmp_path: Path) -> None:
    sizes, text = IN_PYTHON[name]
    path = tmp_path / "f.py"
    path.write_text(HEADER + text + "\n", encoding="utf-8")
    runs(path, sizes)


CLAMP = """#include <stdint.h>
static inline int32_t clamped(int32_t value, uint32_t bits) {
    int32_t top = (int32_t)((1u << (bits - 1u)) - 1u);
    if (value > top) return top;
    return value < -top - 1 ? -top - 1 : value;
}
"""


@C
def test_functions_of_the_users_headers(tmp_path: Path) -> None:
    """A header beside the file, which includes another one that a folder of `-I` has."""
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "clamp.h").write_text(CLAMP, encoding="utf-8")
    outer = "#include <clamp.h>\nstatic int32_t twice(int32_t x) { int32_t y = x * 2; return clamped(y, 8); }\n"
    (tmp_path / "twice.h").write_text(outer, encoding="utf-8")
    path = tmp_path / "f.c"
    body = "void f(int n, int8_t a[n], int8_t b[n]) { for (int i = 0; i < n; i++) b[i] = (int8_t)twice(a[i]); }\n"
    path.write_text('#include "twice.h"\n' + body, encoding="utf-8")
    made = pl.compile(path, on="tcpa:wide", options=Options(includes=(str(tmp_path / "inner"),)))
    assert made.instantiate(n=5, pes=(2, 2)).run().verified
