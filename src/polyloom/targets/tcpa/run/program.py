# SPDX-License-Identifier: Apache-2.0
"""One program (a phase of a plan) on the array: its files, its pipeline behind text and bytes, and what is told of a
run.

Pressure, reservation table, array and control flow are read from the words of the concrete configuration. Only the
equations' names and the reason for the initiation interval come from the symbolic one, from the schedule that those
words obey.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final, cast

from polyloom import binary
from polyloom._native.instantiate import Instantiation
from polyloom.diagnostics import Diagnostic, PolyloomError, input_error
from polyloom.frontend.source import Arrays
from polyloom.ir.pla import Array, Program
from polyloom.passes import Watch
from polyloom.sets import Affine
from polyloom.targets.report import Flow, Grid, Operation, Pressure, Report, Reservation
from polyloom.targets.subject import Progress
from polyloom.targets.target import Json
from polyloom.targets.tcpa import compile as pipeline
from polyloom.targets.tcpa import machine_file
from polyloom.targets.tcpa.machine import Machine
from polyloom.targets.tcpa.map import demand
from polyloom.targets.tcpa.map.relay import relayed_if_short
from polyloom.targets.tcpa.run import banks, drawn, instantiation, model
from polyloom.targets.tcpa.run.events import Events
from polyloom.targets.tcpa.run.predict import predicted_cycles
from polyloom.targets.tcpa.run.request import Signature, check_parameters, check_region, is_plain, signature
from polyloom.targets.tcpa.run.verify import verify as rules
from polyloom.targets.tcpa.run.verify import verify_symbolic
from polyloom.targets.tcpa.words import concrete_file, listing, notation, resolve, symbolic_file
from polyloom.targets.tcpa.words.concrete import Concrete, Connection, MadeOf
from polyloom.targets.tcpa.words.isa import OPCODE_NOP, Goto, Halt, If, Instruction, Next, operation_of
from polyloom.targets.tcpa.words.operations import operations
from polyloom.targets.tcpa.words.outline import outline
from polyloom.targets.tcpa.words.symbolic import Bottleneck, Symbolic

MAGICS: Final = (symbolic_file.KIND.magic, concrete_file.KIND.magic)
"""How its files begin, the symbolic one first."""
ALONE: Final = ("initiation_interval", "minimum_initiation_interval", "proved_minimal", "bound_by")
_PE: Final = 0
_NEIGHBOURS: Final = {1: (-1, 0), 2: (0, 1), 3: (1, 0), 4: (0, -1)}


def compile(
    program: Program,
    member: str,
    mapping: tuple[str, str] | None,
    progress: Progress | None,
    watch: Watch | None = None,
) -> bytes:
    chosen = None if mapping is None else pipeline.parse_mapping(*mapping)
    return symbolic_file.encode(
        pipeline.compile_program(program, machine_file.load(member), mapping=chosen, progress=progress, watch=watch)
    )


def shortage(program: Program, member: str) -> int:
    """How many registers and channels a program lacks on a machine at the least, whatever its schedule."""
    machine = machine_file.load(member)
    return demand.shortage(relayed_if_short(program, machine), machine)


@binary.remembered
def _opened(data: bytes) -> tuple[Symbolic, Signature]:
    """A symbolic file, and what an instantiation of it is asked for."""
    symbolic = symbolic_file.decode(data)
    return symbolic, signature(symbolic)


def _symbolic(data: bytes) -> Symbolic:
    return _opened(data)[0]


def instantiate(
    data: bytes,
    values: Mapping[str, int],
    region: tuple[int, int],
    candidate: int | None,
    layouts: instantiation.Layouts | None = None,
    closed: int = 0,
) -> bytes:
    """The concrete file; `layouts` and `closed` as `instantiation` has them.

    The library checks what it is asked for; what it refuses is checked here again, for a
    sentence."""
    symbolic, asked = _opened(data)
    made = None
    if is_plain(symbolic, values, region, candidate):
        ordered = [values[name] for name in symbolic.parameters]
        made = instantiation.request(data, ordered, *region, candidate, None, layouts, closed)
        if not made.status:
            return _told(made, ordered, data)
    _check_candidate(symbolic, candidate)
    known = check_parameters(asked, values)
    check_region(symbolic, *region)
    again = made or instantiation.request(data, known, *region, candidate, None, layouts, closed)
    instantiation.file_of(symbolic, again)
    return _told(again, known, data)


def _told(made: Instantiation, values: Sequence[int], data: bytes) -> bytes:
    return concrete_file.told(made.file, MadeOf(made.candidate, tuple(values), data))


def maker(
    data: bytes,
    region: tuple[int, int],
    candidate: int | None,
    closed: int = 0,
    layouts: instantiation.Layouts | None = None,
) -> Callable[[tuple[int, ...]], bytes]:
    """What makes the concrete files of one region, of the values of the parameters in their order: for steps, of which
    there are many. Errors: PL0505 and PL0815 here, those of `instantiate` there."""
    symbolic, asked = _opened(data)
    _check_candidate(symbolic, candidate)
    check_region(symbolic, *region)

    def make(values: tuple[int, ...]) -> bytes:
        made = instantiation.request(data, values, *region, candidate, None, layouts, closed)
        if made.status:
            check_parameters(asked, dict(zip(symbolic.parameters, values, strict=True)))
        instantiation.file_of(symbolic, made)
        return _told(made, values, data)

    return make


def _check_candidate(symbolic: Symbolic, candidate: int | None) -> None:
    if candidate is not None and candidate not in range(len(symbolic.candidates)):
        help = f"the file stores candidates 0 to {len(symbolic.candidates) - 1}"
        raise input_error("PL0815", f"there is no candidate {candidate!r}", help=help)


def machine_of(data: bytes, member: str | None) -> Machine:
    """The machine that a configuration was made for; `member` may name it where it is no shipped one."""
    if member is not None:
        return machine_file.load(member)
    name = outline(data).concrete.machine if is_concrete(data) else _symbolic(data).machine
    if name not in machine_file.members():
        help = "name its description, for instance --on tcpa:FILE.toml"
        raise input_error(
            "PL0816", f"the configuration was made for the machine '{name}', which is not a shipped one", help=help
        )
    return machine_file.load(name)


def simulate(data: bytes, member: str | None, inputs: Arrays, trace: bool, progress: Progress | None) -> Simulation:
    machine = machine_of(data, member)
    result = model.run(
        data, machine, inputs, trace=trace, progress=None if progress is None else _by_cycles(progress, data)
    )
    return _observed(data, machine, result)


def simulate_together(
    placements: Sequence[model.Placement], member: str | None, array: tuple[int, int], trace: bool
) -> list[Simulation]:
    """Programs on disjoint rectangles of one array, all from cycle 0 on. Errors: those of `simulate`, and PL0604."""
    machine = machine_of(placements[0].data, member)
    results = model.run_together(placements, machine, *array, trace=trace)
    return [_observed(p.data, machine, result) for p, result in zip(placements, results, strict=True)]


def _observed(data: bytes, machine: Machine, result: model.Result) -> Simulation:
    events = _events(result.trace, data, machine) if result.trace else None
    issues = zip((unit.name for unit in machine.units), result.issues, strict=True)
    return Simulation(result.outputs, result.cycles, result.operations, tuple(issues), events)


def _by_cycles(progress: Progress, data: bytes) -> Callable[[int], None]:
    """The progress of a run, by its cycle."""
    cycles = max(1, predicted_cycles(concrete_file.decode(data)))
    return lambda cycle: progress("running", min(1.0, cycle / cycles))


def arrays(data: bytes) -> tuple[tuple[Array, bool], ...]:
    if is_concrete(data):
        return tuple(
            (Array(a.name, a.dtype, tuple(Affine((), n) for n in a.shape)), a.is_output)
            for a in outline(data).concrete.arrays
        )
    symbolic = _symbolic(data)
    shapes = (
        tuple(notation.affine(r, symbolic.dimensions, symbolic.parameters) for r in a.shape) for a in symbolic.arrays
    )
    return tuple((Array(a.name, a.dtype, shape), a.is_output) for a, shape in zip(symbolic.arrays, shapes, strict=True))


@dataclass(frozen=True, slots=True)
class Simulation:
    """What the model observed of a program: operations by unit in `issues`; `events` only if a trace was asked for."""

    outputs: Arrays
    cycles: int
    operations: int
    issues: tuple[tuple[str, int], ...] = ()
    events: Events | None = None


def explained(data: bytes, reason: str) -> bytes:
    """A symbolic file whose reports also tell why it is a part of a phase."""
    symbolic = _symbolic(data)
    told = (replace(b, bound_by=f"{b.bound_by}; a part, because in one phase {reason}") for b in symbolic.bottlenecks)
    return symbolic_file.encode(replace(symbolic, bottlenecks=tuple(told)))


def parameters(data: bytes) -> tuple[str, ...]:
    """Their names, of a symbolic file."""
    return _symbolic(data).parameters


def domain(data: bytes) -> Signature:
    """The parameters of a symbolic file, and their domain."""
    return _opened(data)[1]


def candidates(data: bytes) -> int:
    """How many a symbolic file stores."""
    return len(_symbolic(data).candidates)


def cycles(data: bytes) -> int:
    """What a concrete file will take, from its words alone."""
    return predicted_cycles(concrete_file.decode(data))


def accesses(data: bytes) -> Mapping[str, banks.Accesses]:
    """By array of a concrete file: every (bank, element) that it reads, or for an output writes."""
    return banks.accesses(concrete_file.decode(data))


def _events(trace: model.Trace, data: bytes, machine: Machine) -> Events:
    concrete = concrete_file.decode(data)
    return Events(trace, concrete, machine, resolve.known(concrete))


KEYS: Final = (
    "pes",
    *ALONE,
    "predicted_cycles",
    "processor_classes",
    "kernel_classes",
    "control_signals",
    "instruction_words",
)
"""Of `facts`, without the sizes of files."""


def facts(symbolic_data: bytes | None, data: bytes) -> dict[str, Json]:
    concrete = concrete_file.decode(data)
    symbolic = _symbolic_of(symbolic_data, concrete)
    number = _schedule(symbolic, concrete) if symbolic else None
    reason = _bottleneck(symbolic, number, concrete) if symbolic and number is not None else None
    programs = [program for element in concrete.classes for program in element.programs]
    return {
        "pes": [concrete.rows, concrete.columns],
        "initiation_interval": symbolic.schedules[number].initiation_interval
        if symbolic and number is not None and not concrete.classes
        else concrete.initiation_interval,
        "minimum_initiation_interval": reason.minimum if reason else None,
        # A multiple of the schedule's is the least one that is valid here; of other schedules it is not known.
        "proved_minimal": None if reason is None or _is_slower(symbolic, number, concrete) else reason.proved,
        "bound_by": reason.bound_by if reason else None,
        "predicted_cycles": predicted_cycles(concrete),
        "processor_classes": len(concrete.classes),
        "kernel_classes": sum(len(p) for p in programs) // concrete.initiation_interval,
        "control_signals": len(concrete.controller.signals),
        "instruction_words": sum(len(p) for p in programs),
        "symbolic_bytes": len(symbolic_data) if symbolic_data else None,
        "concrete_bytes": len(data),
    }


def combine(phases: Sequence[Mapping[str, Json]], cycles: int) -> dict[str, Json]:
    """The least rectangle around all, the most signals at a time, these predicted cycles, and the sums of everything
    else."""

    def total(key: str) -> int | None:
        values = [cast("int | None", p[key]) for p in phases]
        return None if None in values else sum(v for v in values if v is not None)

    pes = [cast("list[int]", p["pes"]) for p in phases]
    combined: dict[str, Json] = dict.fromkeys(ALONE) | {
        # Phases use the array one after another: times and sizes add up, signals and elements do not.
        key: total(key)
        for key in phases[0]
        if key not in ALONE and key != "pes"
    }
    combined["pes"] = [max(rows for rows, _ in pes), max(columns for _, columns in pes)]
    combined["control_signals"] = max(cast(int, p["control_signals"]) for p in phases)
    combined["predicted_cycles"] = cycles
    return {key: combined[key] for key in phases[0]}


def _schedule(symbolic: Symbolic, concrete: Concrete) -> int:
    """The stored schedule that the words obey: the one that they were made with or, where they do not say, the first
    one with a node for every operation issued, at its unit and slot. Where nothing is issued, the one of the least
    initiation interval."""
    if not concrete.classes:
        return min(range(len(symbolic.schedules)), key=lambda n: symbolic.schedules[n].initiation_interval)
    told = concrete.made_of
    first = [symbolic.candidates[told.candidate].schedule] if told and told.candidate < len(symbolic.candidates) else []
    for number in (*first, *range(len(symbolic.schedules))):
        if resolve.fits(symbolic.schedules[number], symbolic, concrete):
            return number
    raise resolve.other()


def _is_slower(symbolic: Symbolic | None, number: int | None, concrete: Concrete) -> bool:
    """Whether the words have a multiple of their schedule's interval."""
    if symbolic is None or number is None or not concrete.classes:
        return False
    return concrete.initiation_interval > symbolic.schedules[number].initiation_interval


