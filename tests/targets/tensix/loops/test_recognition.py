# SPDX-License-Identifier: Apache-2.0
"""What is a product, by dataflow: other spellings of one are taken, and what is nearly one is refused by what it
lacks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.conftest import Golden
from tests.targets.tensix.loops.programs import TRAVELS, product, source

import polyloom as pl
from polyloom.analysis.contraction import Contraction, Matrix, contraction
from polyloom.diagnostics import PolyloomError

PLAIN = Contraction(Matrix("A", (0,), (1,)), Matrix("B", (0,), (1,)), Matrix("C", (0,), (1,)), "k")
SUM = "  C[i, j] = c[i, j, k] if k = K - 1\n"
SPELLINGS = {
    "inside": "  p[i, j, k] = A[i, k] * B[k, j]\n"
    "  c[i, j, k] = p[i, j, k] if k = 0\n  c[i, j, k] = c[i, j, k-1] + p[i, j, k] if k >= 1\n" + SUM,
    "turned": "  c[i, j, k] = B[k, j] * A[i, k] if k = 0\n"
    "  c[i, j, k] = madd(B[k, j], A[i, k], c[i, j, k-1]) if k >= 1\n" + SUM,
    "zero": "  c[i, j, k] = madd(A[i, k], B[k, j], 0.0) if k = 0\n"
    "  c[i, j, k] = madd(A[i, k], B[k, j], c[i, j, k-1]) if k >= 1\n" + SUM,
    "named": "  x[i, j, k] = A[i, k]\n  y[i, j, k] = x[i, j, k]\n  c[i, j, k] = y[i, j, k] * B[k, j] if k = 0\n"
    "  c[i, j, k] = c[i, j, k-1] + y[i, j, k] * B[k, j] if k >= 1\n" + SUM,
}
REFUSED = {
    "part": TRAVELS + "  c[i, j, k] = a[i, j, k] * b[i, j, k] if k = 0\n"
    "  c[i, j, k] = madd(a[i, j, k], b[i, j, k], c[i, j, k-1]) if k >= 1\n  C[i, j] = c[i, j, k] if k = 0\n",
    "maximum": "  c[i, j, k] = A[i, k] * B[k, j] if k = 0\n"
    "  c[i, j, k] = max(A[i, k] * B[k, j], c[i, j, k-1]) if k >= 1\n" + SUM,
    "constant": "  c[i, j, k] = 1.0 if k = 0\n  c[i, j, k] = madd(A[i, k], B[k, j], c[i, j, k-1]) if k >= 1\n" + SUM,
    "shifted": "  a[i, j, k] = A[i, k] if j = 0\n  a[i, j, k] = a[i-1, j-1, k] if i >= 1 and j >= 1\n"
    "  a[i, j, k] = 0.0 if i = 0 and j >= 1\n"
    "  c[i, j, k] = a[i, j, k] * B[k, j] if k = 0\n"
    "  c[i, j, k] = madd(a[i, j, k], B[k, j], c[i, j, k-1]) if k >= 1\n" + SUM,
    "backwards": "  c[i, j, k] = A[i, k] * B[k, j] if k = K - 1\n"
    "  c[i, j, k] = madd(A[i, k], B[k, j], c[i, j, k+1]) if k <= K - 2\n  C[i, j] = c[i, j, k] if k = 0\n",
}
MANY = """parameter N >= 0, K >= 0
input A[N, K]: f32, B[N, K]: f32
output C[N]: f32

for 0 <= i < N, 0 <= k < K do
  c[i, k] = A[i, k] * B[i, k] if k = 0
  c[i, k] = madd(A[i, k], B[i, k], c[i, k-1]) if k >= 1
  C[i] = c[i, k] if k = K - 1
"""


def found(text: str) -> Contraction | None:
    return contraction(source(text).plan.phases[0].program)


@pytest.mark.parametrize("name", [*SPELLINGS, ""])
def test_spellings_of_the_product(name: str) -> None:
    assert found(product(body=SPELLINGS[name] if name else "")) == PLAIN


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_nearly_a_product_is_refused_by_what_it_lacks(name: str, golden: Golden) -> None:
    with pytest.raises(PolyloomError) as error:
        pl.compile(source(product(body=REFUSED[name])), on="tensix")
    assert error.value.code == "PL1230"
    golden(f"refused-{name}", str(error.value))


def test_many_products_are_not_one(golden: Golden) -> None:
    with pytest.raises(PolyloomError) as error:
        pl.compile(source(MANY), on="tensix")
    golden("refused-many", str(error.value))


@pytest.mark.parametrize("name", ["fir", "conv", "jacobi1d", "lcs", "bits"])
def test_other_examples(name: str, golden: Golden, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(Path(__file__).parents[4])
    with pytest.raises(PolyloomError) as error:
        pl.compile(f"examples/{name}.pla", on="tensix")
    golden(f"refused-{name}", str(error.value))


@pytest.mark.parametrize(
    ("element", "options"),
    [("f32", {"format": "i8"}), ("i32", {"format": "bf16"}), ("i32", {"dest": 16}), ("i16", {})],
)
def test_formats_that_do_not_fit(element: str, options: dict[str, Any], golden: Golden) -> None:
    with pytest.raises(PolyloomError) as error:
        pl.compile(source(product(element)), on="tensix", **options)
    assert error.value.code == "PL1232"
    golden(f"unfit-{element}-{'-'.join(map(str, options.values()))}", str(error.value))


def test_blackhole(golden: Golden) -> None:
    with pytest.raises(PolyloomError) as error:
        pl.compile(source(product()), on="tensix:blackhole").run(N=4, M=4, K=4)
    golden("unfit-blackhole", str(error.value))


def test_sums_beyond_l1(golden: Golden) -> None:
    """Arrays may be larger than L1, but not three rows of tiles along the sum."""
    with pytest.raises(PolyloomError) as error:
        pl.compile(source(product()), on="tensix").run(N=100, M=100, K=4000)
    assert (error.value.code, error.value.exit_code) == ("PL1233", 3)
    golden("beyond-l1", str(error.value))
    assert pl.compile(source(product()), on="tensix", format="bf16").run(N=700, M=32, K=700).verified


def test_integers_beyond_i8(golden: Golden) -> None:
    a, b = np.full((2, 3), -128, np.int32), np.ones((3, 2), np.int32)
    with pytest.raises(PolyloomError) as error:
        pl.compile(source(product("i32")), on="tensix").run(N=2, M=2, K=3, A=a, B=b)
    golden("beyond-i8", str(error.value))
