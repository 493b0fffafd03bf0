# SPDX-License-Identifier: Apache-2.0
"""The statement tree of one kernel in both languages, and that each rule of its verifier is broken by a tree."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.conftest import Golden

from polyloom.diagnostics import PolyloomError, Source, Span
from polyloom.frontend import c
from polyloom.frontend.loops.tree import Node
from polyloom.frontend.loops.tree_form import FORM, RULES, print_tree, verify
from polyloom.frontend.python import load_kernel
from polyloom.frontend.source import Options
from polyloom.passes import Form, Watch

C = "void f(int n, int x[n]) { for (int i = 1; i < n; i++) if (x[i] / 2 > 3) x[i] = x[(i + 1) % n] + 1; }\n"
PYTHON = """import polyloom as pl

n = pl.size("n")


@pl.kernel
def f(x: pl.i32[n]) -> None:
    for i in range(1, n):
        if x[i] // 2 > 3:
            x[i] = x[(i + 1) % n] + 1
"""
AT = Span(Source("f", "x"), 0, 1)
NAME = Node("name", AT, "int", name="x", symbol="x")
SOUND = Node("binary", AT, "int", (NAME, NAME), "+")
BROKEN = {
    "has another number of children": replace(SOUND, inner=(NAME,)),
    "has operands of another type": replace(SOUND, inner=(NAME, replace(NAME, ctype="float"))),
    "does not say how it converts": Node("convert", AT, "float", (NAME,)),
    "is indexed by no integer": Node("element", AT, "int", (NAME, replace(NAME, ctype="float"))),
    "has no identity": replace(NAME, symbol=""),
}


@pytest.mark.parametrize("language", ["c", "py"])
def test_the_tree_says_all_rules_of_its_language(
    language: str, golden: Golden, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, found = tmp_path / f"f.{language}", list[str]()
    path.write_text(C if language == "c" else PYTHON, encoding="utf-8")

    def saw(self: Watch, name: str, value: tuple[Node, ...], form: Form[tuple[Node, ...]]) -> None:
        del self
        if name == "tree":
            found.append(form.show(value))

    monkeypatch.setattr(Watch, "observe", saw)
    if language == "c":
        pytest.importorskip("ziglang", reason="C needs the extra `c`")
        c.load(str(path), Options())
    else:
        assert load_kernel(str(path)).nest
    golden(f"tree_{language}", found[0])


def test_a_sound_tree_is_its_own_verification() -> None:
    assert verify((SOUND,)) == (SOUND,)
    assert print_tree((SOUND,)) == "binary +: int\n  name x: int\n  name x: int\n"


@pytest.mark.parametrize("rule", RULES)
def test_each_rule_is_broken_by_a_tree(rule: str) -> None:
    with pytest.raises(PolyloomError, match="PL0977") as caught:
        FORM.verify((SOUND, BROKEN[rule]))
    assert rule in str(caught.value)
