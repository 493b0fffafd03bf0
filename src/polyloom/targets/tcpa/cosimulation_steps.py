# SPDX-License-Identifier: Apache-2.0
"""Co-simulation of a concrete file: each step is loaded into the circuit over the configuration bus, runs, and is
compared with the model (`cosimulation.py`). What a step leaves in the banks goes by the host to the next one.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path

from polyloom import temporary
from polyloom.diagnostics import input_error
from polyloom.frontend.source import Arrays
from polyloom.targets.subject import Progress
from polyloom.targets.tcpa import cosimulation, machine_file
from polyloom.targets.tcpa.machine import Machine
from polyloom.targets.tcpa.rtl.bus_words import configuration_words
from polyloom.targets.tcpa.rtl.circuit import build_circuit, check_circuit
from polyloom.targets.tcpa.rtl.observed_runs import Comparison
from polyloom.targets.tcpa.rtl.simulator import Simulator, build_simulator
from polyloom.targets.tcpa.run import model, program
from polyloom.targets.tcpa.run.phases import plan_execution, step_sequence
from polyloom.targets.tcpa.run.program import Simulation
from polyloom.targets.tcpa.words import concrete_file
from polyloom.targets.tcpa.words.phases.stages import SYMBOLIC, has_phases


def check_concrete(data: bytes) -> None:
    """PL0810 for a file that is no concrete configuration."""
    if data.startswith(SYMBOLIC.magic) or not (data.startswith(concrete_file.KIND.magic) or has_phases(data)):
        help = "write `polyloom instantiate FILE.plsc N=16 -o FILE.plcc` first"
        raise input_error("PL0810", "the file is no concrete configuration", help=help)


def cosimulate(data: bytes, member: str | None, inputs: Arrays) -> Comparison:
    """Comparison of all steps, up to the first that differs or faults, each on a circuit of just its region, which is
    built for it. Errors: PL0310, PL0603, PL0640, PL0660, PL0661, PL0816, PL0810.
    """
    check_concrete(data)
    steps = [own.data for own in step_sequence.run(data).configurations] if has_phases(data) else [data]
    machine = program.load_machine(steps[0], member)
    check_circuit(machine, machine_file.find_table(member) if member else None)
    # Before the build, which takes a while.
    for step in steps:
        model.load(step, machine)
        concrete = concrete_file.decode(step)
        configuration_words(build_circuit(machine, concrete.rows, concrete.columns), concrete)
    with temporary.temporary_folder() as folder:
        return compare_steps(region_simulators(machine, folder), data, member, inputs)


Simulators = Callable[[int, int], Simulator]
"""The simulator of a region of rows and columns."""


def region_simulators(machine: Machine, folder: Path, optimization: int = 1) -> Simulators:
    """Simulators in folders of their own, each built when it is first asked for."""

    @cache
    def build(rows: int, columns: int) -> Simulator:
        own = folder / f"{rows}x{columns}"
        own.mkdir()
        return build_simulator(build_circuit(machine, rows, columns), own, optimization)

    return build


class _Stopped(Exception):
    """A step differs or faults, so that the next ones have no inputs."""


def compare_steps(simulators: Simulators, data: bytes, member: str | None, inputs: Arrays) -> Comparison:
    """Sum of the comparisons of all steps. Errors: PL0603, PL0640, PL0661."""
    found = list[Comparison]()

    def compare_step(
        step: bytes, member: str | None, given: Arrays, trace: bool, progress: Progress | None
    ) -> Simulation:
        concrete = concrete_file.decode(step)
        found.append(cosimulation.compare_runs(simulators(concrete.rows, concrete.columns), step, given))
        if found[-1].difference is not None or found[-1].fault is not None:
            raise _Stopped
        return program.simulate(step, member, given, trace, progress)

    with suppress(_Stopped):
        plan_execution.simulate(data, member, inputs, False, one=compare_step)
    last = found[-1]
    where = f"step {len(found)}: " if has_phases(data) else ""
    return Comparison(
        sum(one.cycles for one in found),
        sum(one.operations for one in found),
        sum(one.bank_writes for one in found),
        last.fault,
        None if last.difference is None else where + last.difference,
        len(found),
    )
