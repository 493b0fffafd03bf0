# SPDX-License-Identifier: Apache-2.0
"""Placement of configurations side by side on one array: each on a rectangle of its own, all steps with the same number
at once (the regions of the array paper, section 3).

A bank stands beside an element at the border of the array, and nowhere else. A rectangle that does not reach a border
has no banks at that side, so a configuration that needs one there is refused (docs/targets/tcpa.md, Placement). What
runs side by side shares nothing but the array's clock: outputs and cycles are those of a run alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from polyloom.diagnostics import PolyloomError, input_error
from polyloom.frontend.source import Arrays
from polyloom.targets.subject import Progress
from polyloom.targets.tcpa.run import program
from polyloom.targets.tcpa.run.model import Placement, check_rectangles
from polyloom.targets.tcpa.run.phases import step_sequence
from polyloom.targets.tcpa.run.phases.plan_execution import Execution, simulate
from polyloom.targets.tcpa.run.phases.step_sequence import Own
from polyloom.targets.tcpa.run.program import Simulation
from polyloom.targets.tcpa.words.generator_table import Outline, decode_outline
from polyloom.targets.tcpa.words.sides import SIDES

Pair = tuple[int, int]
"""Rows and columns, or row and column."""
Rectangle = tuple[int, int, int, int]
"""Its first row and column, and how many it has."""


@dataclass(frozen=True, slots=True)
class Placed:
    """A concrete file of any kind, with its inputs and its first element on the array."""

    data: bytes
    inputs: Arrays
    at: Pair


class _Waiting(Exception):
    """A step that is to run next."""

    def __init__(self, file: bytes, inputs: Arrays) -> None:
        super().__init__()
        self.file, self.inputs = file, inputs


def _size(data: bytes) -> Pair:
    """Rows and columns that a step of a file takes at most."""
    found = [decode_outline(step.data).concrete for step in step_sequence.run(data).configurations]
    return max((c.rows for c in found), default=1), max((c.columns for c in found), default=1)


def enclosing_array(placed: Sequence[tuple[bytes, Pair]]) -> Pair:
    """Enclosing array: rows and columns of the smallest array that holds all rectangles."""
    ends = [(at[0] + size[0], at[1] + size[1]) for at, size in ((at, _size(data)) for data, at in placed)]
    return max(row for row, _ in ends), max(column for _, column in ends)


def check_place(data: bytes, at: Pair, array: Pair) -> Rectangle:
    """Bounding rectangle of all steps: every one lies on the array, with its banks at the array's border. Errors:
    PL0604 and PL0629.
    """
    taken = [(*at, 1, 1)]
    for step in step_sequence.run(data).configurations:
        found = decode_outline(step.data)
        stands, size = _step_origin(found, at, array), (found.concrete.rows, found.concrete.columns)
        check_rectangles([(*stands, *size)], array)
        if (missing := _missing_border(found, stands, array)) is not None:
            where = f"{size[0]}x{size[1]} elements at ({stands[0]}, {stands[1]})"
            raise _placement_error(
                step, found, missing, f"{where} would stand inside the array of {array[0]}x{array[1]}"
            )
        taken.append((*stands, *size))
    row, column = min(r for r, *_ in taken), min(c for _, c, *_ in taken)
    return row, column, max(r + n for r, _, n, _ in taken) - row, max(c + n for _, c, _, n in taken) - column


def _sides(found: Outline) -> set[str]:
    return {SIDES[n] for n in np.unique(found.table["side"]).tolist()}


def _step_origin(found: Outline, at: Pair, array: Pair) -> Pair:
    """The first element of a step. One that takes fewer elements than others stands at the border that has its
    banks."""
    used = _sides(found)
    row = array[0] - found.concrete.rows if "south" in used and "north" not in used else at[0]
    column = array[1] - found.concrete.columns if "east" in used and "west" not in used else at[1]
    # Never before the rectangle's own origin: that part of the array may belong to another configuration.
    return max(row, at[0]), max(column, at[1])


def _missing_border(found: Outline, at: Pair, array: Pair) -> Pair | None:
    """A side whose banks would not be at the array's border, and the array that they are for."""
    end = at[0] + found.concrete.rows, at[1] + found.concrete.columns
    open_sides = at[0] == 0, end[1] == array[1], end[0] == array[0], at[1] == 0
    pairs = np.unique(np.stack((found.table["side"], found.table["array"])), axis=1).T.tolist()
    return next(((side, number) for side, number in pairs if not open_sides[side]), None)


def _placement_error(step: Own, found: Outline, missing: Pair, where: str) -> PolyloomError:
    side, number = missing
    inner = found.concrete.arrays[number].name
    name = dict((*step.stage.inputs, *step.stage.outputs)).get(inner, inner)
    return input_error(
        "PL0629",
        f"the banks of `{name}` at the {SIDES[side]} side of {where}, where there are none",
        help=f"place it at the {SIDES[side]} border, or instantiate it for this place and array: banks then stand at "
        "the array's borders, if the region reaches the north or south one and the west or east one",
    )


def run_side_by_side(
    placed: Sequence[Placed], member: str | None, array: Pair | None, trace: bool
) -> tuple[Execution, ...]:
    """Executions of all configurations. Errors: those of a run alone, PL0604 where rectangles overlap or leave the
    array, PL0629.
    """
    size = array or enclosing_array([(p.data, p.at) for p in placed])
    check_rectangles([(*p.at, *_size(p.data)) for p in placed], size)
    check_rectangles([check_place(p.data, p.at, size) for p in placed], size)
    # Control flow of a plan depends on its data only through its own runs, so that each plan is replayed up to its next
    # step, and all next steps run together.
    known: list[list[Simulation]] = [[] for _ in placed]
    done: dict[int, Execution] = {}
    while len(done) < len(placed):
        waiting: dict[int, _Waiting] = {}
        for number in set(range(len(placed))) - set(done):
            try:
                done[number] = _replay(placed[number], member, trace, known[number])
            except _Waiting as step:
                waiting[number] = step
        steps = [
            Placement(step.file, *_step_origin(decode_outline(step.file), placed[number].at, size), step.inputs)
            for number, step in waiting.items()
        ]
        made = program.simulate_side_by_side(steps, member, size, trace) if steps else []
        for number, simulation in zip(waiting, made, strict=True):
            known[number].append(simulation)
    return tuple(done[number] for number in range(len(placed)))


def _replay(placed: Placed, member: str | None, trace: bool, known: Sequence[Simulation]) -> Execution:
    """Replay of a run whose first steps are known. Raises `_Waiting` where there is one more."""
    rest = iter(known)

    def take_known(
        file: bytes, member: str | None, taken: Arrays, trace: bool, progress: Progress | None
    ) -> Simulation:
        del member, trace, progress
        if (found := next(rest, None)) is None:
            raise _Waiting(file, taken)
        return found

    return simulate(placed.data, member, placed.inputs, trace, None, take_known)
