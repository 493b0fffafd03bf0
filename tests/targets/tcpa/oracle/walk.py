# SPDX-License-Identifier: Apache-2.0
"""Follow the programs of a concrete configuration, in plain Python and without data.

Independent of the native model: from the words alone (programs, control signals, controller delays) it gives every
issued operation with its element, unit and cycle, by the timing rules of docs/targets/tcpa.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from polyloom.targets.tcpa.words.concrete import Concrete, ConvexSet, Domain
from polyloom.targets.tcpa.words.isa import OPCODE_NOP, Goto, Halt, If, Instruction, Next, Register, Source


@dataclass(frozen=True, slots=True, order=True)
class Issue:
    """One operation issued: where, when, what. Destinations are sorted."""

    row: int
    column: int
    unit: int
    cycle: int
    opcode: int
    destinations: tuple[Register, ...]
    sources: tuple[Source, ...]


def start_cycle(config: Concrete, row: int, column: int) -> int:
    """T(K): the cycle in which the start token reaches the element."""
    control = config.controller
    down = config.rows - 1 - row if control.south else row
    right = config.columns - 1 - column if control.east else column
    return control.start + control.row_delay * down + control.column_delay * right


def digits_of(step: int, extents: tuple[int, ...]) -> tuple[int, ...]:
    """The digits of a step, innermost first; the outermost digit is not reduced."""
    digits: list[int] = []
    for extent in extents[:-1]:
        step, digit = divmod(step, extent)
        digits.append(digit)
    return (*digits, step)


def in_domain(digits: tuple[int, ...], domain: Domain) -> bool:
    return any(_in_set(digits, piece) for piece in domain)


def _in_set(digits: tuple[int, ...], piece: ConvexSet) -> bool:
    box = all(lo <= d <= hi for d, lo, hi in zip(digits, piece.lower, piece.upper, strict=True))
    return box and all(
        sum(c * d for c, d in zip(h.coefficients, digits, strict=True)) + h.constant >= 0 for h in piece.half_spaces
    )


def signal_table(config: Concrete) -> list[tuple[bool, ...]]:
    """The value of every control signal in every step of the controller."""
    control = config.controller
    return [tuple(in_domain(digits_of(s, config.extents), d) for d in control.signals) for s in range(control.steps)]


def issues(config: Concrete) -> Iterator[Issue]:
    """Every issued operation (nops left out), element by element and unit by unit."""
    signals = signal_table(config)
    for row in range(config.rows):
        for column in range(config.columns):
            number = config.element_class[row][column]
            if number < 0:
                continue
            for unit, program in enumerate(config.classes[number].programs):
                yield from _unit(config, signals, row, column, unit, program)


def _unit(
    config: Concrete,
    signals: list[tuple[bool, ...]],
    row: int,
    column: int,
    unit: int,
    program: tuple[Instruction, ...],
) -> Iterator[Issue]:
    if not program:
        return
    start, pc, local = start_cycle(config, row, column), 0, 0
    while True:
        word = program[pc]
        if word.opcode != OPCODE_NOP:
            yield Issue(row, column, unit, start + local, word.opcode, tuple(sorted(word.destinations)), word.sources)
        match word.branch:
            case Halt():
                return
            case Next():
                pc += 1
            case Goto(target):
                pc = target
            case If(selectors, targets):
                now = signals[local // config.initiation_interval]
                pc = targets[sum(now[s] << i for i, s in enumerate(selectors))]
        local += 1
        assert local <= config.controller.steps * config.initiation_interval, (
            "a unit runs past the controller's last step"
        )
