# SPDX-License-Identifier: Apache-2.0
"""Time prediction in Python: the cycles that a configuration will take, from its words alone (docs/targets/tcpa.md,
Mapping to time).

The last bank write is that of the output generator that finishes last. The first issue is found by following the units'
programs with the controller's signals, one kernel class after another, until an operation issues. Both are exact for
box domains.
"""

from __future__ import annotations

from polyloom.targets.tcpa.run import scan_sets
from polyloom.targets.tcpa.words.concrete import Concrete, ElementProgram
from polyloom.targets.tcpa.words.isa import OPCODE_NOP, Goto, Halt, If, Instruction, Next

_FOLLOWED = 64, 1 << 16
"""Instructions followed while nothing issues, of all programs, then more; beyond, the bound so far."""


def predicted_cycles(concrete: Concrete) -> int:
    """Cycles from the first issue to the last bank write, both inclusive; 0 where nothing issues.

    Equal to the simulated cycles where all generator domains are boxes, else an upper bound.
    """
    interval = concrete.initiation_interval
    # A generator's last step is the last one of its domain in scan order; of a box that is its upper corner.
    last = [
        g.delay + interval * max(scan_sets.linearize_digits(s.upper, concrete.extents) for s in g.domain)
        for g in concrete.generators
        if concrete.arrays[g.array].is_output
    ]
    first: int | None = None
    for start, number in sorted((start, number) for number, start in _starts(concrete).items()):
        # A class that starts later than the first issue found so far cannot bring it forward.
        if first is None or start < first:
            offset = find_first_issue(concrete, concrete.classes[number])
            first = first if offset is None else start + offset if first is None else min(first, start + offset)
    return max(last) + 1 - first if last and first is not None else 0


def _starts(concrete: Concrete) -> dict[int, int]:
    """Start cycle of each class: when its first element gets the start token, which passes one hop after another from
    the controller's corner (the array paper, section 3.3).
    """
    c = concrete.controller
    starts: dict[int, int] = {}
    for row, line in enumerate(concrete.element_class):
        for column, number in enumerate(line):
            away = concrete.rows - 1 - row if c.south else row, concrete.columns - 1 - column if c.east else column
            start = c.start + away[0] * c.row_delay + away[1] * c.column_delay
            if number >= 0:
                starts[number] = min(starts.get(number, start), start)
    return starts


def find_first_issue(concrete: Concrete, element: ElementProgram) -> int | None:
    """Cycles from the start token to the first operation of an element; None if it only idles."""
    least: int | None = None
    for limit in _FOLLOWED:
        least = min(
            (offset for p in element.programs if p and (offset := _find_operation(concrete, p, limit)) is not None),
            default=None,
        )
        # A short look suffices nearly always; the long one is for programs that wait for many iterations first.
        if least is None or least < limit:
            break
    return least


def _find_operation(concrete: Concrete, program: tuple[Instruction, ...], limit: int) -> int | None:
    at = 0
    for cycle in range(limit):
        instruction = program[at]
        if instruction.opcode != OPCODE_NOP:
            return cycle
        match instruction.branch:
            case Halt():
                return None
            case Next():
                at += 1
            case Goto(target):
                at = target
            case If(signals, targets):
                # The controller steps once per initiation interval, so the signals of a cycle are those of its step.
                step = scan_sets.mixed_radix_digits(cycle // concrete.initiation_interval, concrete.extents)
                at = targets[
                    sum(scan_sets.contains(concrete.controller.signals[s], step) << i for i, s in enumerate(signals))
                ]
    return limit
