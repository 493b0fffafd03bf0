# SPDX-License-Identifier: Apache-2.0
"""List scheduling within a basic block, before allocation, for an in-order core that issues one instruction per cycle
(Gibbons and Muchnick 1986; Muchnick 1997, section 17.1).

An instruction follows what it depends on by that one's latency: of the instructions that are ready, the one with the
longest path to the end of the block comes first. The latencies are those of no core, but typical: 2 for loads, 3 to
multiply, 4 and more for floats.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from polyloom.riscv.backend.code import (
    CALLS,
    ENDS,
    LOADS,
    PUSHES,
    STORES,
    Block,
    Code,
    Op,
    Reg,
    defs_and_uses,
    is_atomic,
    is_move,
)

_LATENCIES: Final = {
    **dict.fromkeys(LOADS, 2),
    **dict.fromkeys(("mul", "mulw", "mulh", "mulhu", "mulhsu"), 3),
    **dict.fromkeys(("div", "divu", "rem", "remu", "divw", "divuw", "remw", "remuw"), 20),
}
_DIVISION: Final = 15
_FLOAT: Final = 4
_FIXED: Final = (*CALLS, *ENDS)
"""Nothing passes these: what is computed across a call needs a register that is saved."""
_BARRIERS: Final = ("fence", "keep", *PUSHES, *_FIXED)


@dataclass(slots=True)
class _Node:
    """Node of the dependence graph. `after` are later instructions with the cycles that must lie between; `before`
    counts predecessors that are not scheduled yet; `height` is the critical path to the end; `ready` the earliest
    cycle.
    """

    op: Op
    after: dict[int, int] = field(default_factory=dict[int, int])
    before: int = 0
    height: int = 0
    ready: int = 0


def schedule(code: Code) -> Code:
    """The code with the instructions of each block in the order of the schedule."""
    # Copies at the end of a loop give variables their next values: a value made before the last read of its variable
    # cannot share the register.
    nexts: dict[Reg, list[Reg]] = {}
    for op in (op for block in code.blocks for op in block.ops if is_move(op)):
        variable, value = op.operands
        if isinstance(variable, Reg) and isinstance(value, Reg):
            nexts.setdefault(value, []).append(variable)
    return replace(
        code, blocks=tuple(Block(block.name, tuple(_schedule_block(code, block.ops, nexts))) for block in code.blocks)
    )


def latency(op: Op) -> int:
    """Cycles until the result can be read."""
    if op.mnemonic.startswith(("fdiv", "fsqrt")):
        return _DIVISION
    if op.mnemonic.startswith("f") and op.mnemonic not in (*LOADS, *STORES, "fmv", "frame", "fence"):
        return _FLOAT
    return _LATENCIES.get(op.mnemonic, 1)


def _schedule_block(code: Code, ops: Sequence[Op], nexts: Mapping[Reg, Sequence[Reg]]) -> list[Op]:
    """Greedy list scheduling of a block by critical path; among equals, by text."""
    nodes = _dependence_graph(code, ops, nexts)
    for node in reversed(nodes):
        # List scheduling by critical path: the longest way to the end of the block first.
        node.height = max((distance + nodes[k].height for k, distance in node.after.items()), default=0)
    # Instructions without an unscheduled predecessor; `ready` says from which cycle on their operands are there.
    open = [k for k, node in enumerate(nodes) if node.before == 0]
    made: list[Op] = []
    cycle = 0
    while open:
        able = [k for k in open if nodes[k].ready <= cycle]
        if not able:
            # Nothing can issue: time passes without an instruction, because a stall costs no word.
            cycle = min(nodes[k].ready for k in open)
            continue
        chosen = min(able, key=lambda k: (-nodes[k].height, k))
        open.remove(chosen)
        made.append(nodes[chosen].op)
        for k, distance in nodes[chosen].after.items():
            nodes[k].ready = max(nodes[k].ready, cycle + distance)
            nodes[k].before -= 1
            if nodes[k].before == 0:
                open.append(k)
        cycle += 1
    return made


def _dependence_graph(code: Code, ops: Sequence[Op], nexts: Mapping[Reg, Sequence[Reg]]) -> list[_Node]:
    """Dependence graph of a block: by registers (flow, anti and output), by memory (loads may pass loads), and calls
    and the ends of the block after everything.

    `nexts` has the variables that copies give a value to: the value is made behind what reads the variable before it,
    so that both can be one register.
    """
    nodes = [_Node(op) for op in ops]
    wrote: dict[object, int] = {}
    read: dict[object, list[int]] = {}
    stored, loaded = -1, list[int]()
    last = -1
    for k, op in enumerate(ops):
        defined, used = defs_and_uses(op, code.isa)
        for register in used:
            if register in wrote:
                _add_edge(nodes, wrote[register], k, latency(ops[wrote[register]]))
            read.setdefault(register, []).append(k)
        for register in defined:
            for reader in read.pop(register, ()):
                # Reading before writing takes no cycle in an in-order pipeline; writing twice takes one, so that the
                # later value stays.
                _add_edge(nodes, reader, k, 0)
            if register in wrote:
                _add_edge(nodes, wrote[register], k, 1)
            wrote[register] = k
        for variable in nexts.get(defined[0], ()) if len(defined) == 1 else ():
            for reader in read.get(variable, ()):
                _add_edge(nodes, reader, k, 0)
        if op.mnemonic in _BARRIERS or op.mnemonic in STORES or is_atomic(op):
            # Without alias analysis a store waits for all loads and the last store; loads pass each other.
            for earlier in (*loaded, stored):
                _add_edge(nodes, earlier, k, 0)
            stored, loaded = k, []
        elif op.mnemonic in LOADS:
            _add_edge(nodes, stored, k, 0)
            loaded.append(k)
        # A call or an end is a boundary: everything before it stays before, everything after it after.
        if op.mnemonic in _FIXED:
            for earlier in range(last + 1, k):
                _add_edge(nodes, earlier, k, 0)
            last = k
        elif last >= 0:
            _add_edge(nodes, last, k, 0)
    return nodes


def _add_edge(nodes: list[_Node], earlier: int, later: int, distance: int) -> None:
    """Adds a dependence, at its greatest distance in cycles."""
    if 0 <= earlier < later:
        if later not in nodes[earlier].after:
            nodes[later].before += 1
        nodes[earlier].after[later] = max(distance, nodes[earlier].after.get(later, 0))
