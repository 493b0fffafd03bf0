# SPDX-License-Identifier: Apache-2.0
"""The parts of localization on their own: orders, kernels of accesses, and goldens of what they make of known
kernels."""

from __future__ import annotations

from itertools import permutations, product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.conftest import Golden
from tests.frontend.python.helpers import KERNELS

from polyloom.frontend.python import load_kernel
from polyloom.ir.pla_text import print_program
from polyloom.transform import plan
from polyloom.transform.order import find_order, positive
from polyloom.transform.space import kernel

VECTORS = st.lists(st.tuples(*[st.integers(-2, 2)] * 3), max_size=5)


@given(VECTORS)
def test_an_order_is_found_exactly_when_there_is_one(vectors: list[tuple[int, ...]]) -> None:
    nonzero = [v for v in vectors if any(v)]
    orders = [tuple(zip(p, signs, strict=True)) for p in permutations(range(3)) for signs in product((1, -1), repeat=3)]
    found = find_order(vectors, 3)
    assert (found is not None) == any(all(positive(v, o) for v in nonzero) for o in orders)
    assert found is None or all(positive(v, found) for v in nonzero)


@given(st.lists(st.tuples(*[st.integers(-2, 2)] * 4), max_size=4))
def test_kernel_is_a_basis(rows: list[tuple[int, ...]]) -> None:
    basis = kernel(rows, 4)
    assert all(sum(a * b for a, b in zip(row, u, strict=True)) == 0 for row in rows for u in basis)
    inside = {
        v
        for v in product(range(-2, 3), repeat=4)
        if all(sum(a * b for a, b in zip(row, v, strict=True)) == 0 for row in rows)
    }
    assert len(kernel(basis, 4)) == 4 - len(basis)
    assert all(sum(a * b for a, b in zip(v, w, strict=True)) == 0 for v in inside for w in kernel(basis, 4))


@pytest.mark.parametrize("name", ["gemm", "cholesky", "jacobi2d", "seidel2d", "atax", "conv2d"])
def test_golden(name: str, golden: Golden) -> None:
    made = plan(load_kernel(str(KERNELS / f"{name}.py")).nest)[1]
    texts = [print_program(p.program) + "".join(f"# {n} {why}\n" for n, why in p.reasons) for p in made.phases]
    golden(name, "\n".join(texts))
