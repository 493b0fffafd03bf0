# SPDX-License-Identifier: Apache-2.0
"""Vector kernels as programs of the target: compiled for core T1, run on a tile, shown beside their source."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polyloom.diagnostics import USAGE, Diagnostic, PolyloomError, input_error
from polyloom.ir.signature import Signature
from polyloom.ir.ssa import Function
from polyloom.passes import Watch
from polyloom.targets.target import Execution, Job, Json
from polyloom.targets.tensix.kernel_form import Kernel, open_signature
from polyloom.targets.tensix.options import Options
from polyloom.targets.tensix.run import events, kernel_run
from polyloom.targets.tensix.run.account import count_tiles
from polyloom.targets.tensix.run.kernel_run import KernelRun
from polyloom.targets.tensix.run.reference import BITS
from polyloom.targets.tensix.run.stepped_program import KernelProgram
from polyloom.targets.tensix.run.stepper import TileStepper
from polyloom.targets.tensix.source import note as notes
from polyloom.targets.tensix.source.executable import Part, build_executable
from polyloom.targets.tensix.source.note import Note
from polyloom.targets.tensix.words.isa import Member
from polyloom.targets.trace import Trace

Array = NDArray[Any]


def compile_kernel(kernel: Kernel, name: str, member: Member, options: Options, watch: Watch | None = None) -> bytes:
    """Compiler of a vector kernel: its passes, then an executable for core T1. Errors: PL0801 for spilling into a Dst
    of 16 bits, those of the passes (PL1280 to PL1289) and of the backend.
    """
    dest = options.dest or 16
    # A 16-bit Dst would cut a spilled register in half.
    if options.spill is not None and dest != 32:
        message = "registers are spilled to a Dst of 32 bits, and this one has 16"
        raise PolyloomError(Diagnostic("PL0801", message, USAGE, help="write --dest 32, or leave --spill out"))
    # The initializing function is lowered by the same options, as it shares constant registers with the kernel.
    init = None if kernel.init is None else lower(kernel, kernel.init, member, options, watch)
    return build_executable(
        name, lower(kernel, kernel.function, member, options, watch), init, member, dest, options.per
    )


def lower(kernel: Kernel, function: Function, member: Member, options: Options, watch: Watch | None = None) -> Part:
    """Lowering of one function to words by the passes of vector kernels; reasons are given in the source's names."""
    # Imported here, since running and listing a finished file needs no compiler.
    from polyloom.targets.tensix.source.lower import compile as passes

    without = frozenset((*options.without, *(("contract",) if options.no_contract else ())))
    names = kernel.variables
    found = passes.lower(function, passes.Options(member, without, options.spill, names, kernel.is_unrolled), watch)
    reasons = [" ".join(names.get(word, word) for word in note.text.split(" ")) for note in found.notes]
    return Part(found.function, reasons, found.spills)


def read_note(data: bytes) -> Note:
    """Note of a vector kernel's executable. Errors: PL0810 for a file that is none of ours."""
    found = notes.decode(data)
    if found is None:
        raise input_error("PL0810", "this is no vector kernel's executable", help="compile it with polyloom compile")
    return found


def signature(data: bytes) -> Signature:
    """Signature of an executable: its run-time arguments; Dst is open."""
    note = read_note(data)
    return open_signature(note.kernel, tuple(note.arguments))


def execute(data: bytes, job: Job) -> Execution:
    """Execution of a kernel on a tile; outputs are those that are asked for and, for comparison, all of Dst."""
    options: Options = job.options
    note = read_note(data)
    if (wrong := kernel_run.check_inputs(job.inputs, note)) is not None:
        raise wrong
    inputs = {name: np.asarray(array) for name, array in job.inputs.items()}
    ran = kernel_run.run(
        data,
        note,
        inputs,
        tiles=options.tiles,
        hazards=options.hazards,
        max_cycles=options.max_cycles,
        tracing=job.trace,
        accounting=job.account,
    )
    outputs = kernel_run.read_outputs(ran, inputs, job.wanted, note.dest)
    # The comparison is of all of Dst, so that a store to a wrong row is noticed, too.
    outputs[BITS] = ran.tile.dst.copy()
    trace = events.trace(ran.tile, note.lines) if job.trace else Trace()
    counted = count_tiles([ran.tile]) if job.account else None
    return Execution(outputs, ran.outcome.cycles, ran.vector, run_facts(note, ran), trace, counted=counted)


def open_stepper(data: bytes, job: Job) -> TileStepper:
    """Stepper of a kernel on a tile. Errors: those of a run."""
    return TileStepper(KernelProgram(data, read_note(data), job), job.options.max_cycles)


def run_facts(note: Note, ran: KernelRun) -> dict[str, Json]:
    """Facts of a run, with those of the program."""
    return {
        **program_facts(note),
        "instructions": ran.passed[2],
        "replayed": ran.replayed,
        "utilization": {**ran.tile.utilization()},
        "hazards": [str(found) for found in ran.outcome.hazards],
        "printed": ran.text,
    }


def program_facts(note: Note) -> dict[str, Json]:
    """Facts of the program that need no run."""
    return {"dest": note.dest, "per": note.per, **note.facts}


def summary(data: Mapping[str, Json]) -> list[tuple[str, str]]:
    """Summary rows of a run: words, instructions, registers."""
    rows = [
        ("words in the program", f"{data['words']}, {data['nops']} of them NOPs"),
        ("instructions", f"{data['instructions']}, {data['replayed']} of them replayed"),
        ("registers", f"{data['registers']} of 8, {data['spills']} words that spill"),
    ]
    return [(what, text) for what, text in rows]
