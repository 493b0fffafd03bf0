# SPDX-License-Identifier: Apache-2.0
"""Instructions know file, line and column: of what is included, expanded from macros, and inlined."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.transform.ssa.test_externals import HERE, TABLE, load

from polyloom.diagnostics import PolyloomError
from polyloom.frontend import ssa
from polyloom.frontend.source import Options
from polyloom.ir.ssa import Function, Place
from polyloom.ir.ssa_externals import Externals
from polyloom.ir.ssa_interpret import interpret
from polyloom.ir.ssa_read import read
from polyloom.ir.ssa_text import print_ssa

pytest.importorskip("ziglang", reason="C needs the extra `c`")

HEADER = """static inline int third(int a) {
  return 7 /
         a;
}
#define HALF(a) ((a) / 2)
#define BODY(name) int name(int a) { return a - 1; }
"""
SOURCE = """#include "util.h"
int own(int a) { return HALF(a + 1)
                        * 3; }
int inlined(int a) {
  int b = 2 * a;
  return   third(b);
}
#include "more.h"
"""
MORE = """int within(int a, int *p) {
  p[9] = a / (a - 1);
  return a;
}
__attribute__((noinline)) int refused(int a, ...) {
  return a * a;
}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in {"util.h": HEADER, "main.c": SOURCE, "more.h": MORE}.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "unit.c").write_text('#include "main.c"\nint last(int a) { return within(a, &a); }\n', encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def places(function: Function, operation: str) -> list[Place]:
    return [i.place for block in function.blocks for i in block.instructions if i.operation == operation]


def test_lines_and_columns(folder: Path) -> None:
    function = ssa("main.c", Options(function="own"))
    assert function.place == Place("main.c", 2)
    assert places(function, "add") == [Place("main.c", 2, 32)], "that of the macro's argument"
    assert places(function, "sdiv") == [Place("main.c", 2, 25)], "that of the macro's use"
    assert places(function, "mul") == [Place("main.c", 3, 25)]
    assert function.blocks[0].terminator.place == Place("main.c", 2, 18)


def test_what_is_inlined_stands_where_it_is_called(folder: Path) -> None:
    function = ssa("main.c", Options(function="inlined"))
    assert places(function, "sdiv") == [Place("main.c", 6, 12)]
    with pytest.raises(PolyloomError, match="@inlined, line 6, block"):
        interpret(function, [0])


def test_a_function_of_another_file(folder: Path) -> None:
    """Its own file is that of its lines; others are named in messages."""
    header = str(folder / "more.h")
    function = ssa("unit.c", Options(function="last"), 1)
    assert function.place.file == "unit.c"
    assert {place.file for place in places(function, "sdiv")} <= {"unit.c", header}
    assert Place(header, 2, 1).words(home=header) == "line 2"
    assert Place(header, 2, 1).words(home="unit.c") == f"{header}, line 2"
    assert Place().words() == ""


def test_places_print_and_read_back(folder: Path) -> None:
    function = ssa("main.c", Options(function="inlined"))
    whole = print_ssa(function, places=True)
    assert read(whole) == function
    assert "!6:12" in whole
    assert 'function inlined(%a: i32) -> i32 { !"main.c":4:0' in whole
    assert "!6:12" not in print_ssa(function)
    assert "!6" in print_ssa(function)
    strange = 'f \\"{ü.c'
    text = f"function f() {{\nentry:\n    fence acq_rel !{quoted(strange)}:3:1\n    return !4:2\n}}\n"
    there = read(text)
    assert there.blocks[0].instructions[0].place == Place(strange, 3, 1)
    assert there.blocks[0].terminator.place == Place("", 4, 2)
    assert print_ssa(there, places=True) == text


def quoted(file: str) -> str:
    return '"' + file.replace("\\", "\\\\").replace('"', '\\"') + '"'


def test_a_refusal_stands_in_the_file_it_is_about(folder: Path) -> None:
    (folder / "both.c").write_text('#include "more.h"\nint calls(int a) { return refused(a) > 0; }\n', encoding="utf-8")
    with pytest.raises(PolyloomError) as caught:
        ssa("both.c", Options(function="calls"))
    (found,) = caught.value.diagnostics
    assert found.span is not None
    assert found.span.source.name == str(folder / "more.h")
    assert found.span.line == 5


def test_headers_of_a_table_are_not_shown() -> None:
    """In C++ code, the user's own innermost line: not the template's caller, and not what a header of the machine's
    wraps."""
    shown = load("lanes::total<4, true>", file="intrinsics.cpp")
    adds = [i.place for block in shown.blocks for i in block.instructions if i.called == "add"]
    assert {Path(place.file).name for place in adds} == {"intrinsics.cpp", "intrinsics.h"}
    hidden = Externals(TABLE.functions, TABLE.spaces, (str(HERE / "intrinsics.h"),))
    function = load("lanes::total<4, true>", file="intrinsics.cpp", table=hidden)
    lines = {
        (Path(i.place.file).name, i.place.line)
        for block in function.blocks
        for i in block.instructions
        if i.called == "add"
    }
    assert lines == {("intrinsics.cpp", 9), ("intrinsics.cpp", 21)}
