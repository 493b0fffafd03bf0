# SPDX-License-Identifier: Apache-2.0
"""Specializer from the member-independent form to a member's program, on one page: the passes `normal` and `schedule`.

For each function: heads of loops; loops pipelined or opened (I. Godard, "Pipelining": the test, the torus, belt
positions, spills, first passes; docs/targets/belt.md, Loops); blocks around them scheduled as open code; bundles.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, Literal

from polyloom.diagnostics import PolyloomError, infeasible
from polyloom.ir.signature import Signature
from polyloom.passes import Form, Pass, Watch, run_passes
from polyloom.targets.belt.isa import OPS
from polyloom.targets.belt.machine import Machine
from polyloom.targets.belt.map.schedule import stats
from polyloom.targets.belt.map.schedule.block_code import Builder, Head, Plan, live_values, used_operands
from polyloom.targets.belt.map.schedule.emit import (
    Piece,
    entry_belt,
    entry_spills,
    home_constants,
    link_blocks,
    loop_piece,
    open_piece,
)
from polyloom.targets.belt.map.schedule.graph import LOADS, Graph, Read
from polyloom.targets.belt.map.schedule.loop_graph import Builder as LoopBuilder
from polyloom.targets.belt.map.schedule.memory_arguments import pass_in_memory
from polyloom.targets.belt.map.schedule.normalize_loops import (
    edges,
    entry_arguments,
    insert_stubs,
    normalize,
    open_loop,
)
from polyloom.targets.belt.map.schedule.open_code import ENTRY, Code, Linear, check_schedule, schedule_block
from polyloom.targets.belt.map.schedule.origins import block_place
from polyloom.targets.belt.map.schedule.pipeline import BEST, Failed, Options, Pipelined, lower_bounds, pipeline
from polyloom.targets.belt.map.schedule.scratch_allocation import allocate_scratch
from polyloom.targets.belt.source.ir import Block, Constant, Function, Loop, Module, Operand
from polyloom.targets.belt.source.ir_verify import GENASM
from polyloom.targets.belt.words.facts_json import facts_to_json
from polyloom.targets.belt.words.layout import data_addresses
from polyloom.targets.belt.words.listing import listing
from polyloom.targets.belt.words.loop_facts import LoopFacts
from polyloom.targets.belt.words.program import Bundle, Program, Routine
from polyloom.targets.belt.words.verify import verify

Ratio = float | Literal["always", "never"]
# I. Godard, "Pipelining", reports one reschedule for a fifth of the loops, and none that needs more than two.
ROUNDS: Final = 8
"""Schedules of open code that are thrown away for a lost operand, at most; then each value is spilled and filled."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings of the specializer. `spl`: a loop is pipelined whose iteration by its data flow takes at least so many
    times its slots' bundles."""

    spl: Ratio = 2.0
    solver: str = BEST
    effort: float = 2.0


def specialize(
    module: Module,
    machine: Machine,
    *,
    spl: Ratio = 2.0,
    solver: str = BEST,
    effort: float = 2.0,
    signature: Signature | None = None,
    watch: Watch | None = None,
) -> tuple[Program, tuple[LoopFacts, ...]]:
    """Specialize a module for a member: the program, and the facts of the first function's loops, then of the others'.
    Errors: PL1110 to PL1112. `watch` sees `PASSES`, programs with their signature."""
    _check_operations(module, machine)
    facts: list[LoopFacts] = []
    schedule = partial(_schedule_module, machine=machine, settings=Settings(spl, solver, effort), facts=facts)
    passes = (Pass("normal", _normalize_module, GENASM), Pass("schedule", schedule, _program_form(signature)))
    program: Program = run_passes(module, passes, watch)
    return program, tuple(facts)


PASSES: Final = ("normal", "schedule")
"""The names of the passes."""


def _program_form(signature: Signature | None) -> Form[Program]:
    known = signature or Signature("program", (), (), ())
    return Form(lambda program: listing(program, known), _verify_program)


