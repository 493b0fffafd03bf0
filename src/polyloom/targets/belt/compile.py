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
from polyloom.targets.belt.map.schedule.blocks.function_schedule import Schedules, ScratchError, schedule_function
from polyloom.targets.belt.map.schedule.emit import (
    link_blocks,
)
from polyloom.targets.belt.map.schedule.graph import LOADS
from polyloom.targets.belt.map.schedule.loop_graph import Builder as LoopBuilder
from polyloom.targets.belt.map.schedule.memory_arguments import pass_in_memory
from polyloom.targets.belt.map.schedule.normalize_loops import (
    entry_arguments,
    insert_stubs,
    normalize,
    open_loop,
)
from polyloom.targets.belt.map.schedule.pipeline import BEST, Failed, Options, Pipelined, lower_bounds, pipeline
from polyloom.targets.belt.source.ir import Function, Loop, Module, Operand
from polyloom.targets.belt.source.ir_verify import GENASM
from polyloom.targets.belt.words.facts_json import facts_to_json
from polyloom.targets.belt.words.layout import data_addresses
from polyloom.targets.belt.words.listing import listing
from polyloom.targets.belt.words.loop_facts import LoopFacts
from polyloom.targets.belt.words.program import Bundle, Program, Routine
from polyloom.targets.belt.words.verify import verify

Ratio = float | Literal["always", "never"]


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
    """Compile a function. Loops whose frames do not fit into scratch behind the values at home get smaller ones by a
    longer interval, or are opened."""
    rooms: dict[str, int] = {}
    pipelined: _LoopCache = {}
    schedules: Schedules = {}
    while True:
        try:
            return _build_routine(function, machine, known, settings, rooms, pipelined, schedules)
        except ScratchError as error:
            if not error.loops:
                raise error.told from None
            # The second time a loop is opened, so that this ends: at last no loop has frames.
            rooms |= {name: 0 if name in rooms else error.room for name in error.loops}


_LoopCache = dict[tuple[str, int | None, tuple[Operand, ...]], tuple[Pipelined | None, LoopFacts]]
"""Loops of a function by name, the bytes that are left for their frames where these are known, and initial values."""


def _build_routine(
    function: Function,
    machine: Machine,
    known: Mapping[str, int],
    settings: Settings,
    rooms: Mapping[str, int],
    pipelined: _LoopCache,
    schedules: Schedules,
) -> tuple[Routine, list[LoopFacts], Mapping[str, int]]:
    """Routine of a function: its loops pipelined or opened, then its blocks scheduled and linked. `pipelined` and
    `schedules` keep those of loops and blocks from one call to the next."""
    loops: dict[str, Pipelined] = {}
    facts: dict[str, LoopFacts] = {}
    for loop in [b for b in function.blocks if isinstance(b, Loop)]:
        # A loop depends on the rest of the function by its initial values alone, whatever else is opened.
        key = loop.name, rooms.get(loop.name), entry_arguments(function, loop)
        if key not in pipelined:
            pipelined[key] = _compile_loop(function, loop, machine, known, settings, rooms.get(loop.name))
        found, facts[loop.name] = pipelined[key]
        if isinstance(found, Pipelined):
            loops[loop.name] = found
        else:
            function = open_loop(function, loop)
    # Longer lists pass partly through scratch, which only the block before a jump can prepare.
    function = insert_stubs(function, machine.belt - 2)
    pieces = schedule_function(function, machine, known, loops, schedules)
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
    room: int | None,
) -> tuple[Pipelined | None, LoopFacts]:
    """Pipelined loop, or None; and its facts, with the reason where it is not pipelined. `room`: bytes that are left
    for its frames, where all of scratch was too much."""
    graph = LoopBuilder(loop, entry_arguments(function, loop), known).build()
    if sum(node.name in LOADS for node in graph.nodes) > machine.stations:
        loop = replace(loop, reason=loop.reason or "stations")
    # Facts are those of the loop as it was given, before anything is added to it.
    limits = lower_bounds(machine, graph)
    facts = stats.loop_facts(machine, loop, graph, limits, loop.reason)
    if loop.reason:
        return None, facts
    if room == 0:
        return None, replace(facts, reason="scratch")
    if reason := _spl_refusal(facts, settings.spl):
        return None, replace(facts, reason=reason)
    # Results of a leave are a list on the belt, beside which its condition must lie.
    if any(len(op.edge.arguments) > machine.belt - 2 for op in loop.ops if op.edge is not None):
        return None, replace(facts, reason="belt")
    options = Options(settings.solver, settings.effort, machine.scratch if room is None else room, room is not None)
    found = pipeline(machine, graph, known, options)
    if isinstance(found, Failed):
        return None, replace(facts, reason=found.reason, rounds=found.rounds)
    # As open code, one iteration takes no more than this.
    if room is not None and found.interval >= facts.linear:
        return None, replace(facts, reason="scratch")
    return found, stats.pipelined_facts(facts, found)


def _spl_refusal(facts: LoopFacts, spl: Ratio) -> str:
    """SPL test: linear latency at least `spl` times packed latency (I. Godard, "Pipelining"; docs/targets/belt.md,
    Loops). The reason of a refusal, or ""."""
    if spl == "always":
        return ""
    if spl == "never":
        return "never"
    return "" if facts.linear >= spl * facts.packed else "ratio"
