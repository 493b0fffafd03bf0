# SPDX-License-Identifier: Apache-2.0
"""State of the belt in a block that is being scheduled: drops and reads so far, and the positions that follow.

Drops are kept in the order in which they lie on the belt, so that a position is a difference of two ranks
(docs/targets/belt.md, Time).
"""

from __future__ import annotations

from bisect import bisect_left, insort
from dataclasses import dataclass, field

Key = tuple[int, int]
"""A value: its node, and the number of the result."""
Drop = tuple[int, ...]
"""Sort key of a drop: bundle, phase, latency, slot, number of the result, node; a moment is a (bundle, phase)."""


@dataclass(slots=True)
class BeltState:
    """Drops of values, and reads by bundle as (phase, value). Mutable. `length`: positions of the belt."""

    length: int
    drops: list[Drop] = field(default_factory=list[Drop])
    dropped: dict[Key, Drop] = field(default_factory=dict[Key, Drop])
    reads: dict[int, list[tuple[int, Key]]] = field(default_factory=dict[int, list[tuple[int, Key]]])

    def drop(self, key: Key, drop: Drop) -> None:
        self.dropped[key] = drop
        insort(self.drops, drop)

    def remove_drop(self, key: Key) -> None:
        del self.drops[bisect_left(self.drops, self.dropped.pop(key))]

    def position(self, key: Key, moment: tuple[int, int]) -> int:
        """Position of a value at a moment; below 0 before its drop."""
        return bisect_left(self.drops, moment) - bisect_left(self.drops, self.dropped[key]) - 1

    def holds(self, key: Key, moment: tuple[int, int]) -> bool:
        return 0 <= self.position(key, moment) < self.length

    def keeps_reads(self, first: int, last: int) -> bool:
        """Whether everything that is read in these bundles still lies on the belt."""
        return all(
            self.position(key, (at, phase)) < self.length
            for at in range(first, last + 1)
            for phase, key in self.reads.get(at, ())
        )

    def exceeds_belt(self, key: Key) -> bool:
        """Whether a value falls off by the drops that are known, those of later bundles included."""
        return len(self.drops) - bisect_left(self.drops, self.dropped[key]) > self.length
