# SPDX-License-Identifier: Apache-2.0
"""What a target does with one program, done with a plan of several phases: compile, instantiate, simulate.

A plan of one phase whose arrays have the program's own names is the target's own file; every other plan is a file of
phases (`phase_file`). What a phase writes and which banks it needs is read from its words, never from what they were
made of.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, partial
from math import prod
from typing import Any, TypeVar, cast

import numpy as np

from polyloom.diagnostics import PolyloomError, input_error
from polyloom.frontend.source import Arrays as Given
from polyloom.ir.arguments import Arrays, are_plain, check_parameters
from polyloom.ir.pla import Array
from polyloom.ir.plan import Phase, Plan, of_program
from polyloom.ir.plan_interpret import chain
from polyloom.passes import Watch
from polyloom.targets.subject import Progress
from polyloom.targets.tcpa import program
from polyloom.targets.tcpa.phases import file as phase_file
from polyloom.targets.tcpa.phases.choose import Option, chosen
from polyloom.targets.tcpa.phases.file import INPUT, OUTPUT, PARAMETRIC, Phased, Stage
from polyloom.targets.tcpa.phases.stages import in_phase, is_phased, named_stages, opened, read
from polyloom.targets.tcpa.phases.transfers import touched, transfer_cycles
from polyloom.targets.tcpa.program import Simulation
from polyloom.targets.trace import Span, Trace

T = TypeVar("T")
Choice = T | Mapping[int, T] | None
"""What the user chose: for the only phase, or by phase, counted from 1."""


@dataclass(frozen=True, slots=True)
class Execution:
    """A run: what the model observed of each phase, and the cycles that banks need before it starts."""

    outputs: Given
    phases: tuple[Simulation, ...]
    transfers: tuple[int, ...]

    @property
    def cycles(self) -> int:
        return sum(p.cycles for p in self.phases) + sum(self.transfers)

    @property
    def operations(self) -> int:
        return sum(p.operations for p in self.phases)

    @property
    def trace(self) -> Trace:
        """The spans of all phases, one after another on one clock."""
        if len(self.phases) == 1:
            return Trace(self.phases[0].events)
        moved, start = list[Span](), 0
        for phase, transfer in zip(self.phases, self.transfers, strict=True):
            # Cycles count from the first issue.
            first = min((e.start for e in phase.events), default=0)
            # Each phase counts from its own start; on the common clock it begins after the transfers.
            moved += [replace(e, start=e.start - first + start + transfer) for e in phase.events]
            start += transfer + phase.cycles
        return Trace(tuple(moved))


def compile(
    plan: Plan, member: str, mapping: Choice[tuple[str, str]], progress: Progress | None, watch: Watch | None = None
) -> bytes:
    """The symbolic file. Errors: the target's, with the phase in a note, and PL0818 for mappings of other phases."""
    count = len(plan.phases)
    given = _chosen(mapping, plan.name, count, "mapping")
    files = [
        _located(n, count, partial(program.compile, phase.program, member, own, _part(progress, n, count), watch))
        for n, (phase, own) in enumerate(zip(plan.phases, given, strict=True), 1)
    ]
    return files[0] if _is_program(plan) else phase_file.encode(phase_file.SYMBOLIC, _phased(plan, files))


def _chosen(choice: Choice[T], name: str, count: int, what: str) -> list[T | None]:
    """The choice for each of `count` phases. Errors: PL0818 for another phase, or for none of several."""
    runs = f"{name} runs in {count} phases" if count > 1 else f"{name} runs in one phase"
    if not isinstance(choice, Mapping):
        if choice is not None and count > 1:
            raise input_error(
                "PL0818",
                f"{runs}, and the {what} is given for none of them",
                help=f"name the phase, counted from 1: --{what} 2:...",
            )
        return [choice] * count
    by_phase = cast("Mapping[int, T]", choice)
    if unknown := [phase for phase in by_phase if phase not in range(1, count + 1)]:
        raise input_error(
            "PL0818",
            f"the {what} is of phase {unknown[0]!r}, but {runs}",
            help="count phases from 1; `polyloom show` lists them",
        )
    return [by_phase.get(number) for number in range(1, count + 1)]


def _is_program(plan: Plan) -> bool:
    """Whether the plan says nothing that its only program does not say."""

    def said(p: Plan) -> tuple[object, ...]:
        arrays = [[(a.name, a.dtype, a.shape) for a in group] for group in (p.inputs, p.outputs, p.intermediates)]
        return p.name, p.parameters, p.assumptions, arrays, [(phase.inputs, phase.outputs) for phase in p.phases]

    return len(plan.phases) == 1 and said(plan) == said(of_program(plan.phases[0].program))


def _phased(plan: Plan, files: Iterable[bytes]) -> Phased:
    arrays = {a.name: replace(a, span=None) for a in (*plan.inputs, *plan.outputs, *plan.intermediates)}
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
    stages = tuple(_stage(data, phase, number) for data, phase in zip(files, plan.phases, strict=True))
    phased = Phased(
        plan.name,
        plan.parameters,
        plan.assumptions,
        tuple(arrays.values()),
        roles,
        stages,
        tuple(p.value for p in plan.parametric),
    )
    named_stages(phased)
    return phased


