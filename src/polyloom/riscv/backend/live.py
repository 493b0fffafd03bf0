# SPDX-License-Identifier: Apache-2.0
"""Liveness of registers in machine code: code whose results nobody uses, and where registers are live, as intervals
with holes.

Instruction k, counted through the blocks in their order, reads at 2 k and writes at 2 k + 1.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate
from typing import Final

from polyloom.analysis.liveness import live
from polyloom.riscv.backend.code import (
    CALLS,
    ENDS,
    EXCHANGES,
    PUSHES,
    STORES,
    Block,
    Code,
    Op,
    Reg,
    is_atomic,
    registers,
    successors,
)

Segments = list[tuple[int, int]]
"""Half-open, disjoint, ascending."""
_EFFECTS: Final = (*ENDS, *STORES, *CALLS, "fence", "keep", "spill", *PUSHES)


def live_out(code: Code) -> list[set[Reg]]:
    """By block what some path behind it uses."""
    found, order = _live(code)
    return [_union([found[s] for s in next], order) for next in successors(code)]


def live_in(code: Code) -> list[set[Reg]]:
    """By block what it or some path behind it uses."""
    found, order = _live(code)
    return [_union([members], order) for members in found]


def _live(code: Code) -> tuple[Sequence[int], list[Reg]]:
    """By block the registers that are live at its beginning, as bits; and their order."""
    summaries = [_exposed(code, block) for block in code.blocks]
    # Sets as bits of integers: union and difference of hundreds of registers are single operations.
    number = {
        register: k
        for k, register in enumerate(dict.fromkeys(r for used, defined in summaries for r in (*used, *defined)))
    }
    order = list(number)
    used, defined = (
        [sum(1 << number[r] for r in members) for members in side] for side in zip(*summaries, strict=True)
    )
    return live(successors(code), used, defined), order


def _exposed(code: Code, block: Block) -> tuple[dict[Reg, None], dict[Reg, None]]:
    """What the block uses before it defines it, and what it defines."""
    used, defined = dict[Reg, None](), dict[Reg, None]()
    for op in block.ops:
        made, read = registers(op, code.isa)
        used.update(dict.fromkeys(r for r in read if r not in defined))
        defined.update(dict.fromkeys(made))
    return used, defined


def _union(sets: Sequence[int], order: Sequence[Reg]) -> set[Reg]:
    union = 0
    for members in sets:
        union |= members
    found = set[Reg]()
    while union:
        lowest = (union & -union).bit_length() - 1
        found.add(order[lowest])
        union ^= 1 << lowest
    return found


def without_dead(code: Code) -> Code:
    """The code without instructions that have no effect and whose results are not used."""
    while True:
        blocks = tuple(_cleaned(code, block, set(out)) for block, out in zip(code.blocks, live_out(code), strict=True))
        if blocks == code.blocks:
            return code
        code = replace(code, blocks=blocks)


def _cleaned(code: Code, block: Block, alive: set[Reg]) -> Block:
    kept: list[Op] = []
    for op in reversed(block.ops):
        defined, used = registers(op, code.isa)
        if op.mnemonic in _EFFECTS or is_atomic(op) or alive.intersection(defined):
            kept.append(op)
            alive.difference_update(defined)
            alive.update(used)
    return replace(block, ops=tuple(reversed(kept)))


def intervals(code: Code) -> dict[Reg, Segments]:
    """Where each register holds a value that is used later, in the order of the registers' first mention."""
    found: dict[Reg, Segments] = {}
    # Two positions per instruction: it reads at the even one and writes at the odd one, so that a result may take the
    # register of a last operand.
    start = 2 * sum(len(block.ops) for block in code.blocks)
    for block, out in zip(reversed(code.blocks), reversed(live_out(code)), strict=True):
        end, start = start, start - 2 * len(block.ops)
        _block(code, block, dict.fromkeys(sorted(out), end), start, found)
    return {register: segments[::-1] for register, segments in sorted(found.items())}


def _block(code: Code, block: Block, ends: dict[Reg, int], start: int, found: dict[Reg, Segments]) -> None:
    """Adds the block's segments, last ones first; `ends` has the end of those that are open."""
    for k, op in reversed(list(enumerate(block.ops))):
        at = start + 2 * k
        defined, used = registers(op, code.isa)
        for register in defined:
            # An exchange reads its operands again after it has written: what it defines lives beside them.
            begin = at if op.mnemonic in EXCHANGES else at + 1
            _add(found.setdefault(register, []), begin, ends.pop(register, at + 2))
        for register in used:
            # Backwards: the first use that is met is the last one in the text.
            ends.setdefault(register, at + 1)
    for register, end in ends.items():
        _add(found.setdefault(register, []), start, end)


def _add(segments: Segments, start: int, end: int) -> None:
    """Joins the segment with the one behind it, where they touch."""
    if segments and segments[-1][0] == end:
        segments[-1] = (start, segments[-1][1])
    else:
        segments.append((start, end))


def overlap(a: Segments, b: Segments) -> bool:
    """Whether two intervals share a position. What ends before the other one begins is passed over at once."""
    if not (a and b):
        return False
    # Long intervals have many segments, and most pairs of intervals touch only in few of them.
    i, j = max(0, bisect(a, b[0]) - 1), max(0, bisect(b, a[0]) - 1)
    while i < len(a) and j < len(b):
        if a[i][0] < b[j][1] and b[j][0] < a[i][1]:
            return True
        if a[i][1] <= b[j][1]:
            i += 1
        else:
            j += 1
    return False


def bits_of(segments: Segments) -> int:
    """An interval as the set of its positions: many are compared faster so."""
    bits = 0
    for start, end in segments:
        bits |= (1 << end) - (1 << start)
    return bits


def united(a: Segments, b: Segments) -> Segments:
    """The union of two intervals that do not overlap."""
    joined: Segments = []
    for start, end in sorted((*a, *b)):
        if joined and joined[-1][1] == start:
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    return joined


def depths(code: Code) -> list[int]:
    """By block how many backward jumps go around it: its depth in loops, where a loop's blocks stand together."""
    back = [(target, k) for k, follow in enumerate(successors(code)) for target in follow if target <= k]
    steps = [0] * (len(code.blocks) + 1)
    for low, high in back:
        steps[low] += 1
        steps[high + 1] -= 1
    return list(accumulate(steps[:-1]))
