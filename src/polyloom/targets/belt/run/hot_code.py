# SPDX-License-Identifier: Apache-2.0
"""Machine's code of the source's hottest loop: the passes of a pipelined loop, or the bundles of open code that run
equally often, with the most unit-cycles on the lines of the loop, as the account counts them (docs/account.md).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import groupby

from polyloom.targets.belt.run.account import bundle_rows
from polyloom.targets.belt.run.model import Run
from polyloom.targets.belt.words.belt_file import File
from polyloom.targets.belt.words.program import Bundle, Routine


@dataclass(frozen=True, slots=True)
class Code:
    """Bundles `first` to `first + count - 1` of a routine."""

    routine: Routine
    first: int
    count: int

    @property
    def bundles(self) -> tuple[Bundle, ...]:
        return self.routine.bundles[self.first : self.first + self.count]


def hottest_code(file: File, run: Run, hot: Collection[int]) -> Code | None:
    """Code with the most unit-cycles on lines that are `hot`; None where none has any."""
    counted = Counter[tuple[str, int]]()
    for routine, number, row in bundle_rows(file, run):
        if row.line in hot:
            counted[routine.name, number] += row.unit_cycles

    def weight(code: Code) -> int:
        return sum(counted[code.routine.name, n] for n in range(code.first, code.first + code.count))

    ran = [routine for routine in file.program.routines if routine.name in run.executed]
    best = max((code for own in ran for code in _split_routine(own, run)), key=weight, default=None)
    return best if best is not None and weight(best) else None


def _split_routine(routine: Routine, run: Run) -> Iterator[Code]:
    """Parts of a routine: each pipelined loop, and between these the bundles of one count of executions, which is what
    tells loops of open code apart.
    """
    loops = {n: first for first, count in routine.loops for n in range(first, first + count)}
    executed = run.executed[routine.name]

    def part(number: int) -> tuple[int, int]:
        return (loops[number], 0) if number in loops else (-1, executed[number])

    for _, numbers in groupby(range(len(executed)), key=part):
        own = list(numbers)
        yield Code(routine, own[0], len(own))
