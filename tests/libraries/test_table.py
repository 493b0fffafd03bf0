# SPDX-License-Identifier: Apache-2.0
"""Lists of libraries are read, files that functions need are found, and a table says what is equal and why not."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.libraries.functions import HERE, find_lists, read_list
from tests.libraries.table import is_data_dependent, main, table, verdicts

pytest.importorskip("ziglang", reason="C needs the extra `c`")

MAIN = """#include "own.h"
void scaled(const float *x, float *y, unsigned n) {
  while (n > 0U) {
    *y++ = twice(*x++);
    n--;
  }
}
void picked(const int *at, const float *x, float *y, int n) {
  for (int i = 0; i < n; i++) y[i] = x[at[i]];
}
"""
HEADER = "float twice(float x);\n"
HELPER = '#include "own.h"\nfloat twice(float x) {\n  return x + x;\n}\n'
LIST = """# A library.
include Include
extent n
Source/main.c scaled
Source/main.c picked --shape at=n  # data decide
Source/gone.c lost
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    for name, text in {"Source/main.c": MAIN, "Include/own.h": HEADER, "Source/helper.c": HELPER}.items():
        path = tmp_path / "library" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    (tmp_path / "own.txt").write_text(LIST, encoding="utf-8")
    return tmp_path / "library"


def test_functions_run_with_the_files_that_they_need(checkout: Path, tmp_path: Path) -> None:
    (library,) = find_lists(checkout, tmp_path)
    assert [function.name for function in library.functions] == ["scaled", "picked"]
    rows = [verdicts(library, function, ["riscv"]) for function in library.functions]
    assert rows[0] == {"nest": "equal", "riscv": "equal"}
    assert is_data_dependent(rows[1]["nest"]), rows[1]
    assert list(table(rows, ["riscv"])) == [
        "nest: 1 of 2 equal, 50 %; 100 % of the affine",
        f"     1 {rows[1]['nest']}",
        "riscv: 1 of 1 accepted are equal, 100 %",
    ]


def test_a_difference_is_counted() -> None:
    lines = list(table([{"nest": "differs"}, {"nest": "equal", "belt": "differs"}], ["belt"]))
    assert lines[0].startswith("nest: 1 of 2 equal")
    assert lines[2:] == ["belt: 0 of 1 accepted are equal, 0 %", "     1 differs"]


def test_folders_without_listed_files_give_nothing(tmp_path: Path) -> None:
    assert main([str(tmp_path)]) == 0


@pytest.mark.parametrize("path", sorted(HERE.glob("*.txt")), ids=lambda path: path.stem)
def test_lists_are_read(path: Path, tmp_path: Path) -> None:
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith(("Source/", "src/loops/")):
            file = tmp_path / line.split()[0]
            file.parent.mkdir(parents=True, exist_ok=True)
            file.touch()
    library = read_list(path, tmp_path)
    assert len({function.name for function in library.functions}) == len(library.functions) > 100
