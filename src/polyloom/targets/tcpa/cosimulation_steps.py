# SPDX-License-Identifier: Apache-2.0
"""Co-simulation of a concrete file: its steps are loaded into the circuit over the configuration bus, each with the
words that change (`run/phases/reconfiguration.py`), run, and are compared with the model (`cosimulation.py`). What a
step leaves in the banks goes by the host to the next one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import cache, partial
from itertools import groupby
from pathlib import Path

from polyloom import temporary
from polyloom.diagnostics import input_error
from polyloom.frontend.source import Arrays
from polyloom.targets.subject import Progress
from polyloom.targets.tcpa import cosimulation, machine_file
from polyloom.targets.tcpa.cosimulation import Step
from polyloom.targets.tcpa.machine import Machine
from polyloom.targets.tcpa.rtl.bus_words import missing_side
from polyloom.targets.tcpa.rtl.circuit import build_circuit, check_circuit
from polyloom.targets.tcpa.rtl.configuration_changes import Loading
from polyloom.targets.tcpa.rtl.observed_runs import Comparison, Fault, ObservedRun, compare
from polyloom.targets.tcpa.rtl.simulator import Simulator, build_simulator
from polyloom.targets.tcpa.run import model, program
from polyloom.targets.tcpa.run.phases import plan_execution, step_sequence
from polyloom.targets.tcpa.run.phases.reconfiguration import step_loadings
from polyloom.targets.tcpa.run.program import Simulation
from polyloom.targets.tcpa.words import concrete_file
from polyloom.targets.tcpa.words.phases.stages import SYMBOLIC, has_phases


def check_concrete(data: bytes) -> None:
    """PL0810 for a file that is no concrete configuration."""
    if data.startswith(SYMBOLIC.magic) or not (data.startswith(concrete_file.KIND.magic) or has_phases(data)):
        help = "write `polyloom instantiate FILE.plsc N=16 -o FILE.plcc` first"
        raise input_error("PL0810", "the file is no concrete configuration", help=help)


def cosimulate(data: bytes, member: str | None, inputs: Arrays) -> Comparison:
    """Comparison of all steps, up to the first that differs or faults, on the circuit of the largest region, which is
    built for it, and others where a step needs them. Errors: PL0310, PL0603, PL0640, PL0660, PL0661, PL0816, PL0810.
    """
    check_concrete(data)
    sequence = step_sequence.run(data)
    machine = program.load_machine(sequence.steps[0].data, member)
    check_circuit(machine, machine_file.find_table(member) if member else None)
    # Before the build, which takes a while.
    for own in sequence.configurations:
        model.load(own.data, machine)
    step_loadings(sequence, partial(build_circuit, machine))
    with temporary.temporary_folder() as folder:
        simulators = share_circuits(region_simulators(machine, folder), machine, data)
        return compare_steps(simulators, data, member, inputs)


Simulators = Callable[[int, int], Simulator]
"""The simulator of a region of rows and columns."""


def region_simulators(machine: Machine, folder: Path, optimization: int = 1) -> Simulators:
    """Simulators in folders of their own, each built when it is first asked for."""

    @cache
    def build(rows: int, columns: int) -> Simulator:
        # A folder of its own, since a tool's makefile compiles whatever lies beside it.
        own = folder / f"{rows}x{columns}"
        own.mkdir()
        return build_simulator(build_circuit(machine, rows, columns), own, optimization)

    return build


def share_circuits(
    simulators: Simulators, machine: Machine, data: bytes, largest: tuple[int, int] | None = None
) -> Simulators:
    """Simulators of regions as parts of one circuit, the `largest`: by default, as many rows and columns as any step
    has. A region with banks inside of that has a circuit of its own."""
    concretes = [concrete_file.decode(own.data) for own in step_sequence.run(data).configurations]
    whole = largest or (max(c.rows for c in concretes), max(c.columns for c in concretes))
    circuit = build_circuit(machine, *whole)
    alone = {(c.rows, c.columns) for c in concretes if missing_side(circuit, c) is not None}
    return lambda rows, columns: simulators(*((rows, columns) if (rows, columns) in alone else whole))


Expected = ObservedRun | Fault


class _Stopped(Exception):
    """A step faults, so that the next ones have no inputs."""


def compare_steps(simulators: Simulators, data: bytes, member: str | None, inputs: Arrays) -> Comparison:
    """Sum of the comparisons of all steps, up to the first that differs or faults. Errors: PL0603, PL0640, PL0661."""
    sequence = step_sequence.run(data)
    machine = program.load_machine(sequence.steps[0].data, member)
    loadings = step_loadings(sequence, lambda rows, columns: simulators(rows, columns).circuit)
    found = list[Comparison]()
    for expected, seen in _run_model_and_circuit(simulators, machine, loadings, data, member, inputs):
        found.append(compare(expected, seen))
        if found[-1].difference is not None or found[-1].fault is not None:
            break
    last = found[-1]
    where = f"step {len(found)}: " if has_phases(data) else ""
    return Comparison(
        sum(one.cycles for one in found),
        sum(one.operations for one in found),
        sum(one.bank_writes for one in found),
        last.fault,
        None if last.difference is None else where + last.difference,
        len(found),
        sum(len(loading.words) for loading in loadings[: len(found)]),
    )


def _run_model_and_circuit(
    simulators: Simulators,
    machine: Machine,
    loadings: Sequence[Loading],
    data: bytes,
    member: str | None,
    inputs: Arrays,
) -> Iterator[tuple[Expected, ObservedRun | list[Fault]]]:
    """What the model does in each step, and the circuit, up to a fault of the model. The model is first, because the
    circuit runs steps of one region as one program."""
    steps, expected = list[Step](), list[Expected]()

    def run_step(step: bytes, member: str | None, given: Arrays, trace: bool, progress: Progress | None) -> Simulation:
        concrete = concrete_file.decode(step)
        circuit = build_circuit(machine, concrete.rows, concrete.columns)
        expected.append(cosimulation.run_model(circuit, step, given))
        steps.append(Step(step, given, loadings[len(steps)]))
        if isinstance(expected[-1], Fault):
            raise _Stopped
        return program.simulate(step, member, given, trace, progress)

    with suppress(_Stopped):
        plan_execution.simulate(data, member, inputs, False, one=run_step)
    seen = (
        found
        for region, own in groupby(steps, _region)
        for found in cosimulation.run_steps(simulators(*region), list(own))
    )
    yield from zip(expected, seen, strict=True)


def _region(step: Step) -> tuple[int, int]:
    concrete = concrete_file.decode(step.data)
    return concrete.rows, concrete.columns
