# SPDX-License-Identifier: Apache-2.0
"""A phase cut into several computes what it computed before, bit for bit, wherever it is cut."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.frontend.python.helpers import KERNELS
from tests.made_up import random_inputs

from polyloom import api
from polyloom.diagnostics import PolyloomError, infeasible
from polyloom.frontend.source import Options, Source
from polyloom.ir import plan_interpret
from polyloom.ir.pla import Array
from polyloom.ir.plan import Phase, Plan
from polyloom.targets.tcpa.map.phases.split import ONCE, expand_parts, fit_phase
from polyloom.targets.tcpa.run.phases import descriptions
from polyloom.targets.tcpa.words.phases import stages

pytestmark = pytest.mark.usefixtures("roughly_scheduled")


def cut(plan: Plan, rounds: int) -> Plan:
    """The plan with each phase cut in two where it can be, so many times."""
    names = {*plan.parameters, *(a.name for a in (*plan.inputs, *plan.outputs, *plan.intermediates))}
    counters = frozenset(loop.counter for loop in plan.loops)
    for _ in range(rounds):
        parts: list[list[Phase]] = []
        for phase in plan.phases:
            made, kept = halves(phase, counters, names)
            parts.append(made)
            plan = replace(plan, intermediates=(*plan.intermediates, *kept))
        plan = replace(plan, body=expand_parts(plan.body, iter(parts)))
    return plan


def halves(phase: Phase, counters: frozenset[str], names: set[str]) -> tuple[list[Phase], tuple[Array, ...]]:
    def compiled(part: Phase, reason: str) -> bytes:
        del reason
        if part is phase:
            raise infeasible("PL0404", "too large")
        return b""

    try:
        made, kept = fit_phase(phase, counters, names, compiled)
    except PolyloomError:
        return [phase], ()
    return [part for part, _ in made], kept


def plan_of(path: str, function: str | None = None) -> Plan:
    source: Source = api.load_source(path, Options(function=function))
    assert source.plan is not None
    return source.plan


@pytest.mark.parametrize(
    ("kernel", "sizes"),
    [
        ("gemm", (3, 4, 2)),
        ("gemver", (4,)),
        ("atax", (3, 5)),
        ("symm", (3, 4)),
        ("covariance", (4, 3)),
        ("conv2d", (5, 4)),
    ],
)
def test_parts_compute_what_the_whole_does(kernel: str, sizes: tuple[int, ...]) -> None:
    whole = plan_of(str(KERNELS / f"{kernel}.py"))
    parts = cut(whole, 2)
    assert len(parts.phases) > len(whole.phases)
    values = dict(zip(whole.parameters, sizes, strict=True))
    inputs = random_inputs(whole, values, seed=1)
    before, after = (plan_interpret.interpret(p, values, inputs) for p in (whole, parts))
    assert before.keys() == after.keys()
    assert all(np.array_equal(before[name], after[name]) for name in before)


def test_a_recurrence_is_one_piece() -> None:
    """What waits for itself cannot be cut: the refusal stands."""
    whole = plan_of(str(KERNELS / "trisolv.py"))
    assert cut(whole, 1).phases == whole.phases


THREE = """parameter N
input x[N]: i32
output a[N]: i32
output b[N]: i32
output c[N]: i32
for 0 <= i < N do
  s[i] = x[i] * x[i]
  a[i] = s[i] + 1
  b[i] = s[i] - 1
  c[i] = s[i] * s[i]
"""


def test_too_few_registers_are_used_one_after_another(tmp_path: Path) -> None:
    (tmp_path / "two.toml").write_text('name = "two"\nbased_on = "wide"\noutput_registers = 2\n', encoding="utf-8")
    (tmp_path / "three.pla").write_text(THREE, encoding="utf-8")
    made = api.compile(str(tmp_path / "three.pla"), on=f"tcpa:{tmp_path / 'two.toml'}")
    result = made.instantiate({"N": 5}, pes=(1, 2)).run(fill="random")
    assert result.verified
    reasons = [str(phase["interval_bound_by"]) for phase in descriptions.facts(made.data, result.instance.data)[1]]
    assert len(reasons) == 2
    assert all(r.endswith("in one phase the mapping needs 3 output registers, the machine has 2") for r in reasons)


def chain(length: int) -> str:
    """A sum over i of powers of x[0], where i = 0 alone computes the power."""
    powers = [f"  p{n}[i] = p{n - 1}[i] * p{n - 1}[i] if i = 0" for n in range(1, length)]
    return "\n".join(
        [
            "parameter N >= 2",
            "input x: i32",
            "output y: i32",
            "for 0 <= i < N do",
            "  p0[i] = x[] if i = 0",
            *powers,
            f"  q[i] = p{length - 1}[i] if i = 0",
            "  q[i] = q[i-1] if i >= 1",
            "  s[i] = q[i] if i = 0",
            "  s[i] = s[i-1] + q[i] if i >= 1",
            "  y[] = s[i] if i = N-1",
        ]
    )


def test_one_iteration_does_not_set_the_interval_of_all(tmp_path: Path) -> None:
    """Eleven multiplications of one iteration take six cycles of two units; the loop behind them takes one."""
    (tmp_path / "chain.pla").write_text(chain(12), encoding="utf-8")
    made = api.compile(str(tmp_path / "chain.pla"), on="tcpa:wide")
    result = made.instantiate({"N": 9}, pes=(1, 1)).run(fill="random")
    assert result.verified
    phases = descriptions.facts(made.data, result.instance.data)[1]
    assert len(phases) == 2
    assert phases[1]["initiation_interval"] == 1
    assert ONCE in str(phases[0]["interval_bound_by"])


def test_little_work_of_one_iteration_stays(tmp_path: Path) -> None:
    (tmp_path / "chain.pla").write_text(chain(4), encoding="utf-8")
    made = api.compile(str(tmp_path / "chain.pla"), on="tcpa:wide")
    assert made.instantiate({"N": 9}, pes=(1, 1)).run(fill="random").verified
    assert not stages.has_phases(made.data)
