# SPDX-License-Identifier: Apache-2.0
"""Operations on values: constants, addresses, and what is not read yet; instructions by their final registers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.riscv.rvwmo.shapes import litmus

from polyloom.riscv.isa import Row, find_row, instruction_table
from polyloom.riscv.rvwmo import check_text
from polyloom.riscv.rvwmo.instructions import ISA
from polyloom.riscv.rvwmo.values import (
    OPERATIONS,
    Apply,
    Pointer,
    Read,
    UndefinedError,
    apply_operation,
    evaluate_value,
    signed,
)

INTEGERS = st.one_of(
    st.sampled_from([0, 1, -1, 63, 64, 1 << 31, -(1 << 31), (1 << 63) - 1, -(1 << 63)]),
    st.integers(-(1 << 63), (1 << 63) - 1),
)
UNKNOWN = Read(0, 0)


@given(st.sampled_from(sorted(OPERATIONS)), INTEGERS, INTEGERS)
def test_what_is_read_later_gives_the_same(operation: str, left: int, right: int) -> None:
    """Simplification before the operands are known agrees with computing on them."""
    expected = apply_operation(operation, left, right)
    assert isinstance(expected, int) and expected == signed(expected)
    assert evaluate_value(apply_operation(operation, UNKNOWN, right), {UNKNOWN: left}) == expected
    assert evaluate_value(apply_operation(operation, left, UNKNOWN), {UNKNOWN: right}) == expected
    if left == right:
        assert evaluate_value(apply_operation(operation, UNKNOWN, UNKNOWN), {UNKNOWN: left}) == expected


def test_addresses() -> None:
    x, y = Pointer("x"), Pointer("y")
    assert apply_operation("sub", apply_operation("add", 8, x), x) == 8
    assert [
        apply_operation("eq", x, y),
        apply_operation("eq", x, 0),
        apply_operation("sltu", 0, x),
        apply_operation("sltu", x, 1),
    ] == [0, 0, 1, 0]
    assert apply_operation("or", apply_operation("czero.eqz", x, 1), apply_operation("czero.nez", y, 1)) == x
    assert apply_operation("czero.nez", UNKNOWN, x) == 0
    assert apply_operation("xor", x, x) == 0
    with pytest.raises(UndefinedError, match="'xor' of x and y"):
        apply_operation("xor", x, y)


def test_what_depends_on_itself_has_no_value() -> None:
    assert evaluate_value(UNKNOWN, {UNKNOWN: Apply("add", UNKNOWN, 1)}) is None


FINAL = {
    "li x5,-1; srli x5,x5,60": 15,
    "li x5,-1; li x9,63; srl x5,x5,x9": 1,
    "li x5,-1; li x9,31; srlw x5,x5,x9": 1,
    "lui x5,524288": -(1 << 31),
    "li x5,0xfffffffe; addiw x5,x5,1": -1,
    "li x5,5; neg x5,x5; sraiw x5,x5,1": -3,
    "li x5,1; slli x5,x5,40; sext.w x5,x5": 0,
    "li x5,0xff; sext.b x5,x5": -1,
    "li x5,6; li x9,3; andn x5,x5,x9": 4,
    "li x5,-1; li x9,1; minu x5,x5,x9": 1,
    "li x5,0x10; ctz x5,x5": 4,
    "li x5,1; rori x5,x5,1": -(1 << 63),
    "li x5,0x100; orc.b x5,x5": 0xFF00,
    "li x5,1; rev8 x5,x5": 1 << 56,
    "li x5,7; li x9,2; czero.eqz x5,x5,x9": 7,
    "li x5,7; czero.eqz x5,x5,x0": 0,
    "li x5,-1; sh x5,0(x8); lhu x5,0(x8)": 65535,
    "li x5,-1; sb x5,0(x8); lb x5,0(x8)": -1,
    "li x5,-3; sw x5,0(x8); li x9,2; amominu.w x10,x9,(x8); lw x5,0(x8)": 2,
    "li x5,3; sd x5,0(x8); li x9,-1; amoadd.d x10,x9,(x8); ld x5,0(x8)": 2,
    "li x5,0; jal x0,L0; li x5,1; L0:": 0,
    "la x9,x; li x5,3; beq x9,x6,L0; li x5,4; L0:": 3,
}


COMPUTING = [
    row
    for row in instruction_table()
    if find_row(row.mnemonic, ISA) is row
    and row.operands in ("rd,rs1,rs2", "rd,rs1", "rd,rs1,i12", "rd,rs1,sh5", "rd,rs1,sh6")
]


@pytest.mark.parametrize("row", COMPUTING, ids=lambda row: row.mnemonic)
def test_every_computing_instruction_runs(row: Row) -> None:
    """With known operands and with ones that are read."""
    operands = (
        row.operands.replace("rd", "x5")
        .replace("rs1", "x9")
        .replace("rs2", "x10")
        .replace("i12", "3")
        .replace("sh5", "3")
        .replace("sh6", "3")
    )
    known = check_text(litmus("known", (f"li x9,5; li x10,6; {row.mnemonic} {operands}",), "locations [0:x5;]"))
    later = check_text(
        litmus("later", (f"lw x9,0(x6); lw x10,0(x7); {row.mnemonic} {operands}",), "locations [0:x5;]", "x=5; y=6;")
    )
    assert known.states == later.states


@pytest.mark.parametrize("column", FINAL)
def test_final_register(column: str) -> None:
    assert check_text(litmus("one", (column,), f"forall (0:x5={FINAL[column]})")).verdict == "Always"


def test_narrow_stores_leave_the_upper_bytes() -> None:
    text = litmus(
        "narrow",
        ("li x5,-1; sh x5,0(x6); sb x5,0(x7); sw x5,0(x8)",),
        "forall (x=0x1ffff /\\ y=255 /\\ z=4294967295)",
        "int x=0x10000; uint64_t z;",
    )
    assert check_text(text).states == ("[x]=131071; [y]=255; [z]=4294967295;",)
