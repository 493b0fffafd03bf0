# SPDX-License-Identifier: Apache-2.0
"""Programs of stages as text: what is printed reads back as the same program, and each rule of the verifier refuses."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.conftest import Golden
from tests.transform.stages.programs import formulas

from polyloom.diagnostics import PolyloomError
from polyloom.ir.stage_text import print_stages, read_stages
from polyloom.ir.stage_verify import RULES, verify
from polyloom.targets.minion.map.stages import TENSOR_UNIT
from polyloom.targets.tensix.map.loops.form import TILE
from polyloom.transform.stages.abilities import Abilities
from polyloom.transform.stages.outputs import align_dimensions, store_outputs
from polyloom.transform.stages.stage_cutting import cut_stages

KERNELS = Path(__file__).parents[3] / "examples" / "kernels"
NAMES = ("gemm", "mm2", "mm3", "atax", "bicg", "doitgen", "gemver", "gesummv", "mvt")
GEMM = """array A: f32[N, K]
array B: f32[K, M]
array C: f32[N, M]
array R: f32[N, M]
array S: f32[N, M]
array m: f32[N]
product R[i, j] = sum k: A[i, k] * B[k, j]; label C
formula S[i, j] = add(R[i, j], mul(C[i, j], -0.0)); label C; summed K
fold m[i] = maximum j: S[i, j]; label m
output C = S[0, 1]
"""


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("can", [TILE, TENSOR_UNIT], ids=["tile", "tensor"])
def test_what_is_printed_reads_back(name: str, can: Abilities) -> None:
    found = cut_stages(align_dimensions(formulas(KERNELS / f"{name}.py")), can)
    for program in (found, store_outputs(found)):
        verify(program)
        assert read_stages(print_stages(program)) == program


def test_the_text_of_gemm(golden: Golden) -> None:
    golden("gemm-tile", print_stages(cut_stages(formulas(KERNELS / "gemm.py"), TILE)))
    golden(
        "gemm-tensor-unit",
        print_stages(store_outputs(cut_stages(align_dimensions(formulas(KERNELS / "gemm.py")), TENSOR_UNIT))),
    )


def test_all_that_a_stage_may_have_reads_back() -> None:
    product = (
        "product R[i, j] = C[i, j] + sum k: A[i, k] * B[k, j]; label C; widened to_f32; roundings 2; ordered; spread"
    )
    lines = GEMM.replace("product R[i, j] = sum k: A[i, k] * B[k, j]; label C", product)
    lines = lines.replace("C[i, j], -0.0", "C?[i + 1, -K + 2*j + 3], 1.5e-07").replace("summed K", "summed K, 2*K")
    lines = lines.replace("maximum j:", "maximum j from 32 to 64:")
    lines = lines.replace("S[0, 1]", "S[at N - 1, 0]") + "sizes may be 0\n"
    assert print_stages(read_stages(lines)) == lines
    lines = lines.replace("sizes may be 0", "arrays have elements")
    assert print_stages(read_stages(lines)) == lines


BROKEN = {
    "arrays_are_declared": ("array B: f32[K, M]\n", ""),
    "results_have_one_stage": ("formula S", "formula R"),
    "indices_have_the_rank": ("A[i, k]", "A[k]"),
    "stages_follow_what_they_read": ("sum k: A[i, k]", "sum k: S[i, k]"),
    "products_are_of_matrices": ("B[k, j]", "B[k, i]"),
    "formulas_are_of_operations": ("mul(C[i, j], -0.0)", "mul(C[i, j])"),
    "folds_are_of_matrices": ("maximum j: S[i, j]", "maximum j: S[j, j]"),
    "outputs_are_parts_of_results": ("S[0, 1]", "S[0, 0]"),
}


def test_every_rule_is_broken_here() -> None:
    verify(read_stages(GEMM))
    assert {rule.__name__ for rule in RULES} == {*BROKEN}


@pytest.mark.parametrize("rule", BROKEN)
def test_broken_rules(rule: str) -> None:
    program = read_stages(GEMM.replace(*BROKEN[rule]))
    with pytest.raises(PolyloomError) as error:
        verify(program)
    wanted = next(each for each in RULES if each.__name__ == rule)
    assert [d.message for d in error.value.diagnostics] == [d.message for d in wanted(program)]


@pytest.mark.parametrize(
    "line", ["matrix A", "product R[i] = sum k: A[i, k] + B[k]; label C", "formula R[i = 1; label R"]
)
def test_other_lines(line: str) -> None:
    with pytest.raises(PolyloomError) as error:
        read_stages(line)
    assert error.value.code == "PL0979"
