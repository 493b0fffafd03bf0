# SPDX-License-Identifier: Apache-2.0
"""The pipeline of loops that are no products, on one page: a nest to the parts of a program for its sizes.

- `concrete`: parameters become numbers; `a * b + c` is one operation where --fp allows it.
- `ordered`: arrays of their own for temporaries of iterations; reductions by partial results of harts and lanes; loops
  that carry dependences are split, and interchanged with parallel ones inside.
- `phased`: dependences, ownership of lines, vectors: which hart executes what.
- `parts`: code, evictions and barriers.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from polyloom.ir.instance_counts import operations
from polyloom.ir.nest import Nest, loops
from polyloom.targets.minion.loops.program import Part
from polyloom.targets.minion.loops.simd import works
from polyloom.targets.minion.loops.simd.memory import memory
from polyloom.targets.minion.loops.work import Setting
from polyloom.targets.minion.options import Fp
from polyloom.transform.parallel.array_expansion import expanded
from polyloom.transform.parallel.loop_distribution import arranged
from polyloom.transform.parallel.parallel_reductions import reduced
from polyloom.transform.parallel.specialization import concrete
from polyloom.transform.parallel.work_sharing import phased

SCRATCH: Final = 256
"""Bytes of each hart."""


@dataclass(frozen=True, slots=True)
class Compiled:
    """`alone` are sentences: why parts of the nest are executed by one hart. `operations` are those of the source on
    floats and integers, a multiply-add counted once (None: too many to count); `scratch` is the memory that locals
    take."""

    parts: Sequence[Part]
    alone: tuple[str, ...]
    operations: int | None
    scratch: int


def compiled(nest: Nest, setting: Setting, fp: Fp, *, others: bool) -> Compiled:
    """Where there are `others`, phases before and behind, what those need does not stay in caches. Errors: PL1350 to
    PL1352."""
    own = concrete(nest, setting.values, fp)
    made = ordered(own, setting.team.workers, fp)
    found = phased(made, setting.team.workers)
    place = memory(made, tuple(setting.arrays.values()), setting.scratch)
    parts = works.parts(made, found, place, setting.team, setting.prefix, setting.later if others else None)
    taken = place.scratch + SCRATCH * setting.team.workers - setting.scratch
    named = set(loops(own.body))
    alone = dict.fromkeys(_plain(why) for loop, why in found.alone.items() if _plain(loop) in named)
    return Compiled(parts, tuple(alone), operations(own), taken)


def _plain(text: str) -> str:
    """With the user's names of loops: those of copies have a number behind a dot."""
    return re.sub(r"(?<=\w)\.\d+", "", text)


def ordered(nest: Nest, harts: int, fp: Fp) -> Nest:
    """In the order of the code. The second time, reductions are found that were parts of other loops."""
    return reduced(arranged(reduced(expanded(nest), harts, fp)), harts, fp)
