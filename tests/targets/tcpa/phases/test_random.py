# SPDX-License-Identifier: Apache-2.0
"""Random plans: any of four programs in any order on arrays bound at random, in place or not, against NumPy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any
from unittest.mock import patch

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.made_up import random_inputs
from tests.targets.tcpa.phases.plans import PRODUCT, SCALE, SQUARE, TRANSPOSED, Arrays

from polyloom.ir.pla import Array, Program
from polyloom.ir.plan import Phase, Plan
from polyloom.ir.plan_interpret import interpret
from polyloom.targets.tcpa import compile_plan, machine_file
from polyloom.targets.tcpa.compile import compile_program
from polyloom.targets.tcpa.machine import Machine
from polyloom.targets.tcpa.run.phases import plan_execution as phases
from polyloom.targets.tcpa.words.symbolic import Symbolic

Vector = np.ndarray[Any, np.dtype[np.int32]]
_VECTORS = ("u", "v", "w")
_ARRAYS = {"A": PRODUCT.inputs[0], "k": SCALE.inputs[0], **dict.fromkeys(_VECTORS, PRODUCT.inputs[1])}


def _square(before: Vector, given: Arrays) -> Vector:
    return np.concatenate((before[:1], given["from"][1:] ** 2))


MEANING: dict[str, Callable[[Vector, Arrays], Vector]] = {
    "product": lambda _, given: given["start"] + given["A"] @ given["x"],
    "transposed": lambda _, given: given["start"] + given["A"].T @ given["x"],
    "square": _square,
    "scale": lambda _, given: given["from"] * given["factor"],
}
"""By program: what its output held and its inputs, to what its output holds."""


@cache
def compiled(program: Program) -> Symbolic:
    """Every program is compiled once."""
    return compile_program(program, machine_file.load("wide"))


def compiled_once(program: Program, machine: Machine, **given: object) -> Symbolic:
    del machine, given
    return compiled(program)


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    steps = draw(st.lists(st.sampled_from((PRODUCT, TRANSPOSED, SQUARE, SCALE)), min_size=1, max_size=4))
    bound = tuple(
        Phase(
            p,
            tuple((a.name, _outside(draw, a)) for a in p.inputs),
            tuple((a.name, draw(st.sampled_from(_VECTORS))) for a in p.outputs),
        )
        for p in steps
    )
    roles = {name: draw(st.sampled_from(("given", "result", "both", "neither"))) for name in _VECTORS}
    inputs = _named("A", "k", *(n for n, role in roles.items() if role in ("given", "both")))
    outputs = _named(*(n for n, role in roles.items() if role in ("result", "both")))
    return Plan(
        "random",
        ("N",),
        PRODUCT.assumptions,
        inputs,
        outputs,
        _named(*(n for n, role in roles.items() if role == "neither")),
        bound,
    )


def _outside(draw: st.DrawFn, array: Array) -> str:
    return {2: "A", 0: "k"}.get(len(array.shape)) or draw(st.sampled_from(_VECTORS))


def _named(*names: str) -> tuple[Array, ...]:
    return tuple(replace(_ARRAYS[n], name=n, span=None) for n in names)


def meaning(plan: Plan, size: int, inputs: Arrays) -> dict[str, Any]:
    arrays = {n: np.zeros(size, np.int32) for n in _VECTORS} | dict(inputs)
    for phase in plan.phases:
        ((_, target),) = phase.outputs
        arrays[target] = MEANING[phase.program.name](
            arrays[target], {inner: arrays[outer] for inner, outer in phase.inputs}
        )
    return {a.name: arrays[a.name] for a in plan.outputs}


@settings(max_examples=12)
@given(plans(), st.integers(0, 6), st.tuples(st.integers(1, 3), st.integers(1, 3)), st.integers(0, 9))
def test_plans(plan: Plan, size: int, region: tuple[int, int], seed: int) -> None:
    inputs = random_inputs(plan, {"N": size}, seed)
    want = meaning(plan, size, inputs)
    equations = interpret(plan, {"N": size}, inputs)
    with patch.object(compile_plan, "compile_program", compiled_once):
        symbolic = compile_plan.compile_plan(plan, "wide", None, None)
    execution = phases.simulate(phases.instantiate(symbolic, {"N": size}, region, None), None, inputs, False)
    assert execution.outputs.keys() == want.keys() == equations.keys()
    for name, values in want.items():
        assert np.array_equal(values, equations[name])
        assert np.array_equal(values, execution.outputs[name])