def _bottleneck(symbolic: Symbolic, number: int, concrete: Concrete) -> Bottleneck:
    """Why the words have their initiation interval, which may be a multiple of the schedule's."""
    schedule, reason = symbolic.schedules[number], symbolic.bottlenecks[number]
    if not _is_slower(symbolic, number, concrete):
        return reason
    slower = concrete.initiation_interval // schedule.initiation_interval
    names = ", ".join(
        dict.fromkeys(symbolic.node_names[v] for pair in schedule.apart for v in (pair.first, pair.second))
    )
    sentence = (
        f"{slower} times the {schedule.initiation_interval} of the schedule, as tiles are small: rare operations "
        f"({names or 'without names'}) would meet in their unit, or values come too late"
    )
    return Bottleneck(reason.minimum, reason.proved, sentence)


def _issued(concrete: Concrete) -> Iterator[tuple[int, int, int]]:
    """(unit, slot, opcode) of every operation in some class; kernel classes have one instruction per slot."""
    for element in concrete.classes:
        for unit, program in enumerate(element.programs):
            for at, instruction in enumerate(program):
                if instruction.opcode != OPCODE_NOP:
                    yield unit, at % concrete.initiation_interval, instruction.opcode


def _symbolic_of(data: bytes | None, concrete: Concrete) -> Symbolic | None:
    """What the words were made of: the file, or what they say themselves."""
    if data is not None:
        return _symbolic(data)
    return None if concrete.made_of is None else _symbolic(concrete.made_of.symbolic)


