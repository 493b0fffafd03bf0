# SPDX-License-Identifier: Apache-2.0
"""Print log of a kernel: `DPRINT <<` of literals and integers becomes entries of a log in L1, which are read after the
run.

An entry is two words: what it is, and the integer or the address of the text. Of more entries than the log has room for
the last place keeps the last one; the count tells how many there were.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from polyloom.ir.ssa import Access, Address, Constant, Data, Function, Instruction, Operand, Value, integer_constant
from polyloom.ir.ssa_types import I32, PTR
from polyloom.transform.ssa.function_editing import names

PRINTS: Final = ("__sfpi_print_text", "__sfpi_print_int", "__sfpi_print_unsigned")
ROOM: Final = 1024
LOG, COUNT = "log", "log.count"
_SIGNED, _UNSIGNED = -1, -2
"""What an entry is; from 0 on it is the length of a text."""
_ENTRY: Final = 8
_WORD: Final = Access(4)
LOG_BYTES: Final = _ENTRY * ROOM


def lower_printing(functions: Sequence[Function]) -> tuple[list[Function], tuple[Data, ...]]:
    """Functions with stores instead of calls that print, and the log; nothing where none prints."""
    if not any(i.called in PRINTS for f in functions for b in f.blocks for i in b.instructions):
        return list(functions), ()
    log = (Data(COUNT, bytes(4), 4), Data(LOG, bytes(_ENTRY * ROOM), 4))
    return [_store_entries(function) for function in functions], log


def _store_entries(function: Function) -> Function:
    fresh = names(function)
    blocks = tuple(
        replace(b, instructions=tuple(made for i in b.instructions for made in _entry_stores(i, fresh)))
        for b in function.blocks
    )
    return replace(function, blocks=blocks)


def _entry_stores(call: Instruction, fresh: Callable[[str], str]) -> list[Instruction]:
    if call.called not in PRINTS:
        return [call]
    kind: Operand
    value = call.operands[0]
    made: list[Instruction] = []
    if call.called == PRINTS[0]:
        # A text's kind is its length, which is never negative.
        kind = call.operands[1]
        value = Value(fresh("text"), I32)
        made.append(Instruction("ptrtoint", (call.operands[0],), (value,)))
    else:
        kind = Constant(I32, _SIGNED if call.called == PRINTS[1] else _UNSIGNED)
    count, least, bytes_, place, second, following = (
        Value(fresh(name), type)
        for name, type in zip(
            ("count", "least", "bytes", "entry", "second", "next"), (I32, I32, I32, PTR, PTR, I32), strict=True
        )
    )
    made += [
        Instruction("load", (Address(COUNT),), (count,), access=_WORD),
        # Beyond its room the log overwrites the last entry, so that no store leaves it.
        Instruction("call", (count, integer_constant(I32, ROOM - 1)), (least,), callee="umin"),
        Instruction("shl", (least, integer_constant(I32, 3)), (bytes_,)),
        Instruction("offset", (Address(LOG), bytes_), (place,)),
        Instruction("store", (kind, place), access=_WORD),
        Instruction("offset", (place, integer_constant(I32, 4)), (second,)),
        Instruction("store", (value, second), access=_WORD),
        Instruction("add", (count, integer_constant(I32, 1)), (following,)),
        Instruction("store", (following, Address(COUNT)), access=_WORD),
    ]
    return [replace(instruction, place=call.place) for instruction in made]


def read_log(l1: NDArray[np.uint8], count: int, log: int) -> str:
    """Text of a log, whose places are given; texts end where L1 does."""
    number = int(l1[count : count + 4].view(np.uint32)[0])
    entries = l1[log : log + _ENTRY * min(number, ROOM)].view(np.int32).reshape(-1, 2)
    text = "".join(_entry_text(l1, int(kind), int(value)) for kind, value in entries)
    lost = number - ROOM
    return text if lost <= 0 else f"{text}\n({lost} more printed than the log holds)\n"


def _entry_text(l1: NDArray[np.uint8], kind: int, value: int) -> str:
    if kind == _SIGNED:
        return str(value)
    if kind == _UNSIGNED:
        return str(value & 0xFFFFFFFF)
    start = value & 0xFFFFFFFF
    return bytes(l1[start : start + max(kind, 0)]).decode("utf-8", "replace")
