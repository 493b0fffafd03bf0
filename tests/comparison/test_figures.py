# SPDX-License-Identifier: Apache-2.0
"""Columns derived of costs: small machines whose bounds are plain, and the row of docs/compare.md by hand."""

from __future__ import annotations

import pytest

from polyloom.comparison.figures import Figures, count_units, figures, split_fused_work, unit_bound
from polyloom.ir.work import Class, Work
from polyloom.machine.stated_figures import Stated
from polyloom.targets.costs import Costs, Units

MUL: Class = ("mul", "f32")
ADD: Class = ("add", "f32")
DIV: Class = ("div", "f32")
MADD: Class = ("madd", "f32")
ELEMENTS = (
    Units("add", 32, {ADD: 1}),
    Units("mul", 32, {MUL: 1, MADD: 1}),
    Units("div", 16, {DIV: 12, ("div", "i32"): 12}),
)
GEMM: Work = {("add", "f32"): 15_000, ("mul", "f32"): 30_500}


def test_gemm_on_sixteen_elements_by_hand() -> None:
    costs = Costs(
        time="cycle-exact", issued=91_500, units=ELEMENTS, moved=9_408, bandwidth=64, stated=Stated(500.0, 0.5, 10.0)
    )
    found = figures(1_192, costs, GEMM)
    assert (found.work, found.units) == (45_500, 64)
    assert found.unit_bound_cycles == 30_500 / 32
    assert found.work_per_cycle == pytest.approx(38.17, abs=0.01)
    assert found.share_of_unit_bound == pytest.approx(0.7996, abs=1e-4)
    assert found.unit_cycles_per_operation == pytest.approx(1.6767, abs=1e-4)
    assert found.work_per_byte == 45_500 / 9_408
    assert found.memory_bound_cycles == 9_408 / 64
    assert found.share_of_memory_bound == pytest.approx(147 / 1_192)
    assert found.stated_seconds == pytest.approx(1_192 / 500e6)
    assert found.stated_picojoules == 91_500 * 0.5 + 9_408 * 10


def test_what_is_not_known_is_none() -> None:
    assert figures(None, Costs(), None) == Figures()
    without_time = figures(None, Costs(issued=5, units=ELEMENTS), GEMM)
    assert (without_time.units, without_time.unit_bound_cycles) == (64, 30_500 / 32)
    assert (without_time.work_per_cycle, without_time.share_of_unit_bound) == (None, None)
    assert figures(10, Costs(units=(Units("logic", 4, {("and", "i32"): 1}),)), GEMM).units is None
    assert figures(10, Costs(moved=9_408), GEMM).share_of_memory_bound is None
    # Energy for a byte is stated, and bytes are not counted.
    assert figures(10, Costs(issued=5, stated=Stated(None, 1.0, 1.0)), GEMM).stated_picojoules is None


def test_units_that_share_classes_are_bounded_together() -> None:
    shared = (Units("alu", 2, {MUL: 1, ADD: 1}), Units("adder", 1, {ADD: 1}))
    assert unit_bound(shared, {("mul", "f32"): 10, ("add", "f32"): 0}) == 5
    assert unit_bound(shared, {("mul", "f32"): 10, ("add", "f32"): 20}) == 10  # 30 on three units
    assert unit_bound(shared, {("mul", "f32"): 30, ("add", "f32"): 6}) == 15  # 30 on two of them


def test_a_unit_that_is_not_pipelined_is_held() -> None:
    assert unit_bound(ELEMENTS, {("div", "f32"): 32}) == 32 * 12 / 16


def test_a_class_without_a_unit_has_no_bound() -> None:
    assert unit_bound(ELEMENTS, {("mul", "f64"): 1}) is None
    assert count_units(ELEMENTS, {("mul", "f64"): 1}) == 0
    assert unit_bound(ELEMENTS, {}) is None


def test_a_fused_operation_is_one_start_or_two_operations() -> None:
    fused: Work = {("madd", "f32"): 64}
    assert (split_fused_work(ELEMENTS, fused), count_units(ELEMENTS, fused), unit_bound(ELEMENTS, fused)) == (
        fused,
        64,
        2,
    )
    lanes = (Units("multipliers", 8, {MUL: 1}), Units("adders", 8, {ADD: 1}))
    split = split_fused_work(lanes, fused)
    assert split == {MUL: 64, ADD: 64}
    assert (count_units(lanes, split), unit_bound(lanes, split)) == (16, 8)


def test_many_classes_have_a_weaker_bound_of_the_same_kind() -> None:
    names = [f"op{n}" for n in range(12)]
    each = Units("all", 3, {(name, "i32"): 1 for name in names})
    assert unit_bound((each,), {(name, "i32"): 3 for name in names}) == 12
