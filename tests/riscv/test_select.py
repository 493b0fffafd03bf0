# SPDX-License-Identifier: Apache-2.0
"""Every row of the select table is proved for all inputs; lengths are at or below those that are known; what is made of
the rows runs on the interpreter."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.conftest import Golden
from tests.riscv import bitvectors, integers
from tests.riscv.bitvectors import Term, z3
from tests.riscv.harts import BASE

from polyloom.diagnostics import PolyloomError
from polyloom.riscv import names
from polyloom.riscv.assemble import assemble
from polyloom.riscv.image import raw_image
from polyloom.riscv.model import Machine
from polyloom.riscv.selects import search
from polyloom.riscv.selects.expression import Expression, Node, choose, evaluate, expression_names, is_boolean
from polyloom.riscv.selects.notation import parse_expression
from polyloom.riscv.selects.search import inputs
from polyloom.riscv.selects.select import select_expression
from polyloom.riscv.selects.short_branch import expand_pairs
from polyloom.riscv.selects.table import SETS, Line, rules, search_results

ISAS = [
    names.parse_isa(f"rv{xlen}im{suffix}") for xlen in (64, 32) for suffix in ("", "_zbb", "_zicond", "_zicond_zbb")
]


def variables(expression: Expression, xlen: int) -> tuple[dict[str, Term], list[Term]]:
    """A bit vector for every name, and that booleans are 0 or 1."""
    made = {name: z3.BitVec(name, xlen) for name in expression_names(expression)}
    return made, [z3.ULE(value, 1) for name, value in made.items() if is_boolean(name)]


@cache
def proved(form: str, lines: tuple[Line, ...], xlen: int) -> str:
    expression = parse_expression(form)
    values, assumptions = variables(expression, xlen)
    return bitvectors.refute(
        bitvectors.result(lines, values, xlen) == bitvectors.term(expression, values, xlen), *assumptions
    )


@pytest.mark.parametrize("xlen", [32, pytest.param(64, marks=pytest.mark.long)])
def test_searched_rows_are_right_for_all_inputs(xlen: int) -> None:
    found = [(form, lines) for form, _, _, lines in search_results() if lines]
    assert len(found) > 300
    assert [(form, lines, wrong) for form, lines in found if (wrong := proved(form, lines, xlen))] == []


def test_selects_are_right_for_all_inputs_of_64_bits() -> None:
    """Those with f in identity, +1, ~, -, in the default run too."""
    found = [(form, lines) for form, _, _, lines in search_results() if lines and form in FORMS_OF_CSEL]
    assert [(form, lines, wrong) for form, lines in found if (wrong := proved(form, lines, 64))] == []


FORMS_OF_CSEL = {
    f"{c} ? {arms}" for c in "cs" for arm in ("b", "b + 1", "~b", "-b") for arms in (f"a : {arm}", f"{arm} : a")
}


@pytest.mark.parametrize("xlen", [32, 64])
def test_rules_are_right_for_all_inputs_and_constants(xlen: int) -> None:
    for row in rules():
        values, assumptions = variables(row.pattern, xlen)
        j, k = (values.get(name, z3.BitVecVal(0, xlen)) for name in "jk")
        known = {**values, "j": j, "k": k, "-k": -k, "k-j": k - j, "j-k": j - k}
        used = {operand for line in row.lines for operand in line.operands}
        for text, value in (("lg(k)", k), ("lg(k-j)", k - j)):
            if text in used:
                known[text] = z3.BitVec("log", xlen)
                assumptions += [z3.ULT(known[text], xlen), value == z3.BitVecVal(1, xlen) << known[text]]
        conditions: list[Term] = {"": [], "k == j + 1": [k == j + 1], "j == k + 1": [j == k + 1]}[row.condition]
        claim = bitvectors.result(row.lines, known, xlen) == bitvectors.term(row.pattern, values, xlen)
        assert (row, bitvectors.refute(claim, *assumptions, *conditions)) == (row, "")


def length(text: str, extensions: str) -> int:
    return select_expression(parse_expression(text), names.parse_isa(f"rv64i{extensions}")).length


KNOWN = {
    "c ? a : b": (5, 5, 3, 3),
    "s ? a : b": (4, 4, 3, 3),
    "c ? a : b + 1": (5, 5, 4, 4),
    "s ? a : b + 1": (4, 4, 4, 4),
    "c ? a : ~b": (5, 5, 4, 3),
    "s ? a : ~b": (4, 4, 4, 3),
    "c ? a : -b": (5, 5, 3, 3),
    "s ? a : -b": (4, 4, 3, 3),
    "c ? b + 1 : b": (2, 2, 2, 2),
    "s ? b + 1 : b": (1, 1, 1, 1),
    "c ? ~b : b": (3, 3, 3, 3),
    "s ? ~b : b": (2, 2, 2, 2),
    "c ? -b : b": (4, 4, 3, 3),
    "s ? -b : b": (3, 3, 3, 3),
    "c ? a : 0": (3, 3, 1, 1),
    "s ? a : 0": (2, 2, 1, 1),
    "c ? -1 : 0": (2, 2, 2, 2),
    "s ? 0 : -1": (1, 1, 1, 1),
    "c ? a + b : a": (4, 4, 2, 2),
    "s ? a - b : a": (3, 3, 2, 2),
    "c ? a | b : a": (4, 4, 2, 2),
    "c ? a ^ b : a": (4, 4, 2, 2),
    "c ? a & b : a": (4, 4, 3, 3),
    "c ? a << b : a": (4, 4, 2, 2),
    "min(x, y)": (5, 1, 4, 1),
    "maxu(x, y)": (5, 1, 4, 1),
    "abs(x)": (3, 2, 3, 2),
    "satsubu(x, y)": (4, 2, 3, 2),
    "absdiff(x, y)": (5, 3, 5, 3),
    "sgn(x)": (3, 3, 3, 3),
    "(y < x) - (x < y)": (3, 3, 3, 3),
    "x < 0 ? 0 : x": (3, 1, 2, 1),
    "x == y": (2, 2, 2, 2),
    "x != y": (2, 2, 2, 2),
    "x <= y": (2, 2, 2, 2),
    "x == y ? -1 : 0": (3, 3, 3, 3),
    "x <= y ? -1 : 0": (2, 2, 2, 2),
    "x < y ? a : b": (5, 5, 4, 4),
    "x == y ? a : b": (6, 6, 4, 4),
    "x < y ? a : -b": (5, 5, 4, 4),
    "x < y ? a : ~b": (5, 5, 5, 4),
    "x < y ? -b : b": (4, 4, 4, 4),
    "x == y ? a : 0": (4, 4, 2, 2),
    "x < y ? 7 : 1000": (4, 4, 4, 4),
    "x < y ? 8 : 0": (2, 2, 2, 2),
    "x <u 10 ? a : b": (5, 5, 4, 4),
    "min(max(x, a), b)": (10, 2, 8, 2),
    "a == 0": (1, 1, 1, 1),
    "c ? a >>u b : a": (4, 4, 2, 2),
}
"""The least lengths known before (the base, Zbb, Zicond, both), from published searches and compilers' output."""


