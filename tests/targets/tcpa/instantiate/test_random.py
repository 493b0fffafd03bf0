# SPDX-License-Identifier: Apache-2.0
"""Random uniform programs, conditions, orders, reflections, regions and latencies on the plain model."""

from __future__ import annotations

from dataclasses import dataclass, replace

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.targets.tcpa.instantiate.machine import simulate
from tests.targets.tcpa.instantiate.naive import UNLIMITED, Program, reference, symbolic
from tests.targets.tcpa.instantiate.oracle import instantiate, predicted_cycles
from tests.targets.tcpa.instantiate.test_whole import data_of

from polyloom.diagnostics import PolyloomError
from polyloom.targets.tcpa.words.symbolic import Symbolic

_DIMS = ("i", "j", "k")


@st.composite
def programs(draw: st.DrawFn) -> tuple[Program, dict[str, int]]:
    """One or two variables, each with an input where its dependence leaves the space or a random half-space, else an
    update."""
    n = draw(st.integers(1, 3))
    dims = _DIMS[:n]
    sizes = [draw(st.integers(1, 7 if n < 3 else 4)) for _ in dims]
    equations: list[str] = []
    point = ", ".join(dims)
    count = draw(st.integers(1, 2))
    for v in range(count):
        d = draw(st.tuples(*(st.integers(-2, 2) for _ in dims)).filter(any))
        if next(x for x in d if x) < 0:  # lexicographically positive, so that some order exists
            d = tuple(-x for x in d)
        bounds = [
            f"{x} - {c}" if c > 0 else f"{s} - 1 - {x} - {-c}" for x, c, s in zip(dims, d, "NMK", strict=False) if c
        ]
        other = f"v{v - 1}" if v else "#3"
        shifted = f"v{v}[{','.join(str(-c) for c in d)}]"
        equations.append(f"v{v} = add {shifted} {other} if " + " and ".join(bounds))
        for i, b in enumerate(bounds):
            outside = [*bounds[:i], f"-1 - ({b})"]
            source = f"in({point})" if draw(st.booleans()) else "#5"
            equations.append(f"v{v} = move {source} if " + " and ".join(outside))
    guard = draw(st.tuples(*(st.integers(-2, 2) for _ in dims)))
    constant = draw(st.integers(-2, 8))
    where = " + ".join([*(f"{a}*{x}" for a, x in zip(guard, dims, strict=True)), str(constant)])
    equations.append(f"out({point}) = move v{count - 1} if {where}")
    params = tuple("NMK"[:n])
    shape = params
    return Program(dims, params, params, {"in": shape, "out": shape}, tuple(equations)), dict(
        zip(params, sizes, strict=True)
    )


@dataclass(frozen=True, slots=True)
class Mapping:
    rows: int | None
    columns: int | None
    order: tuple[int, ...]
    reflected: tuple[bool, ...]
    interval: int
    latency: int
    hop_delay: int
    branch_flags: int

    def of(self, program: Program) -> Symbolic:
        limits = replace(UNLIMITED, hop_delay=self.hop_delay, branch_flags=self.branch_flags)
        return symbolic(
            program,
            rows=self.rows,
            columns=self.columns,
            order=self.order,
            reflected=self.reflected,
            interval=self.interval,
            latency=self.latency,
            limits=limits,
        )


@st.composite
def mappings(draw: st.DrawFn, n: int) -> Mapping:
    rows, columns, *_ = draw(st.permutations([*range(n), None]))
    reflected = tuple(draw(st.booleans()) for _ in range(n))
    order = tuple(draw(st.permutations(range(n))))
    return Mapping(
        rows,
        columns,
        order,
        reflected,
        draw(st.integers(1, 3)),
        draw(st.integers(1, 3)),
        draw(st.integers(0, 2)),
        draw(st.integers(1, 3)),
    )


outcomes: list[bool] = []


@given(st.data())
@settings(max_examples=150, deadline=None)
def test_random_programs_run_as_they_mean(data: st.DataObject) -> None:
    program, values = data.draw(programs())
    mapping = data.draw(mappings(len(program.dims)))
    region = data.draw(st.tuples(st.integers(1, 4), st.integers(1, 4)))
    try:
        concrete = instantiate(mapping.of(program), values, *region)
    except PolyloomError as error:
        outcomes.append(False)
        assert error.diagnostics[0].code in {"PL0510", "PL0512"}, error
        return
    outcomes.append(True)
    arrays = data_of(concrete)
    run = simulate(concrete, arrays, latency=mapping.latency, hop_delay=mapping.hop_delay)
    assert run.outputs == reference(program, values, arrays)
    assert predicted_cycles(concrete) >= run.cycles


def test_a_good_part_of_the_random_programs_ran() -> None:
    assert sum(outcomes) >= 0.3 * len(outcomes), f"{sum(outcomes)} of {len(outcomes)}"
