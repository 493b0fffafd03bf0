# SPDX-License-Identifier: Apache-2.0
"""Selects of an operation's identity as selects of the operation: x & (c ? y : -1) is c ? x & y : x, and x * (c ? y :
1) is c ? x * y : x.

LLVM prefers the former. The select table has shorter sequences for the latter, and as a branch it needs no identity. A
0 that is added is left as it is: one `czero` makes it.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Final

from polyloom.ir.ssa import Block, Constant, Function, Instruction, Operand, Value
from polyloom.ir.ssa_types import I1
from polyloom.ir.ssa_verify import uses
from polyloom.transform.ssa.dce import dce
from polyloom.transform.ssa.function_editing import names, on_each_function

_IDENTITIES: Final = {"and": -1, "mul": 1}


@on_each_function
def sink_into_selects(function: Function) -> Function:
    """The function with these operations under their selects, where nothing else uses those."""
    read = Counter(o.name for b in function.blocks for _, group in uses(b) for o in group if isinstance(o, Value))
    fresh = names(function)

    def rewrite(block: Block) -> Block:
        made: dict[str, Instruction] = {}
        written: list[Instruction] = []
        for instruction in block.instructions:
            found = _select_of_identity(instruction, made, read)
            if found is None:
                written.append(instruction)
            else:
                condition, y, x, is_first = found
                inner = Value(fresh("chosen"), x.type)
                arms = (inner, x) if is_first else (x, inner)
                computed = replace(instruction, operands=(x, y), results=(inner,), flags=())
                chosen = Instruction("select", (condition, *arms), instruction.results, place=instruction.place)
                written += [computed, chosen]
            made |= {result.name: instruction for result in instruction.results}
        return replace(block, instructions=tuple(written))

    return dce(replace(function, blocks=tuple(map(rewrite, function.blocks))))


def _select_of_identity(
    instruction: Instruction, made: dict[str, Instruction], read: Counter[str]
) -> tuple[Operand, Operand, Operand, bool] | None:
    """The condition, what is chosen beside the identity, the other operand, and whether it is chosen by a true one."""
    identity = _IDENTITIES.get(instruction.operation)
    if identity is None or instruction.results[0].type == I1:
        return None
    for operand, other in (instruction.operands, instruction.operands[::-1]):
        select = made.get(operand.name) if isinstance(operand, Value) and read[operand.name] == 1 else None
        if select is None or select.operation != "select" or other == operand:
            continue
        condition, a, b = select.operands
        for chosen, rest, is_first in ((a, b, True), (b, a, False)):
            if isinstance(rest, Constant) and rest.value == identity and not isinstance(chosen, Constant):
                return condition, chosen, other, is_first
    return None
