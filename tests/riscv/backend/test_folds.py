# SPDX-License-Identifier: Apache-2.0
"""What selection folds: extensions that nobody asks for, and single bits, which are always 0 or 1; and the largest
object that it assumes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from polyloom.diagnostics import PolyloomError
from polyloom.ir.ssa_interpret import interpret
from polyloom.ir.ssa_read import read
from polyloom.ir.ssa_verify import verify
from polyloom.riscv import names
from polyloom.riscv.backend import run
from polyloom.riscv.backend.compile import compile_function, lower_functions
from polyloom.riscv.backend.data import Layout

TEXT = "function f(%x: i32, %y: i32) -> i32 {\nentry:\nLINES\n    return %r\n}\n"
BODIES = {
    "one bit": ("%b: i1 = trunc %x", "%r: i32 = zext %b"),
    "its sign": ("%b: i1 = trunc %x", "%r: i32 = sext %b"),
    "a sum of bits": ("%b: i1 = trunc %x", "%c: i1 = trunc %y", "%d: i1 = add %b, %c", "%r: i32 = zext %d"),
    "part of a byte": ("%b: i8 = trunc %x", "%c: i8 = trunc %y", "%d: i8 = xor %b, %c", "%r: i32 = zext %d"),
    "part of a signed byte": ("%b: i8 = trunc %x", "%c: i8 = trunc %y", "%d: i8 = or %b, %c", "%r: i32 = sext %d"),
    "chains": (
        "%b: i8 = trunc %x",
        "%c: i8 = trunc %y",
        "%d: i8 = xor %b, %c",
        "%e: i8 = and %d, %b",
        "%g: i8 = add %e, %d",
        "%r: i32 = zext %g",
    ),
    "masks": ("%b: i8 = trunc %x", "%c: i8 = and %b, 15:i8", "%d: i8 = sub %c, 3:i8", "%r: i32 = sext %d"),
    "used twice": (
        "%b: i8 = trunc %x",
        "%c: i8 = xor %b, 77:i8",
        "%d: i32 = sext %c",
        "%e: i1 = slt %c, 3:i8",
        "%g: i32 = zext %e",
        "%r: i32 = add %d, %g",
    ),
}
SETS = ("rv64gc", "rv64i_zbb", "rv64gc_zicond")


def _text(name: str) -> str:
    return TEXT.replace("LINES", "\n".join(f"    {line}" for line in BODIES[name]))


@given(st.sampled_from(list(BODIES)), st.sampled_from(SETS), st.integers(-(2**31), 2**31 - 1), st.integers(-300, 300))
def test_values_are_those_of_the_interpreter(name: str, isa: str, x: int, y: int) -> None:
    function, machine = verify(read(_text(name))), names.parse_isa(isa)
    elf = compile_function(function, machine).elf
    assert run.call(elf, machine, function, [x, y]).result == interpret(function, [x, y])


def test_what_is_part_of_a_loose_value_is_not_extended() -> None:
    function = read(_text("part of a byte"))
    (code,) = lower_functions(function, names.parse_isa("rv64gc"), Layout(()))
    assert [op.mnemonic for op in code.blocks[0].ops if op.mnemonic not in ("mv", "ret")] == ["xor", "andi"]


def test_no_object_is_larger_than_indices_may_be_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    function, machine = read("function f(%p: ptr) {\nentry:\n    return\n}\n"), names.parse_isa("rv64gc")
    elf = compile_function(function, machine).elf
    monkeypatch.setattr(run, "LARGEST", 99)
    run.call(elf, machine, function, [np.zeros(24, "i4")])
    with pytest.raises(PolyloomError, match="PL0605"):
        run.call(elf, machine, function, [np.zeros(25, "i4")])
