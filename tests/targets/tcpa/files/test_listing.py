# SPDX-License-Identifier: Apache-2.0
"""Listings: goldens of the paper's example, and expressions against the numbers that they stand for."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import product
from typing import Any

from hypothesis import given, settings
from tests.conftest import Golden
from tests.targets.tcpa.files.generated import concretes, symbolics
from tests.targets.tcpa.files.paper import CONCRETE, OD0, RD0, SYMBOLIC

from polyloom.sets import Affine
from polyloom.targets.tcpa.words import notation
from polyloom.targets.tcpa.words.concrete import Concrete
from polyloom.targets.tcpa.words.isa import Goto, If, Immediate, Instruction, encode_opcode
from polyloom.targets.tcpa.words.listing import as_json, show_concrete, show_symbolic
from polyloom.targets.tcpa.words.symbolic import Symbolic
from polyloom.targets.tcpa.words.symbolic_timing import Polynomial, derive_timing


def test_the_running_example_is_listed_as_in_the_paper(golden: Golden) -> None:
    golden("symbolic", show_symbolic(SYMBOLIC))
    golden("concrete", show_concrete(CONCRETE, SYMBOLIC.limits.units))
    golden("symbolic_json", json.dumps(as_json(SYMBOLIC), indent=1))
    golden("concrete_json", json.dumps(as_json(CONCRETE), indent=1))


def test_the_schedule_of_the_running_example_is_the_paper_s() -> None:
    """Section 5.2: lambda = (pi, pi * p); the corrected reading of section 6: lambda_J = 2 and lambda_K = 12 for p =
    6."""
    times = derive_timing(SYMBOLIC, SYMBOLIC.candidates[0])
    assert [str(factor) for factor in times.lambda_j] == ["2"]
    assert [(theta, [str(bound) for bound in bounds]) for theta, bounds in times.skew] == [((0, 1), ["2*p0"])]
    assert str(times.tile) == "2*p0 + 1"
    assert times.valid == ()


def test_a_schedule_that_small_tiles_break_says_so() -> None:
    """With y ready two cycles later, the recurrence through fd0 needs pi >= 4, and pi is 2."""
    (schedule,) = SYMBOLIC.schedules
    late = replace(SYMBOLIC, schedules=(replace(schedule, latency=(1, 1, 3, 1)),))
    assert [str(value) for value in derive_timing(late, late.candidates[0]).valid] == ["-2"]


def test_polynomials_are_rings() -> None:
    p, q = Polynomial.symbol("p"), Polynomial.symbol("q")
    value = (p - q) * (p + q) - Polynomial.constant(3)
    assert str(value) == "p*p - q*q - 3"
    assert str(value.substitute(lambda _: q)) == "-3"
    assert not value.has_no_negative_coefficient


def test_instructions_read_as_in_section_6_3() -> None:
    assert (
        notation.instruction(Instruction(encode_opcode("and", "i32"), (OD0,), (RD0, Immediate(1)))) == "andi od0 rd0 1"
    )
    assert (
        notation.instruction(Instruction(encode_opcode("add", "f32"), (RD0, OD0), (RD0, Immediate(0x3FC00000))))
        == "addi.f32 rd0,od0 rd0 1.5"
    )
    assert (
        notation.instruction(Instruction(encode_opcode("add", "i32"), (), (RD0, Immediate(0xFFFFFFFF))))
        == "addi - rd0 -1"
    )
    assert notation.branch(If((0, 2), (1, 2, 3, 4)), "q{}".format) == "if ic0, ic2 jmp q4, q3, q2, q1"
    assert notation.branch(Goto(7), "q{}".format) == "goto q7"


def test_conditions_read_as_in_the_paper() -> None:
    i, j, n = Affine.symbol("i"), Affine.symbol("j"), Affine.symbol("N")
    assert notation.conjunction((i, n - i - 1), ("i",)) == "0 <= i < N"
    assert notation.conjunction((i - 3, -i + 3, n - i - 1), ("i",)) == "i = 3"
    assert notation.conjunction((i - j, n - i, n - i - 2), ("i", "j")) == "i - j >= 0 and i <= N and i < N - 1"
    assert notation.conjunction((n - 1,), ("i",)) == "N - 1 >= 0"
    assert notation.conjunction((), ("i",)) == "true"


@settings(max_examples=12)
@given(symbolics())
def test_every_symbolic_configuration_can_be_listed(symbolic: Symbolic) -> None:
    assert show_symbolic(symbolic)
    json.dumps(as_json(symbolic))


@settings(max_examples=25)
@given(concretes())
def test_every_concrete_configuration_can_be_listed(concrete: Concrete) -> None:
    assert show_concrete(concrete)
    json.dumps(as_json(concrete))


def _holds(text: str, point: dict[str, Any]) -> bool:
    return text == "true" or bool(eval(text.replace(" = ", " == "), {}, point))


def test_conjunctions_mean_what_they_say() -> None:
    """The text, evaluated, is the conjunction: for all pairs of small constraints on i, j and N."""
    rows = [
        Affine.from_terms({"i": a, "j": b, "N": c}, d)
        for a, b, c, d in product((-1, 0, 2), (-1, 0, 1), (0, 1), (-2, 0))
    ]
    points = [{"i": i, "j": j, "N": n} for i, j, n in product((-2, 0, 1, 3), (-1, 0, 2), (0, 2, 3))]
    for a, b in product(rows[::2], rows[1::3]):
        text = notation.conjunction((a, b), ("i", "j"))
        for point in points:
            assert _holds(text, point) == (a.evaluate(point) >= 0 and b.evaluate(point) >= 0), (
                text,
                str(a),
                str(b),
                point,
            )