def report(symbolic_data: bytes | None, data: bytes) -> Report:
    concrete = concrete_file.decode(data)
    symbolic = _symbolic_of(symbolic_data, concrete)
    names = symbolic.limits.units if symbolic else _unit_names(concrete)
    used = [u for u in range(len(names)) if any(len(e.programs) > u and e.programs[u] for e in concrete.classes)]
    interval = concrete.initiation_interval
    cells = _cells(concrete, symbolic)
    reason = _bottleneck(symbolic, _schedule(symbolic, concrete), concrete).bound_by if symbolic else ""
    return Report(
        pressure=tuple(
            Pressure(name, sum((u, slot) in cells for slot in range(interval)), interval)
            for u, name in enumerate(names)
        ),
        reservation=Reservation(
            tuple(names[u] for u in used),
            tuple(tuple(" ".join(cells.get((u, slot), ())) for u in used) for slot in range(interval)),
        ),
        bottleneck=reason,
        operations=_operations(symbolic, concrete) if symbolic else (),
        grid=_grid(concrete),
        flows=tuple(_flows(concrete, names)),
        circuit=drawn.circuit(reason),
    )


def _operations(symbolic: Symbolic, concrete: Concrete) -> tuple[Operation, ...]:
    return operations(symbolic, symbolic.schedules[_schedule(symbolic, concrete)], concrete.initiation_interval)