def _verify_program(program: Program) -> None:
    """Check emitted words. A recurrence whose first value no path takes (PL1018) is an operation too many, not a wrong
    program."""
    if found := [d for d in verify(program) if d.code != "PL1018"]:
        raise PolyloomError(*found)


def _normalize_module(module: Module) -> Module:
    return replace(module, functions=tuple(map(normalize, module.functions)))


def _schedule_module(module: Module, machine: Machine, settings: Settings, facts: list[LoopFacts]) -> Program:
    """Program of functions in normal form; `facts` gets those of their loops."""
    module, passed = pass_in_memory(module, machine.belt)
    known = data_addresses(module.data)
    routines: list[Routine] = []
    blocks: dict[str, Mapping[str, int]] = {}
    for function in module.functions:
        routine, more, blocks[function.name] = compile_routine(function, machine, known, settings)
        routines.append(routine)
        facts += more
    told = facts_to_json(tuple(facts), blocks)
    return Program(machine.name, machine.phasing, machine.description, tuple(routines), module.data, passed, told)


def _check_operations(module: Module, machine: Machine) -> None:
    """Check that every operation has a slot on the member; PL1112."""
    for function in module.functions:
        for op in (op for block in function.blocks for op in block.ops):
            if not machine.unit_slots(OPS[op.name].unit):
                line = f", line {op.place.line}" if op.place.line else ""
                message = f"{function.name}{line}: no slot of {machine.name} executes {op.name}"
                raise infeasible("PL1112", message, help=f'add "{OPS[op.name].unit}" to a slot of the member')


def compile_routine(
    function: Function, machine: Machine, known: Mapping[str, int], settings: Settings
) -> tuple[Routine, list[LoopFacts], Mapping[str, int]]:
    """Compile a function. Loops whose frames and what they need at home do not fit into scratch are opened, the
    greatest first."""
    closed: set[str] = set()
    pipelined: _LoopCache = {}
    while True:
        try:
            return _build_routine(function, machine, known, settings, closed, pipelined)
        except _ScratchError as error:
            if error.loop is None:
                raise error.told from None
            # Each turn opens one loop more, so that this ends: at last no loop has frames.
            closed.add(error.loop)


_LoopCache = dict[tuple[str, bool, tuple[Operand, ...]], tuple[Pipelined | None, LoopFacts]]
"""Loops of a function by name, whether they are opened, and initial values."""


class _ScratchError(Exception):
    """Scratch is too short; `loop` is one that could do without frames, None where there is none."""

    def __init__(self, told: PolyloomError, loop: str | None) -> None:
        super().__init__(str(told))
        self.told, self.loop = told, loop


def _build_routine(
    function: Function,
    machine: Machine,
    known: Mapping[str, int],
    settings: Settings,
    closed: set[str],
    pipelined: _LoopCache,
) -> tuple[Routine, list[LoopFacts], Mapping[str, int]]:
    """Routine of a function: its loops pipelined or opened, then its blocks scheduled and linked. `pipelined` keeps the
    loops from one call to the next."""
    loops: dict[str, Pipelined] = {}
    facts: dict[str, LoopFacts] = {}
    for loop in [b for b in function.blocks if isinstance(b, Loop)]:
        # A loop depends on the rest of the function by its initial values alone, whatever else is opened.
        key = loop.name, loop.name in closed, entry_arguments(function, loop)
        if key not in pipelined:
            pipelined[key] = _compile_loop(function, loop, machine, known, settings, closed)
        found, facts[loop.name] = pipelined[key]
        if isinstance(found, Pipelined):
            loops[loop.name] = found
        else:
            function = open_loop(function, loop)
    # Longer lists pass partly through scratch, which only the block before a jump can prepare.
    function = insert_stubs(function, machine.belt - 2)
    pieces = _schedule_function(function, machine, known, loops)
    bundles: list[Bundle] = []
    first: dict[str, int] = {}
    for name, piece in pieces.items():
        first[name] = len(bundles)
        bundles += piece.bundles
    bundles = [b for piece in pieces.values() for b in link_blocks(piece, first)]
    passes = tuple((first[name], len(pieces[name].bundles)) for name in pieces if name in loops)
    parameters = tuple(p.type for p in function.blocks[0].parameters)
    told = [
        replace(f, routine=function.name, first_bundle=first[name] if name in loops else None)
        for name, f in facts.items()
    ]
    return Routine(function.name, tuple(bundles), passes, parameters, function.results), told, first


