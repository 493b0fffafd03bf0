# SPDX-License-Identifier: Apache-2.0
"""Execution of a plan of several phases: what a target does with one program (instantiate, simulate), done with all of
them.

A plan of one phase whose arrays have the program's own names is the target's own file; every other plan is a file of
phases (`phase_file`). What a phase writes and which banks it needs is read from its words, never from what they were
made of.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

import numpy as np

from polyloom.diagnostics import PolyloomError, input_error
from polyloom.frontend.source import Arrays as Given
from polyloom.ir.arguments import Arrays, Signature, check_parameters, has_plain_values
from polyloom.ir.pla import Array
from polyloom.ir.plan_interpret import chain_phases
from polyloom.targets.subject import Progress
from polyloom.targets.tcpa.layouts import Layout, Place, place_arrays
from polyloom.targets.tcpa.options import Choice
from polyloom.targets.tcpa.run import events, program
from polyloom.targets.tcpa.run.access_counts import sum_counts
from polyloom.targets.tcpa.run.phases.candidate_choice import Option, choose_candidates
from polyloom.targets.tcpa.run.phases.step_sequence import run
from polyloom.targets.tcpa.run.program import Simulation
from polyloom.targets.tcpa.words import program_file
from polyloom.targets.tcpa.words.phases import phase_file, steps_file
from polyloom.targets.tcpa.words.phases.phase_file import Phased
from polyloom.targets.tcpa.words.phases.stages import (
    choices_by_phase,
    given_values,
    has_phases,
    locate_error,
    open_phases,
    places_in_stage,
    progress_of_phase,
    read_phases,
    stage_names,
)
from polyloom.targets.tcpa.words.phases.steps_file import Bound
from polyloom.targets.trace import Trace, join_traces


@dataclass(frozen=True, slots=True)
class Execution:
    """A run: what the model observed of each step, in the order of time, and the cycles that banks need before it
    starts. `numbers` are the phases that steps are of, counted from 0, `around` the values of the counters around
    them, such as `k=3`."""

    outputs: Given
    phases: tuple[Simulation, ...]
    transfers: tuple[int, ...]
    numbers: tuple[int, ...] = (0,)
    around: tuple[str, ...] = ("",)

    @property
    def cycles(self) -> int:
        return sum(p.cycles for p in self.phases) + sum(self.transfers)

    @property
    def operations(self) -> int:
        return sum(p.operations for p in self.phases)

    @property
    def counts(self) -> dict[str, int]:
        """Accesses and operations by name."""
        return sum_counts([p.counts for p in self.phases])

    def of_phase(self, number: int) -> dict[str, int]:
        """Cycles of all steps of a phase, and those of the transfers before them."""
        steps = [n for n, own in enumerate(self.numbers) if own == number]
        return {
            "cycles": sum(self.phases[n].cycles for n in steps),
            "transfer_cycles": sum(self.transfers[n] for n in steps),
        }

    @property
    def trace(self) -> Trace:
        """The spans of all phases, one after another on one clock."""
        seen = [phase.events for phase in self.phases if phase.events is not None]
        if len(seen) < len(self.phases):
            return Trace()
        if len(seen) == 1:
            return events.build_trace(seen[0], around=self.around[0])
        # Only phases that ran have a report, so that spans count those.
        reports = {number: n for n, number in enumerate(sorted(set(self.numbers)))}
        made, start = list[Trace](), 0
        steps = zip(self.phases, seen, self.transfers, self.numbers, self.around, strict=True)
        for phase, own, transfer, number, around in steps:
            # Each phase counts from its own start; on the common clock it begins after the transfers, with what is
            # issued first.
            made.append(events.build_trace(own, reports[number], start + transfer - own.first, around))
            start += transfer + phase.cycles
        return join_traces(made)


def parameters(data: bytes) -> tuple[str, ...]:
    """Their names, of a symbolic file."""
    return read_phases(data).parameters if has_phases(data) else program_file.parameters(data)


def instantiate(
    data: bytes,
    values: Mapping[str, int],
    region: tuple[int, int],
    candidate: Choice[int],
    layouts: Mapping[str, Layout] | None = None,
    closed: int = 0,
) -> bytes:
    """Concrete file of a plan (the array paper, section 6); `closed` are borders of the region without banks. Errors:
    those of the target, PL0230 for the parameters, PL0818 for candidates that are not of its phases, PL0522 for
    layouts.
    """
    if not has_phases(data):
        (own,) = choices_by_phase(candidate, program_file.kernel(data), 1, "candidate")
        arrays = {a.name: a for a, _ in program_file.arrays(data)} if layouts else {}
        lying = [*_places(program_file.domain(data), tuple(arrays.values()), values, layouts).values()]
        return program.instantiate(data, values, region, own, lying or None, closed)
    found = open_phases(data)
    phased, form, count = found.phased, found.form, len(found.phased.stages)
    plain = found.is_alone and not layouts and not closed
    # The frequent case, one program with plain parameters, goes straight to the library: run-time instantiation has to
    # be fast (section 6).
    if plain and not isinstance(candidate, Mapping) and has_plain_values(phased.parameters, values):
        return phase_file.fill_template(form, values, [_instantiate_only_phase(phased, values, region, candidate)])
    known = check_parameters(phased, values)
    given = choices_by_phase(candidate, phased.name, count, "candidate")
    if layouts and any(stage.windows for stage in phased.stages):
        message = f"the arrays of `{phased.name}` lie in blocks, each in memories of its own"
        raise input_error("PL0522", message, help="leave out either the layouts or --block")
    places = _places(phased, phased.arrays, known, layouts)
    if phased.counters:
        lying = tuple(places[a.name] for a in phased.arrays) if places else ()
        made = Bound(tuple(known.values()), *region, tuple(given), data, phased.name, closed, lying)
        return _steps(made)

    def instantiate_phase(number: int, own: int | None) -> bytes:
        stage = phased.stages[number]
        lying = places_in_stage(stage, [places[a.name] for a in phased.arrays]) if places else None
        return locate_error(
            number + 1, count, partial(program.instantiate, stage.data, known, region, own, lying, closed)
        )

    files = [instantiate_phase(n, own) for n, own in enumerate(given)]
    # Transfers are between phases: with one there is nothing to choose together.
    if count == 1:
        return phase_file.fill_template(form, known, files)
    best = [Option(replace(stage, data=file)) for stage, file in zip(found.named, files, strict=True)]

    @cache
    def rival_options(number: int) -> list[Option]:
        """The other candidates that fit, where the user chose none."""
        count = program_file.candidates(phased.stages[number].data) if given[number] is None else 0
        made: list[Option] = []
        for candidate in range(count):
            # A candidate that does not fit these sizes is no choice; the best one fits, or instantiation has failed
            # before.
            with suppress(PolyloomError):
                made.append(Option(replace(best[number].stage, data=instantiate_phase(number, candidate))))
        return made

    shapes = {a.name: tuple(max(0, e.evaluate(known)) for e in a.shape) for a in phased.arrays}
    taken = choose_candidates(best, rival_options, shapes)
    return phase_file.fill_template(form, known, [option.stage.data for option in taken])


def _places(
    signature: Signature, arrays: Sequence[Array], values: Mapping[str, int], layouts: Mapping[str, Layout] | None
) -> dict[str, Place]:
    """Where all arrays lie, if some were placed. Errors: PL0230, PL0522."""
    if not layouts:
        return {}
    known = check_parameters(signature, values)
    shapes = {a.name: tuple(max(0, e.evaluate(known)) for e in a.shape) for a in arrays}
    return place_arrays(layouts, shapes, signature.name)


def _steps(bound: Bound) -> bytes:
    """The concrete file of steps. Every one is instantiated, so that what does not fit is known before the run."""
    made = steps_file.encode(bound)
    run(made)
    return made


def _instantiate_only_phase(
    phased: Phased, values: Mapping[str, int], region: tuple[int, int], candidate: int | None
) -> bytes:
    """The concrete file of the only phase, which checks its parameters itself; only where it refuses something, the
    kernel's own are asked first, for they have its name."""
    try:
        return program.instantiate(phased.stages[0].data, values, region, candidate)
    except PolyloomError:
        check_parameters(phased, values)
        raise