@pytest.mark.parametrize("text", KNOWN)
def test_lengths(text: str) -> None:
    found = [length(text, extensions) for extensions in ("", "_zbb", "_zicond", "_zicond_zbb")]
    assert all(ours <= known for ours, known in zip(found, KNOWN[text], strict=True)), f"{text}: {found}"


def test_two_compilers_are_beaten() -> None:
    """LLVM 19 and GCC 14 with Zicond and Zbb need 4 instructions for csneg and csinv, and 5 for their compares."""
    both = names.parse_isa("rv64gc_zicond_zbb")
    for text, theirs in (
        ("c ? a : -b", 4),
        ("c ? a : ~b", 4),
        ("x < y ? a : -b", 5),
        ("x < y ? a : ~b", 5),
        ("x < y ? -b : b", 5),
    ):
        found = select_expression(parse_expression(text), both)
        assert found.length == theirs - 1
        assert found.proved_minimal, text


@pytest.mark.parametrize(
    ("form", "extensions"),
    [("c ? a : -b", "zicond"), ("s ? a : b + 1", ""), ("x < 0 ? -x : x", "zbb"), ("c ? a & b : a", "zicond")],
)
def test_the_table_is_what_a_search_finds(form: str, extensions: str) -> None:
    wanted = frozenset({extensions} - {""})
    stored = next(
        (searched, lines) for text, among, searched, lines in search_results() if text == form and among == wanted
    )
    assert search.search_form(form, wanted) == stored