def _compile_loop(
    function: Function,
    loop: Loop,
    machine: Machine,
    known: Mapping[str, int],
    settings: Settings,
    closed: set[str],
) -> tuple[Pipelined | None, LoopFacts]:
    """Pipelined loop, or None; and its facts, with the reason where it is not pipelined."""
    graph = LoopBuilder(loop, entry_arguments(function, loop), known).build()
    if sum(node.name in LOADS for node in graph.nodes) > machine.stations:
        loop = replace(loop, reason=loop.reason or "stations")
    # Facts are those of the loop as it was given, before anything is added to it.
    limits = lower_bounds(machine, graph)
    facts = stats.loop_facts(machine, loop, graph, limits, loop.reason)
    if loop.reason:
        return None, facts
    if loop.name in closed:
        return None, replace(facts, reason="scratch")
    if reason := _spl_refusal(facts, settings.spl):
        return None, replace(facts, reason=reason)
    # Results of a leave are a list on the belt, beside which its condition must lie.
    if any(len(op.edge.arguments) > machine.belt - 2 for op in loop.ops if op.edge is not None):
        return None, replace(facts, reason="belt")
    options = Options(settings.solver, settings.effort, machine.scratch)
    found = pipeline(machine, graph, known, options)
    if isinstance(found, Failed):
        return None, replace(facts, reason=found.reason, rounds=found.rounds)
    return found, stats.pipelined_facts(facts, found)


def _spl_refusal(facts: LoopFacts, spl: Ratio) -> str:
    """SPL test: linear latency at least `spl` times packed latency (I. Godard, "Pipelining"; docs/targets/belt.md,
    Loops). The reason of a refusal, or ""."""
    if spl == "always":
        return ""
    if spl == "never":
        return "never"
    return "" if facts.linear >= spl * facts.packed else "ratio"


def _schedule_function(
    function: Function, machine: Machine, known: Mapping[str, int], loops: Mapping[str, Pipelined]
) -> dict[str, Piece]:
    """Bundles of every block of a function, by name: schedules are repeated until no operand is lost. Error: PL1111."""
    plan = Plan(machine, function, known, {})
    plan.live = live_values(function)
    # Computed once: a value that nothing reads needs no home, even in the last resort.
    plan.used = frozenset(o for block in function.blocks for o in used_operands(block))
    _initial_homes(plan, loops)
    # A fixed point: each round sends lost values home and schedules anew (I. Godard, "Pipelining").
    for _ in range(ROUNDS + 1):
        codes = _schedule_blocks(plan, loops, {})
        if not [name for name, found in codes.items() if _mark_lost_operands(plan, name, *found)]:
            break
    else:
        # The last resort: every value is spilled, so that an operation finds its operands at the front
        # (docs/targets/belt.md, Loops).
        plan.serial = True
        codes = _schedule_blocks(plan, loops, {})
        if lost := [name for name, found in codes.items() if _mark_lost_operands(plan, name, *found)]:
            message = f"{function.name}: an operation of block {lost[0]} needs more operands than the belt holds"
            help = f"take a member with a longer belt than {machine.belt}, or pass fewer values"
            raise infeasible("PL1111", message, help=help)
    # Where values are at home moves no operation, but what is needed of a home follows from the schedules.
    placed = {name: linear for name, (_, _, linear) in codes.items()}
    # The size of scratch is an operand of scratchf: with it fixed, blocks are scheduled once more.
    codes = _schedule_blocks(plan, loops, placed)
    offsets, _ = allocate_scratch(plan, loops, placed)
    _check_scratch(plan, loops)
    found: dict[str, Piece] = {}
    for block in function.blocks:
        if isinstance(block, Loop):
            found[block.name] = loop_piece(loops[block.name], offsets.__getitem__, block_place(function, block))
        else:
            code, _, linear = codes[block.name]
            found[block.name] = open_piece(code, linear, offsets.__getitem__, block_place(function, block))
    return found


