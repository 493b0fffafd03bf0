# SPDX-License-Identifier: Apache-2.0
"""Runs the executable of loops on the model: arrays into memory, all harts, results out of memory, and the figures of
`run --json` that every compiled program has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from numpy.typing import NDArray

from polyloom.diagnostics import INTERNAL, Diagnostic, PolyloomError
from polyloom.targets.minion import events, findings, model, report
from polyloom.targets.minion.loops.note import Note
from polyloom.targets.minion.model import Outcome, Setup
from polyloom.targets.minion.options import Options
from polyloom.targets.minion.place import Place
from polyloom.targets.minion.program import Program, load
from polyloom.targets.target import Execution, Job, Json, Loaded
from polyloom.targets.trace import Trace

Array = NDArray[Any]


def run(data: bytes, note: Note, job: Job) -> Execution:
    """Errors: PL1310 where it does not end in time; a hazard or a deadlock is the compiler's fault (exit 70)."""
    options: Options = job.options
    program = load([Loaded(f"{note.signature.name}.elf", data, None)], (), None, note.machine)
    place = Place(note.machine, note.minions)
    setup = Setup(
        place,
        options.hazards or "error",
        options.functional,
        options.threads,
        options.max_cycles,
        options.errata,
        job.trace,
    )
    inputs = [(p.address, p.laid(job.inputs[p.name])) for p in note.placed if p.name in job.inputs]
    done = model.run(program, inputs, setup)
    _check(done.outcome, program, setup)
    results = {a.name for a in note.signature.outputs}
    outputs = {p.name: p.taken(done.read(p.address, p.size)) for p in note.placed if p.name in results}
    spans = events.trace(done.outcome, program.locator) if job.trace else Trace()
    cycles = None if setup.functional else done.outcome.cycles
    facts = figures(data, note, done.outcome, program, cycles)
    return Execution(outputs, cycles, done.outcome.instructions, facts, spans)


def _check(outcome: Outcome, program: Program, setup: Setup) -> None:
    ended = report.ended(outcome, program.locator, setup.max_cycles, setup.functional)
    if ended is not None and outcome.stop == "max-cycles":
        raise PolyloomError(ended)
    if outcome.stop == "hazard":
        ended = findings.hazard(outcome, program.locator)
    elif outcome.stop == "deadlock":
        ended = findings.deadlock(outcome, program.locator)
    if ended is not None:
        message = f"a compiled program does not run: {ended.message}"
        help = "this is a fault of the compiler: please report the source and the command"
        raise PolyloomError(Diagnostic(ended.code, message, INTERNAL, notes=ended.notes, help=help))


def figures(data: bytes, note: Note, outcome: Outcome, program: Program, cycles: int | None) -> Mapping[str, Json]:
    """Keys of `run --json`."""
    counters = outcome.counters
    return {
        "minions": note.minions,
        "instructions": outcome.instructions,
        "utilization": _utilization(note, cycles),
        **note.facts,
        **findings.as_json(outcome, program.locator),
        "counters": dict(sorted(counters.items())),
        "extrapolated": list(outcome.extrapolated),
        "elf_bytes": len(data),
    }


def _utilization(note: Note, cycles: int | None) -> float | None:
    """Useful multiply-adds of those that all minions could have done."""
    if not cycles or not note.peak:
        return None
    return note.macs / (note.peak * note.minions * cycles)
