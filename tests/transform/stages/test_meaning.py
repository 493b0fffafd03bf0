# SPDX-License-Identifier: Apache-2.0
"""Cutting keeps the meaning: integers wrap, so that every order of sums gives the source's bits, for every machine."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.transform.stages.programs import formulas_of, random_kernel

from polyloom import frontend
from polyloom.analysis.dataflow import Unlike
from polyloom.diagnostics import PolyloomError
from polyloom.ir.formula import Formulas
from polyloom.ir.plan_interpret import interpret as interpret_plan
from polyloom.ir.stage import Product, Program
from polyloom.ir.stage_interpret import interpret
from polyloom.ir.stage_text import print_stages, read_stages
from polyloom.ir.stage_verify import verify
from polyloom.targets.minion.map.stages import TENSOR_UNIT
from polyloom.targets.tensix.map.loops.form import TILE
from polyloom.transform.stages import stage_cutting as cutting
from polyloom.transform.stages.outputs import align_dimensions, store_outputs
from polyloom.transform.stages.stage_cutting import cut_stages

INTEGERS = replace(TENSOR_UNIT, factors=frozenset({"i32"}))
"""A machine that accumulates, as minions do, and multiplies what the kernels here have."""


def cuts(found: Formulas) -> list[Program]:
    made = list[Program]()
    for can, exact in ((TILE, False), (INTEGERS, False), (INTEGERS, True)):
        try:
            program = cut_stages(align_dimensions(found), can, exact=exact)
        except Unlike:
            continue
        made += [program, store_outputs(program)]
    return made


def check(seed: int, folder: Path) -> int:
    """The number of products."""
    file = folder / "random.py"
    file.write_text(random_kernel(seed))
    source = frontend.load(str(file))
    rng, values = np.random.default_rng(seed), {"N": 3}
    inputs = {
        s.name: rng.integers(-(2**31), 2**31, [n.evaluate(values) for n in s.shape]).astype(np.int32)
        for s in source.plan.inputs
    }
    expected = interpret_plan(source.plan, values, inputs)
    products = 0
    for program in cuts(formulas_of(source)):
        verify(program)
        assert read_stages(print_stages(program)) == program
        got = interpret(program, values, inputs)
        assert {*got} == {*expected} and all(np.array_equal(got[name], want) for name, want in expected.items())
        products += sum(isinstance(stage, Product) for stage in program.stages)
    return products


def checked(seeds: range, folder: Path) -> int:
    products = 0
    for seed in seeds:
        try:
            products += check(seed, folder)
        except (Unlike, PolyloomError) as error:
            assert isinstance(error, Unlike) or error.code in ("PL0262", "PL0263"), error
    return products


def test_random_integers(tmp_path: Path) -> None:
    assert checked(range(12), tmp_path) > 25


def test_a_lost_sign_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    right = cutting.add_signed
    monkeypatch.setattr(cutting, "add_signed", lambda total, addend, **_: right(total, addend, is_less=False))  # pyright: ignore[reportUnknownArgumentType, reportUnknownLambdaType]: as `accumulate`
    with pytest.raises(AssertionError):
        checked(range(12), tmp_path)


@pytest.mark.long
def test_many_random_integers(tmp_path: Path) -> None:
    assert checked(range(1000, 1500), tmp_path) > 1000
