# SPDX-License-Identifier: Apache-2.0
"""Work and compulsory bytes: figures computed by hand, and the interpreter of nests, which counts every call."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from polyloom import frontend
from polyloom.cli.bench.polybench import SIZES, path
from polyloom.frontend.source import Options
from polyloom.ir import traffic, work
from polyloom.ir.nest import Nest
from polyloom.ir.nest_interpret import compile_nest
from polyloom.ir.numbers import NUMPY
from polyloom.ir.operations import CONVERSIONS, ElementType
from polyloom.ir.python_source import Scope
from polyloom.ir.semantics import Function

EXAMPLES = Path(__file__).parents[2] / "examples"
GEMM = {"NI": 20, "NJ": 25, "NK": 30}


class Counting(Scope):
    """Counts operations as they are executed."""

    def __init__(self) -> None:
        super().__init__()
        self.counts: Counter[tuple[str, ElementType]] = Counter()

    def function(self, operation: str, dtype: ElementType) -> Function:
        meaning = super().function(operation, dtype)

        def counted(*operands: Any) -> Any:
            self.counts[operation, dtype] += 1
            return meaning(*operands)

        return counted


def nest_of(kernel: str) -> Nest:
    return frontend.python_nest(path(kernel), Options())[0]


def executed(nest: Nest, values: dict[str, int]) -> Counter[tuple[str, ElementType]]:
    """By running the nest on ones."""
    scope = Counting()
    arrays = {s.name: np.ones([e.evaluate(values) for e in s.shape], NUMPY[s.dtype]) for s in nest.storage}
    with np.errstate(all="ignore"):
        compile_nest(nest, scope)(values, arrays)
    free = {"move", "select", *(operation.name for operation in CONVERSIONS)}
    return Counter({known: count for known, count in scope.counts.items() if known[0] not in free})


def test_gemm_by_hand() -> None:
    found = work.nest_work(nest_of("gemm"), GEMM)
    assert found == {("add", "f32"): 15_000, ("mul", "f32"): 500 + 2 * 15_000}
    assert work.total_operations(found) == 45_500
    # C is read and written; A, B, alpha and beta are read.
    assert traffic.nest_traffic(nest_of("gemm"), GEMM) == 4 * (500 + 600 + 750 + 2) + 4 * 500 == 9_408


@pytest.mark.parametrize("kernel", ["lu", "jacobi1d", "smith_waterman", "trmm", "floyd_warshall"])
def test_counts_are_those_of_an_execution(kernel: str) -> None:
    values = {name: max(3, size // 5) for name, size in SIZES[kernel].items()}
    nest = nest_of(kernel)
    assert work.nest_work(nest, values) == dict(executed(nest, values))


def test_equations_count_a_fused_operation_twice() -> None:
    plan = frontend.load(str(EXAMPLES / "matmul.pla")).plan
    values = {"N": 4, "M": 5, "K": 6}
    found = work.plan_work(plan, values)
    assert found == {("madd", "f32"): 4 * 5 * 5, ("mul", "f32"): 4 * 5}
    assert work.total_operations(found) == 2 * 100 + 20
    assert traffic.plan_traffic(plan, values) == 4 * (4 * 6 + 6 * 5 + 4 * 5)


def test_what_is_written_first_does_not_enter() -> None:
    """covariance centres its data, and writes means and results of its own before it reads them."""
    nest = nest_of("covariance")
    values = {"M": 4, "N": 5}
    data, own = 4 * 5, 4 * 4
    scalars = sum(not s.shape and s.role == "argument" for s in nest.storage)
    arrays = {s.name: s for s in nest.storage if s.role == "argument" and s.shape}
    assert set(arrays) >= {"data", "cov"}
    means = 4 if "mean" in arrays else 0
    assert traffic.nest_traffic(nest, values) == 4 * (2 * data + own + means + scalars)


def test_a_triangle_moves_its_own_elements_alone() -> None:
    """trisolv reads the triangle of L, b, and x after it has written it."""
    n = 6
    assert traffic.nest_traffic(nest_of("trisolv"), {"N": n}) == 4 * (n * (n + 1) // 2 + n + n)


def test_a_long_run_is_not_walked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(traffic, "MOST", 100)
    assert traffic.nest_traffic(nest_of("gemm"), GEMM) is None
