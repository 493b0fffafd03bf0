# SPDX-License-Identifier: Apache-2.0
"""The list of other projects' functions, and the table's verdict about one."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from tests.mlir.functions import listed_functions
from tests.mlir.select_functions import FILES, meant_functions
from tests.mlir.table import EQUAL, run_on, table_lines

GEMM = Path(__file__).parents[2] / "examples" / "mlir" / "gemm.mlir"


def test_the_list_names_a_hundred_functions_once_each() -> None:
    named = list(listed_functions())
    assert len(named) >= 100
    assert len(set(named)) == len(named)
    assert all(len(each.commit) == 40 for each in named)


def test_no_project_and_no_file_has_more_functions_than_the_rule_takes() -> None:
    named = list(listed_functions())
    assert max(Counter(each.project for each in named).values()) <= FILES
    assert len({(each.project, each.file) for each in named}) == len(named)


TEXT = """func.func @f(%x: memref<4xf32>, %v: f32) {
  affine.for %i = 0 to 4 {
    affine.store %v, %x[%i] : memref<4xf32>
  }
  return
}
"""


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("memref<4xf32>", "vector<4xf32>"),
        ("memref<4xf32>", "memref<4xi64>"),
        ("  return", "  gpu.barrier\n  return"),
        ("  return", "  call @g() : () -> ()\n  return"),
        ("  return", "  // expected-error@below {{no return}}\n  return"),
        ("affine.for %i = 0 to 4 {\n", "scf.execute_region {\n"),
        ("    affine.store %v, %x[%i] : memref<4xf32>\n", ""),
    ],
)
def test_the_rule_takes_functions_of_loops_on_arrays(before: str, after: str) -> None:
    assert meant_functions(TEXT) == ["f"]
    assert meant_functions(TEXT.replace(before, after)) == []


def test_the_committed_table_is_that_of_the_list() -> None:
    """Functions that are not equal on both machines stand above it."""
    lines = Path(__file__).with_name("table.txt").read_text(encoding="utf-8").splitlines()[1:]
    head = next(n for n, line in enumerate(lines) if line.startswith("project"))
    others = [(lines[n], lines[n + 1 : n + 3]) for n in range(0, head, 3)]
    assert {name for name, _ in others} <= {f"{each.file}:{each.name}" for each in listed_functions()}
    refused = [sum(not verdicts[n].endswith(f": {EQUAL}") for _, verdicts in others) for n in (0, 1)]
    whole = next(line.split() for line in lines if line.startswith("all "))
    assert [int(number) for number in whole[1:]] == [
        count := len(list(listed_functions())),
        *(count - n for n in refused),
    ]


def test_a_function_is_run_and_counted() -> None:
    assert run_on("riscv", str(GEMM), "gemm") == EQUAL
    named = next(listed_functions())
    row = {"tcpa:4x4": "PL0401: no unit", "riscv": EQUAL}
    unset = dict.fromkeys(row, "PL0250: read before anything was assigned")
    *_, whole, meant, first, _, _ = table_lines([(named, row), (named, unset)])
    assert [line.split()[-3:] for line in (whole, meant)] == [["2", "0", "1"], ["1", "0", "1"]]
    assert first == "   1 riscv: PL0250: read before anything was assigned"
