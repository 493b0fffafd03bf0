# SPDX-License-Identifier: Apache-2.0
"""The pipeline of loops that are no products, on one page: a nest at its sizes to the parts of a program.

concrete     parameters become numbers; `a * b + c` one operation where --fp allows it
phased       dependences, ownership of lines, vectors: which hart executes what
parts        code, evictions and barriers
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from polyloom.ir.nest import Nest
from polyloom.targets.minion.loops.layout import Placed
from polyloom.targets.minion.loops.program import Part, Team
from polyloom.targets.minion.loops.simd import works
from polyloom.targets.minion.loops.simd.concrete import Fp, concrete
from polyloom.targets.minion.loops.simd.memory import memory
from polyloom.targets.minion.loops.simd.phases import phased


@dataclass(frozen=True, slots=True)
class Compiled:
    """`alone` are sentences: why parts of the nest are executed by one hart."""

    parts: Sequence[Part]
    alone: tuple[str, ...]


def compiled(nest: Nest, values: Mapping[str, int], placed: Sequence[Placed], minions: int, fp: Fp) -> Compiled:
    """`placed` are the nest's arguments."""
    team = Team(minions, 2, "shared")
    made = concrete(nest, values, fp)
    found = phased(made, team.workers)
    base = max((p.address + p.size for p in placed), default=0)
    parts = works.parts(made, found, memory(made, placed, -(-base // 4096) * 4096), team)
    return Compiled(parts, tuple(found.alone))
