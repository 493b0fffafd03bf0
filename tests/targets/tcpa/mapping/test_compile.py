# SPDX-License-Identifier: Apache-2.0
"""Whole mappings: initiation intervals, the paper's own example, the rules of registers and links, errors,
determinism."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.conftest import Golden
from tests.targets.tcpa.end_to_end.test_examples import mapped
from tests.targets.tcpa.mapping.programs import counts, example, stencil

from polyloom.diagnostics import PolyloomError
from polyloom.frontend.pla import parse
from polyloom.modulo.guards.solve import search
from polyloom.targets.tcpa import machine_file
from polyloom.targets.tcpa.compile import compile_program, parse_mapping
from polyloom.targets.tcpa.machine import Machine
from polyloom.targets.tcpa.words.symbolic import Candidate, Kind, Symbolic, UseOperand

FAST = [
    ("bits", "paper"),
    ("bits", "unit"),
    ("matmul", "unit"),
    ("matmul", "wide"),
    ("fir", "unit"),
    ("fir", "wide"),
    ("matvec", "wide"),
    ("jacobi1d", "unit"),
]


@pytest.fixture(scope="module", params=FAST, ids=lambda p: "-".join(p))
def symbolic(request: pytest.FixtureRequest) -> Symbolic:
    return mapped(*request.param)


@pytest.mark.parametrize(
    ("name", "machine", "interval"),
    [
        ("bits", "paper", 2),
        ("fir", "wide", 1),
        ("matmul", "wide", 1),
        ("matvec", "wide", 1),
        ("matmul", "unit", 1),
        ("jacobi1d", "unit", 2),
        ("lcs", "unit", 3),
    ],
)
def test_initiation_intervals_are_minimal(name: str, machine: str, interval: int) -> None:
    found = mapped(name, machine)
    least = min(range(len(found.schedules)), key=lambda n: found.schedules[n].initiation_interval)
    assert found.schedules[least].initiation_interval == interval
    assert found.bottlenecks[least].proved


def test_the_running_example_is_mapped_as_in_the_paper() -> None:
    found = mapped("bits", "paper")
    schedule, candidate = found.schedules[0], found.candidates[0]
    assert schedule.tau[0] == schedule.tau[1]
    assert schedule.unit[0] == schedule.unit[1]
    assert schedule.initiation_interval == 2
    shared, *local = candidate.links
    assert [link.kind for link in shared] == [Kind.FEEDBACK, Kind.CHANNEL]
    assert local == [(local[0][0],), (local[0][0],)]
    assert local[0][0].kind is Kind.GENERAL
    assert candidate.input_registers[0] == candidate.routes[shared[1].register].input
    assert candidate.output_registers[0] != candidate.routes[0].output


def test_another_allocation_is_kept_where_conditions_take_many_signals() -> None:
    kept = [
        {(c.rows, c.columns) for c in compile_program(counts(c), machine_file.load("wide")).candidates}
        for c in ("k >= 1", "k >= 1 and i <= j")
    ]
    assert kept == [{(0, 1)}, {(0, 1), (0, 2), (1, 2)}]


def ready(symbolic: Symbolic, candidate: Candidate, node: int) -> int:
    schedule = symbolic.schedules[candidate.schedule]
    return schedule.tau[node] + schedule.latency[node]


def test_writers_of_a_use_are_ready_together(symbolic: Symbolic) -> None:
    for candidate in symbolic.candidates:
        for use in symbolic.uses:
            assert len({ready(symbolic, candidate, w.node) for w in use.writers}) <= 1


def test_links_follow_distance_and_slack(symbolic: Symbolic) -> None:
    for candidate in symbolic.candidates:
        schedule = symbolic.schedules[candidate.schedule]
        for use, links in zip(symbolic.uses, candidate.links, strict=True):
            slack = schedule.tau[use.consumer] - ready(symbolic, candidate, use.writers[0].node)
            kinds = [link.kind for link in links]
            assert links[0].displacement == (0, 0)
            assert (kinds[0] is Kind.GENERAL) == (not any(use.distance) and slack < schedule.initiation_interval)
            assert all(kind is Kind.CHANNEL for kind in kinds[1:])
            assert any(use.distance) or slack >= 0
            reach = [(m is not None and use.distance[m] != 0) for m in (candidate.rows, candidate.columns)]
            assert len(links) == 2 ** sum(reach)


def test_fifos_are_shared_by_exclusive_readers_only(symbolic: Symbolic) -> None:
    for candidate in symbolic.candidates:
        schedule = symbolic.schedules[candidate.schedule]
        for a, one in enumerate(candidate.links):
            for b, other in enumerate(candidate.links[:a]):
                if one[0].kind is other[0].kind is Kind.FEEDBACK and one[0].register == other[0].register:
                    first, second = symbolic.uses[a], symbolic.uses[b]
                    assert first.distance == second.distance
                    assert schedule.tau[first.consumer] == schedule.tau[second.consumer]
                    assert first.consumer != second.consumer


def test_general_registers_hold_one_value_at_a_time(symbolic: Symbolic) -> None:
    """The cycles, modulo pi, in which variables of one register live are apart; no example has variables that exclude
    each other."""
    variables = {e.name: e.target.name for e in example(symbolic.kernel).equations}
    for candidate in symbolic.candidates:
        schedule = symbolic.schedules[candidate.schedule]
        alive: dict[int, dict[str, set[int]]] = {}
        for use, links in zip(symbolic.uses, candidate.links, strict=True):
            if links[0].kind is Kind.GENERAL:
                node = use.writers[0].node
                cycles = range(ready(symbolic, candidate, node), schedule.tau[use.consumer] + 1)
                holders = alive.setdefault(links[0].register, {})
                holders.setdefault(variables[symbolic.node_names[node]], set()).update(
                    c % schedule.initiation_interval for c in cycles
                )
        for holders in alive.values():
            occupied = [cycle for cycles in holders.values() for cycle in cycles]
            assert len(occupied) == len(set(occupied))


def test_operands_and_uses_agree(symbolic: Symbolic) -> None:
    for n, use in enumerate(symbolic.uses):
        assert symbolic.nodes[use.consumer].operands[use.position] == UseOperand(n)
    assert [v for v, node in enumerate(symbolic.nodes) if node.output is not None] == [
        o.producer for o in symbolic.outputs
    ]


def test_at_most_eight_candidates_and_one_valid_for_tiles_of_any_size(symbolic: Symbolic) -> None:
    assert 1 <= len(symbolic.candidates) <= 8
    safe = 0
    for candidate in symbolic.candidates:
        schedule = symbolic.schedules[candidate.schedule]
        slacks = [
            schedule.tau[u.consumer] + schedule.initiation_interval - ready(symbolic, candidate, w.node)
            for u in symbolic.uses
            if any(u.distance)
            for w in u.writers
        ]
        safe += min(slacks, default=0) >= 0
    assert safe


def test_same_input_same_configuration() -> None:
    first = mapped("jacobi1d", "unit")
    search.cache_clear()
    assert compile_program(example("jacobi1d"), machine_file.load("unit")) == first


def test_progress_is_told_in_order() -> None:
    told: list[tuple[str, float]] = []
    compile_program(example("bits"), machine_file.load("unit"), progress=lambda step, done: told.append((step, done)))
    assert told
    assert [done for _, done in told] == sorted(done for _, done in told)
    assert all(0.0 <= done <= 1.0 for _, done in told)


BITS_MAPPING = """\
columns = "i"
order = ["i"]
initiation_interval = 2
[equations]
S1 = { tau = 0, unit = "alu0" }
S2 = { tau = 0, unit = "alu0" }
S3 = { tau = 1, unit = "alu1" }
S4 = { tau = 2, unit = "alu1" }
"""


def test_a_given_mapping_is_taken() -> None:
    found = compile_program(
        example("bits"), machine_file.load("paper"), mapping=parse_mapping(BITS_MAPPING, "bits.toml")
    )
    assert (found.schedules[0].tau, found.schedules[0].unit) == ((0, 0, 1, 2), (0, 0, 1, 1))
    assert [(c.rows, c.columns, c.order) for c in found.candidates] == [(None, 0, (0,))]
    assert found.bottlenecks[0].proved


def test_a_given_schedule_need_not_be_valid_for_all_tiles() -> None:
    searched = mapped("matvec", "wide")
    number = min(range(len(searched.schedules)), key=lambda n: searched.schedules[n].initiation_interval)
    schedule = searched.schedules[number]
    assert schedule.initiation_interval == 1
    candidate = next(c for c in searched.candidates if c.schedule == number)
    rows = zip(searched.node_names, schedule.tau, schedule.unit, strict=True)
    slots = "\n".join(f'{name} = {{ tau = {tau}, unit = "{searched.limits.units[unit]}" }}' for name, tau, unit in rows)
    text = (
        f"order = {[searched.dimensions[m] for m in candidate.order]}\ninitiation_interval = 1\n[equations]\n{slots}\n"
    )
    found = compile_program(example("matvec"), machine_file.load("wide"), mapping=parse_mapping(text, "given.toml"))
    assert found.schedules == (schedule,)
    assert {c.order for c in found.candidates} == {candidate.order}


def test_candidates_that_do_not_fit_give_way_to_others() -> None:
    wide = mapped("matmul", "unit")
    narrow = compile_program(example("matmul"), few(output_registers=2, input_registers=2))
    assert wide.candidates[0].columns is not None
    assert wide.candidates[0].rows is not None
    assert all(c.rows is None or c.columns is None for c in narrow.candidates)


def few(**changes: int) -> Machine:
    return replace(machine_file.load("unit"), name="small", **changes)


SQUARE_ROOT = "input a: f32\noutput b: f32\nfor 0 <= i < 1 do\n  S1: b[] = sqrt(a[])\n"
DOUBLE = "input a: f64\noutput b: f64\nfor 0 <= i < 1 do\n  S1: b[] = a[] + a[]\n"
WIDENED = "input a: f32\noutput b: f64\nfor 0 <= i < 1 do\n  S1: b[] = to_f64(a[])\n"
TWICE = BITS_MAPPING.replace("tau = 1", "tau = 0")
ERRORS = {
    "missing_operation": (lambda: parse(SQUARE_ROOT, "root.pla"), lambda: machine_file.load("fau"), None),
    "wide_type": (lambda: parse(DOUBLE, "double.pla"), lambda: machine_file.load("mid"), None),
    "wide_result": (lambda: parse(WIDENED, "widened.pla"), lambda: machine_file.load("mid"), None),
    "scan_order": (lambda: stencil([(2, -1), (-1, 1)]), lambda: machine_file.load("unit"), None),
    "general_registers": (lambda: example("matmul"), lambda: few(general_registers=1), None),
    "feedback_registers": (lambda: example("matmul"), lambda: few(feedback_registers=1), None),
    "input_registers": (lambda: example("matvec"), lambda: few(input_registers=1), None),
    "output_registers": (lambda: example("matmul"), lambda: few(output_registers=1), None),
    "mapping_dimension": (lambda: example("bits"), lambda: machine_file.load("paper"), 'rows = "j"\n'),
    "mapping_order": (lambda: example("bits"), lambda: machine_file.load("paper"), 'order = ["-i"]\n'),
    "mapping_unit": (lambda: example("bits"), lambda: machine_file.load("paper"), BITS_MAPPING.replace("alu1", "alu2")),
    "mapping_schedule": (lambda: example("bits"), lambda: machine_file.load("paper"), TWICE),
    "mapping_incomplete": (
        lambda: example("bits"),
        lambda: machine_file.load("paper"),
        BITS_MAPPING.replace("S4", "# S4"),
    ),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors_say_what_is_missing(name: str, golden: Golden) -> None:
    program, machine, mapping = ERRORS[name]
    with pytest.raises(PolyloomError) as caught:
        compile_program(program(), machine(), mapping=None if mapping is None else parse_mapping(mapping, "given.toml"))
    text = str(caught.value)
    golden(
        name,
        f"exit {caught.value.exit_code}\n" + "\n".join(line for line in text.splitlines() if "examples" not in line),
    )
