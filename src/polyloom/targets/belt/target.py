# SPDX-License-Identifier: Apache-2.0
"""Target record of the belt machine: functions in SSA form become belt programs, which the model runs."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, cast

import numpy as np

from polyloom import files
from polyloom.diagnostics import Diagnostic, PolyloomError, Source, input_error
from polyloom.frontend import SSA_PASSES
from polyloom.ir.signature import RESULT, Argument, Signature
from polyloom.passes import Watch
from polyloom.targets.belt.compile import PASSES as SPECIALIZER
from polyloom.targets.belt.compile import specialize
from polyloom.targets.belt.machine import load, members
from polyloom.targets.belt.map.import_ssa import PASSES as IMPORTER
from polyloom.targets.belt.map.import_ssa import Options as Importing
from polyloom.targets.belt.map.import_ssa import import_function
from polyloom.targets.belt.options import Options
from polyloom.targets.belt.place import Place, place
from polyloom.targets.belt.run import facts, model, profile, view
from polyloom.targets.belt.run.account import account
from polyloom.targets.belt.run.costs import costs
from polyloom.targets.belt.run.stepper import BeltStepper
from polyloom.targets.belt.source.branch_counts import annotate_branches
from polyloom.targets.belt.source.genasm import print_genasm
from polyloom.targets.belt.source.genasm_read import read_genasm
from polyloom.targets.belt.source.ir import Function, Module
from polyloom.targets.belt.source.ir_verify import verify as verified
from polyloom.targets.belt.value_types import BYTES, Type
from polyloom.targets.belt.words import belt_file, conasm_read, signature_line
from polyloom.targets.belt.words.listing import listing
from polyloom.targets.belt.words.program import Program
from polyloom.targets.belt.words.semantics import NaR
from polyloom.targets.forms import function
from polyloom.targets.forms.relocation import relocate
from polyloom.targets.forms.ssa_function import called_arrays, passed_arguments
from polyloom.targets.subject import Progress, Subject
from polyloom.targets.target import Execution, Job, Kind, Target

_PROGRAM: Final = Kind(".belt", "belt program")
_GENASM: Final = ("function", "data @")
"""How text begins that is not conasm."""


def _model(place: Place, options: Options) -> function.Model:
    """Data model of C on this machine: 32 bits, little-endian; pointers are a w (docs/targets/belt.md, Values and
    faults)."""
    del place, options
    return function.Model("riscv32-unknown-elf", 4, reassociates=True, by_rows=True)


def _compile(
    subject: Subject, place: Place, values: Mapping[str, int], options: Options, progress: Progress | None
) -> bytes:
    """Compile a function to a program, or with `--emit` to genasm or conasm text. The values of parameters are not
    needed: code does not depend on sizes."""
    del values
    if progress is not None:
        progress("compiling", 0.0)
    content = cast(function.Content, subject.content)
    written = options.emit == "genasm"  # with names of sources as files have them
    read = relocate(content.function, lambda at: replace(at, file=at.shown_file)) if written else content.function
    module = import_function(read, place.machine, _import_options(content, options), subject.watch)
    # After the import: a profile names blocks as genasm does.
    if options.profile is not None:
        module = annotate_branches(module, profile.read(options.profile))
    if written:
        return f"{signature_line.print_signature(subject.signature)}\n{print_genasm(module)}".encode()
    program = _specialize_program(module, place, options, subject.signature, subject.watch)
    if options.emit == "conasm":
        return listing(program, subject.signature).encode()
    return belt_file.write(program, subject.signature)


def _import_options(content: function.Content, options: Options) -> Importing:
    how = options.vectorize or "never"
    return Importing(content.distinct, how, content.reassociate, options.expect or {})


def _specialize_program(
    module: Module, place: Place, options: Options, signature: Signature, watch: Watch | None = None
) -> Program:
    """Specialize a module for the member of a place, with what the options say."""
    machine, spl, solver = place.machine, options.spl, options.solver
    return specialize(module, machine, spl=spl, solver=solver, signature=signature, watch=watch)[0]


def _assemble(text: str, name: str, place: Place, options: Options) -> bytes:
    """Assemble genasm, or conasm, which says its member itself. Errors: PL1006 where it is another than `place`'s,
    PL1007 for a signature that does not fit."""
    line = next((m for m in re.finditer(r"[^\n]+", text) if m[0].startswith(signature_line.BEGINS)), None)
    # The signature is replaced by spaces, so that every later message keeps its offset in the user's text.
    plain = text if line is None else text[: line.start()] + " " * len(line[0]) + text[line.end() :]
    if plain.lstrip().startswith(_GENASM):
        module = verified(read_genasm(plain, name))
        first = module.functions[0]
        source = Source(name, text)
        types = [p.type for p in first.blocks[0].parameters]
        signature = (
            _scalar_signature(first)
            if line is None
            else signature_line.check_signature(line[0], source, line.start(), first.name, types, first.results)
        )
        return belt_file.write(_specialize_program(module, place, options, signature), signature)
    # By way of the file: the member is the one that its bytes tell.
    data = belt_file.write(*conasm_read.read(text, name))
    member = belt_file.read(data).machine
    if member != place.machine:
        again = f"--on belt:{member.name}{'' if member.phasing else ':unphased'}"
        raise belt_file.member_mismatch(
            member, place.machine, f"write {again}, or compile the source for the other member"
        )
    return data


def _scalar_signature(first: Function) -> Signature:
    """Signature of a function whose text has widths alone: everything is a scalar."""
    given = tuple(Argument(p.name, _integer_dtype(p.type), (), True, False) for p in first.blocks[0].parameters)
    result = tuple(Argument(RESULT, _integer_dtype(t), (), False, True) for t in first.results[:1])
    return Signature(first.name, tuple(a.name for a in given), (), (*result, *given))


def _integer_dtype(type: Type) -> np.dtype[Any]:
    return np.dtype(f"<i{min(8, BYTES[type.width])}")


def _run(data: bytes, job: Job) -> Execution:
    """Run a program on the native model, which changes outputs in place, and copies another array when it is first
    stored to. Errors: PL1006, and the model's faults PL1050 to PL1060."""
    options, on = cast(Options, job.options), cast("Place | None", job.place)
    signature = belt_file.read(data, None if on is None else on.machine).signature
    given = called_arrays(signature, job.inputs)
    passed = passed_arguments(signature.inputs, given)
    if job.progress is not None:
        job.progress("running", 0.0)
    done = model.run(data, passed, max_cycles=options.max_cycles, trace=job.trace, account=job.account)
    # The function's own result comes first: it is what a user of a scalar function looks for.
    outputs = {a.name: given[a.name] for a in signature.outputs if a.name != RESULT}
    if (result := signature.argument(RESULT)) is not None:
        outputs = {RESULT: _result(done, result.dtype), **outputs}
    if options.counts is not None:
        files.write({options.counts: profile.write_counts(belt_file.read(data).program, done)})
    trace = view.trace(data, done) if job.trace else view.Trace()
    return Execution(outputs, done.cycles, done.operations, {}, trace, done)


