# SPDX-License-Identifier: Apache-2.0
"""Machine's code of the source's hottest loop: the passes of a pipelined loop, or the bundles of open code that run
equally often, with the most unit-cycles on the lines of the loop, as the account counts them (docs/account.md).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from itertools import groupby

from polyloom.targets.belt.run.account import bundle_rows
from polyloom.targets.belt.run.model import Run
from polyloom.targets.belt.words.belt_file import File
from polyloom.targets.belt.words.program import Routine

Code = tuple[Routine, int, int]
"""Routine, number of the first bundle and of the one behind the last."""


def hottest_code(file: File, run: Run, hot: Collection[int]) -> Code | None:
    """Code with the most unit-cycles on lines that are `hot`; None where none has any."""
    # By name: a hash of a routine is one of all its bundles.
    counted = Counter[tuple[str, int]]()
    for routine, number, row in bundle_rows(file, run):
        # Empty slots count for the line of what keeps them empty.
        counted[routine.name, number] += row.unit_cycles if row.line in hot else 0

    def weight(code: Code) -> int:
        return sum(counted[code[0].name, n] for n in range(*code[1:]))

    best = max((code for routine in file.program.routines for code in _parts(routine, run)), key=weight, default=None)
    return best if best is not None and weight(best) else None


def _parts(routine: Routine, run: Run) -> Iterator[Code]:
    """Parts of a routine: each pipelined loop, and between these the bundles of one count of executions, which is what
    tells loops of open code apart.
    """
    # Bundles of a pass are one part, however often the last of them is left out.
    loops = {n: (first, -1) for first, count in routine.loops for n in range(first, first + count)}
    executed = run.executed.get(routine.name, ())
    for _, numbers in groupby(range(len(executed)), key=lambda n: loops.get(n, (-1, executed[n]))):
        own = list(numbers)
        yield routine, own[0], own[-1] + 1
