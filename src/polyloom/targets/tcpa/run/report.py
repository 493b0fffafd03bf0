# SPDX-License-Identifier: Apache-2.0
"""Report of one program: facts, pressure, reservation table, array and control flow.

All but two are read from the words of the concrete configuration. Only the equations' names and the reason for the
initiation interval come from the symbolic one, from the schedule that those words obey.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Final, cast

from polyloom.targets.report import Flow, Grid, Operation, Pressure, Report, Reservation
from polyloom.targets.target import Json
from polyloom.targets.tcpa.run import grid_drawing
from polyloom.targets.tcpa.run.predict import predicted_cycles
from polyloom.targets.tcpa.words import concrete_file, event_resolution
from polyloom.targets.tcpa.words.concrete import Concrete, Connection
from polyloom.targets.tcpa.words.isa import OPCODE_NOP, Goto, Halt, If, Instruction, Next, decode_opcode
from polyloom.targets.tcpa.words.operation_texts import list_operations
from polyloom.targets.tcpa.words.program_file import decode_symbolic, unit_names
from polyloom.targets.tcpa.words.symbolic import Bottleneck, Symbolic

ALONE: Final = ("initiation_interval", "minimum_initiation_interval", "proved_minimal", "interval_bound_by")
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
_PE: Final = 0
_NEIGHBOURS: Final = {1: (-1, 0), 2: (0, 1), 3: (1, 0), 4: (0, -1)}


def facts(symbolic_data: bytes | None, data: bytes) -> dict[str, Json]:
    concrete = concrete_file.decode(data)
    symbolic = _find_symbolic(symbolic_data, concrete)
    number = _find_schedule(symbolic, concrete) if symbolic else None
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
        "interval_bound_by": reason.bound_by if reason else None,
        "predicted_cycles": predicted_cycles(concrete),
        "processor_classes": len(concrete.classes),
        # A kernel class is pi instructions, one per slot (section 6.1), so words are counted instead of blocks.
        "kernel_classes": sum(len(p) for p in programs) // concrete.initiation_interval,
        "control_signals": len(concrete.controller.signals),
        "instruction_words": sum(len(p) for p in programs),
        "symbolic_bytes": len(symbolic_data) if symbolic_data else None,
        "concrete_bytes": len(data),
    }


def combine(phases: Sequence[Mapping[str, Json]], cycles: int) -> dict[str, Json]:
    """Facts of several phases: the least rectangle around all, the most signals at a time, these predicted cycles, and
    the sums of everything else.
    """

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


def _find_schedule(symbolic: Symbolic, concrete: Concrete) -> int:
    """Stored schedule that the words obey: the one that they were made with or, where they do not say, the first one
    with a node for every operation issued, at its unit and slot. Where nothing is issued, the one of the least
    initiation interval.
    """
    if not concrete.classes:
        return min(range(len(symbolic.schedules)), key=lambda n: symbolic.schedules[n].initiation_interval)
    told = concrete.made_of
    first = [symbolic.candidates[told.candidate].schedule] if told and told.candidate < len(symbolic.candidates) else []
    for number in (*first, *range(len(symbolic.schedules))):
        if event_resolution.matches_words(symbolic.schedules[number], symbolic, concrete):
            return number
    raise event_resolution.mismatch_error()


def _is_slower(symbolic: Symbolic | None, number: int | None, concrete: Concrete) -> bool:
    """Whether the words have a multiple of their schedule's interval."""
    if symbolic is None or number is None or not concrete.classes:
        return False
    return concrete.initiation_interval > symbolic.schedules[number].initiation_interval


def _bottleneck(symbolic: Symbolic, number: int, concrete: Concrete) -> Bottleneck:
    """Reason for the words' initiation interval, which may be a multiple of the schedule's (RecMII and ResMII; Rau
    1994).
    """
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