def test_the_table_has_every_form() -> None:
    assert [(form, among) for form, among, _, _ in search_results()] == [
        (form, among) for form in dict.fromkeys(search.forms()) for among in SETS
    ]


@pytest.mark.long
def test_the_whole_table_is_what_a_search_finds() -> None:
    for form, extensions, searched, lines in search_results():
        assert (form, extensions, search.search_form(form, extensions)) == (form, extensions, (searched, lines))


@dataclass(frozen=True, slots=True)
class Meant:
    """An expression's text, and its value by integers.py, from the values of the names and XLEN."""

    text: str
    value: Callable[[dict[str, int], int], int]


def leaf(name: str | int) -> Meant:
    return Meant(str(name), lambda values, x: (values[name] if isinstance(name, str) else name) % (1 << x))


def meant(pattern: str, meaning: Callable[..., int], *parts: Meant) -> Meant:
    return Meant(
        pattern.format(*(part.text for part in parts)),
        lambda values, x: meaning(*(part.value(values, x) for part in parts), x) % (1 << x),
    )


_R = integers.REGISTERS
BINARY: dict[str, Callable[[int, int, int], int]] = {
    "({} + {})": _R["add"],
    "({} - {})": _R["sub"],
    "({} & {})": _R["and"],
    "({} | {})": _R["or"],
    "({} ^ {})": _R["xor"],
    "({} * {})": _R["mul"],
    "({} << {})": _R["sll"],
    "({} >> {})": _R["sra"],
    "({} >>u {})": _R["srl"],
    "({} < {})": _R["slt"],
    "({} <u {})": _R["sltu"],
    "({} > {})": lambda a, b, x: _R["slt"](b, a, x),
    "({} >u {})": lambda a, b, x: b < a,
    "({} == {})": lambda a, b, x: a == b,
    "({} <= {})": lambda a, b, x: not _R["slt"](b, a, x),
    "({} >= {})": lambda a, b, x: not _R["slt"](a, b, x),
    "({} != {})": lambda a, b, x: a != b,
    "({} <=u {})": lambda a, b, x: a <= b,
    "({} >=u {})": lambda a, b, x: a >= b,
    "absdiffu({}, {})": lambda a, b, x: abs(a - b),
    "min({}, {})": _R["min"],
    "max({}, {})": _R["max"],
    "minu({}, {})": _R["minu"],
    "maxu({}, {})": _R["maxu"],
    "absdiff({}, {})": lambda a, b, x: abs(integers.signed(a, x) - integers.signed(b, x)),
    "satsubu({}, {})": lambda a, b, x: max(a - b, 0),
}
UNARY: dict[str, Callable[[int, int], int]] = {
    "-{}": lambda a, x: -a,
    "~{}": lambda a, x: ~a,
    "!{}": lambda a, x: a == 0,
    "abs({})": lambda a, x: abs(integers.signed(a, x)),
    "sgn({})": lambda a, x: (integers.signed(a, x) > 0) - (integers.signed(a, x) < 0),
}
LEAVES = st.sampled_from(
    ["a", "b", "c", "x", "s", "s1", 0, 1, -1, 2, 7, 1000, -2048, 2047, 2048, 100000, -(2**31)]
).map(leaf)


def chosen(p: int, q: int, r: int, x: int) -> int:
    return q if p else r


def of_one(pattern: str, a: Meant) -> Meant:
    return meant(pattern, UNARY[pattern], a)


def of_two(pattern: str, a: Meant, b: Meant) -> Meant:
    return meant(pattern, BINARY[pattern], a, b)


def of_three(c: Meant, a: Meant, b: Meant) -> Meant:
    return meant("({} ? {} : {})", chosen, c, a, b)


def larger(inner: st.SearchStrategy[Meant]) -> st.SearchStrategy[Meant]:
    one, two = st.sampled_from(list(UNARY)), st.sampled_from(list(BINARY))
    return st.one_of(
        st.builds(of_two, two, inner, inner), st.builds(of_one, one, inner), st.builds(of_three, inner, inner, inner)
    )


