# SPDX-License-Identifier: Apache-2.0
"""Loop variables and parameters as data: counted on the array, begun by constants or by scalars that parameters
determine."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.conftest import Golden
from tests.frontend.python.helpers import arguments, assert_same, meaning
from tests.transform.nest.text import nest

from polyloom import api
from polyloom.cli import main
from polyloom.frontend import nest_source
from polyloom.ir.nest import Nest
from polyloom.ir.nest_interpret import interpret
from polyloom.ir.operations import BY_NAME, ELEMENT_TYPES, ElementType
from polyloom.ir.pla_text import print_program
from polyloom.ir.plan_interpret import interpret as interpret_plan
from polyloom.transform import plan

BOUNDS = (
    "range(N)",
    "range(N - 1, -1, -1)",
    "range(i, N)",
    "range(N - 1 - i, N)",
    "range(i, -1, -1)",
    "range(max(0, i - 2), min(N, M))",
)
COUNTED = [t for t in ELEMENT_TYPES if BY_NAME["mul"].accepts_type(t)]
"""What loop variables may be counted in: bool has no sums."""
VALUES = ("i", "j", "i - j", "100 * i + 50 * j", "3 * j - N", "N", "M - i")


def nest_of(value: str, outer: str, inner: str, dtype: ElementType) -> Nest:
    lines = [
        f"for i in {outer}:",
        f"    for j in {inner}:",
        f"        A[i, j] = A[i, j] * 3 - ({value})",
        f"        x[j] = x[j] + ({value})",
    ]
    return nest("A[N, N]; x[N]", "\n".join(lines), dtype=dtype)


@given(st.sampled_from(VALUES), st.sampled_from(BOUNDS[:2]), st.sampled_from(BOUNDS), st.sampled_from(COUNTED))
@settings(max_examples=25)
def test_values_are_those_of_the_loops(value: str, outer: str, inner: str, dtype: ElementType) -> None:
    source = nest_of(value, outer, inner, dtype)
    made = plan(source)[1]
    for size in (4, 1):
        sizes = {p: size + (p == "M") for p in source.parameters}
        inputs = arguments(source, sizes)
        assert_same(
            meaning(source, sizes, inputs), interpret_plan(made, sizes, {a.name: inputs[a.name] for a in made.inputs})
        )


def test_golden(golden: Golden) -> None:
    (phase,) = plan(
        nest(
            "x[N]", "for i in range(N - 1, -1, -1):\n    for j in range(i, N):\n        x[i] = x[i] * 2 + i - 3 * j + N"
        )
    )[1].phases
    golden("count", print_program(phase.program) + "".join(f"# {n} {why}\n" for n, why in phase.reasons))


@pytest.fixture(scope="module")
def counting() -> api.Compiled:
    """Both the loop variable, which begins at N - 1, and N are data."""
    source = _downwards()
    return api.compile(
        nest_source(source, lambda sizes, arrays: interpret(source, sizes, arrays), "test"), on="tcpa:wide"
    )


def _downwards() -> Nest:
    body = "y[N - 1] = x[N - 1]\nfor i in range(N - 2, -1, -1):\n    y[i] = y[i + 1] * N + x[i] * i"
    return nest("x[N]; y[N]", body, "N >= 1", dtype="i16")


@pytest.mark.parametrize("pes", [(1, 1), (1, 3)])
def test_words(counting: api.Compiled, pes: tuple[int, int]) -> None:
    """Files hold the expressions, and the values once there are parameters: nobody gives them."""
    assert counting.instantiate(N=7, pes=pes).run().verified


def test_files_run_alone(counting: api.Compiled, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    symbolic, concrete = tmp_path / "f.plsc", tmp_path / "f.plcc"
    symbolic.write_bytes(counting.data)
    assert main(["show", str(symbolic)]) == 0
    assert "N - 2 as i16: i16, known from parameters" in capsys.readouterr().out
    assert main(["instantiate", str(symbolic), "N=5", "--pes", "1x2", "-o", str(concrete)]) == 0
    assert main(["verify", str(concrete)]) == 0
    inputs = arguments(_downwards(), {"N": 5})
    instance = api.load(concrete)
    assert isinstance(instance, api.Instance)
    assert_same({"y": meaning(_downwards(), {"N": 5}, inputs)["y"]}, instance.run({"x": inputs["x"]}).outputs)
