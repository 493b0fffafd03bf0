# SPDX-License-Identifier: Apache-2.0
"""Legalization of memory accesses: those that are not aligned to their size, in pieces that are; and memcpy, memmove,
memset, byte by byte.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from polyloom.ir.ssa import Access, Constant, Edge, Instruction, Operand, Value, integer_constant
from polyloom.ir.ssa_types import F32, FLOATS, I1, I8, I16, I32, I64, PTR, SIZE, Type, memory_size
from polyloom.riscv.backend.editor import Editor
from polyloom.riscv.names import Isa

_PIECES: Final[dict[int, Type]] = {1: I8, 2: I16, 4: I32}
# Two doublewords; a loop costs a test and two pointer steps per byte.
_STRAIGHT: Final = 16
"""As many bytes are copied without a loop."""


def legalize_access(editor: Editor, instruction: Instruction, isa: Isa) -> bool:
    """Rule for loads and stores, as the hart faults on addresses that are no multiples of the size (a misaligned access
    may trap: RISC-V unprivileged manual, "Load and Store Instructions").
    """
    is_store = instruction.operation == "store"
    type = instruction.operands[0].type if is_store else _result(instruction).type
    align = (instruction.access or Access()).align
    if type == PTR and isa.xlen < editor.function.pointers:
        return False
    size = memory_size(type, editor.function.pointers)
    # An i64 is two words on RV32, each of which needs its own alignment only.
    word = 4 if isa.xlen == 32 and type == I64 else size  # two accesses
    if align >= word:
        return False
    whole: Type = type if type not in FLOATS else I32 if type == F32 else I64
    if type == PTR:
        whole = editor.address
    piece = _PIECES[align]
    kept = replace(instruction.access or Access(), align=align)
    if is_store:
        _scatter_store(editor, instruction, whole, piece, kept)
    else:
        _gather_load(editor, instruction, whole, piece, kept)
    return True


def _gather_load(editor: Editor, instruction: Instruction, whole: Type, piece: Type, kept: Access) -> None:
    """Misaligned load: aligned pieces, shifted and joined, least significant first (little-endian)."""
    result = _result(instruction)
    # Pieces are zero-extended and placed: their sum has no overlap, so that `or` joins them.
    found: Operand = integer_constant(whole, 0)
    for at in range(0, SIZE[whole], SIZE[piece]):
        part = editor.make("load", piece, _offset_pointer(editor, instruction.operands[0], at), access=kept)
        wide = editor.make("zext", whole, part)
        placed = editor.make("shl", whole, wide, integer_constant(whole, 8 * at)) if at else wide
        found = editor.make("or", whole, found, placed) if at else placed
    editor.make(
        "copy" if result.type == whole else "inttoptr" if result.type == PTR else "bitcast",
        result.type,
        found,
        to=result,
    )


def _scatter_store(editor: Editor, instruction: Instruction, whole: Type, piece: Type, kept: Access) -> None:
    """Misaligned store: the value in aligned pieces."""
    value, pointer = instruction.operands
    if value.type != whole:
        value = editor.make("ptrtoint" if value.type == PTR else "bitcast", whole, value)
    for at in range(0, SIZE[whole], SIZE[piece]):
        moved = editor.make("lshr", whole, value, integer_constant(whole, 8 * at)) if at else value
        part = editor.make("trunc", piece, moved)
        editor.put("store", part, _offset_pointer(editor, pointer, at), access=kept)


def _offset_pointer(editor: Editor, pointer: Operand, distance: int) -> Operand:
    return editor.make("offset", PTR, pointer, integer_constant(editor.address, distance)) if distance else pointer


def legalize_bulk(editor: Editor, instruction: Instruction, isa: Isa) -> bool:
    """Rule for memcpy, memmove and memset (C11, section 7.24)."""
    del isa
    target, source, size = instruction.operands
    if isinstance(size, Constant) and 0 <= size.value <= _STRAIGHT:
        _unrolled_copy(editor, instruction, size.value)
        return True
    if instruction.callee == "memset":
        _forward_loop(editor, target, size, lambda _: source, None)
    elif instruction.callee == "memcpy":
        _forward_loop(editor, target, size, lambda pointer: _load_byte(editor, pointer), source)
    else:
        _overlapping_copy(editor, target, source, size)
    return True


def _unrolled_copy(editor: Editor, instruction: Instruction, size: int) -> None:
    """Unrolled copy or fill of a few bytes: all loads before all stores, so that the bytes may overlap."""
    target, source, _ = instruction.operands
    loads = instruction.callee != "memset"
    bytes = [_load_byte(editor, _offset_pointer(editor, source, k)) if loads else source for k in range(size)]
    for k, byte in enumerate(bytes):
        editor.put("store", byte, _offset_pointer(editor, target, k), access=Access())


def _load_byte(editor: Editor, pointer: Operand) -> Operand:
    return editor.make("load", I8, pointer, access=Access())


def _overlapping_copy(editor: Editor, target: Operand, source: Operand, size: Operand) -> None:
    """memmove: from the end where the target is behind the source, else from the beginning."""
    up, down, behind = (editor.fresh(name) for name in ("up", "down", "moved"))
    editor.branch(editor.make("ult", I1, target, source), Edge(up), Edge(down))
    editor.begin(up)
    _forward_loop(editor, target, size, lambda pointer: _load_byte(editor, pointer), source)
    editor.jump(behind)
    editor.begin(down)
    back = integer_constant(editor.address, -1)
    # Backwards from one past the end, because a forward copy would overwrite bytes of the source that are still to be
    # read.
    ends = [editor.make("offset", PTR, pointer, size) for pointer in (target, source)]

    def body(pointers: Sequence[Value]) -> None:
        to, of = (editor.make("offset", PTR, pointer, back) for pointer in pointers)
        editor.put("store", _load_byte(editor, of), to, access=Access())

    _pointer_loop(editor, ends, target, back, body)
    editor.jump(behind)
    editor.begin(behind)


def _forward_loop(
    editor: Editor, target: Operand, size: Operand, byte: Callable[[Value], Operand], source: Operand | None
) -> None:
    """Loop that stores `byte` of each place of the source at each of the target."""
    end = editor.make("offset", PTR, target, size)
    pointers = [target, *([source] if source is not None else [])]
    _pointer_loop(
        editor,
        pointers,
        end,
        integer_constant(editor.address, 1),
        lambda now: editor.put("store", byte(now[-1]), now[0], access=Access()),
    )


def _pointer_loop(
    editor: Editor, first: Sequence[Operand], end: Operand, step: Operand, body: Callable[[Sequence[Value]], None]
) -> None:
    """Loop over pointers that advance by `step` until the first of them is at the end; it tests at the top, as a size
    may be 0.
    """
    head, inside, behind = (editor.fresh(name) for name in ("each", "byte", "behind"))
    pointers = [editor.value(PTR) for _ in first]
    editor.jump(head, *first)
    editor.begin(head, pointers)
    editor.branch(editor.make("eq", I1, pointers[0], end), Edge(behind), Edge(inside))
    editor.begin(inside)
    body(pointers)
    editor.jump(head, *(editor.make("offset", PTR, pointer, step) for pointer in pointers))
    editor.begin(behind)


def _result(instruction: Instruction) -> Value:
    assert instruction.result is not None
    return instruction.result
