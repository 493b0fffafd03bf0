# SPDX-License-Identifier: Apache-2.0
"""Execution of an executable of loops on the model: arrays into memory, all harts, results out of memory, and the
figures of `run --json` that every compiled program has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from typing import Any

from numpy.typing import NDArray

from polyloom.diagnostics import INTERNAL, Diagnostic, PolyloomError
from polyloom.targets.minion.options import Options
from polyloom.targets.minion.place import Place
from polyloom.targets.minion.run import events, findings, model, report
from polyloom.targets.minion.run.figures import figures
from polyloom.targets.minion.run.model import Outcome, Setup
from polyloom.targets.minion.words.note import Note
from polyloom.targets.minion.words.program import Program, load
from polyloom.targets.target import Execution, Job, Json, Loaded
from polyloom.targets.trace import Trace

Array = NDArray[Any]


def run(data: bytes, note: Note, job: Job) -> Execution:
    """Run of a compiled program. Errors: PL1310 where it does not end in time; a hazard or a deadlock is the compiler's
    fault (exit 70).
    """
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
        job.account,
    )
    inputs = input_bytes(note, job.inputs)
    done = model.run(program, inputs, setup)
    check_end(done.outcome, program, setup)
    outputs = read_outputs(note, done.read)
    spans = events.trace(done.outcome, program.locator) if job.trace else Trace()
    cycles = None if setup.functional else done.outcome.cycles
    facts: dict[str, Json] = {
        **figures(note, done.outcome, cycles),
        **findings.as_json(done.outcome, program.locator),
        "counters": dict(sorted(done.outcome.counters.items())),
        "extrapolated": list(done.outcome.extrapolated),
        "elf_bytes": len(data),
    }
    return Execution(outputs, cycles, done.outcome.instructions, facts, spans, counted=done.outcome.counted)


def check_end(outcome: Outcome, program: Program, setup: Setup) -> None:
    """Errors: PL1310, and exit 70 for any other end that is not `passed`."""
    ended = report.end_diagnostic(outcome, program.locator, setup)
    # A long run may be the user's wish, so the limit is reported as the user's error.
    if ended is not None and outcome.stop == "max-cycles":
        raise PolyloomError(ended)
    ended = ended or findings.end_error(outcome, program.locator)
    if ended is not None:
        message = f"a compiled program does not run: {ended.message}"
        help = "this is a fault of the compiler: please report the source and the command"
        raise PolyloomError(Diagnostic(ended.code, message, INTERNAL, notes=ended.notes, help=help))


def input_bytes(note: Note, arrays: Mapping[str, Array]) -> Iterator[tuple[int, bytes]]:
    """Bytes of all inputs, by address, in parts."""
    home = note.home
    elsewhere = set[str]() if home is None else {m.array for m in home.matrices}
    in_dram = (p.laid(arrays[p.name]) for p in note.placed if p.name in arrays and p.name not in elsewhere)
    return chain(chain.from_iterable(in_dram), () if home is None else home.laid(arrays))


def read_outputs(note: Note, read: Callable[[int, int], bytes]) -> dict[str, Array]:
    """Outputs of a run, read from memory."""
    found: dict[str, Array] = {}
    at_home = "" if note.home is None else note.home.matrices[2].array
    for argument, placed in zip(note.signature.arguments, note.placed, strict=True):
        if argument.is_output and placed.name == at_home and note.home is not None:
            found[placed.name] = note.home.taken(placed.shape, placed.dtype, read)
        elif argument.is_output:
            found[placed.name] = placed.taken(read(placed.address, placed.size))
    return found