def _unit_names(concrete: Concrete) -> tuple[str, ...]:
    if concrete.machine in machine_file.members():
        return tuple(u.name for u in machine_file.load(concrete.machine).units)
    return tuple(f"unit{n}" for n in range(max((len(e.programs) for e in concrete.classes), default=0)))


def _cells(concrete: Concrete, symbolic: Symbolic | None) -> dict[tuple[int, int], tuple[str, ...]]:
    """What issues by (unit, slot): the equations' names, `'` for each interval that they lag behind; without them,
    operations."""
    issued = sorted(set(_issued(concrete)))
    if symbolic is None or not symbolic.node_names:
        named = [((unit, slot), operation_of(opcode)[0]) for unit, slot, opcode in issued]
    else:
        schedule, interval = symbolic.schedules[_schedule(symbolic, concrete)], concrete.initiation_interval
        at = {(unit, slot) for unit, slot, _ in issued}
        rows = zip(schedule.unit, schedule.tau, symbolic.node_names, strict=True)
        named = [((u, t % interval), name + "'" * (t // interval)) for u, t, name in rows if (u, t % interval) in at]
    cells: dict[tuple[int, int], tuple[str, ...]] = {}
    for place, name in named:
        cells[place] = (*cells.get(place, ()), name)
    return cells


def _grid(concrete: Concrete) -> Grid:
    labels = tuple(tuple("" if c < 0 else f"P{c + 1}" for c in row) for row in concrete.element_class)
    wires = {
        wire
        for r, row in enumerate(concrete.wrapper)
        for c, w in enumerate(row)
        for wire in _wires(r, c, concrete.wrappers[w])
    }
    wires |= {wire for route in drawn.routes(concrete) for wire in pairwise(route.path)}
    banks = {drawn.beside(concrete, g) for g in concrete.generators}
    ways = tuple(drawn.routes(concrete))
    return Grid(labels, tuple(sorted(wires)), tuple(sorted(banks)), ways, tuple(drawn.notes(concrete)))


def _wires(
    row: int, column: int, connections: tuple[Connection, ...]
) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    """Hops from and to the neighbours of one element."""
    for connection in connections:
        for (side, _), outward in ((connection.sink, True), (connection.source, False)):
            if side != _PE:
                neighbour = row + _NEIGHBOURS[side][0], column + _NEIGHBOURS[side][1]
                yield ((row, column), neighbour) if outward else (neighbour, (row, column))


def _flows(concrete: Concrete, names: tuple[str, ...]) -> Iterator[Flow]:
    for number, element in enumerate(concrete.classes, 1):
        for unit, program in zip(names, element.programs, strict=True):
            if program:
                yield _flow(f"P{number}, {unit}", program, concrete.initiation_interval)


def _flow(title: str, program: tuple[Instruction, ...], interval: int) -> Flow:
    """One block per kernel class of `interval` instructions; its last instruction branches."""
    blocks = [program[at : at + interval] for at in range(0, len(program), interval)]
    texts = tuple(
        "; ".join("nop" if i.opcode == OPCODE_NOP else operation_of(i.opcode)[0] for i in block) for block in blocks
    )
    edges = [
        (number, target // interval, text)
        for number, block in enumerate(blocks)
        for target, text in _targets(block[-1], (number + 1) * interval)
    ]
    return Flow(title, texts, tuple(edges))


def _targets(instruction: Instruction, following: int) -> Iterator[tuple[int, str]]:
    match instruction.branch:
        case Halt():
            return
        case Next():
            yield following, ""
        case Goto(target):
            yield target, ""
        case If(signals, targets):
            for target in sorted(set(targets)):
                codes = [format(code, f"0{len(signals)}b")[::-1] for code, t in enumerate(targets) if t == target]
                yield target, f"ic{','.join(map(str, signals))} = {'|'.join(codes)}"


def is_concrete(data: bytes) -> bool:
    return data.startswith(MAGICS[1])


def kernel(data: bytes) -> str:
    return outline(data).concrete.kernel if is_concrete(data) else _symbolic(data).kernel


def digest(data: bytes) -> str:
    """Of the equations that a file was compiled from, as it says; empty where it does not."""
    return outline(data).concrete.program if is_concrete(data) else _symbolic(data).program


def show(data: bytes) -> str:
    if not is_concrete(data):
        return listing.show_symbolic(symbolic_file.decode(data))
    concrete = concrete_file.decode(data)
    return listing.show_concrete(concrete, _unit_names(concrete), resolve.known(concrete))


def as_json(data: bytes) -> Json:
    return listing.as_json(concrete_file.decode(data) if is_concrete(data) else symbolic_file.decode(data))


def verify(data: bytes, member: str | None) -> tuple[Diagnostic, ...]:
    """Both kinds are checked by reading them back, and by the rules of their own verifier."""
    try:
        machine = machine_of(data, member)
    except PolyloomError as error:
        return error.diagnostics
    if is_concrete(data):
        resolve.known(concrete_file.decode(data))
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
