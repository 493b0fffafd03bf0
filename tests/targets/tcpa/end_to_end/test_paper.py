# SPDX-License-Identifier: Apache-2.0
"""What the paper prints for its running example: N = 16, t = 3, p = 6, with its tau and binding given as a mapping.

Corrections, where the paper contradicts itself: kernel classes are those of p = 6, lambda is (2, 12), fd0 is called rd1
in some of its listings, and g5 holds for every consumed iteration of a partial tile only.
"""

from __future__ import annotations

from collections import defaultdict
from functools import cache

import pytest
from tests.conftest import Golden
from tests.targets.tcpa.end_to_end.run import run
from tests.targets.tcpa.end_to_end.test_examples import example
from tests.targets.tcpa.oracle.walk import Issue, issues

from polyloom.targets.tcpa import machine_file
from polyloom.targets.tcpa.compile import compile_program, parse_mapping
from polyloom.targets.tcpa.words.concrete import Concrete, ConvexSet
from polyloom.targets.tcpa.words.isa import Halt, If, Instruction, Next
from polyloom.targets.tcpa.words.listing import show_concrete, show_symbolic
from polyloom.targets.tcpa.words.notation import instruction
from polyloom.targets.tcpa.words.symbolic import Symbolic

MAPPING = """
columns = "i"
order = ["i"]
initiation_interval = 2
[equations.S1]
tau = 0
unit = "alu0"
[equations.S2]
tau = 0
unit = "alu0"
[equations.S3]
tau = 1
unit = "alu1"
[equations.S4]
tau = 2
unit = "alu1"
"""
ALU0, ALU1 = 0, 1


@cache
def symbolic() -> Symbolic:
    return compile_program(example("bits"), machine_file.load("paper"), mapping=parse_mapping(MAPPING, "paper.toml"))


@cache
def concrete() -> Concrete:
    finished = run(example("bits"), symbolic(), machine_file.load("paper"), {"N": 16}, (1, 3))
    assert finished.cycles == finished.predicted
    return finished.concrete


def issued(column: int, unit: int) -> list[Issue]:
    return [i for i in issues(concrete()) if (i.column, i.unit) == (column, unit)]


def steps(column: int, unit: int) -> dict[str, list[int]]:
    """The iterations j in whose kernel each instruction is, by its text."""
    found: dict[str, list[int]] = defaultdict(list)
    for i in issued(column, unit):
        text = instruction(Instruction(i.opcode, i.destinations, i.sources))
        found[text].append((i.cycle - 12 * column) // 2)
    return dict(found)


def test_the_given_schedule_is_used() -> None:
    (schedule,) = symbolic().schedules
    assert (schedule.initiation_interval, schedule.tau, schedule.unit) == (2, (0, 0, 1, 2), (ALU0, ALU0, ALU1, ALU1))
    assert symbolic().bottlenecks[0].proved


def test_the_mapper_finds_one_as_good() -> None:
    free = compile_program(example("bits"), machine_file.load("paper"))
    assert [
        (s.initiation_interval, b.minimum, b.proved) for s, b in zip(free.schedules, free.bottlenecks, strict=True)
    ] == [(2, 2, True)]
    assert max(free.schedules[0].tau) <= max(symbolic().schedules[0].tau)


def test_lambda() -> None:
    assert (concrete().extents, concrete().controller.row_delay, concrete().controller.column_delay) == ((6,), 0, 12)


def test_tree_of_section_5_5_and_configuration(golden: Golden) -> None:
    """The golden texts were compared with the paper by hand: the tree, Figures 7 and 8."""
    golden("paper_symbolic", show_symbolic(symbolic()))
    golden("paper_concrete", show_concrete(concrete(), symbolic().limits.units))


@pytest.mark.parametrize("column", [0, 1])
def test_folded_conditions_of_a_full_tile(column: int) -> None:
    """Section 6.1: andi moves to slot 0 of the next iteration, which gives rise to the epilogue j = p."""
    assert steps(column, ALU1) == {
        "shri fd0 rd0 1": [0, 1, 2, 3, 4],
        "andi od1 rd0 1": [1, 2, 3, 4, 5, 6],
        "shri od0 rd0 1": [5],
    }
    slots = {i.cycle % 2 for i in issued(column, ALU1) if i.destinations and i.destinations[0].index == 1}
    assert slots == {0}


def test_patterns_of_figure_5() -> None:
    """g1 holds for j < 6 where k < 2 and for j < 4 where k = 2; g2 for j = 0; g4 for j = 5 where k < 2."""
    for k, size in ((0, 6), (1, 6), (2, 4)):
        move = steps(k, ALU0)
        assert sorted(j for js in move.values() for j in js) == list(range(size))
        assert move["move rd0 id0"] == [0]
        assert steps(k, ALU1).get("shri od0 rd0 1") == ([5] if k < 2 else None)


def test_two_processor_classes() -> None:
    assert concrete().element_class == ((0, 0, 1),)


def test_control_flow_and_signal_of_figure_7() -> None:
    program = concrete().classes[0].programs[ALU1]
    branches = [i.branch for i in program]
    assert branches == [Next(), Next(), Next(), If((0,), (2, 4)), Next(), Next(), Next(), Halt()]
    assert concrete().controller.signals[0] == (ConvexSet((4,), (4,)),)


def test_program_of_alu1_in_class_1() -> None:
    lines = [instruction(i) for i in concrete().classes[0].programs[ALU1]]
    shift, mask = "shri fd0 rd0 1", "andi od1 rd0 1"
    assert lines == ["nop", shift, mask, shift, mask, "shri od0 rd0 1", mask, "nop"]


def test_banks_of_figure_8() -> None:
    banks = [
        (g.side, g.position, g.base, g.coefficients, g.domain[0].lower, g.domain[0].upper)
        for g in concrete().generators
    ]
    assert sorted(banks) == [
        ("north", 0, 0, (1,), (0,), (5,)),
        ("north", 1, 6, (1,), (0,), (5,)),
        ("north", 2, 12, (1,), (0,), (3,)),
        ("west", 0, 0, (0,), (0,), (0,)),
    ]
    assert all(len(g.domain) == 1 for g in concrete().generators)