NODES = st.recursive(LEAVES, larger, max_leaves=6)
VALUES = st.sampled_from([0, 1, 2, 2**31, 2**32 - 1, 2**63, 2**64 - 1]) | st.integers(0, 2**64 - 1)


@settings(max_examples=25)
@given(
    expression=NODES,
    values=st.fixed_dictionaries(dict.fromkeys("abcx", VALUES) | {"s": st.integers(0, 1), "s1": st.integers(0, 1)}),
)
def test_sequences_compute_what_the_expression_says(expression: Meant, values: dict[str, int]) -> None:
    for isa in ISAS:
        known = {name: value % (1 << isa.xlen) for name, value in values.items()}
        found = select_expression(parse_expression(expression.text), isa)
        assert (expression.text, str(isa), search.run_lines(found.lines, known, isa.xlen)) == (
            expression.text,
            str(isa),
            expression.value(known, isa.xlen),
        )


REGISTERS = {"a": "a0", "b": "a1", "c": "a2", "x": "a3", "y": "a4", "s": "a5", "rd": "a6", "zero": "zero"} | {
    f"t{n}": f"x{20 + n}" for n in range(12)
}


@pytest.mark.parametrize("isa", ISAS, ids=str)
def test_rows_run_on_the_interpreter(isa: names.Isa) -> None:
    """Every twelfth form, plainly and with short branches, and some compositions, on edge values."""
    texts = [
        *list(dict.fromkeys(form for form, _, _, _ in search_results()))[::12],
        "x < 10 ? 7 : 1000",
        "x < y ? 8 : 0",
        "min(max(x, a), b)",
        "c ? 100000 : b",
    ]
    for text in texts:
        expression = parse_expression(text)
        for found in (select_expression(expression, isa), expand_pairs(expression, isa)):
            lines = [
                " ".join([line.mnemonic, ", ".join(REGISTERS.get(o, o) for o in line.operands)]) for line in found.lines
            ]
            machine = Machine(raw_image(assemble("\n".join([*lines, "ret"]), isa, BASE).data, isa, BASE))
            for values in samples(expression, isa.xlen):
                for name, value in values.items():
                    machine.set_x(int(REGISTERS[name][1:]) + 10, value)
                machine.call(BASE, *(machine.x[10:16]))
                assert (text, lines, machine.x[16]) == (text, lines, evaluate(expression, values, isa.xlen))


