# SPDX-License-Identifier: Apache-2.0
"""Compilation of a plan of several phases to a symbolic file: each phase is compiled, in several parts if it does not
fit.

A plan of one phase whose arrays have the program's own names is the file of its program; every other plan is a file of
phases (`words/phases/phase_file.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from polyloom.ir.pla import Array, Program
from polyloom.ir.pla_text import digest
from polyloom.ir.plan import Phase, Plan, single_phase_plan
from polyloom.ir.steps import Steps, Tree, number_leaves
from polyloom.passes import Watch
from polyloom.sets import Affine
from polyloom.sets.affine import extreme
from polyloom.targets.subject import Progress
from polyloom.targets.tcpa import machine_file
from polyloom.targets.tcpa.compile import UserMapping, compile_program, parse_mapping
from polyloom.targets.tcpa.machine import Machine
from polyloom.targets.tcpa.map import register_demand
from polyloom.targets.tcpa.map.phases.split import PARTS, Part, expand_parts, fit_phase
from polyloom.targets.tcpa.map.relay import insert_relays_if_short
from polyloom.targets.tcpa.options import Choice
from polyloom.targets.tcpa.words import program_file, symbolic_file
from polyloom.targets.tcpa.words.phases import phase_file
from polyloom.targets.tcpa.words.phases.phase_file import INPUT, OUTPUT, PARAMETRIC, Phased, Stage, Window
from polyloom.targets.tcpa.words.phases.stages import choices_by_phase, locate_error, named_stages, progress_of_phase
from polyloom.targets.tcpa.words.symbolic import Symbolic


def compile_plan(
    plan: Plan,
    member: str,
    mapping: Choice[tuple[str, str]],
    progress: Progress | None,
    watch: Watch | None = None,
    known: dict[tuple[str, str], bytes] | None = None,
) -> bytes:
    """Symbolic file of a plan. `known` are files of programs that are compiled already, by digest and reason of a part;
    it gets those that are made. Errors: the target's, with the phase in a note, and PL0818 for mappings of other
    phases."""
    known = {} if known is None else known
    count, machine = len(plan.phases), machine_file.load(member)
    given = choices_by_phase(mapping, plan.name, count, "mapping")
    names = {*plan.parameters, *(a.name for a in (*plan.inputs, *plan.outputs, *plan.intermediates))}
    counters = frozenset(loop.counter for loop in plan.loops)
    short = partial(_shortage, machine)
    made: dict[int, list[Part]] = {}
    for n, (phase, own) in enumerate(zip(plan.phases, given, strict=True), 1):
        chosen, tell = None if own is None else parse_mapping(*own), progress_of_phase(progress, n, count)

        def compile_part(
            part: Phase, reason: str, chosen: UserMapping | None = chosen, tell: Progress | None = tell
        ) -> bytes:
            key = digest(part.program), reason
            if key not in known or chosen is not None:
                symbolic = compile_program(part.program, machine, mapping=chosen, progress=tell, watch=watch)
                known[key] = symbolic_file.encode(_explain_part(symbolic, reason) if reason else symbolic)
            return known[key]

        # A mapping of the user's is of the whole phase.
        most = 1 if own is not None else PARTS
        found, kept = locate_error(n, count, partial(fit_phase, phase, counters, names, compile_part, most, short))
        made[n], kept = _bind_kept_arrays(phase, found, kept)
        plan = replace(plan, intermediates=(*plan.intermediates, *kept))
    parts = [part for n in made for part in made[n]]
    if len(parts) > count:
        plan = replace(plan, body=expand_parts(plan.body, iter([[phase for phase, _ in made[n]] for n in made])))
    files = [data for _, data in parts]
    return files[0] if _is_program(plan) else phase_file.encode(phase_file.SYMBOLIC, _phases_of_plan(plan, files))


def _bind_kept_arrays(
    phase: Phase, parts: Sequence[Part], kept: Sequence[Array]
) -> tuple[list[Part], tuple[Array, ...]]:
    """Arrays between the parts of a phase, in the parameters of the plan: those of a block have the extents of the
    largest block, of which each part sees as much as its block has.
    """
    pairs = zip(phase.program.parameters, phase.arguments, strict=False)
    # A parameter of the phase's own is the least of its arguments, the first of which is the size of a whole block.
    most = [(p, Affine(), forms[0]) for p, forms in pairs if forms != (Affine.symbol(p),)]
    names = {p for p, _, _ in most}
    own = {a.name for a in kept if any(extent.symbols & names for extent in a.shape)}
    bound = tuple(
        replace(a, shape=tuple(extreme(extent, most, 1) or extent for extent in a.shape)) if a.name in own else a
        for a in kept
    )
    origins = {a.name: (Affine(),) * len(a.shape) for a in bound if a.name in own}

    def bind_windows(part: Phase) -> Phase:
        found = ((i, origins[o]) for i, o in (*part.inputs, *part.outputs) if o in origins)
        return replace(part, windows=(*part.windows, *found))

    return [(bind_windows(part), data) for part, data in parts], bound


def _shortage(machine: Machine, program: Program) -> int:
    """Register shortage: how many registers and channels a program lacks on a machine at the least, whatever its
    schedule.
    """
    return register_demand.shortage(insert_relays_if_short(program, machine), machine)


def _explain_part(symbolic: Symbolic, reason: str) -> Symbolic:
    """A configuration whose reports also tell why it is a part of a phase."""
    told = (replace(b, bound_by=f"{b.bound_by}; a part, because in one phase {reason}") for b in symbolic.bottlenecks)
    return replace(symbolic, bottlenecks=tuple(told))


def _is_program(plan: Plan) -> bool:
    """Whether the plan says nothing that its only program does not say."""

    def comparable_fields(p: Plan) -> tuple[object, ...]:
        arrays = [[(a.name, a.dtype, a.shape) for a in group] for group in (p.inputs, p.outputs, p.intermediates)]
        return p.name, p.parameters, p.assumptions, arrays, [(phase.inputs, phase.outputs) for phase in p.phases]

    # Such a plan needs no file of phases: the file of its program says all of it.
    return (
        len(plan.phases) == 1
        and not plan.loops
        and comparable_fields(plan) == comparable_fields(single_phase_plan(plan.phases[0].program))
    )


def _phases_of_plan(plan: Plan, files: Iterable[bytes]) -> Phased:
    """Phases of a plan as their file has them: arrays by number, roles, and one stage per phase."""
    arrays = {a.name: replace(a, span=None) for a in (*plan.inputs, *plan.outputs, *plan.intermediates)}
    # Parametric constants travel as arrays without dimensions, so that the device needs no second kind of value.
    arrays |= {p.name: Array(p.name, p.dtype) for p in plan.parametric}
    number = {name: n for n, name in enumerate(arrays)}
    given, results, known = (
        {a.name for a in plan.inputs},
        {a.name for a in plan.outputs},
        {p.name for p in plan.parametric},
    )
    roles = tuple(
        INPUT * (name in given) | OUTPUT * (name in results) | PARAMETRIC * (name in known) for name in arrays
    )
    counters = tuple(loop.counter for loop in plan.loops)
    stages = tuple(_stage(data, phase, number) for data, phase in zip(files, plan.phases, strict=True))
    phased = Phased(
        plan.name,
        plan.parameters,
        plan.assumptions,
        tuple(arrays.values()),
        roles,
        stages,
        tuple(p.value for p in plan.parametric),
        counters,
        _strip_spans(number_leaves(plan.body)) if counters else (),
    )
    # For its checks: types of arrays and parameters of phases are compared at compile time.
    named_stages(phased)
    return phased


def _strip_spans(tree: Tree[int]) -> Tree[int]:
    """Positions in the source are left out: a file depends on what a program computes, not on where it was written."""
    return tuple(
        [replace(n, span=None, slow=None, body=_strip_spans(n.body)) if isinstance(n, Steps) else n for n in tree]
    )


def _stage(data: bytes, phase: Phase, number: Mapping[str, int]) -> Stage:
    outside, own = dict((*phase.inputs, *phase.outputs)), [a.name for a, _ in program_file.arrays(data)]
    arguments = phase.arguments or tuple((Affine.symbol(name),) for name in phase.program.parameters)
    windows = tuple(Window(own.index(name), origin) for name, origin in phase.windows if name in own)
    ordered = tuple(sorted(windows, key=lambda window: window.array))
    return Stage(data, tuple(number[outside[name]] for name in own), arguments, ordered)
