# SPDX-License-Identifier: Apache-2.0
"""Legalization of atomic read-modify-write that has no instruction: by a loop over compare-and-exchange (RISC-V
unprivileged manual, "A" extension: "complex atomic memory operations" are made of LR and SC).

Narrow integers are parts of the aligned word around them, whose other bytes stay: that word may reach beyond the
variable, never beyond a page. Floats are exchanged as the integers that their bits are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from polyloom.ir.ssa import Access, Edge, Instruction, Operand, Order, Value, integer_constant
from polyloom.ir.ssa_types import F32, FLOATS, I1, I8, I16, I32, I64, PTR, WIDTH, Type
from polyloom.riscv.backend.atomics import MNEMONICS
from polyloom.riscv.backend.editor import Editor
from polyloom.riscv.names import Isa

_NARROW: Final = (I8, I16)
_BITWISE: Final = ("and", "or", "xor")
_READ: Final[dict[Order, Order]] = {"acquire": "acquire", "acq_rel": "acquire", "seq_cst": "seq_cst"}
"""By the order of an exchange: that of a load which may show that nothing is to be exchanged; else `monotonic`."""
Changed = Callable[[Operand], Operand]


def legalize_rmw(editor: Editor, instruction: Instruction, isa: Isa) -> bool:
    """Rule for `rmw`."""
    del isa
    (pointer, value), name, result = instruction.operands, instruction.callee, _result(instruction)
    if result.type in FLOATS and name == "xchg":
        _exchange_float(editor, instruction)
    elif result.type in _NARROW:
        _narrow_rmw(editor, instruction, _Part.of(editor, pointer, result.type))
    elif name == "sub":
        # There is no amosub: a - b is a + -b modulo the width.
        negative = editor.make("sub", result.type, integer_constant(result.type, 0), value)
        _emit_rmw(editor, instruction, "add", pointer, negative, result)
    elif name not in MNEMONICS:
        type = result.type if result.type not in FLOATS else _bits_type(result.type)
        access = _access(instruction)
        first = editor.make("load", type, pointer, access=Access(access.align, order="monotonic"))

        def new_value(old: Operand) -> Operand:
            return _bitcast(editor, type, _apply_operation(editor, name, _bitcast(editor, result.type, old), value))

        old = _exchange_loop(editor, pointer, first, new_value, access)
        editor.make("copy" if type == result.type else "bitcast", result.type, old, to=result)
    else:
        return False
    return True


def legalize_cas(editor: Editor, instruction: Instruction, isa: Isa) -> bool:
    """Rule for `cas`. A narrow integer is exchanged only where the word around it holds what is expected there."""
    del isa
    pointer, expected, stored = instruction.operands
    result, access = _result(instruction), _access(instruction)
    if result.type not in _NARROW:
        return False
    part = _Part.of(editor, pointer, result.type)
    order = _READ.get(access.order, "monotonic")
    # Where nothing is exchanged, this load is all that happens: it must have the order that a failure asks for.
    first = editor.make("load", I32, part.word, access=Access(4, order=order))
    head, inside, behind = (editor.fresh(name) for name in ("again", "exchange", "behind"))
    whole, last = editor.value(I32), editor.value(result.type)
    editor.jump(head, first)
    editor.begin(head, (whole,))
    old = part.taken(editor, whole)
    editor.branch(editor.make("eq", I1, old, expected), Edge(inside), Edge(behind, (old,)))
    editor.begin(inside)
    made = part.put(editor, whole, stored)
    found = editor.make("cas", I32, part.word, whole, made, access=replace(access, align=4))
    # The word may have changed in its other bytes alone: then it is tried again.
    editor.branch(editor.make("eq", I1, found, whole), Edge(behind, (old,)), Edge(head, (found,)))
    editor.begin(behind, (last,))
    editor.make("copy", result.type, last, to=result)
    return True


def _narrow_rmw(editor: Editor, instruction: Instruction, part: _Part) -> None:
    """Narrow read-modify-write, on the aligned word around the integer."""
    value, result, access = instruction.operands[1], _result(instruction), replace(_access(instruction), align=4)
    if instruction.callee in _BITWISE:
        # Ones leave the other bytes as they are for `and`, zeros for `or` and `xor`.
        wide = part.placed(editor, value)
        if instruction.callee == "and":
            wide = editor.make("or", I32, wide, part.others)
        whole = _emit_rmw(editor, instruction, instruction.callee, part.word, wide, editor.value(I32))
    else:
        first = editor.make("load", I32, part.word, access=Access(4, order="monotonic"))

        def new_value(old: Operand) -> Operand:
            made = _apply_operation(editor, instruction.callee, part.taken(editor, old), value)
            return part.put(editor, old, made)

        whole = _exchange_loop(editor, part.word, first, new_value, access)
    editor.make("copy", result.type, part.taken(editor, whole), to=result)


def _exchange_loop(editor: Editor, pointer: Operand, first: Operand, changed: Changed, access: Access) -> Operand:
    """Compare-and-exchange loop: what was there when it was exchanged for what it is changed to."""
    head, behind = editor.fresh("again"), editor.fresh("behind")
    old = editor.value(first.type)
    editor.jump(head, first)
    editor.begin(head, (old,))
    found = editor.make("cas", first.type, pointer, old, changed(old), access=access)
    editor.branch(editor.make("eq", I1, found, old), Edge(behind), Edge(head, (found,)))
    editor.begin(behind)
    return old


def _apply_operation(editor: Editor, name: str, old: Operand, value: Operand) -> Operand:
    """New value of a read-modify-write, from the old one."""
    match name:
        case "xchg":
            return value
        case "nand":
            both = editor.make("and", old.type, old, value)
            return editor.make("xor", old.type, both, integer_constant(old.type, -1))
        case "smin" | "smax" | "umin" | "umax":
            return editor.make("call", old.type, old, value, callee=name)
        case _:
            return editor.make(name, old.type, old, value)


def _exchange_float(editor: Editor, instruction: Instruction) -> None:
    """Exchange of a float, by the integer of its bits."""
    (pointer, value), result = instruction.operands, _result(instruction)
    type = _bits_type(result.type)
    old = _emit_rmw(editor, instruction, "xchg", pointer, _bitcast(editor, type, value), editor.value(type))
    editor.make("bitcast", result.type, old, to=result)


def _emit_rmw(
    editor: Editor, instruction: Instruction, name: str, pointer: Operand, value: Operand, to: Value
) -> Value:
    """The instruction with another operation and other operands."""
    align = 4 if value.type == I32 else _access(instruction).align
    access = replace(_access(instruction), align=align)
    return editor.make("rmw", to.type, pointer, value, to=to, callee=name, access=access)


@dataclass(frozen=True, slots=True)
class _Part:
    """Narrow integer in its aligned word: the word's address, by how many bits the integer is shifted there, and the
    mask of the other bits.
    """

    type: Type
    word: Operand
    shift: Operand
    others: Operand

    @classmethod
    def of(cls, editor: Editor, pointer: Operand, type: Type) -> _Part:
        address = editor.make("ptrtoint", editor.address, pointer)
        word = editor.make("and", editor.address, address, integer_constant(editor.address, -4))
        low = editor.make("and", editor.address, address, integer_constant(editor.address, 3))
        if editor.address != I32:
            low = editor.make("trunc", I32, low)
        # Little-endian: byte k of the word begins at bit 8 k.
        shift = editor.make("shl", I32, low, integer_constant(I32, 3))
        mask = editor.make("shl", I32, integer_constant(I32, (1 << WIDTH[type]) - 1), shift)
        others = editor.make("xor", I32, mask, integer_constant(I32, -1))
        return cls(type, editor.make("inttoptr", PTR, word), shift, others)

    def taken(self, editor: Editor, whole: Operand) -> Operand:
        return editor.make("trunc", self.type, editor.make("lshr", I32, whole, self.shift))

    def placed(self, editor: Editor, value: Operand) -> Operand:
        return editor.make("shl", I32, editor.make("zext", I32, value), self.shift)

    def put(self, editor: Editor, whole: Operand, value: Operand) -> Operand:
        kept = editor.make("and", I32, whole, self.others)
        return editor.make("or", I32, kept, self.placed(editor, value))


def _bits_type(type: Type) -> Type:
    return I32 if type == F32 else I64


def _bitcast(editor: Editor, type: Type, value: Operand) -> Operand:
    """The same bits as a value of another type."""
    return value if value.type == type else editor.make("bitcast", type, value)


def _access(instruction: Instruction) -> Access:
    return instruction.access or Access(order="seq_cst")


def _result(instruction: Instruction) -> Value:
    assert instruction.result is not None
    return instruction.result
