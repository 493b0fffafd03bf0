# SPDX-License-Identifier: Apache-2.0
"""Programs of equations for tests: products in several spellings, and what is nearly one."""

from __future__ import annotations

from typing import Final

from polyloom.frontend import plan_source
from polyloom.frontend.pla import parse
from polyloom.frontend.source import Source
from polyloom.ir.plan import single_phase_plan


def source(text: str) -> Source:
    return plan_source(single_phase_plan(parse(text, "test.pla")), "test.pla")


def product(element: str = "f32", body: str = "") -> str:
    """The matrix product, or another body over the same arrays."""
    return f"""parameter N >= 0, M >= 0, K >= 0
input A[N, K]: {element}, B[K, M]: {element}
output C[N, M]: {element}

for 0 <= i < N, 0 <= j < M, 0 <= k < K do
{body or BODY}"""


TRAVELS: Final = """  a[i, j, k] = A[i, k]      if j = 0
  a[i, j, k] = a[i, j-1, k] if j >= 1
  b[i, j, k] = B[k, j]      if i = 0
  b[i, j, k] = b[i-1, j, k] if i >= 1
"""
BODY: Final = (
    TRAVELS
    + """  c[i, j, k] = a[i, j, k] * b[i, j, k] if k = 0
  c[i, j, k] = madd(a[i, j, k], b[i, j, k], c[i, j, k-1]) if k >= 1
  C[i, j] = c[i, j, k] if k = K - 1
"""
)
