# SPDX-License-Identifier: Apache-2.0
"""Every kernel becomes uniform equations that pass all checks of the equation language and mean what the nest means,
bit for bit."""

from __future__ import annotations

import numpy as np
import pytest
from tests.frontend.python.helpers import KERNELS, arguments, assert_same, meaning
from tests.kernels.sizes import MINI
from tests.transform.nest.text import nest

from polyloom.analysis.check import check
from polyloom.frontend.pla import parse
from polyloom.frontend.python import load_kernel
from polyloom.ir.operations import ElementType
from polyloom.ir.pla_text import print_program
from polyloom.ir.pla_verify import verify
from polyloom.ir.plan import Plan
from polyloom.ir.plan_interpret import interpret
from polyloom.transform import plan

PHASES = {
    "atax": 2,
    "bicg": 2,
    "covariance": 4,
    "gemver": 2,
    "mm2": 2,
    "mm3": 3,
    "mvt": 2,
    "durbin": 4,
    "gramschmidt": 5,
}
"""Kernels that need more than one space; all others have one."""
REASSOCIATED = {"mttkrp"}
"""Kernels whose f32 sum runs over two loops: they need its order changed, and are close to the source, not equal."""


@pytest.fixture(scope="module", params=sorted(MINI))
def case(request: pytest.FixtureRequest) -> tuple[str, Plan]:
    kernel = load_kernel(str(KERNELS / f"{request.param}.py"))
    return str(request.param), plan(kernel.nest, request.param in REASSOCIATED)[1]


def test_phases(case: tuple[str, Plan]) -> None:
    name, made = case
    assert len(made.phases) == PHASES.get(name, 1)


SUMS = """
for i in range(N):
  for j in range(N):
    x[i] += A[i, j]
    y[j] += A[i, j]
"""


@pytest.mark.parametrize(("dtype", "phases"), [("f32", 2), ("i32", 1)])
def test_sums_along_all_dimensions_share_a_phase_where_they_take_a_cycle(dtype: ElementType, phases: int) -> None:
    assert len(plan(nest("A[N, N]; x[N]; y[N]", SUMS, dtype=dtype))[1].phases) == phases
    for other in (SUMS.replace("y[j]", "y[i]"), SUMS.replace("y[j] += A[i, j]", "y[j] += x[i]")):
        assert len(plan(nest("A[N, N]; x[N]; y[N]", other, dtype=dtype))[1].phases) == 1


def test_programs_pass_the_checks_of_the_language(case: tuple[str, Plan]) -> None:
    for phase in case[1].phases:
        verify(phase.program)
        check(phase.program)


def test_programs_read_back(case: tuple[str, Plan]) -> None:
    for phase in case[1].phases:
        text = print_program(phase.program)
        assert print_program(parse(text, "printed")) == text


@pytest.mark.parametrize("size", [4, 5, 7])
def test_plan_means_what_the_nest_means(case: tuple[str, Plan], size: int) -> None:
    name, made = case
    nest = load_kernel(str(KERNELS / f"{name}.py")).nest
    parameters = {p: size + n % 2 for n, p in enumerate(nest.parameters)}
    inputs = arguments(nest, parameters)
    expected, got = (
        meaning(nest, parameters, inputs),
        interpret(made, parameters, {a.name: inputs[a.name] for a in made.inputs}),
    )
    if name in REASSOCIATED:
        assert all(np.allclose(expected[n], got[n], rtol=1e-5) for n in expected)
    else:
        assert_same(expected, got)


def test_old_elements_are_read_before_they_are_overwritten() -> None:
    """The second phase reads B as it was given, where the first has results for it: they are written by a third."""
    body = """
for i in range(N):
    for j in range(N):
        B[i + 2, j + 2] += 1
        total = p
        for l in range(N):
            total = total * 3 - B[i + 2, l + 1] + B[i + 1, j + 2]
        A[i + 2, j + 2] = total
"""
    found = nest("A[N + 4, N + 4]; B[N + 4, N + 4]; const p; local total", body.strip("\n"))
    made = plan(found)[1]
    assert len(made.phases) == 3
    inputs = arguments(found, {"N": 5})
    assert_same(meaning(found, {"N": 5}, inputs), interpret(made, {"N": 5}, inputs))
