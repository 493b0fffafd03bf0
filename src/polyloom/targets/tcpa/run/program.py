# SPDX-License-Identifier: Apache-2.0
"""Life of one program (a phase of a plan) on the array: instantiation, simulation, verification of its files."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from polyloom._native.instantiate import Instantiation
from polyloom.diagnostics import Diagnostic, PolyloomError, input_error
from polyloom.frontend.source import Arrays
from polyloom.targets.subject import Progress
from polyloom.targets.tcpa import machine_file
from polyloom.targets.tcpa.layouts import Layouts
from polyloom.targets.tcpa.machine import Machine
from polyloom.targets.tcpa.run import instantiation, model
from polyloom.targets.tcpa.run.account import Executed
from polyloom.targets.tcpa.run.events import Events
from polyloom.targets.tcpa.run.predict import predicted_cycles
from polyloom.targets.tcpa.run.verify import verify_concrete as rules
from polyloom.targets.tcpa.run.verify import verify_symbolic
from polyloom.targets.tcpa.words import concrete_file, event_resolution, symbolic_file
from polyloom.targets.tcpa.words.concrete import MadeOf
from polyloom.targets.tcpa.words.generator_table import decode_outline
from polyloom.targets.tcpa.words.program_file import decode_symbolic, is_concrete, open_symbolic
from polyloom.targets.tcpa.words.request import check_parameters, check_region, has_plain_types
from polyloom.targets.tcpa.words.symbolic import Symbolic


@dataclass(frozen=True, slots=True)
class Simulation:
    """What the model observed of a program: operations by unit in `issues`, and in `executed` how often an element of
    each class executed each instruction; `events` only if a trace was asked for, and `held` of the model's result only
    for an account."""

    outputs: Arrays
    cycles: int
    operations: int
    issues: tuple[tuple[str, int], ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict[str, int])
    events: Events | None = None
    executed: Executed = ()
    held: tuple[int, bytes] = (0, b"")


def instantiate(
    data: bytes,
    values: Mapping[str, int],
    region: tuple[int, int],
    candidate: int | None,
    layouts: Layouts | None = None,
    closed: int = 0,
) -> bytes:
    """Concrete file of one program (the array paper, section 6); `layouts` and `closed` as `instantiation` has them.

    The library checks what it is asked for; what it refuses is checked here again, for a sentence.
    """
    symbolic, asked = open_symbolic(data)
    made = None
    if has_plain_types(symbolic, values, region, candidate):
        ordered = [values[name] for name in symbolic.parameters]
        made = instantiation.call_library(data, ordered, *region, candidate, None, layouts, closed)
        # The fast path: no check in Python before the library has refused.
        if not made.status:
            return _append_origin(made, ordered, data)
    _check_candidate(symbolic, candidate)
    known = check_parameters(asked, values)
    check_region(symbolic, *region)
    again = made or instantiation.call_library(data, known, *region, candidate, None, layouts, closed)
    instantiation.checked_file(symbolic, again)
    return _append_origin(again, known, data)


def _append_origin(made: Instantiation, values: Sequence[int], data: bytes) -> bytes:
    return concrete_file.append_origin(made.file, MadeOf(made.candidate, tuple(values), data))


def make_instantiator(
    data: bytes,
    region: tuple[int, int],
    candidate: int | None,
    closed: int = 0,
    layouts: Layouts | None = None,
) -> Callable[[tuple[int, ...]], bytes]:
    """Partial application: what makes the concrete files of one region, from the values of the parameters in their
    order; for steps, of which there are many. Errors: PL0505 and PL0815 here, those of `instantiate` there.
    """
    symbolic, asked = open_symbolic(data)
    _check_candidate(symbolic, candidate)
    check_region(symbolic, *region)

    def make(values: tuple[int, ...]) -> bytes:
        made = instantiation.call_library(data, values, *region, candidate, None, layouts, closed)
        # The domain is only checked where the library has refused: steps are many, and mostly legal.
        if made.status:
            check_parameters(asked, dict(zip(symbolic.parameters, values, strict=True)))
        instantiation.checked_file(symbolic, made)
        return _append_origin(made, values, data)

    return make


def _check_candidate(symbolic: Symbolic, candidate: int | None) -> None:
    if candidate is not None and candidate not in range(len(symbolic.candidates)):
        help = f"the file stores candidates 0 to {len(symbolic.candidates) - 1}"
        raise input_error("PL0815", f"there is no candidate {candidate!r}", help=help)


def load_machine(data: bytes, member: str | None) -> Machine:
    """Machine that a configuration was made for; `member` may name it where it is no shipped one. Errors: PL0816 and
    those of `machine_file.load`.
    """
    if member is not None:
        return machine_file.load(member)
    name = decode_outline(data).concrete.machine if is_concrete(data) else decode_symbolic(data).machine
    if name not in machine_file.members():
        help = "name its description, for instance --on tcpa:FILE.toml"
        raise input_error(
            "PL0816", f"the configuration was made for the machine '{name}', which is not a shipped one", help=help
        )
    return machine_file.load(name)


def find_machine(data: bytes, member: str | None) -> Machine | None:
    """`load_machine`; None where the file's machine is no shipped one, and is not named."""
    name = decode_outline(data).concrete.machine if member is None else ""
    return load_machine(data, member) if member is not None or name in machine_file.members() else None