def _issued_operations(concrete: Concrete) -> Iterator[tuple[int, int, int]]:
    """(unit, slot, opcode) of every operation in some class; kernel classes have one instruction per slot."""
    for element in concrete.classes:
        for unit, program in enumerate(element.programs):
            for at, instruction in enumerate(program):
                if instruction.opcode != OPCODE_NOP:
                    yield unit, at % concrete.initiation_interval, instruction.opcode


def _find_symbolic(data: bytes | None, concrete: Concrete) -> Symbolic | None:
    """Symbolic configuration that the words were made of: the file, or what they hold themselves."""
    if data is not None:
        return decode_symbolic(data)
    return None if concrete.made_of is None else decode_symbolic(concrete.made_of.symbolic)


def report(symbolic_data: bytes | None, data: bytes) -> Report:
    concrete = concrete_file.decode(data)
    symbolic = _find_symbolic(symbolic_data, concrete)
    names = symbolic.limits.units if symbolic else unit_names(concrete)
    used = [u for u in range(len(names)) if any(len(e.programs) > u and e.programs[u] for e in concrete.classes)]
    interval = concrete.initiation_interval
    cells = _cells(concrete, symbolic)
    reason = _bottleneck(symbolic, _find_schedule(symbolic, concrete), concrete).bound_by if symbolic else ""
    # An interval of 1 is bound by nothing, which is nothing to tell.
    bound = "" if reason.startswith("nothing") else reason
    return Report(
        pressure=tuple(
            Pressure(name, sum((u, slot) in cells for slot in range(interval)), interval)
            for u, name in enumerate(names)
        ),
        reservation=Reservation(
            tuple(names[u] for u in used),
            tuple(tuple(" ".join(cells.get((u, slot), ())) for u in used) for slot in range(interval)),
        ),
        bound=bound,
        operations=_operations(symbolic, concrete) if symbolic else (),
        grid=_grid(concrete),
        flows=tuple(_flows(concrete, names)),
        circuit=grid_drawing.parse_circuit(reason),
    )


def _operations(symbolic: Symbolic, concrete: Concrete) -> tuple[Operation, ...]:
    return list_operations(
        symbolic, symbolic.schedules[_find_schedule(symbolic, concrete)], concrete.initiation_interval
    )


def _cells(concrete: Concrete, symbolic: Symbolic | None) -> dict[tuple[int, int], tuple[str, ...]]:
    """Cells of the modulo reservation table by (unit, slot): the equations' names, `'` for each interval that they lag
    behind; without them, operations.
    """
    issued = sorted(set(_issued_operations(concrete)))
    if symbolic is None or not symbolic.node_names:
        named = [((unit, slot), decode_opcode(opcode)[0]) for unit, slot, opcode in issued]
    else:
        schedule, interval = symbolic.schedules[_find_schedule(symbolic, concrete)], concrete.initiation_interval
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
    wires |= {wire for route in grid_drawing.list_routes(concrete) for wire in pairwise(route.path)}
    banks = {grid_drawing.locate_bank(concrete, g) for g in concrete.generators}
    ways = tuple(grid_drawing.list_routes(concrete))
    return Grid(labels, tuple(sorted(wires)), tuple(sorted(banks)), ways, tuple(grid_drawing.notes(concrete)))


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
    """Control flow graph of a unit's program (the array paper, section 6.1, Figure 7): one block per kernel class of
    `interval` instructions; its last instruction branches.
    """
    blocks = [program[at : at + interval] for at in range(0, len(program), interval)]
    texts = tuple(
        "; ".join("nop" if i.opcode == OPCODE_NOP else decode_opcode(i.opcode)[0] for i in block) for block in blocks
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
                # Bit 0 of a code belongs to the first signal, which is written first.
                codes = [format(code, f"0{len(signals)}b")[::-1] for code, t in enumerate(targets) if t == target]
                yield target, f"ic{','.join(map(str, signals))} = {'|'.join(codes)}"
