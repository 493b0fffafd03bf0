# SPDX-License-Identifier: Apache-2.0
"""Schedules of a function's blocks, in rounds until no operand is lost (I. Godard, "Pipelining"; docs/targets/belt.md,
Loops).

A round sends lost values home and schedules the blocks again that this changes. A block of which nothing more can go
home, or that loses operands round by round, goes on to the next mode: spilled and filled while it is scheduled, then
one operation after the other. All others stay as they are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Final

from polyloom.diagnostics import PolyloomError, infeasible
from polyloom.targets.belt.machine import Machine
from polyloom.targets.belt.map.schedule.block_code import Builder, Head, Plan, live_values, used_operands
from polyloom.targets.belt.map.schedule.blocks.integrated_scheduling import schedule_with_spills
from polyloom.targets.belt.map.schedule.emit import (
    Piece,
    entry_belt,
    entry_spills,
    home_constants,
    loop_piece,
    open_piece,
)
from polyloom.targets.belt.map.schedule.graph import Graph, Read
from polyloom.targets.belt.map.schedule.normalize_loops import edges
from polyloom.targets.belt.map.schedule.open_code import ENTRY, Code, Linear, ListScheduler, Mode, check_schedule
from polyloom.targets.belt.map.schedule.origins import block_place
from polyloom.targets.belt.map.schedule.pipeline import Pipelined
from polyloom.targets.belt.map.schedule.scratch_allocation import allocate_scratch, needed_blocks
from polyloom.targets.belt.source.ir import Block, Constant, Function, Loop, Value

# I. Godard, "Pipelining", reports one reschedule for a fifth of the loops, and none that needs more than two.
ROUNDS: Final = 8
"""Greedy schedules of a block that are thrown away for a lost operand, at most."""
MODES: Final[tuple[Mode, ...]] = ("greedy", "integrated", "serial")
"""Modes of scheduling, in the order in which a block tries them."""


class ScratchError(Exception):
    """Scratch is too short; `loops` are those that could do with smaller frames or fewer homes, if any; `room` are the
    bytes that homes leave for frames."""

    def __init__(self, told: PolyloomError, loops: Collection[str], room: int) -> None:
        super().__init__(str(told))
        self.told, self.loops, self.room = told, loops, room


@dataclass(frozen=True, slots=True)
class BlockSchedule:
    """Schedule of a block; `operation` is that of each node, `linear` is None where no schedule was found."""

    code: Code
    operation: Mapping[int, int]
    linear: Linear | None


Schedules = dict[str, list[tuple[Code, BlockSchedule]]]
"""Schedules of blocks by name, each with the code that it is of: kept from round to round, and while loops are
opened."""


def schedule_function(
    function: Function,
    machine: Machine,
    known: Mapping[str, int],
    loops: Mapping[str, Pipelined],
    schedules: Schedules,
) -> dict[str, Piece]:
    """Bundles of every block of a function, by name. Errors: PL1111, `ScratchError`."""
    plan = Plan(machine, function, known, {})
    plan.live = live_values(function)
    # Computed once: a value that nothing reads needs no home, even where all others have one.
    plan.used = frozenset(o for block in function.blocks for o in used_operands(block))
    _initial_homes(plan, loops)
    for block in function.blocks:
        if isinstance(block, Block):
            _enter_mode(plan, loops, block, MODES[0])
    found = _schedule_until_nothing_is_lost(plan, loops, schedules)
    placed = {name: each.linear for name, each in found.items() if each.linear is not None}
    offsets, plan.scratch = allocate_scratch(plan, loops, placed)
    plan.heads = _loop_heads(plan, loops)
    _check_scratch(plan, loops)
    pieces: dict[str, Piece] = {}
    for block in function.blocks:
        place = block_place(function, block)
        if isinstance(block, Loop):
            pieces[block.name] = loop_piece(loops[block.name], offsets.__getitem__, place)
        else:
            code = _allocate(plan, block, found[block.name].code)
            linear = Linear(machine, code.graph, placed[block.name].placed)
            pieces[block.name] = open_piece(code, linear, offsets.__getitem__, place)
    return pieces


def _schedule_until_nothing_is_lost(
    plan: Plan, loops: Mapping[str, Pipelined], schedules: Schedules
) -> dict[str, BlockSchedule]:
    """Schedule in rounds, each with more values at home or a block in a later mode: a fixed point."""
    rounds = Counter[str]()
    blocks = {b.name: b for b in plan.function.blocks if isinstance(b, Block)}
    while True:
        # Which bytes homes have moves no operation: until all are placed, it counts only whether there are any.
        plan.scratch = plan.machine.scratch if any(plan.local.values()) or needed_blocks(plan, loops) else 0
        plan.heads = _loop_heads(plan, loops)
        found = {name: _schedule_block(plan, block, schedules) for name, block in blocks.items()}
        homed, refilled = set(plan.homed), set(plan.refilled)
        losing = [name for name, each in found.items() if _loses_operands(plan, name, each)]
        # The first spills within a block need an allocation, which the first block then has in the next round.
        if not losing and (plan.scratch or not any(plan.local.values())):
            return found
        rounds.update(losing)
        changed = {block for block, _, _ in plan.refilled - refilled}
        for name in losing:
            is_stuck = plan.homed == homed and name not in changed
            if plan.mode(name) != "greedy" or is_stuck or rounds[name] > ROUNDS:
                _enter_mode(plan, loops, blocks[name], _advance_mode(plan, name))


def _advance_mode(plan: Plan, name: str) -> Mode:
    """The mode after that of a block, or PL1111."""
    later = MODES[MODES.index(plan.mode(name)) + 1 :]
    if later:
        return later[0]
    message = f"{plan.function.name}: an operation of block {name} needs more operands than the belt holds"
    help = f"take a member with a longer belt than {plan.machine.belt}, or pass fewer values"
    raise infeasible("PL1111", message, help=help)


def _enter_mode(plan: Plan, loops: Mapping[str, Pipelined], block: Block, mode: Mode) -> None:
    """Schedule a block in a mode from now on, with the homes that this needs."""
    plan.modes[block.name] = mode
    own = [*block.parameters, *(v for op in block.ops for v in op.results)]
    if mode == "integrated":
        # What no other block reads is spilled where the schedule needs it, and only then.
        shared = {v.name for values in plan.live.values() for v in values} | _loop_homes(loops)
        plan.homed -= {v.name for v in own} - shared
    elif mode == "serial":
        # So that an operation finds its operands at the front.
        plan.homed |= {v.name for v in (*own, *plan.live[block.name]) if v in plan.used}


def _loop_homes(loops: Mapping[str, Pipelined]) -> set[str]:
    """Names of what pipelined loops read from outside: nothing stays on a belt that moves every pass."""
    nodes = (node for found in loops.values() for node in found.belt.graph.nodes)
    return {node.home.name for node in nodes if node.home is not None and node.constant is None}


def _initial_homes(plan: Plan, loops: Mapping[str, Pipelined]) -> None:
    """Initial spill set: what pipelined loops read from outside, and what lives across them; what is too much for a
    belt of values."""
    plan.homed |= _loop_homes(loops)
    for block in plan.function.blocks:
        if block.name in loops:
            plan.homed |= {v.name for edge in edges(block) for v in plan.live[edge.target]}
    for block in plan.function.blocks[1:]:
        if isinstance(block, Block) and len(block.parameters) > plan.machine.belt - 2:
            # The second half of a long list passes through scratch: the rest leaves room for what a block computes.
            plan.carried |= {p.name for p in block.parameters[plan.machine.belt // 2 :]}
    for block in plan.function.blocks:
        free = [v for v in plan.live[block.name] if v.name not in plan.homed]
        # A quarter of the belt is kept for the block's own results; an estimate, which rounds correct.
        room = max(0, plan.machine.belt * 3 // 4 - sum(p.name not in plan.carried for p in block.parameters))
        plan.homed |= {v.name for v in free[room:]}


def _loop_heads(plan: Plan, loops: Mapping[str, Pipelined]) -> dict[str, Head]:
    """Heads of loops: what the blocks before them must do, in the words of their scratch and their entry belts."""
    found: dict[str, Head] = {}
    for name, loop in loops.items():
        frames = loop.frames
        total = -(-(plan.scratch + frames.bytes) // 8) * 8
        found[name] = Head(total, frames.size, frames.count, entry_spills(loop), home_constants(loop), entry_belt(loop))
    return found


def _allocate(plan: Plan, block: Block, code: Code) -> Code:
    """Code with the bytes that its allocations of scratch take."""
    heads = [plan.heads[e.target].bytes for e in edges(block) if e.target in plan.heads]
    nodes = tuple(
        replace(node, offset=heads[0] if node.scale else plan.scratch) if node.name == "scratchf" else node
        for node in code.graph.nodes
    )
    return replace(code, graph=replace(code.graph, nodes=nodes))


def _check_scratch(plan: Plan, loops: Mapping[str, Pipelined]) -> None:
    """Check that homes and frames fit, or raise: for all loops whose frames do not fit behind these homes, else for one
    that could do with fewer homes, else PL1110."""
    # One loop runs at a time: their frames share the bytes behind the homes.
    frames = max((found.frames.bytes for found in loops.values()), default=0)
    total = -(-(plan.scratch + frames) // 8) * 8
    machine = plan.machine
    if total <= machine.scratch:
        return
    message = f"{plan.function.name} needs {total} bytes of scratch, and {machine.name} has {machine.scratch}"
    told = infeasible("PL1110", message, help="split the function, or take a member with more scratch")
    room = max(0, machine.scratch - plan.scratch) // 8 * 8
    framed = [name for name, found in loops.items() if found.frames.bytes > room]
    raise ScratchError(told, framed or list(loops)[:1], room)


def _schedule_block(plan: Plan, block: Block, schedules: Schedules) -> BlockSchedule:
    """Schedule of a block by the plan, checked; that of an earlier round where nothing has changed."""
    code, operation = Builder(plan, block).build()
    kept = schedules.setdefault(block.name, [])
    found = next((each for known, each in reversed(kept) if known == code), None)
    if found is None:
        found = _schedule_code(plan.machine, code, operation)
        kept.append((code, found))
    homes = (node.home for node in found.code.graph.nodes[len(code.graph.nodes) :] if node.name == "spillx")
    plan.local[block.name] = tuple(dict.fromkeys(home for home in homes if home is not None))
    return found


def _schedule_code(machine: Machine, code: Code, operation: Mapping[int, int]) -> BlockSchedule:
    if code.mode == "integrated":
        made = schedule_with_spills(machine, code)
        if made is None:
            return BlockSchedule(code, operation, None)
        code, placed = made
    else:
        placed = ListScheduler(machine, code).run()
    linear = Linear(machine, code.graph, placed)
    assert not check_schedule(machine, code, linear), check_schedule(machine, code, linear)
    return BlockSchedule(code, operation, linear)


def _loses_operands(plan: Plan, name: str, found: BlockSchedule) -> bool:
    """Whether operands are lost; of a greedy schedule their values go home, and are filled for the operations that lost
    them."""
    if found.linear is None:
        return True
    losing = False
    for n, node in enumerate(found.code.graph.nodes):
        for operand in node.operands:
            if not isinstance(operand, Read):
                continue
            if found.linear.linear(found.code.entry, n, operand) >= plan.machine.belt:
                losing = True
                if found.code.mode == "greedy":
                    _send_home(plan, name, found.code.graph, operand, found.operation.get(n, -1))
    return losing


def _send_home(plan: Plan, block: str, graph: Graph, read: Read, operation: int) -> None:
    """Spill a lost value and fill it for one operation; a constant is issued again instead (rematerialization, Briggs,
    Cooper and Torczon 1992)."""
    source = graph.nodes[read.node]
    value: Value = source.results[read.result]
    if source.name == "con":
        plan.refilled.add((block, operation, Constant(value.type, source.literal)))
        return
    # A fill is from home already, and one that was added by the compiler has no value of the program.
    if source.name != "fillx" and (source.name == ENTRY or source.index >= 0):
        plan.homed.add(value.name)
    plan.refilled.add((block, operation, value))