def _open_stepper(data: bytes, job: Job) -> BeltStepper:
    on = cast("Place | None", job.place)
    signature = belt_file.read(data, None if on is None else on.machine).signature
    given = {a.name: np.array(job.inputs[a.name], a.dtype, order="C") for a in signature.inputs}
    passed = passed_arguments(signature.inputs, given)
    return BeltStepper(data, given, passed)


def _result(done: model.Run, dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """Bits of the first result, which has as many as its type. Errors: PL1054 where it is none: what the source leaves
    undefined is a NaR here; and PL1056 where a file returns another thing than its signature says."""
    lanes = done.results[0] if done.results else ()
    bits = lanes[0] if len(lanes) == 1 else None
    if isinstance(bits, NaR):
        help = "the source leaves this undefined: give other arguments"
        raise input_error("PL1054", f"the result is a NaR: {bits.cause}", help=help)
    if bits is None or bits >> 8 * dtype.itemsize:
        message = f"the routine returns no single value of {8 * dtype.itemsize} bits, as its signature says"
        raise input_error("PL1056", message, help="compile the function again")
    return np.frombuffer(bits.to_bytes(dtype.itemsize, "little"), dtype).reshape(()).copy()


def _verify(data: bytes, place: Place | None) -> Sequence[Diagnostic]:
    """Findings of the verifier in a file's words; a file that cannot be read gives its own diagnostics."""
    # Imported late: a run needs no verifier, and the target's record is loaded by every command.
    from polyloom.targets.belt.words.verify import verify

    try:
        return verify(belt_file.read(data, None if place is None else place.machine).program)
    except PolyloomError as error:
        return error.diagnostics


def _show(data: bytes, options: Options) -> str:
    """Listing of a file, or with `--timeline` the drawing of its loops."""
    file = belt_file.read(data)
    if options.timeline:
        from polyloom.targets.belt.run.timeline import timeline

        return timeline(file.program)
    return listing(file.program, file.signature)


TARGET: Final = Target(
    name="belt",
    title="a Mill-style belt machine",
    takes=(function.form(_model),),
    kinds=(_PROGRAM,),
    owns=lambda data: _PROGRAM if belt_file.owns(data) else None,
    place=place,
    signature=lambda data: belt_file.read(data).signature,
    compile=_compile,
    run=_run,
    show=_show,
    options=Options,
    members=members,
    describe=lambda name: load(name).description,
    facts=facts.run_facts,
    made=facts.compile_facts,
    intervals=facts.loop_intervals,
    summary=facts.summary,
    report=view.report,
    costs=costs,
    account=account,
    assemble=_assemble,
    verify=_verify,
    stepper=_open_stepper,
    passes=(*SSA_PASSES, *IMPORTER, *SPECIALIZER),
)