def _stage(data: bytes, phase: Phase, number: Mapping[str, int]) -> Stage:
    outside = dict((*phase.inputs, *phase.outputs))
    return Stage(data, tuple(number[outside[a.name]] for a, _ in program.arrays(data)))


def kernel(data: bytes) -> str:
    """The name of the function in any file."""
    return read(data).name if is_phased(data) else program.kernel(data)


def parameters(data: bytes) -> tuple[str, ...]:
    """Their names, of a symbolic file."""
    return read(data).parameters if is_phased(data) else program.parameters(data)


def instantiate(data: bytes, values: Mapping[str, int], region: tuple[int, int], candidate: Choice[int]) -> bytes:
    """The concrete file. Errors: those of the target, PL0230 for the parameters and PL0818 for candidates that are not
    of its phases."""
    if not is_phased(data):
        return program.instantiate(data, values, region, *_chosen(candidate, program.kernel(data), 1, "candidate"))
    found = opened(data)
    phased, form, count = found.phased, found.form, len(found.phased.stages)
    if found.is_alone and not isinstance(candidate, Mapping) and are_plain(phased.parameters, values):
        return phase_file.concrete(form, values, [_alone(phased, values, region, candidate)])
    known = check_parameters(phased, values)
    given = _chosen(candidate, phased.name, count, "candidate")

    def make(number: int, own: int | None) -> bytes:
        return _located(number + 1, count, partial(program.instantiate, phased.stages[number].data, known, region, own))

    files = [make(n, own) for n, own in enumerate(given)]
    # Transfers are between phases: with one there is nothing to choose together.
    if count == 1:
        return phase_file.concrete(form, known, files)
    best = [Option(replace(stage, data=file)) for stage, file in zip(found.named, files, strict=True)]

    @cache
    def others(number: int) -> list[Option]:
        """The other candidates that fit, where the user chose none."""
        count = program.candidates(phased.stages[number].data) if given[number] is None else 0
        made: list[Option] = []
        for candidate in range(count):
            # A candidate that does not fit these sizes is no choice; the best one fits, or instantiation has failed
            # before.
            with suppress(PolyloomError):
                made.append(Option(replace(best[number].stage, data=make(number, candidate))))
        return made

    taken = chosen(best, others, sum(prod(max(0, e.evaluate(known)) for e in a.shape) for a in phased.arrays))
    return phase_file.concrete(form, known, [option.stage.data for option in taken])


def _alone(phased: Phased, values: Mapping[str, int], region: tuple[int, int], candidate: int | None) -> bytes:
    """The concrete file of the only phase, which checks its parameters itself; only where it refuses something, the
    kernel's own are asked first, for they have its name."""
    try:
        return program.instantiate(phased.stages[0].data, values, region, candidate)
    except PolyloomError:
        check_parameters(phased, values)
        raise


def simulate(
    data: bytes, member: str | None, inputs: Given, trace: bool, progress: Progress | None = None
) -> Execution:
    """Run all phases on the model. Errors: those of the target; PL0231 and PL0232 for inputs."""
    if not is_phased(data):
        simulation = program.simulate(data, member, inputs, trace, progress)
        return Execution(simulation.outputs, (simulation,), (0,))
    phased, observed = read(data), list[Simulation]()
    stages = named_stages(phased)

    def execute(number: int, taken: Arrays, held: Arrays) -> Arrays:
        file, part = stages[number].data, _part(progress, number + 1, len(stages))
        observed.append(_located(number + 1, len(stages), partial(program.simulate, file, member, taken, trace, part)))
        accesses = program.accesses(file)
        return {
            name: overwritten(before, observed[-1].outputs[name], accesses[name][1]) for name, before in held.items()
        }

    outputs = chain(phased, stages, {}, inputs, execute)
    return Execution(outputs, tuple(observed), transfers(data))


def overwritten(held: Any, written: Any, elements: Any) -> Any:
    """`held` with the elements that the phase wrote."""
    result = np.array(held, order="C")  # or `reshape` would copy
    result.reshape(-1)[elements] = written.reshape(-1)[elements]
    return result


def transfers(data: bytes) -> tuple[int, ...]:
    """The cycles of transfers before each phase of a concrete file."""
    stages = named_stages(read(data)) if is_phased(data) else ()
    return (
        tuple(transfer_cycles(touched(stage, program.accesses(stage.data)) for stage in stages))
        if len(stages) > 1
        else (0,)
    )


def _part(progress: Progress | None, number: int, count: int) -> Progress | None:
    """The progress of one phase within all."""
    if progress is None or count == 1:
        return progress
    return lambda step, fraction: progress(f"phase {number} of {count}: {step}", (number - 1 + fraction) / count)


def _located(number: int, count: int, action: Callable[[], T]) -> T:
    """`action`, whose errors say in which phase they arose."""
    try:
        return action()
    except PolyloomError as error:
        raise PolyloomError(*(in_phase(d, number, count) for d in error.diagnostics)) from None
