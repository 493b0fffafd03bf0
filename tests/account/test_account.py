# SPDX-License-Identifier: Apache-2.0
"""Account as data: its rows sum to units times cycles, or there is no account; it is folded by class, line, loop and
unit."""

from __future__ import annotations

from dataclasses import replace

import pytest

from polyloom.report import account_text
from polyloom.run.source_loops import find_loops
from polyloom.targets.account import CATEGORIES, Account, Category, Row, Timeline, join_accounts, merge_rows, spread
from polyloom.targets.account_advice import advise, binding_loss, largest_loss

_ROWS = (
    Row("work", "add f32", 4, "", "adder", 30),
    Row("work", "mul f32", 3, "", "multiplier", 20),
    Row("dependence", "mul to add", 4, "", "multiplier", 40),
    Row("imbalance", "partial tiles", 0, "", "adder", 10),
)
_ACCOUNT = Account(2, 50, _ROWS)


def test_folds() -> None:
    assert list(_ACCOUNT.categories.items()) == [("work", 50), ("dependence", 40), ("imbalance", 10)]
    assert _ACCOUNT.lines == {0: 10, 3: 20, 4: 70}
    assert _ACCOUNT.unit_totals == {"adder": 40, "multiplier": 60}
    assert _ACCOUNT.details("work") == {"add f32": 30, "mul f32": 20}
    assert _ACCOUNT.hottest == 4
    assert _ACCOUNT.with_loops({3: "i", 4: "k"}).loops == {"k": 70, "i": 20}


@pytest.mark.parametrize("wrong", [1, -1])
def test_rows_that_do_not_sum_are_refused(wrong: int) -> None:
    altered = replace(_ROWS[0], unit_cycles=_ROWS[0].unit_cycles + wrong)
    with pytest.raises(ValueError, match="another number"):
        Account(2, 50, (altered, *_ROWS[1:]))


def test_negative_rows_and_wrong_times_are_refused() -> None:
    with pytest.raises(ValueError, match="less than none"):
        Account(2, 50, (*_ROWS, Row("front", "", 0, "", "adder", -1), Row("front", "", 0, "", "adder", 1)))
    with pytest.raises(ValueError, match="over time"):
        replace(_ACCOUNT, timeline=Timeline(50, ({"work": 51, "dependence": 39, "imbalance": 10},)))
    assert replace(_ACCOUNT, timeline=Timeline(50, ({"work": 50, "dependence": 40, "imbalance": 10},)))


def test_accounts_of_one_machine_are_joined() -> None:
    joined = join_accounts([_ACCOUNT, _ACCOUNT])
    assert (joined.cycles, joined.unit_cycles, joined.lines[4]) == (100, 200, 140)
    with pytest.raises(ValueError, match="not of one machine"):
        join_accounts([_ACCOUNT, Account(1, 0, ())])


def test_shares_are_apportioned_exactly() -> None:
    rows = [(_ROWS[0], 1), (_ROWS[1], 1), (_ROWS[2], 1)]
    assert [row.unit_cycles for row in spread(10, rows)] == [3, 3, 4]
    assert [row.unit_cycles for row in spread(10, [(row, 0) for row, _ in rows])] == [10, 0, 0]
    assert len(merge_rows([*_ROWS, *_ROWS])) == len(_ROWS)


def test_advice_names_the_largest_loss_and_what_is_sure() -> None:
    assert largest_loss(_ACCOUNT) == "dependence"
    assert advise(_ACCOUNT).startswith("40 % dependence (mul to add): ")
    known: dict[Category, str] = {"imbalance": "25 columns on 4; 24 or 28 would be equal shares"}
    assert advise(_ACCOUNT, known).startswith("10 % imbalance: 25 columns on 4; 24 or 28 would be equal shares; 40 %")
    assert binding_loss(_ACCOUNT) == "dependence: mul to add, 40 % of the unit-cycles"
    assert binding_loss(Account(1, 0, ())) is None
    assert advise(Account(1, 0, ())) == "nothing ran"


def test_five_lines_and_plain_values() -> None:
    found = replace(_ACCOUNT, advice=advise(_ACCOUNT)).with_loops({4: "k (lines 3 to 4)"})
    told = account_text.text(found, {4: "s += a * b"})
    assert told.splitlines() == [
        "Account of 2 units x 50 cycles: 100",
        "  classes: work 50 %, dependence 40 %, imbalance 10 %",
        "  dependence: mul to add 40 %",
        "  hottest line: 4, 70 %; hottest loop: k (lines 3 to 4), 70 %  s += a * b",
        f"  to change: {found.advice}",
    ]
    data = account_text.as_json(found)
    assert data["unit_cycles"] == 100
    assert data["classes"] == {"work": 50, "dependence": 40, "imbalance": 10}
    assert data["lines"] == [
        {"line": 3, "unit_cycles": 20, "share": 0.2, "classes": {"work": 20}},
        {"line": 4, "unit_cycles": 70, "share": 0.7, "classes": {"work": 30, "dependence": 40}},
    ]
    assert set(_ACCOUNT.categories) <= set(CATEGORIES)


def test_loops_of_python_and_c() -> None:
    python = "def f(a):\n    for i in range(3):\n        b = 0\n        for j in range(4):\n            b += 1\n"
    assert find_loops({"f.py": python}) == {
        2: "i (lines 2 to 5)",
        3: "i (lines 2 to 5)",
        4: "j (lines 4 to 5)",
        5: "j (lines 4 to 5)",
    }
    c = "int f(int n) {\n  for (int i = 0; i < n; i++) // for\n    g(i);\n  while (n) {\n    n--;\n  }\n}\n"
    assert find_loops({"f.c": c}) == {
        2: "i (lines 2 to 3)",
        3: "i (lines 2 to 3)",
        **dict.fromkeys((4, 5, 6), "while (lines 4 to 6)"),
    }
    assert find_loops({"bad.py": "for"}) == {}


def test_loops_of_equations_and_mlir() -> None:
    equations = "# for all\ninput x[N]: f32\n\nfor 0 <= i < N do\n  y[i] = x[i]\n  z[i] = y[i]\n\n"
    assert find_loops({"f.pla": equations}) == dict.fromkeys((4, 5, 6), "iteration space (lines 4 to 6)")
    mlir = (
        "func.func @f(%N: index) { // for all\n  affine.for %i = 0 to %N {\n    %s = affine.for %k = 0 to %N "
        "iter_args(%a = %z) -> (f32) {\n      affine.yield %a : f32\n    }\n  }\n"
        "  affine.parallel (%j) = (0) to (4) {\n  }\n}\n"
    )
    assert find_loops({"f.mlir": mlir}) == {
        2: "%i (lines 2 to 6)",
        **dict.fromkeys((3, 4, 5), "%k (lines 3 to 5)"),
        6: "%i (lines 2 to 6)",
        **dict.fromkeys((7, 8), "%j (lines 7 to 8)"),
    }


def test_other_texts_have_no_loops() -> None:
    assert find_loops({"f.s": "# do this for all\nadd a0, a0, a1\n"}) == {}
    assert find_loops({}) == {}
