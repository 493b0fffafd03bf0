# SPDX-License-Identifier: Apache-2.0
"""Integers of 64 bits on RV32, and counts of bits: quotients, products, shifts and counts of edges and random numbers
are those of Python."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from polyloom.ir.ssa import Function
from polyloom.ir.ssa_interpret import interpret
from polyloom.ir.ssa_read import read
from polyloom.ir.ssa_verify import verify
from polyloom.riscv import names
from polyloom.riscv.backend import legal_division
from polyloom.riscv.backend.compile import compile_function
from polyloom.riscv.backend.legalize import legalize
from polyloom.riscv.backend.run import call

SETS = ("rv32imc", "rv32i", "rv32im_zbb", "rv32imc_zicond")
WORD = 1 << 64
OPERATIONS = ("udiv", "urem", "sdiv", "srem", "mul", "shl", "lshr", "ashr", "add", "sub")
COUNTS = ("ctpop", "ctlz", "cttz")
EDGES = [
    n % WORD for k in (0, 1, 15, 16, 31, 32, 33, 47, 48, 63) for n in ((1 << k) - 1, 1 << k, (1 << k) + 1, -(1 << k))
]
NUMBERS: st.SearchStrategy[int] = st.one_of(
    st.sampled_from(EDGES),
    st.integers(0, WORD - 1),
    st.tuples(st.integers(0, WORD - 1), st.integers(0, 63)).map(lambda pair: pair[0] >> pair[1]),
)


@cache
def _compiled(operation: str, isa: str) -> tuple[bytes, Function]:
    line = f"call {operation} %a" if operation in COUNTS else f"{operation} %a, %b"
    text = f"pointers 32\nfunction f(%a: i64, %b: i64) -> i64 {{\nentry:\n    %r: i64 = {line}\n    return %r\n}}\n"
    function = verify(read(text))
    return compile_function(function, names.parse_isa(isa)).elf, function


def _run(operation: str, isa: str, a: int, b: int) -> int:
    elf, function = _compiled(operation, isa)
    result = call(elf, names.parse_isa(isa), function, [_signed(a), _signed(b)]).result
    assert isinstance(result, int)
    return result % WORD


def _signed(number: int) -> int:
    return number - WORD if number >> 63 else number


def _expected(operation: str, a: int, b: int) -> int:
    x, y = _signed(a), _signed(b)
    quotient = abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1) if y else 0
    found = {
        "udiv": lambda: a // b,
        "urem": lambda: a % b,
        "sdiv": lambda: quotient,
        "srem": lambda: x - quotient * y,
        "mul": lambda: a * b,
        "shl": lambda: a << b,
        "lshr": lambda: a >> b,
        "ashr": lambda: x >> b,
        "add": lambda: a + b,
        "sub": lambda: a - b,
        "ctpop": lambda: a.bit_count(),
        "ctlz": lambda: 64 - a.bit_length(),
        "cttz": lambda: (a & -a).bit_length() - 1 if a else 64,
    }
    return found[operation]() % WORD


@given(st.sampled_from((*OPERATIONS, *COUNTS)), st.sampled_from(SETS), NUMBERS, NUMBERS)
@example("udiv", "rv32imc", 0xFFFFFFFFFFFFFFFF, 0xFFFFFFFF00000001)
@example("udiv", "rv32imc", 0xFFFFFFFE00000000, 0xFFFFFFFF)
@example("udiv", "rv32imc", 0x8000000000000000, 0x80000000FFFFFFFF)
@settings(max_examples=200)
def test_results_are_pythons(operation: str, isa: str, a: int, b: int) -> None:
    if operation in ("shl", "lshr", "ashr"):
        b %= 64
    if operation[1:] in ("div", "rem") and (b == 0 or (operation[0] == "s" and b == WORD - 1)):
        b = 7
    assert _run(operation, isa, a, b) == _expected(operation, a, b)


@pytest.mark.parametrize("operation", ["shl", "lshr", "ashr"])
def test_every_amount_of_a_shift(operation: str) -> None:
    for amount in range(64):
        for a in (0x8123456789ABCDEF, 0x7FFFFFFF80000001):
            assert _run(operation, "rv32imc", a, amount) == _expected(operation, a, amount), amount


@given(NUMBERS, NUMBERS)
@settings(max_examples=300)
def test_the_routine_divides(a: int, b: int) -> None:
    if b:
        assert interpret(legal_division.division_routine(), [_signed(a), _signed(b)]) == _signed(a // b)


def test_the_routine_is_one_function_whatever_the_users_are_called() -> None:
    """With a function of its name in the program, and two that divide."""
    text = (
        (
            "pointers 32\nfunction unsigned_division(%a: i64, %b: i64) -> i64 {{\nentry:\n"
            "    %q: i64 = udiv %a, %b\n    %r: i64 = call @other %q, %b\n    return %r\n}}\n"
            "function other(%a: i64, %b: i64) -> i64 {{\nentry:\n    %r: i64 = urem %a, %b\n    return %r\n}}\n"
        )
        .replace("{{", "{")
        .replace("}}", "}")
    )
    function = verify(read(text))
    machine = names.parse_isa("rv32imc")
    legal = verify(legalize(function, machine))
    assert [member.name for member in legal.program] == ["unsigned_division", "other", "unsigned_division_2"]
    assert (
        call(compile_function(function, machine).elf, machine, function, [1 << 40, 1000]).result
        == (1 << 40) // 1000 % 1000
    )
    assert [m.name for m in legalize(function, names.parse_isa("rv32i")).program] == ["unsigned_division", "other"]


@given(st.sampled_from(COUNTS), st.sampled_from(("rv64imc", "rv32imc", "rv64i", "rv32i")), st.integers(0, 2**32 - 1))
@settings(max_examples=50)
def test_counts_of_words(callee: str, isa: str, a: int) -> None:
    machine = names.parse_isa(isa)
    text = f"function f(%a: i32) -> i32 {{\nentry:\n    %r: i32 = call {callee} %a\n    return %r\n}}\n"
    function = verify(read(f"pointers {machine.xlen}\n{text}" if machine.xlen == 32 else text))
    expected = {"ctpop": a.bit_count(), "ctlz": 32 - a.bit_length(), "cttz": (a & -a).bit_length() - 1 if a else 32}
    given = a - (1 << 32) if a >> 31 else a
    assert call(compile_function(function, machine).elf, machine, function, [given]).result == expected[callee]
