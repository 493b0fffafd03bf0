# SPDX-License-Identifier: Apache-2.0
"""Printed programs: their golden texts, and that they read back."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.conftest import Golden
from tests.frontend.pla.helpers import EXAMPLES, without_spans

from polyloom.diagnostics import PolyloomError
from polyloom.frontend.pla import load, parse
from polyloom.ir.pla_text import print_program


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.stem)
def test_printed_example_is_golden_and_reads_back(path: Path, golden: Golden) -> None:
    program = load(path)
    text = print_program(program)
    golden(path.stem, text)
    assert without_spans(parse(text, program.name)) == without_spans(program)


def test_windows_text_is_the_same_program() -> None:
    text = EXAMPLES[0].read_text(encoding="utf-8")
    assert without_spans(parse("\ufeff" + text.replace("\n", "\r\n"), "x")) == without_spans(parse(text, "x"))


ATOMS = st.one_of(
    st.builds(
        "{} {} {}".format,
        st.sampled_from(["i", "j", "i + j", "i - 2*j", "N - i"]),
        st.sampled_from(["<", "<=", "=", "!=", ">=", "≥"]),
        st.integers(-3, 5),
    ),
    st.builds(
        "{} <= {} < {}".format,
        st.integers(-2, 2),
        st.sampled_from(["i", "j", "i + j"]),
        st.sampled_from(["N", "5", "2*N + 1"]),
    ),
)
CONDITIONS = st.recursive(
    ATOMS,
    lambda c: st.one_of(
        c.map("not ({})".format), st.builds("({}) and ({})".format, c, c), st.builds("({}) or ({})".format, c, c)
    ),
    max_leaves=5,
)
VALUES = st.recursive(
    st.sampled_from(["u[i]", "v[i, j]", "3", "-1"]),
    lambda v: st.one_of(
        st.builds(
            "({} {} {})".format,
            v,
            st.sampled_from(["+", "-", "*", "and", "or", "xor", "shl", "shr", "==", "<", "!="]),
            v,
        ),
        v.map("-{}".format),
        st.builds("select({}, {}, {})".format, v, v, v),
        st.builds("madd({}, {}, {})".format, v, v, v),
        st.builds("min({}, abs({}))".format, v, v),
    ),
    max_leaves=6,
)


@given(CONDITIONS, VALUES)
def test_any_condition_and_value_read_back(condition: str, value: str) -> None:
    text = f"""parameter N >= 1
input u[N]: i32, v[N, 3]: i32
output y[N, 3]: i32
for 0 <= i < N, 0 <= j < 3 do
  x[i, j] = {value} if {condition}
  x[i, j] = 0 if not ({condition})
  y[i, j] = x[i, j]
"""
    try:
        program = parse(text, "random")
    except PolyloomError as error:
        assert {d.code for d in error.diagnostics} <= {"PL0201"}, error
        return
    assert without_spans(parse(print_program(program), "random")) == without_spans(program)
