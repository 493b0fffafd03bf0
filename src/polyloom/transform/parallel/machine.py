# SPDX-License-Identifier: Apache-2.0
"""Machine description for parallel loops, as data: its processors and vectors, and what instructions cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class VectorCosts:
    """Cost model in issue slots: of a loop's start and each of its rounds (`loop`), of what a vectorized loop adds to
    its start, of a condition that all lanes share and of one that masks lanes; of a load or store whose lanes lie
    apart, of one whose lanes are in lines that the first-level cache has no room for (`far`, where that is more), and
    of a narrow element for all lanes; of a form of loops as a value; of operations that cost more than one
    slot, by name, and of a division of integers.
    """

    loop: float = 4
    start: float = 8
    condition: float = 2
    mask: float = 12
    gather: float = 9
    far: float | None = None
    scatter: float | None = None
    narrow: float = 3
    form: float = 3
    operations: Mapping[str, float] = field(default_factory=dict[str, float])
    integer_division: float = 1


@dataclass(frozen=True, slots=True)
class Machine:
    """Machine for parallel loops. `workers` execute a parallel loop together, each with vectors of `lanes` elements of
    32 bits. Lines of `line` bytes are what a cache keeps; `sharers` workers with neighbouring numbers have one
    first-level cache, and all have one second-level cache where `has_common_cache`. A barrier takes `barrier` slots at
    least.
    """

    workers: int = 1
    lanes: int = 1
    line: int = 64
    sharers: int = 1
    has_common_cache: bool = True
    barrier: float = 0
    costs: VectorCosts = field(default_factory=VectorCosts)
