# SPDX-License-Identifier: Apache-2.0
"""Target record of the processor array: plans of equations are compiled once for all sizes, in one or several phases
(docs/targets/tcpa.md).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final, cast

from polyloom import files, transform
from polyloom.diagnostics import Diagnostic, PolyloomError, input_error
from polyloom.frontend.source import Source
from polyloom.ir import signature as signatures
from polyloom.ir.plan import Plan
from polyloom.ir.signature import Signature
from polyloom.recursion import with_deep_stack
from polyloom.targets.prediction import Prediction
from polyloom.targets.report import Report
from polyloom.targets.subject import Progress, Subject
from polyloom.targets.target import Execution, Job, Json, Kind, Program, Proof, Refit, Target
from polyloom.targets.tcpa import machine_file
from polyloom.targets.tcpa.block_choice import (
    SHORT_OF_CASES,
    SHORT_OF_ROOM,
    choose_blocks,
    list_extents,
    minimum_cycles,
)
from polyloom.targets.tcpa.blocked_form import FORM, has_steps, with_plan
from polyloom.targets.tcpa.compile import PASSES
from polyloom.targets.tcpa.compile_plan import compile_plan
from polyloom.targets.tcpa.layouts import read_layouts
from polyloom.targets.tcpa.machine import Machine
from polyloom.targets.tcpa.options import Options, positions
from polyloom.targets.tcpa.place import REGION, Place, parse_place, region
from polyloom.targets.tcpa.run import equivalence, program
from polyloom.targets.tcpa.run.access_counts import energy_shares
from polyloom.targets.tcpa.run.costs import clock_mhz, costs
from polyloom.targets.tcpa.run.phases import descriptions, placement, plan_execution, step_sequence, time_prediction
from polyloom.targets.tcpa.run.phases.account import account
from polyloom.targets.tcpa.run.phases.intervals import loop_intervals
from polyloom.targets.tcpa.run.phases.memory_traffic import measure_time
from polyloom.targets.tcpa.run.program import find_machine
from polyloom.targets.tcpa.run.stepper import ArrayStepper
from polyloom.targets.tcpa.run.summary import brief, summary
from polyloom.targets.tcpa.words import concrete_file, symbolic_file
from polyloom.targets.tcpa.words.phases import phase_file, stages
from polyloom.targets.tcpa.words.phases.steps_file import STEPS
from polyloom.transform.blocks import plan_blocks

# One ending for files of a program and for files of phases: users need not know which they have.
SYMBOLIC: Final = Kind(".plsc", symbolic_file.KIND.name, symbolic=True)
CONCRETE: Final = Kind(".plcc", concrete_file.KIND.name)
_KINDS: Final = {
    symbolic_file.KIND.magic: SYMBOLIC,
    phase_file.SYMBOLIC.magic: SYMBOLIC,
    concrete_file.KIND.magic: CONCRETE,
    phase_file.CONCRETE.magic: CONCRETE,
    STEPS.magic: CONCRETE,
}


def _owns(data: bytes) -> Kind | None:
    return next((kind for magic, kind in _KINDS.items() if data.startswith(magic)), None)


def _compile(
    subject: Subject, where: Place, values: Mapping[str, int], options: Options, progress: Progress | None
) -> bytes:
    # One file serves all sizes: parameters are asked for at instantiation (section 6).
    del values
    mapping = options.mapping
    by_phase = mapping if isinstance(mapping, Mapping) else None
    chosen = (
        None
        if mapping is None
        else _mapping(mapping)
        if by_phase is None
        else {n: _mapping(path) for n, path in by_phase.items()}
    )
    return compile_plan(cast(Plan, subject.content), where.member, chosen, progress, subject.watch)


def _refit(
    subject: Subject, values: Mapping[str, int], where: Place | None, options: Options, error: PolyloomError
) -> Refit | None:
    """Blocks by default: those that fit, of a nest that is too large for FIFOs, banks, signals or programs."""
    source, code = cast("Source | None", subject.source), error.code
    asked = options.block, options.mapping, options.candidate, options.layouts
    if source is None or source.nest is None or where is None or any(each is not None for each in asked):
        return None
    if code not in SHORT_OF_ROOM | SHORT_OF_CASES or has_steps(subject):
        return None
    known = dict[tuple[str, str], bytes]()
    cut = partial(plan_blocks, source.nest, source.plan, reassociate=not source.exact, of_any_size=True)

    def compile_in_blocks(sizes: Mapping[str, int]) -> bytes:
        return compile_plan(cut(sizes), where.member, None, None, None, known)

    machine, size = machine_file.load(where.member), _asked_region(where, options)

    def attempt(sizes: Mapping[str, int]) -> int:
        made = compile_in_blocks(sizes)
        if machine.has_whole_time:
            closed = _closed_borders(size, options)
            return time_prediction.predict_whole_time(made, values, size, machine, closed)
        return _predict(made, values, where, options).cycles

    loops = list_extents(source.nest, values)
    # Where cases are short, blocks of all loops have more of them, and take long to try. Of sums that may be
    # reassociated, a cut inner loop gives another association than the equations without blocks have, and another
    # result in each shape of blocks: outer loops are cut first.
    climbs = machine.has_whole_time and code in SHORT_OF_ROOM and source.exact
    enough = minimum_cycles(loops, size[0] * size[1]) * 5 // 4 if climbs else None
    sizes = with_deep_stack(choose_blocks)(loops, code, attempt, enough)
    if sizes is None:
        return None
    text = ",".join(f"{name}={size}" for name, size in sizes.items())
    message = f"`{subject.signature.name}` runs in blocks of {text}: {error.diagnostics[0].message}"
    help = f"write --block {text} for these blocks at all sizes, or --block with others"
    warning = Diagnostic("PL0825", message, 0, help=help)
    made = with_deep_stack(compile_in_blocks)(sizes)
    return Refit(made, replace(options, block=sizes), warning, with_plan(subject, with_deep_stack(cut)(sizes)))


def _mapping(path: Any) -> tuple[str, str]:
    """The text of a mapping, and its name."""
    try:
        return files.read(path).decode("utf-8-sig"), str(path)
    except UnicodeDecodeError:
        message = f"cannot read '{path}': it is not UTF-8 text"
        raise input_error("PL0807", message, help="give an existing text file in UTF-8") from None


def _asked_region(where: Place | None, options: Options) -> tuple[int, int]:
    """The region that was asked for."""
    if options.pes is not None:
        return region(options.pes)
    return where.region if where is not None else REGION


def _instantiate(data: bytes, values: Mapping[str, int], where: Place | None, options: Options) -> bytes:
    size = _asked_region(where, options)
    closed = _closed_borders(size, options)
    made = plan_execution.instantiate(
        data, values, size, options.candidate, read_layouts(options.layouts or {}), closed
    )
    _check_place(made, options)
    return made


def _predict(data: bytes, values: Mapping[str, int], where: Place | None, options: Options) -> Prediction:
    size, layouts = _asked_region(where, options), read_layouts(options.layouts or {})
    machine = None if where is None else machine_file.load(where.member)
    closed = _closed_borders(size, options)
    return time_prediction.predict(data, values, size, options.candidate, layouts, closed, machine)


def _closed_borders(size: tuple[int, int], options: Options) -> int:
    """Closed borders: those of the region that are inside a larger array, as bits by side, north first. Banks then
    stand at the other ones. Errors: PL0604, PL0805.
    """
    if options.array is None:
        return 0
    row, column = _position(options)
    rows, columns = region(options.array)
    inside = row > 0, column + size[1] < columns, row + size[0] < rows, column > 0
    # Elements take turns between rows and columns: with no bank at the end of either one, none is routed.
    if all(inside[::2]) or all(inside[1::2]):
        return 0
    return sum(1 << side for side, closed in enumerate(inside) if closed)


def _position(options: Options) -> tuple[int, int]:
    """Errors: PL0604, PL0805."""
    at = positions(options.at)
    if len(at) > 1:
        raise input_error(
            "PL0604", "one configuration has several positions", help="give one position, for instance 0,4"
        )
    return at[0] if at else (0, 0)


def _check_place(data: bytes, options: Options) -> None:
    """Where the configuration is placed on a larger array, which no file says. Errors: PL0604, PL0629, PL0805."""
    if options.at is None and options.array is None:
        return
    at = _position(options)
    array = region(options.array) if options.array is not None else placement.enclosing_array([(data, at)])
    placement.check_place(data, at, array)


def _run(data: bytes, job: Job) -> Execution:
    where = cast("Place | None", job.place)
    _check_place(data, job.options)
    one = partial(program.simulate, account=True) if job.account else program.simulate
    member = where.member if where else None
    found = plan_execution.simulate(data, member, job.inputs, job.trace, job.progress, one)
    return Execution(found.outputs, found.cycles, found.operations, trace=found.trace, detail=found)


def _open_stepper(data: bytes, job: Job) -> ArrayStepper:
    where = cast("Place | None", job.place)
    return ArrayStepper(data, where.member if where else None, job.inputs)


def _run_side_by_side(runs: Sequence[tuple[bytes, Job]]) -> Sequence[Execution]:
    """Each at the position that its options say. Errors: PL0604, PL0629, and those of a run."""
    options = [cast(Options, job.options) for _, job in runs]
    arrays = {region(o.array) for o in options if o.array is not None}
    if len(arrays) > 1:
        raise input_error("PL0604", "there are several sizes of one array", help="give one size, for instance 8x8")
    at = [_position(o) for o in options]
    placed = [placement.Placed(data, job.inputs, own) for (data, job), own in zip(runs, at, strict=True)]
    place = cast("Place | None", runs[0][1].place)
    found = placement.run_side_by_side(
        placed, place.member if place else None, next(iter(arrays), None), runs[0][1].trace
    )
    return [Execution(f.outputs, f.cycles, f.operations, trace=f.trace, detail=f) for f in found]


def _facts(program: Program, execution: Execution | None) -> dict[str, Json]:
    known, alone = descriptions.facts(program.symbolic, program.data)
    # Of a file that was loaded nobody knows the region that was asked for, only the one that was used.
    asked = program.place is not None or program.options.pes is not None
    region = list[Json](_asked_region(program.place, program.options)) if asked else None
    return {"region": region, **known, "phases": _phases(alone, execution), **_time(program, execution)}


def _time(program: Program, execution: Execution | None) -> dict[str, Json]:
    """Whole time, where the machine is known: as predicted, unless there is an execution, which has counts, too."""
    found, where = step_sequence.run(program.data), cast("Place | None", program.place)
    machine = find_machine(found.steps[0].data, where.member if where else None) if found.steps else None
    if machine is None:
        return {}
    ran = None if execution is None else cast(plan_execution.Execution, execution.detail)
    cycles = None if ran is None else [phase.cycles for phase in ran.phases]
    time, clock = measure_time(found, machine, cycles), clock_mhz(machine, where)
    seconds = {} if clock is None else {"seconds": time.total / (clock * 1e6)}
    return {"time": {**time.as_dict(), **seconds}, **({} if ran is None else _counts(ran, machine))}


def _counts(ran: plan_execution.Execution, machine: Machine) -> dict[str, Json]:
    """Access counts, and the shares of energy where the machine has a table of it."""
    counts = ran.counts
    if machine.energy is None:
        return {"counts": dict[str, Json](counts)}
    shares = dict[str, Json](energy_shares(machine.energy, counts))
    return {"counts": dict[str, Json](counts), "energy": {"source": machine.energy.source, "shares": shares}}


def _phases(alone: Sequence[dict[str, Json]], execution: Execution | None) -> list[Json]:
    """What belongs to each phase; of a run also the cycles of all its steps."""
    if execution is None:
        return [dict(own) for own in alone]
    ran = cast(plan_execution.Execution, execution.detail)
    return [{**own, **ran.of_phase(cast(int, own["phase"]) - 1)} for own in alone]


def _compile_facts(data: bytes) -> dict[str, Json]:
    return {"parameters": list(plan_execution.parameters(data)), "symbolic_bytes": len(data)}


def _signature(data: bytes) -> Signature:
    """A concrete configuration has no parameters."""
    found = stages.read_phases(data)
    given, results = {a.name for a in found.inputs}, {a.name for a in found.outputs}
    arrays = {a.name: a for a in (*found.inputs, *found.outputs)}
    arguments = (signatures.array_argument(a, is_input=n in given, is_output=n in results) for n, a in arrays.items())
    # A concrete configuration has no parameters any more; its extents are numbers.
    sizes = plan_execution.parameters(data) if cast(Kind, _owns(data)).symbolic else ()
    return Signature(found.name, sizes, sizes, tuple(arguments), found.assumptions)


def _report(program: Program, execution: Execution) -> Sequence[Report]:
    del execution
    return descriptions.list_reports(program.symbolic, program.data)


def _verify(data: bytes, where: Place | None) -> Sequence[Diagnostic]:
    # Malformed files are errors, not findings: they are refused before the rules look at them.
    stages.check_file(data)
    return descriptions.verify(data, where.member if where else None)


def _prove_equivalence(
    data: bytes, where: Place | None, options: Options, source: Source, values: Mapping[str, int]
) -> Proof:
    concrete = data
    if cast(Kind, _owns(data)).symbolic:
        concrete = plan_execution.instantiate(data, values, _asked_region(where, options), options.candidate)
        # A proof by the model holds only for words that the model executes without a fault.
        if found := _verify(concrete, where):
            raise PolyloomError(*found)
    return equivalence.prove(concrete, where.member if where else None, source, values)


TARGET: Final = Target(
    name="tcpa",
    title="tightly coupled processor arrays",
    takes=(FORM,),
    kinds=(SYMBOLIC, CONCRETE),
    owns=_owns,
    place=parse_place,
    signature=_signature,
    compile=_compile,
    run=_run,
    run_together=_run_side_by_side,
    show=lambda data, _: descriptions.show(data),
    options=Options,
    instantiate=_instantiate,
    refit=_refit,
    predict=_predict,
    members=machine_file.members,
    describe=lambda name: machine_file.resolve(machine_file.load(name)),
    machine_of=lambda where: machine_file.resolve(machine_file.load(where.member)),
    with_machine=lambda where, path: replace(where, member=path),
    facts=_facts,
    made=_compile_facts,
    brief=brief,
    summary=summary,
    report=_report,
    costs=costs,
    account=account,
    intervals=loop_intervals,
    as_json=descriptions.as_json,
    verify=_verify,
    stepper=_open_stepper,
    against=_prove_equivalence,
    passes=(*transform.PASSES, *PASSES),
)