def simulate(
    data: bytes, member: str | None, inputs: Arrays, trace: bool, progress: Progress | None, account: bool = False
) -> Simulation:
    machine = load_machine(data, member)
    told = None if progress is None else _cycle_progress(progress, data)
    result = model.run(data, machine, inputs, trace=trace, progress=told, account=account)
    return _simulation(data, machine, result)


def simulate_side_by_side(
    placements: Sequence[model.Placement], member: str | None, array: tuple[int, int], trace: bool
) -> list[Simulation]:
    """Simulation of programs on disjoint rectangles of one array, all from cycle 0 on. Errors: those of `simulate`, and
    PL0604.
    """
    machine = load_machine(placements[0].data, member)
    results = model.run_side_by_side(placements, machine, *array, trace=trace)
    return [_simulation(p.data, machine, result) for p, result in zip(placements, results, strict=True)]


def _simulation(data: bytes, machine: Machine, result: model.Result) -> Simulation:
    events = _events(result.trace, data, machine) if result.trace else None
    issues = zip((unit.name for unit in machine.units), result.issues, strict=True)
    return Simulation(
        result.outputs,
        result.cycles,
        result.operations,
        tuple(issues),
        result.counts,
        events,
        result.executed,
        result.held,
    )


def _cycle_progress(progress: Progress, data: bytes) -> Callable[[int], None]:
    """The progress of a run, by its cycle."""
    cycles = max(1, predict_cycles(data))
    return lambda cycle: progress("running", min(1.0, cycle / cycles))


def predict_cycles(data: bytes) -> int:
    """What a concrete file will take, from its words alone."""
    return predicted_cycles(concrete_file.decode(data))


def _events(trace: model.Trace, data: bytes, machine: Machine) -> Events:
    concrete = concrete_file.decode(data)
    return Events(trace, concrete, machine, event_resolution.find_origin(concrete))


def verify(data: bytes, member: str | None) -> tuple[Diagnostic, ...]:
    """Static check of a file: both kinds are checked by reading them back, and by the rules of their own verifier."""
    try:
        machine = load_machine(data, member)
    except PolyloomError as error:
        return error.diagnostics
    if is_concrete(data):
        # Raises where the symbolic file inside is not the one that these words came from.
        event_resolution.find_origin(concrete_file.decode(data))
        return rules.verify(data, machine)
    symbolic = symbolic_file.decode(data)
    if symbolic.machine_hash != machine_file.fingerprint(machine):
        return (
            Diagnostic(
                "PL0816",
                f"the configuration was made for another machine named '{symbolic.machine}'",
                help="compile it again for this machine",
            ),
        )
    return verify_symbolic.findings(data, symbolic, machine)
