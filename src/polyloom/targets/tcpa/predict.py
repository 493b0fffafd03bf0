# SPDX-License-Identifier: Apache-2.0
"""The cycles that a configuration will take, from its words alone (docs: Time).

The last bank write is that of the output generator that finishes last. The first issue is found by following the units'
programs with the controller's signals, kernel by kernel, until an operation issues. Both are exact for box domains.
"""

from __future__ import annotations

from polyloom.targets.tcpa import digits
from polyloom.targets.tcpa.concrete import Concrete, ElementProgram
from polyloom.targets.tcpa.isa import OPCODE_NOP, Goto, Halt, If, Instruction, Next

_FOLLOWED = 1 << 16
"""Instructions followed while nothing issues; a program that idles longer gets the bound reached so far."""


def predicted_cycles(concrete: Concrete) -> int:
    """Cycles from the first issue to the last bank write, both inclusive; 0 where nothing issues.

    Equal to the simulated cycles where all generator domains are boxes, else an upper bound.
    """
    interval = concrete.initiation_interval
    last = [
        g.delay + interval * max(digits.number(s.upper, concrete.extents) for s in g.domain) for g in concrete.generators if concrete.arrays[g.array].is_output
    ]
    offsets = [first_issue(concrete, p) for p in concrete.classes]
    c = concrete.controller
    first: list[int] = []
    for row, line in enumerate(concrete.element_class):
        for column, number in enumerate(line):
            offset = offsets[number] if number >= 0 else None
            if offset is not None:
                away = concrete.rows - 1 - row if c.south else row, concrete.columns - 1 - column if c.east else column
                first.append(c.start + away[0] * c.row_delay + away[1] * c.column_delay + offset)
    return max(last) + 1 - min(first) if last and first else 0


def first_issue(concrete: Concrete, element: ElementProgram) -> int | None:
    """Cycles from the start token to the first operation of an element; None if it only idles."""
    found = [offset for p in element.programs if p and (offset := _first_operation(concrete, p)) is not None]
    return min(found, default=None)


def _first_operation(concrete: Concrete, program: tuple[Instruction, ...]) -> int | None:
    at = 0
    for cycle in range(_FOLLOWED):
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
                step = digits.digits_of(cycle // concrete.initiation_interval, concrete.extents)
                at = targets[sum(digits.contains(concrete.controller.signals[s], step) << i for i, s in enumerate(signals))]
    return _FOLLOWED