def samples(expression: Expression, xlen: int) -> list[dict[str, int]]:
    edges = [0, 1, (1 << xlen - 1) - 1, 1 << xlen - 1, (1 << xlen) - 1, 0x9E3779B97F4A7C15 % (1 << xlen)]
    used = inputs(expression)
    made: list[dict[str, int]] = [
        {name: edges[(n // 6**place) % 6] for place, name in enumerate(used)}
        for n in range(0, 6 ** len(used), max(1, 6 ** len(used) // 20))
    ]
    return [{name: value & 1 if is_boolean(name) else value for name, value in values.items()} for values in made]


def test_pairs_of_short_branches() -> None:
    isa = names.parse_isa("rv64gc")
    for text, lines in {
        "c ? a : -b": ["mv rd, a", "bnez c, 8", "neg rd, b"],
        "x < y ? a : b": ["mv rd, a", "blt x, y, 8", "mv rd, b"],
        "x >= y ? a + 1 : a": ["mv rd, a", "blt x, y, 8", "addi rd, a, 1"],
        "x == y ? ~b : b": ["mv rd, b", "bne x, y, 8", "not rd, b"],
        "x < -5 ? -5 : x": ["li t, -5", "mv rd, x", "bge x, t, 8", "li rd, -5"],
        "c ? a : a * b": ["mul rd, a, b", "beqz c, 8", "mv rd, a"],
    }.items():
        found = expand_pairs(parse_expression(text), isa)
        assert ([str(line) for line in found.lines], found.proved_minimal) == (lines, False)
    assert [str(line) for line in expand_pairs(parse_expression("s ? -1 : 0"), isa).lines] == ["neg rd, s"]


def test_canonical_forms() -> None:
    same = [
        ("a > b", "b < a"),
        ("!(a < b) ? x : y", "a < b ? y : x"),
        ("a - 3", "a + -3"),
        ("3 + a", "a + 3"),
        ("!!c ? a : b", "c ? a : b"),
    ]
    same += [
        ("x <= y ? a : b", "y < x ? b : a"),
        ("x > 5", "x >= 6"),
        ("5 < x", "x > 5"),
        ("(c != 0) ? a : b", "c ? a : b"),
        ("0 - a", "-a"),
    ]
    for one, other in same:
        assert parse_expression(one) == parse_expression(other)
    assert choose("c", 1, 0) == Node("?", ("c", 1, 0))
    assert choose("s", 1, 0) == "s"


ERRORS = {
    "character": "c ? a : b / 2",
    "end": "c ? a",
    "and": "a && b",
    "or": "c ? a : a || b",
    "index": "x[1]",
    "fraction": "a + 1.5",
    "dereference": "c ? a : *p",
    "cast": "(int)a",
    "colon": "c ? a , b",
    "empty": "",
    "function": "mni(a, b)",
    "arguments": "abs(a, b)",
    "register": "c ? t0 : b",
    "rest": "a b",
    "assignment": "a = b",
    "deep": "-" * 60 + "a",
    "nested": "(" * 60 + "a" + ")" * 60,
    "long": "a" + " + a" * 60,
    "number": "a + " + "9" * 120,
}


@pytest.mark.parametrize("name", ERRORS)
def test_error(name: str, golden: Golden) -> None:
    with pytest.raises(PolyloomError) as error:
        parse_expression(ERRORS[name])
    golden(f"select-{name}", str(error.value))


def test_integers_fit_into_a_register(golden: Golden) -> None:
    assert (
        str(select_expression(parse_expression("a + 0xffffffff"), names.parse_isa("rv32i")).lines[0])
        == "addi rd, a, -1"
    )
    with pytest.raises(PolyloomError) as error:
        select_expression(parse_expression("a + 0x100000000"), names.parse_isa("rv32i"))
    golden("select-integer", str(error.value))


def test_product_needs_its_extension(golden: Golden) -> None:
    with pytest.raises(PolyloomError) as error:
        select_expression(parse_expression("a * b"), names.parse_isa("rv64i"))
    golden("select-product", str(error.value))


VARIANTS = {
    "c ? x * 3 : x": (5, 3, 3),
    "x * 5": (2, 2, 2),
    "x < 0 ? -1 : 1": (2, 2, 2),
    "x < 0 ? -1 : 0": (1, 1, 1),
    "x < 0 ? a : b": (4, 4, 4),
    "x < 0 ? a : 0": (2, 2, 2),
    "x < 0 ? 0 : a": (3, 2, 2),
    "x < 0 ? 7 : 1000": (3, 3, 3),
    "x < 0 ? x + a : x": (3, 3, 3),
    "x < 0 ? y : y - a": (4, 3, 3),
    "x < 0 ? y | a : y": (3, 3, 3),
    "x < 0 ? 0 : x > 255 ? 255 : x": (8, 6, 3),
    "x > 255 ? 255 : x < 0 ? 0 : x": (8, 6, 3),
    "x < -128 ? -128 : x > 127 ? 127 : x": (10, 8, 4),
    "x > 9 ? 9 : x": (5, 4, 2),
    "min(max(x, 0), 255)": (8, 6, 3),
    "c ? a : 9": (5, 3, 3),
}
"""Signs, products and clamps, whose lengths are those without an extension, with Zicond, and with Zicond and Zbb."""


@pytest.mark.parametrize("form", VARIANTS)
def test_signs_products_and_clamps(form: str) -> None:
    for extensions, known in zip(("", "_zicond", "_zicond_zbb"), VARIANTS[form], strict=True):
        for xlen in (32, 64):
            lines = select_expression(parse_expression(form), names.parse_isa(f"rv{xlen}im{extensions}")).lines
            assert len(lines) == known
            assert proved(form, lines, xlen) == ""


def test_bounds_that_cross_are_no_clamp() -> None:
    """With 255 below 300, the order of the bounds matters, and it is kept."""
    form = "x < 300 ? 300 : x > 255 ? 255 : x"
    lines = select_expression(parse_expression(form), names.parse_isa("rv64im_zicond_zbb")).lines
    assert proved(form, lines, 64) == ""
