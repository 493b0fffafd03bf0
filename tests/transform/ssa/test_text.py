# SPDX-License-Identifier: Apache-2.0
"""Functions in SSA form print completely and read back; every broken rule and every wrong text has its message."""

from __future__ import annotations

import pytest
from tests.conftest import Golden

from polyloom.diagnostics import PolyloomError
from polyloom.ir.ssa import Constant, Function, float_constant, float_value
from polyloom.ir.ssa_read import read
from polyloom.ir.ssa_text import print_operand, print_ssa
from polyloom.ir.ssa_types import F32
from polyloom.ir.ssa_verify import verify

EVERYTHING = """\
data @g align 4 constant 0100000002000000
data @empty align 1
function everything(%n: i32, %a: ptr, %x: f64, %k: i8 zeroext, %l: i16) -> i32 {
entry:
    %c0: i1 = folt %x, 1.5:f64 !2
    %f: f32 = fptrunc %x
    %nan: f32 = fadd %f, 0x7fc00001:f32
    %u: i32 = call smin %n, undef:i32
    %s: ptr = alloca 8:i64 align 8
    store %nan, %s align 4
    call memcpy %s, @g+4, 4:i64
    fence acq_rel
    jump head(0:i32, -1:i32) !4
head(%i: i32, %s1: i32):
    %c: i1 = slt %i, %n !4
    branch %c, body, exit(%s1) !4
body:
    %j: i64 = sext %i
    %o: i64 = shl nuw nsw %j, 2:i64
    %p: ptr = offset %a, %o
    %y: i32 = load %p align 4 volatile acquire !9
    store %y, @g align 4 release
    %i2: i32 = add %i, 1:i32
    switch %i2, head(%i2, %y), 1: head(%i2, %y), -5: exit(%y), 7: never !10
exit(%r: i32):
    return %r
never:
    unreachable
}
"""
HEAD = "function f(%a: i32, %p: ptr) -> i32 {\nentry:\n"
BROKEN = {
    "twice": HEAD + "    %x: i32 = add %a, %a\n    %x: i32 = add %a, %a\n    return %x\n}",
    "type": HEAD + "    %x: i64 = add %a, %a\n    return %a\n}",
    "arguments": HEAD + "    jump b(%a)\nb(%x: i64):\n    return %a\n}",
    "entry": HEAD + "    jump entry\n}",
    "target": HEAD + "    jump nowhere\n}",
    "order": HEAD + "    %x: i32 = add %y, %a\n    %y: i32 = add %a, %a\n    return %x\n}",
    "dominance": HEAD
    + "    %c: i1 = eq %a, 0:i32\n    branch %c, b, d\nb:\n    %x: i32 = add %a, %a\n    jump d\nd:\n    return %x\n}",
    "itself": HEAD + "    jump b\nb:\n    %x: i32 = add %x, %a\n    jump b\n}",
    "result": HEAD + "    return %p\n}",
    "order-of-load": HEAD + "    %x: i32 = load %p align 4 release\n    return %x\n}",
    "align": HEAD + "    %x: i32 = load %p align 3\n    return %x\n}",
    "datum": HEAD + "    %x: i32 = load @g align 4\n    return %x\n}",
    "case": HEAD + "    switch %a, b, 1: b, 1: b\nb:\n    return %a\n}",
    "intrinsic": HEAD + "    %x: i32 = call sine %a\n    return %x\n}",
    "extension": "function f(%a: i32 zeroext) -> f32 zeroext {\nentry:\n    return 0.0:f32\n}",
    "condition": HEAD + "    branch %a, b, b\nb:\n    return %a\n}",
}
WRONG = {
    "operation": HEAD + "    %x: i32 = plus %a, %a\n}",
    "undefined": HEAD + "    %x: i32 = add %a, %b\n}",
    "range": HEAD + "    %x: i8 = add 128:i8, 1:i8\n}",
    "no-type": HEAD + "    %x: i32 = add %a, 1:i33\n}",
    "end": HEAD + "    return %a\n",
    "rest": HEAD + "    return %a %a\n}",
    "hexadecimal": "data @g align 4 abc\n",
    "nothing": "",
    "no-block": "function f() {\n}",
}


def test_prints_what_it_reads() -> None:
    function = read(EVERYTHING)
    assert print_ssa(function) == EVERYTHING
    assert read(print_ssa(function)) == function
    assert verify(function) is function


def _message(text: str) -> str:
    with pytest.raises(PolyloomError) as caught:
        verify(read(text, "f.ssa"))
    return str(caught.value)


def test_broken_rules(golden: Golden) -> None:
    golden("broken", "\n\n".join(f"{name}\n{_message(text)}" for name, text in BROKEN.items()))


def test_wrong_texts(golden: Golden) -> None:
    golden("wrong", "\n\n".join(f"{name}\n{_message(text)}" for name, text in WRONG.items()))


@pytest.mark.parametrize(
    "bits", [0, 1, 0x80000000, 0x7F800000, 0xFF800000, 0x7FC00000, 0x7FC00001, 0x3DCCCCCD, 0x7F7FFFFF]
)
def test_floats_keep_their_bits(bits: int) -> None:
    constant = Constant(F32, bits)
    text = f"function f() -> f32 {{\nentry:\n    return {print_operand(constant)}\n}}\n"
    function: Function = read(text)
    assert print_ssa(function) == text
    assert function == read(print_ssa(function))
    assert f"{bits:x}" in text or float_constant(F32, float_value(constant)) == constant