Simulate = Callable[[bytes, str | None, Given, bool, Progress | None], Simulation]
"""What runs a step: its file, the machine, inputs, whether to trace, whom to tell."""


def simulate(
    data: bytes,
    member: str | None,
    inputs: Given,
    trace: bool,
    progress: Progress | None = None,
    one: Simulate = program.simulate,
) -> Execution:
    """Simulation of all phases on the model, each by `one`. Errors: those of the target; PL0231 and PL0232 for
    inputs."""
    if not has_phases(data):
        simulation = one(data, member, inputs, trace, progress)
        return Execution(simulation.outputs, (simulation,), (0,))
    found, observed, counters = run(data), list[Simulation](), list[str]()
    waiting, count, given = iter(found.steps), len(found.steps), given_values(data)

    def execute(number: int, around: Mapping[str, int], taken: Arrays, held: Arrays) -> Arrays:
        own, part = next(waiting), progress_of_phase(progress, len(observed) + 1, count)
        simulated = partial(one, own.data, member, taken, trace, part)
        own_counters = {name: value for name, value in around.items() if name not in given}
        where = ", ".join(f"{name} = {value}" for name, value in own_counters.items())
        counters.append(" ".join(f"{name}={value}" for name, value in own_counters.items()))
        observed.append(locate_error(number + 1, len(found.phased.stages), simulated, where))
        return {
            name: overwrite_elements(before, observed[-1].outputs[name], own.accesses[name][1])
            for name, before in held.items()
        }

    phased = found.phased
    outputs = chain_phases(phased, stage_names(data), phased.tree, given, inputs, execute)
    numbers = tuple(step.number for step in found.steps)
    return Execution(outputs, tuple(observed), found.transfers, numbers, tuple(counters))


def overwrite_elements(held: Any, written: Any, elements: Any) -> Any:
    """`held` with the elements that the phase wrote."""
    result = np.array(held, order="C")  # or `reshape` would copy
    # The model's output array holds 0 where nothing was written; those elements keep what earlier phases left.
    result.reshape(-1)[elements] = written.reshape(-1)[elements]
    return result


def transfers(data: bytes) -> tuple[int, ...]:
    """The cycles of transfers before each step of a concrete file."""
    return run(data).transfers
