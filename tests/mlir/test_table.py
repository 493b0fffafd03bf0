# SPDX-License-Identifier: Apache-2.0
"""The list of other projects' functions, and the table's verdict about one."""

from __future__ import annotations

from pathlib import Path

from tests.mlir.functions import listed_functions
from tests.mlir.table import EQUAL, run_on, table_lines

GEMM = Path(__file__).parents[2] / "examples" / "mlir" / "gemm.mlir"


def test_the_list_names_a_hundred_functions_once_each() -> None:
    named = list(listed_functions())
    assert len(named) >= 100
    assert len(set(named)) == len(named)
    assert all(len(each.commit) == 40 for each in named)


def test_a_function_is_run_and_counted() -> None:
    assert run_on("riscv", str(GEMM), "gemm") == EQUAL
    named = next(listed_functions())
    row = {"tcpa:4x4": "PL0401: no unit", "riscv": EQUAL}
    assert list(table_lines([(named, row)]))[-1] == "   1 tcpa:4x4: PL0401: no unit"
