# SPDX-License-Identifier: Apache-2.0
"""Liveness of registers in machine code, by backward data flow: dead-code elimination, and live intervals with holes.

Instruction k, counted through the blocks in their order, reads at 2 k and writes at 2 k + 1. Sources: Muchnick 1997,
section 14.1.3 (live variables); lifetime holes as in Traub, Holloway and Smith 1998.
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
    defs_and_uses,
    is_atomic,
    successors,
)

Segments = list[tuple[int, int]]
"""Half-open, disjoint, ascending."""
_EFFECTS: Final = (*ENDS, *STORES, *CALLS, "fence", "keep", "spill", *PUSHES)


def live_out_sets(code: Code) -> list[set[Reg]]:
    """Live-out sets: by block the registers that some path behind it uses."""
    found, order = _solve_liveness(code)
    return [_union([found[s] for s in next], order) for next in successors(code)]


def live_in_sets(code: Code) -> list[set[Reg]]:
    """Live-in sets: by block the registers that it or some path behind it uses."""
    found, order = _solve_liveness(code)
    return [_union([members], order) for members in found]


def _solve_liveness(code: Code) -> tuple[Sequence[int], list[Reg]]:
    """Solution of the data-flow equations: by block the registers live at its beginning, as bits, and the registers'
    order.
    """
    summaries = [_upward_exposed_uses(code, block) for block in code.blocks]
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


def _upward_exposed_uses(code: Code, block: Block) -> tuple[dict[Reg, None], dict[Reg, None]]:
    """Local sets of a block: upward-exposed uses (used before defined), and definitions."""
    used, defined = dict[Reg, None](), dict[Reg, None]()
    for op in block.ops:
        # Uses are recorded before definitions: an instruction reads its operands before it writes.
        made, read = defs_and_uses(op, code.isa)
        used.update(dict.fromkeys(r for r in read if r not in defined))
        defined.update(dict.fromkeys(made))
    return used, defined


def _union(sets: Sequence[int], order: Sequence[Reg]) -> set[Reg]:
    """Union of bit sets, as a set of registers."""
    union = 0
    for members in sets:
        union |= members
    found = set[Reg]()
    while union:
        lowest = (union & -union).bit_length() - 1
        found.add(order[lowest])
        union ^= 1 << lowest
    return found


def eliminate_dead_code(code: Code) -> Code:
    """Dead-code elimination: instructions without effects whose results are not live are removed, until nothing
    changes.
    """
    # Removing an instruction may leave its operands unused: until a fixed point.
    while True:
        blocks = tuple(
            _sweep_block(code, block, set(out)) for block, out in zip(code.blocks, live_out_sets(code), strict=True)
        )
        if blocks == code.blocks:
            return code
        code = replace(code, blocks=blocks)


def _sweep_block(code: Code, block: Block, alive: set[Reg]) -> Block:
    """Backward sweep of a block; `alive` is changed from live-out to live-in."""
    kept: list[Op] = []
    for op in reversed(block.ops):
        defined, used = defs_and_uses(op, code.isa)
        if op.mnemonic in _EFFECTS or is_atomic(op) or alive.intersection(defined):
            kept.append(op)
            alive.difference_update(defined)
            alive.update(used)
    return replace(block, ops=tuple(reversed(kept)))


def live_intervals(code: Code) -> dict[Reg, Segments]:
    """Live intervals by register, with holes: where each register holds a value that is used later. In the order of the
    registers.
    """
    found: dict[Reg, Segments] = {}
    # Two positions per instruction: it reads at the even one and writes at the odd one, so that a result may take the
    # register of a last operand.
    start = 2 * sum(len(block.ops) for block in code.blocks)
    for block, out in zip(reversed(code.blocks), reversed(live_out_sets(code)), strict=True):
        end, start = start, start - 2 * len(block.ops)
        _add_block_segments(code, block, dict.fromkeys(sorted(out), end), start, found)
    return {register: segments[::-1] for register, segments in sorted(found.items())}


def _add_block_segments(code: Code, block: Block, ends: dict[Reg, int], start: int, found: dict[Reg, Segments]) -> None:
    """Adds a block's segments, last ones first; `ends` has the ends of those that are open."""
    for k, op in reversed(list(enumerate(block.ops))):
        at = start + 2 * k
        defined, used = defs_and_uses(op, code.isa)
        for register in defined:
            # An exchange reads its operands again after it has written: what it defines lives beside them.
            begin = at if op.mnemonic in EXCHANGES else at + 1
            _add_segment(found.setdefault(register, []), begin, ends.pop(register, at + 2))
        for register in used:
            # Backwards: the first use that is met is the last one in the text.
            ends.setdefault(register, at + 1)
    for register, end in ends.items():
        _add_segment(found.setdefault(register, []), start, end)


def _add_segment(segments: Segments, start: int, end: int) -> None:
    """Adds a segment in front, joined with the next one where they touch."""
    if segments and segments[-1][0] == end:
        segments[-1] = (start, segments[-1][1])
    else:
        segments.append((start, end))


def overlap(a: Segments, b: Segments) -> bool:
    """Whether two live intervals interfere, that is, share a position. Segments that end before the other interval
    begins are skipped by binary search.
    """
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


def position_bits(segments: Segments) -> int:
    """Interval as a bit set of positions: interference is then one `&`."""
    bits = 0
    for start, end in segments:
        bits |= (1 << end) - (1 << start)
    return bits


def merge_intervals(a: Segments, b: Segments) -> Segments:
    """Union of two intervals that do not overlap, for a coalesced register."""
    joined: Segments = []
    for start, end in sorted((*a, *b)):
        if joined and joined[-1][1] == start:
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    return joined


def loop_depths(code: Code) -> list[int]:
    """Loop depth of each block: how many backward jumps go around it. It is exact where a loop's blocks are contiguous
    (order.py).
    """
    back = [(target, k) for k, follow in enumerate(successors(code)) for target in follow if target <= k]
    steps = [0] * (len(code.blocks) + 1)
    for low, high in back:
        steps[low] += 1
        # A difference array: its running sum is the number of backward jumps around a block.
        steps[high + 1] -= 1
    return list(accumulate(steps[:-1]))
