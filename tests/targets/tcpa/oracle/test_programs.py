# SPDX-License-Identifier: Apache-2.0
"""The random programs are valid, and the checks for all parameter values agree with checks by enumeration."""

from __future__ import annotations

import random
import re
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.targets.tcpa.oracle.programs import random_program
from tests.targets.tcpa.oracle.valid import faults

from polyloom.analysis.check import check
from polyloom.diagnostics import PolyloomError
from polyloom.ir.pla import Program, Reference
from polyloom.sets import Condition, Polyhedron

SEEDS = st.integers(0, 1 << 30)
SMALL = (0, 1, 2, 3, 5)


def small_sizes(program: Program, rng: random.Random) -> dict[str, int]:
    limit = SMALL if len(program.parameters) < 4 else SMALL[:4]
    return {p: rng.choice(limit) for p in program.parameters}


@given(SEEDS)
@settings(max_examples=75)
def test_random_programs_are_valid(seed: int) -> None:
    program = random_program(seed)
    check(program)
    assert faults(program, small_sizes(program, random.Random(seed))) == []


def damaged(program: Program, rng: random.Random) -> Program:
    """One equation dropped, doubled, with a moved constraint, or reading elsewhere."""
    number = rng.randrange(len(program.equations))
    equation = program.equations[number]
    match rng.randrange(4):
        case 0 if sum(e.target.name == equation.target.name for e in program.equations) > 1:
            changed = ()
        case 0 | 1:
            changed = (equation, replace(equation, name=f"{equation.name}b"))
        case 2:
            (piece,) = equation.condition.pieces
            at = rng.randrange(len(piece.constraints))
            moved = tuple(c + rng.choice((-1, 1)) if n == at else c for n, c in enumerate(piece.constraints))
            changed = (replace(equation, condition=Condition((Polyhedron(moved),))),)
        case _:
            references = [n for n, o in enumerate(equation.operands) if isinstance(o, Reference) and o.index]
            if not references:
                return program
            at = rng.choice(references)
            operand = equation.operands[at]
            assert isinstance(operand, Reference)
            row = rng.randrange(len(operand.index))
            index = tuple(a + rng.choice((-1, 1)) if n == row else a for n, a in enumerate(operand.index))
            operands = tuple(replace(operand, index=index) if n == at else o for n, o in enumerate(equation.operands))
            changed = (replace(equation, operands=operands),)
    return replace(program, equations=(*program.equations[:number], *changed, *program.equations[number + 1 :]))


def counterexample(program: Program, message: str) -> dict[str, int]:
    """The sizes that a diagnostic names."""
    named = dict(re.findall(r"(\w+) = (\d+)", message))
    return {p: int(named[p]) for p in program.parameters}


outcomes: list[bool] = []


@given(SEEDS)
@settings(max_examples=150)
def test_damaged_programs_are_refused_with_true_counterexamples(seed: int) -> None:
    rng = random.Random(seed)
    program = damaged(random_program(seed), rng)
    try:
        check(program)
    except PolyloomError as error:
        outcomes.append(False)
        for diagnostic in error.diagnostics[:2]:
            assert faults(program, counterexample(program, diagnostic.message)), diagnostic.message
        return
    outcomes.append(True)
    assert faults(program, small_sizes(program, rng)) == []


def test_both_verdicts_occurred() -> None:
    assert 5 <= sum(outcomes) <= len(outcomes) - 5, f"{sum(outcomes)} of {len(outcomes)}"
