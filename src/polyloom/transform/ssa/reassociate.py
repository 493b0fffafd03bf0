# SPDX-License-Identifier: Apache-2.0
"""Reassociation for latency: sums that a superblock loop carries get what they carry last, s + a + b is s + (a + b),
whose circuit is one addition long (tree height reduction; Kuck, 1978).

So do products and logical operations on integers, of which the order does not matter.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from polyloom.analysis.superblocks import SideExit, Superblock, superblocks, with_line, with_superblock
from polyloom.ir.ssa import Function, Instruction, Operand, Value
from polyloom.transform.ssa.function_editing import names, on_each_function

_FREE: Final = ("add", "mul", "and", "or", "xor")
Fresh = Callable[[str], str]


@on_each_function
def reassociate_recurrences(function: Function) -> Function:
    """Tree height reduction of recurrences (Kuck 1978): the function with the sums of its superblock loops in the order
    of least circuits.
    """
    fresh = names(function)
    for loop in superblocks(function):
        changed = _with_short_circuits(loop, fresh)
        function = function if changed is loop else with_superblock(function, changed, fresh)
    return function


def _with_short_circuits(loop: Superblock, fresh: Fresh) -> Superblock:
    for parameter, following in zip(loop.parameters, loop.following, strict=True):
        makers = {r: i for i in loop.instructions for r in i.results}
        last = makers.get(following) if isinstance(following, Value) else None
        if last is None or last.operation not in _FREE or parameter in last.operands:
            continue
        chain = _chain(loop, last, makers)
        inner = {r for i in chain for r in i.results}
        leaves = [o for i in chain for o in i.operands if o not in inner]
        # Twice in the sum would be a product with two in each iteration.
        if leaves.count(parameter) == 1:
            loop = _rebuilt(loop, last, chain, [o for o in leaves if o != parameter], parameter, fresh)
    return loop


def _chain(loop: Superblock, last: Instruction, makers: dict[Value, Instruction]) -> list[Instruction]:
    """The instruction, and those of its operation that it alone uses, and that these do."""
    read = Counter(loop.operands)
    found, work = list[Instruction](), [last]
    while work:
        i = work.pop()
        found.append(i)
        sources = (makers.get(o) for o in i.operands if isinstance(o, Value) and read[o] == 1)
        work += [s for s in sources if s is not None and s.operation == last.operation]
    return found


def _rebuilt(
    loop: Superblock, last: Instruction, chain: list[Instruction], leaves: list[Operand], carried: Value, fresh: Fresh
) -> Superblock:
    made: list[Instruction] = []
    total = leaves[0]
    for leaf in leaves[1:]:
        result = Value(fresh(last.results[0].name), last.results[0].type)
        made.append(Instruction(last.operation, (total, leaf), (result,), place=last.place))
        total = result
    # What a flag excluded is another sum.
    made.append(replace(last, operands=(total, carried), flags=()))
    line: list[Instruction | SideExit] = []
    for item in loop.line:
        if item is last:
            line += made
        elif not any(item is other for other in chain):
            line.append(item)
    return with_line(loop, line)
