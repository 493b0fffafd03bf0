# SPDX-License-Identifier: Apache-2.0
"""Register demand is a lower bound; relays and copies keep a program's meaning; what cannot fit is refused or divided
before anything is solved."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.targets.tcpa.mapping.programs import example, stencil

import polyloom as pl
from polyloom import api
from polyloom.diagnostics import PolyloomError
from polyloom.frontend import python_nest
from polyloom.frontend.pla import parse
from polyloom.frontend.source import Options
from polyloom.ir.interpret import interpret
from polyloom.ir.nest import statements
from polyloom.ir.pla_verify import verify
from polyloom.modulo.guards.check import violations
from polyloom.modulo.guards.problem import Solution
from polyloom.targets.tcpa import machine_file
from polyloom.targets.tcpa.compile import compile_program
from polyloom.targets.tcpa.map import lifetimes, schedule
from polyloom.targets.tcpa.map.allocate import Allocation
from polyloom.targets.tcpa.map.dependence_graph import build_graph
from polyloom.targets.tcpa.map.register_demand import compute_demand, distant_reads, greatest_demand
from polyloom.targets.tcpa.map.relay import insert_relays
from polyloom.targets.tcpa.words.symbolic import Kind

pytestmark = pytest.mark.usefixtures("roughly_scheduled")

THERMAL = Path(__file__).with_name("thermal.py")
WIDE = machine_file.load("wide")
FEW = replace(WIDE, feedback_registers=2, output_registers=4, input_registers=4)


@pytest.fixture
def weighted(tmp_path: Path) -> str:
    """The file of a stencil of nine points, with nine weights that are scalars."""
    kernel = tmp_path / "weighted.py"
    reads = " + ".join(f"w{n} * t[i + {n // 3}, j + {n % 3}]" for n in range(9))
    weights = ", ".join(f"w{n}: pl.f32" for n in range(9))
    kernel.write_text(
        'import polyloom as pl\n\nN = pl.size("N")\n\n\n@pl.kernel\n'
        f"def weighted(t: pl.f32[N, N], r: pl.f32[N, N], {weights}) -> None:\n"
        f"    for i in range(N - 2):\n        for j in range(N - 2):\n            r[i, j] = {reads}\n"
    )
    return str(kernel)


def test_the_last_branch_of_a_chain_has_few_pieces() -> None:
    """A product of eight negations is hundreds of polyhedra, of which all but a few exclude every point."""
    nest, _ = python_nest(str(THERMAL), Options())
    assert max(len(s.domain.pieces) for s in statements(nest)) <= 9


def test_a_chain_of_borders_runs_in_one_phase() -> None:
    compiled = pl.compile(str(THERMAL), on="tcpa")
    for n, m in ((2, 2), (3, 8), (7, 4)):
        result = compiled.instantiate(N=n, M=m, pes=(2, 2)).run()
        assert result.verified
        assert "phase 2" not in str(result.report())


@pytest.mark.parametrize("name", ["bits", "fir", "matmul", "jacobi1d", "lcs"])
def test_demand_is_a_lower_bound(name: str) -> None:
    program = example(name)
    for candidate in compile_program(program, WIDE).candidates:
        found = compute_demand(set(distant_reads(program)), 0, Allocation(candidate.rows, candidate.columns))
        feedback = {link.register for links in candidate.links for link in links if link.kind is Kind.FEEDBACK}
        assert found.by_variable.total() <= len(feedback)
        assert found.sent.total() <= len(candidate.routes)


DISTANCES = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)).filter(any), min_size=1, max_size=5)


@given(DISTANCES)
def test_relays_keep_the_meaning(distances: list[tuple[int, int]]) -> None:
    program = stencil(distances)
    made = insert_relays(program, FEW)
    verify(made)
    assert greatest_demand(made, FEW) <= greatest_demand(program, FEW)
    sizes = {"N": 5, "M": 4}
    assert interpret(made, sizes, {})["y"].tolist() == interpret(program, sizes, {})["y"].tolist()


def test_relays_take_unit_steps() -> None:
    made = insert_relays(stencil([(0, 1), (1, 0), (1, 1), (2, 1), (1, 2)]), FEW)
    assert all(sum(d) == 1 for _, d in distant_reads(made))
    assert len(distant_reads(made)) == 5


def test_copies_cut_lifetimes() -> None:
    """With one feedback register too few, what lives long within an iteration is copied, in slots that were free."""
    chain = " + ".join(["x[i]", *(f"(a[i] * {n}.0)" for n in range(2, 9))])
    program = parse(
        "parameter N >= 1\ninput a[N]: f32\noutput y[N]: f32\nfor 0 <= i < N do\n"
        f"  x[i] = a[i] * 3.0\n  z[i] = {chain}\n  y[i] = z[i] * x[i]\n"
    )
    graph = build_graph(program)
    fastest = schedule.list_schedules(graph, WIDE, frozenset({0}))[-1]
    made = lifetimes.insert_copies(graph, WIDE, fastest.schedule)
    assert made is not None
    copied, new = made
    assert [v.name for v in copied.program.variables if ".held" in v.name]
    assert lifetimes.insert_copies(copied, WIDE, new) is None, "no life is long any more"
    solution = Solution(new.initiation_interval, new.tau, new.unit, 1, False, "")
    assert not violations(schedule.build_problem(copied, WIDE, schedule.safe_distance), solution)
    late = replace(solution, start=(*new.tau[:-1], new.tau[-1] + 100))
    assert violations(schedule.build_problem(copied, WIDE, schedule.safe_distance), late)
    arrays = {"a": np.arange(7, dtype=np.float32)}
    assert (
        interpret(copied.program, {"N": 7}, arrays)["y"].tolist() == interpret(program, {"N": 7}, arrays)["y"].tolist()
    )


def test_what_cannot_fit_is_refused_before_anything_is_solved(weighted: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def solve(*_: object, **__: object) -> None:
        raise AssertionError("solved")

    monkeypatch.setattr(schedule, "solve", solve)
    plan = api.load_source(weighted).plan
    assert plan is not None
    with pytest.raises(PolyloomError) as refused:
        compile_program(plan.phases[0].program, WIDE)
    first = refused.value.diagnostics[0]
    assert (first.code, first.message) == ("PL0404", "the mapping needs 26 feedback registers, the machine has 16")


def test_what_cannot_fit_is_divided(weighted: str) -> None:
    result = pl.compile(weighted, on="tcpa").instantiate(N=6, pes=(2, 2)).run()
    assert result.verified
    assert "because in one phase the mapping needs" in str(result.report())
