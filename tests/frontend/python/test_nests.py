# SPDX-License-Identifier: Apache-2.0
"""What kernels become: nests in the notation of `ir.nest_c`."""

from __future__ import annotations

from pathlib import Path
from textwrap import indent

import pytest
from tests.conftest import Golden
from tests.frontend.python.helpers import KERNELS

from polyloom.analysis.nest_check import check
from polyloom.frontend.python import Kernel, load_kernel
from polyloom.ir.nest import Index, Loop, accesses, statements
from polyloom.ir.nest_c import print_c
from polyloom.sets import Affine

HEADER = """import polyloom as pl

N, M = pl.sizes("N M")
COUNT = 3
GAIN = 0.1


@pl.kernel
def f(A: pl.f32[N, M], x: pl.f32[N], b: pl.i32[N], c: pl.i8[N], alpha: pl.f32, n: int, delta: int) -> None:
"""
BODIES = {
    "imperfect": "for i in range(N):\n    x[i] = 0.0\n    for j in range(M):\n        x[i] += A[i, j]\n    x[i] *= "
    "alpha",
    "decreasing": "for i in range(N - 1, -1, -1):\n    for j in reversed(range(M)):\n        A[i, j] = 2 * A[i, j]",
    "bounds": "for i in range(max(0, n - 1), min(N, n + 2)):\n    x[i] = 1.0",
    "shifted_bounds": "for i in range(min(N, M) - 1, max(0, n) - 1, -1):\n    x[i] = 1.0",
    "affine_branches": "for i in range(N):\n    if i == 0 or i == N - 1:\n        x[i] = 0.0\n    elif not i < "
    "COUNT:\n        x[i] = 1.0\n"
    "    else:\n        x[i] = 2.0",
    "selected": "for i in range(N):\n    if x[i] > alpha:\n        x[i] = alpha\n    elif x[i] < -alpha:\n        "
    "x[i] = -alpha",
    "held_test": "best = x[0]\nfor i in range(1, N):\n    if x[i] > best:\n        best = x[i]\n        b[0] = i",
    "own_variable": "for i in range(N):\n    if b[i] > 0:\n        twice = 2 * b[i]\n        b[i] = twice + twice",
    "mixed_test": "for i in range(N):\n    if i > 0 and x[i - 1] > 0:\n        x[i] = 0.0\n    else:\n        x[i] = "
    "1.0",
    "repeated_test": "for i in range(N):\n    if i >= 1:\n        x[i] = (x[i - 1] if not i < 1 else 0.0) + (1.0 if 0 "
    "< i else 2.0)",
    "conditional_value": "for i in range(N):\n    x[i] = 1.0 + (x[i - 1] if i > 0 else alpha)",
    "guarded_division": "for i in range(N):\n    b[i] = b[i] // b[0] if b[0] != 0 else -1",
    "guarded_operand": "for i in range(N):\n    if b[0] != 0 and b[i] % b[0] == 0:\n        b[i] = 0",
    "loop_under_data": "if alpha > 0:\n    for i in range(N):\n        x[i] = alpha",
    "index_as_data": "for i in range(N):\n    x[i] = i / N\n    b[i] = i * i + n\n    c[i] = i - N",
    "named_index": "for i in range(N - 1):\n    k = i + 1\n    last = N - k\n    x[k] = x[i] + k\n    b[last] = 0",
    "assigned_scalar": "for i in range(N):\n    alpha = alpha * 0.5\n    x[i] = alpha",
    "integer_scalar": "for i in range(N):\n    b[i] += delta",
    "constants": "for i in range(N):\n    x[i] = -GAIN * (1 / 3)\n    c[i] = -(COUNT + 1)\n    b[i] = pl.i32(COUNT) "
    "<< 2",
    "assumption": '"""Two elements."""\nassert N >= 2\nx[0] = x[1]',
    "chained_subscripts": "for i in range(N):\n    A[i][0] = A[i][1]",
    "bits": "for i in range(N):\n    b[i] = ~b[i] & (b[i] >> 1 ^ 5 | b[0] << 2)",
    "comparisons": "for i in range(N):\n    b[i] = x[i] < alpha < 1\n    b[i] = not b[i] == 3 or c[i] != 0",
    "declared": "v: pl.i8 = 100\nfor i in range(N):\n    v = v + 100\n    b[i] = v > 0",
    "unused_loop": "for _ in range(N):\n    for _k in range(M):\n        x[0] += 1.0\n    pass",
}


def kernel_of(body: str, folder: Path) -> Kernel:
    path = folder / "f.py"
    path.write_text(HEADER + indent(body, "    ") + "\n", encoding="utf-8")
    return load_kernel(str(path))


@pytest.mark.parametrize("name", BODIES)
def test_construct(name: str, tmp_path: Path, golden: Golden) -> None:
    golden(f"nests/{name}", print_c(kernel_of(BODIES[name], tmp_path).nest))


@pytest.mark.parametrize("name", ["gemm", "symm", "cholesky", "covariance", "fdtd2d", "fir", "smith_waterman", "lcs"])
def test_kernel(name: str, golden: Golden) -> None:
    golden(f"nests/kernel_{name}", print_c(load_kernel(str(KERNELS / f"{name}.py")).nest))


@pytest.mark.parametrize("path", sorted(KERNELS.glob("*.py")), ids=lambda path: path.stem)
def test_kernels_hold_for_all_sizes(path: Path) -> None:
    check(load_kernel(str(path)).nest)


def test_sizes_and_integer_arguments_are_parameters_in_the_order_of_the_text(tmp_path: Path) -> None:
    nest = kernel_of("for i in range(n):\n    b[i] = delta", tmp_path).nest
    assert nest.parameters == ("N", "M", "n")
    assert [(s.name, s.dtype, s.writable) for s in nest.storage if not s.shape] == [
        ("alpha", "f32", False),
        ("delta", "i32", False),
    ]


def test_loops_of_one_name_are_told_apart(tmp_path: Path) -> None:
    nest = kernel_of("for i in range(N):\n    x[i] = 0.0\nfor i in range(N):\n    x[i] = 1.0", tmp_path).nest
    assert [loop.name for loop in nest.body if isinstance(loop, Loop)] == ["i", "i_2"]


def test_parameters_and_extents_are_not_negative(tmp_path: Path) -> None:
    path = tmp_path / "f.py"
    path.write_text(
        "import polyloom as pl\n\nN = pl.size('N')\n\n\n@pl.kernel\ndef f(x: pl.f32[N - 2]) -> None:\n    x[0] = 1.0\n",
        encoding="utf-8",
    )
    assumptions = load_kernel(str(path)).nest.assumptions
    assert [assumptions.contains({"N": n}) for n in (1, 2, 3)] == [False, True, True]


def test_every_part_of_a_nest_has_its_place_in_the_text(tmp_path: Path) -> None:
    kernel = kernel_of(BODIES["held_test"], tmp_path)
    for statement in statements(kernel.nest):
        span = statement.assign.span
        assert span is not None and span.source.name == kernel.path
        for access in accesses(statement.assign.value):
            assert access.span is not None


def test_index_as_data_wraps_once(tmp_path: Path) -> None:
    values = [s.assign.value for s in statements(kernel_of(BODIES["index_as_data"], tmp_path).nest)]
    assert [(v.value, v.dtype) for v in values if isinstance(v, Index)] == [
        (Affine.from_terms({"i": 1, "N": -1}), "i8")
    ]
