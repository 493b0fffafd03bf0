# SPDX-License-Identifier: Apache-2.0
"""Statements that compute the same become one: which do, and that every value stays what it was."""

from __future__ import annotations

import pytest
from tests.frontend.python.helpers import KERNELS, arguments, assert_same
from tests.transform.nest.text import nest

from polyloom.frontend.python import load_kernel
from polyloom.ir.nest import Nest
from polyloom.ir.recurrence import System
from polyloom.ir.recurrence_interpret import interpret
from polyloom.ir.recurrence_verify import verify
from polyloom.transform.dataflow import analyse
from polyloom.transform.statement_union import unite_statements

HALVES = """
for t in range(T):
  for i in range(1, N):
    x[i] = x[i] - x[i - 1] * a[i]
  for j in range(1, N):
    y[j] = y[j] - x[j] * a[j]
  for k in range(1, N):
    x[k] = x[k] - y[k] * a[k]
"""
OVERLAPPING = """
for i in range(1, N):
  for j in range(N):
    A[i, j] = A[i, j] - A[i - 1, j] * 3
  for k in range(N):
    A[i, k] = A[i, k] - A[i - 1, k] * 3
"""


def kernel(name: str) -> Nest:
    return load_kernel(str(KERNELS / f"{name}.py")).nest


def names(system: System) -> list[str]:
    return [e.name for e in system.equations]


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        # The updates below and above the diagonal.
        ("lu", ["S1", "S2", "S3"], ["S1", "S2"]),
        # The sum of squares is the update with j = i, although it has one loop less.
        ("cholesky", ["S1", "S2", "S3", "S4"], ["S1", "S2", "S4"]),
        ("trisolv", ["S2", "S3"], ["S2", "S3"]),
    ],
)
def test_equal_updates_become_one(name: str, before: list[str], after: list[str]) -> None:
    system = analyse(kernel(name))
    assert names(system) == before
    assert names(unite_statements(system)) == after


@pytest.mark.parametrize("name", ["lu", "cholesky"])
@pytest.mark.parametrize("n", [0, 1, 2, 5])
def test_every_value_stays_what_it_was(name: str, n: int) -> None:
    system = analyse(kernel(name))
    made = unite_statements(system)
    verify(made)
    given = arguments(kernel(name), {"N": n})
    assert_same(interpret(made, {"N": n}, given), interpret(system, {"N": n}, given))


def test_other_elements_are_other_statements() -> None:
    """y is no x, and x[i] - x[i - 1] * a[i] reads other elements than x[i] - y[i] * a[i]."""
    system = analyse(nest("x[N]; y[N]; a[N]", HALVES))
    assert unite_statements(system) is system


def test_iterations_that_overlap_stay_apart() -> None:
    system = analyse(nest("A[N, N]", OVERLAPPING))
    assert unite_statements(system) is system
