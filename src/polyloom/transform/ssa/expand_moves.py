# SPDX-License-Identifier: Apache-2.0
"""Calls of memcpy, memmove and memset as loops, which pipeline as others do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from polyloom.ir.ssa import (
    EFFECTS,
    Access,
    Block,
    Branch,
    Constant,
    Edge,
    Function,
    Instruction,
    Operand,
    Value,
    integer_constant,
)
from polyloom.ir.ssa_types import I1, I8, I32, PTR, Type
from polyloom.transform.ssa.function_editing import names, on_each_function

Fresh = Callable[[str], str]


@on_each_function
def expand_moves(function: Function) -> Function:
    """Expansion of memory intrinsics (LLVM's LowerMemIntrinsics): memcpy, memmove and memset as loops over bytes, or
    over words where all is a multiple of four.
    """
    fresh = names(function)
    done: list[Block] = []
    work = list(reversed(function.blocks))
    while work:
        block = work.pop()
        at = next((k for k, i in enumerate(block.instructions) if i.callee in EFFECTS), None)
        if at is None:
            done.append(block)
            continue
        call, after = block.instructions[at], fresh("moved")
        made = _expansion(call, after, fresh)
        rest = Block(after, (), block.instructions[at + 1 :], block.terminator)
        head = replace(
            block, instructions=(*block.instructions[:at], *made[0].instructions), terminator=made[0].terminator
        )
        done += [head, *made[1:]]
        work.append(rest)
    return replace(function, blocks=tuple(done))


def _expansion(call: Instruction, after: str, fresh: Fresh) -> list[Block]:
    """What stands for the call: the end of the block before it first, then loops."""
    target, source, size = call.operands
    body, place = fresh("move"), call.place
    counted = size.type
    some = Value(fresh("some"), I1)
    test = Instruction("ne", (size, integer_constant(counted, 0)), (some,), place=place)
    forward = _loop(call, body, after, fresh, backward=False)
    # Areas of memcpy do not overlap (C17 7.24.2.1), so that one direction suffices.
    if call.callee != "memmove":
        return [
            Block("", (), (test,), Branch(some, Edge(body, (integer_constant(counted, 0),)), Edge(after), place)),
            forward,
        ]
    back, choose = fresh("back"), fresh("choose")
    below = Value(fresh("below"), I1)
    compare = Instruction("ule", (target, source), (below,), place=place)
    ways = Branch(below, Edge(body, (integer_constant(counted, 0),)), Edge(back, (size,)), place)
    return [
        Block("", (), (test,), Branch(some, Edge(choose), Edge(after), place)),
        Block(choose, (), (compare,), ways),
        forward,
        _loop(call, back, after, fresh, backward=True),
    ]


def _loop(call: Instruction, name: str, after: str, fresh: Fresh, backward: bool) -> Block:
    target, source, size = call.operands
    counted, place = size.type, call.place
    made: list[Instruction] = []

    def make(operation: str, type: Type, *operands: Operand, access: Access | None = None) -> Value:
        result = Value(fresh("m"), type)
        made.append(Instruction(operation, operands, (result,), access=access, place=place))
        return result

    index = Value(fresh("k"), counted)
    # Backwards by bytes: the end of an area need not be aligned.
    step = _step(size, call.callee == "memset") if not backward else 1
    at: Operand = make("sub", counted, index, integer_constant(counted, 1)) if backward else index
    value: Operand = source
    if call.callee != "memset":
        value = make("load", I32 if step == 4 else I8, make("offset", PTR, source, at), access=Access(1))
    to = make("offset", PTR, target, at)
    made.append(Instruction("store", (value, to), access=Access(1), place=place))
    following = at if backward else make("add", counted, index, integer_constant(counted, step))
    ends = make("eq", I1, following, integer_constant(counted, 0) if backward else size)
    return Block(name, (index,), tuple(made), Branch(ends, Edge(after), Edge(name, (following,)), place))


def _step(size: Operand, sets: bool) -> int:
    return 4 if not sets and isinstance(size, Constant) and size.value % 4 == 0 else 1