Scheduled = tuple[Code, dict[int, int], Linear]


def _schedule_blocks(plan: Plan, loops: Mapping[str, Pipelined], placed: Mapping[str, Linear]) -> dict[str, Scheduled]:
    """Schedule every block by what is known so far, with the scratch that homes need in these schedules."""
    _, plan.scratch = allocate_scratch(plan, loops, placed)
    plan.heads = {name: _loop_head(found, plan.scratch) for name, found in loops.items()}
    return {b.name: _schedule_block(plan, b) for b in plan.function.blocks if isinstance(b, Block)}


def _check_scratch(plan: Plan, loops: Mapping[str, Pipelined]) -> None:
    """Check that homes and frames fit, or raise: for a loop that could do without frames, or with fewer homes, else
    PL1110."""
    # One loop runs at a time: their frames share the bytes behind the homes.
    frames = max((found.frames.bytes for found in loops.values()), default=0)
    total = -(-(plan.scratch + frames) // 8) * 8
    machine = plan.machine
    if total <= machine.scratch:
        return
    message = f"{plan.function.name} needs {total} bytes of scratch, and {machine.name} has {machine.scratch}"
    told = infeasible("PL1110", message, help="split the function, or take a member with more scratch")
    framed = [name for name, found in loops.items() if found.frames.bytes]
    raise _ScratchError(told, max(framed or loops, key=lambda n: loops[n].frames.bytes, default=None))


def _initial_homes(plan: Plan, loops: Mapping[str, Pipelined]) -> None:
    """Initial spill set: what pipelined loops read from outside, and what lives across them; what is too much for a
    belt of values."""
    # Nothing stays on a belt that moves every pass, so invariants come from scratch.
    for found in loops.values():
        graph = found.belt.graph
        plan.homed |= {n.home.name for n in graph.nodes if n.home is not None and n.constant is None}
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


def _loop_head(found: Pipelined, size: int) -> Head:
    """Head of a loop: what the block before it must do, in the words of its scratch and its entry belt."""
    frames = found.frames
    total = -(-(size + frames.bytes) // 8) * 8
    return Head(total, frames.size, frames.count, entry_spills(found), home_constants(found), entry_belt(found))


def _schedule_block(plan: Plan, block: Block) -> Scheduled:
    """List schedule of a block, checked; with the operation of each node."""
    code, operation = Builder(plan, block).build()
    linear = schedule_block(plan.machine, code)
    assert not check_schedule(plan.machine, code, linear), check_schedule(plan.machine, code, linear)
    return code, operation, linear


def _mark_lost_operands(plan: Plan, name: str, code: Code, operation: Mapping[int, int], linear: Linear) -> bool:
    """Whether operands are lost; their values go home, and are filled for the operations that lost them."""
    found = False
    for n, node in enumerate(code.graph.nodes):
        for operand in node.operands:
            if not isinstance(operand, Read) or linear.linear(code.entry, n, operand) < plan.machine.belt:
                continue
            found = True
            _send_home(plan, name, code.graph, operand, operation.get(n, -1))
    return found


def _send_home(plan: Plan, block: str, graph: Graph, read: Read, operation: int) -> None:
    """Spill a lost value and fill it for one operation; a constant is issued again instead (rematerialization, Briggs,
    Cooper and Torczon 1992)."""
    source = graph.nodes[read.node]
    value = source.results[read.result]
    if source.name == "con":
        plan.refilled.add((block, operation, Constant(value.type, source.literal)))
        return
    # A fill is from home already, and one that was added by the compiler has no value of the program.
    if source.name != "fillx" and (source.name == ENTRY or source.index >= 0):
        plan.homed.add(value.name)
    plan.refilled.add((block, operation, value))
