# SPDX-License-Identifier: Apache-2.0
"""Extensions of the sign: none where an instruction has made one already."""

from __future__ import annotations

import pytest

from polyloom.ir.ssa_read import read
from polyloom.riscv import names
from polyloom.riscv.backend.compile import lower_functions
from polyloom.riscv.backend.data import Layout

_TEXT = """
function f(%p: ptr, %n: {type}) -> i64 {{
entry:
    %a: {type} = {made}
    %b: i64 = sext %a
    return %b
}}
"""


@pytest.mark.parametrize(
    ("isa", "type", "made", "extended"),
    [
        ("rv64gc", "i8", "load %p align 1", ["lb"]),
        ("rv64gc", "i16", "load %p align 2", ["lh"]),
        ("rv64gc", "i32", "load %p align 4", ["lw"]),
        ("rv32gc", "i8", "load %p align 1", ["lb", "srai"]),
        ("rv64gc", "i32", "add %n, %n", ["addw"]),
        ("rv64gc", "i8", "add %n, %n", ["slli", "srai", "add", "slli", "srai"]),
    ],
)
def test_what_extends_itself_is_not_extended(isa: str, type: str, made: str, extended: list[str]) -> None:
    function = read(_TEXT.format(type=type, made=made))
    code = lower_functions(function, names.parse_isa(isa), Layout(function.data))[0]
    ops = [op.mnemonic for block in code.blocks for op in block.ops]
    assert [name for name in ops if name not in ("mv", "ret")] == extended
