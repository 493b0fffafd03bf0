# SPDX-License-Identifier: Apache-2.0
"""Plans print and read back: the same meaning, and once read the same text."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.conftest import Golden
from tests.made_up import random_inputs
from tests.targets.tcpa.phases.plans import CASES

from polyloom import frontend
from polyloom.diagnostics import PolyloomError
from polyloom.frontend.pla.plan import parse_plan
from polyloom.ir.plan import Plan
from polyloom.ir.plan_interpret import interpret
from polyloom.ir.plan_text import print_plan

ROOT = Path(__file__).parents[2]
STEPS = ROOT / "tests/kernels/steps"
SOURCES = (
    STEPS / "floyd_warshall.py",
    STEPS / "nussinov.py",
    STEPS / "opposite.py",
    STEPS / "kept.py",
    STEPS / "place.py",
    ROOT / "examples/kernels/durbin.py",
    ROOT / "examples/kernels/covariance.py",
)


def _same(plan: Plan) -> None:
    text = print_plan(plan)
    again = parse_plan(text)
    # Conditions are simplified when they are read, after which their text is the same.
    assert len(print_plan(again).splitlines()) == len(text.splitlines())
    assert print_plan(parse_plan(print_plan(again))) == print_plan(again)
    values = {name: 3 + n for n, name in enumerate(plan.parameters)}
    inputs = random_inputs(plan, values, 5)
    want, got = interpret(plan, values, inputs), interpret(again, values, inputs)
    assert want.keys() == got.keys()
    assert all(np.array_equal(want[n], got[n], equal_nan=want[n].dtype.kind == "f") for n in want)


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_plans_of_functions(path: Path) -> None:
    _same(frontend.load(str(path)).plan)


@pytest.mark.parametrize("name", CASES)
def test_plans_of_phases(name: str) -> None:
    _same(CASES[name].plan)


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (("plan ", "plane "), "PL0102"),
        (("for k", "far k"), "PL0102"),
        (("N - 1", "M - 1"), "PL0204"),
        (("path_in is path", "path_in is paths"), "PL0204"),
        (("  phase 1", "phase 1"), "PL0242"),
        (("S1.4: ", "S1.4; "), "PL0101"),
    ],
)
def test_what_is_no_plan_is_refused(change: tuple[str, str], code: str) -> None:
    text = print_plan(frontend.load(str(STEPS / "floyd_warshall.py")).plan)
    assert change[0] in text
    with pytest.raises(PolyloomError) as refused:
        parse_plan(text.replace(*change, 1), "made.plan")
    assert refused.value.diagnostics[0].code == code


def test_a_message_has_the_line_of_the_whole_text(golden: Golden) -> None:
    text = print_plan(frontend.load(str(STEPS / "floyd_warshall.py")).plan)
    with pytest.raises(PolyloomError) as refused:
        parse_plan(text.replace("path_j[i, j - 1]", "path_j[i, j - m]"), "made.plan")
    golden("error-plan-text", refused.value.diagnostics[0].render())
