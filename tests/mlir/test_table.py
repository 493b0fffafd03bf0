# SPDX-License-Identifier: Apache-2.0
"""The list of other projects' functions, and the table's verdict about one."""

from __future__ import annotations

from pathlib import Path

from tests.mlir.functions import SAMPLE, listed_functions
from tests.mlir.select_functions import is_sampled, meant_functions
from tests.mlir.table import EQUAL, run_on, table_lines

GEMM = Path(__file__).parents[2] / "examples" / "mlir" / "gemm.mlir"


def test_the_list_names_a_hundred_functions_once_each() -> None:
    named = list(listed_functions())
    assert len(named) >= 100
    assert len(set(named)) == len(named)
    assert all(len(each.commit) == 40 for each in named)


def test_the_sample_is_what_its_rule_takes() -> None:
    named = list(listed_functions(SAMPLE.read_text()))
    assert len(named) >= 100
    assert all(is_sampled(each.project, each.file) for each in named)
    text = "func.func @f(%x: memref<4xf32>) {\n  affine.for %i = 0 to 4 {\n  }\n  return\n}\n"
    assert list(meant_functions(text)) == ["f"]
    assert not list(meant_functions(text.replace("memref<4xf32>", "vector<4xf32>")))
    assert not list(meant_functions(text.replace("  return", "  gpu.barrier\n  return")))


def test_a_function_is_run_and_counted() -> None:
    assert run_on("riscv", str(GEMM), "gemm") == EQUAL
    named = next(listed_functions())
    row = {"tcpa:4x4": "PL0401: no unit", "riscv": EQUAL}
    assert list(table_lines([(named, row)]))[-1] == "   1 tcpa:4x4: PL0401: no unit"
