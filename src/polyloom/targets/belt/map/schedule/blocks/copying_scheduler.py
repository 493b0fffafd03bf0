# SPDX-License-Identifier: Apache-2.0
"""Placements of a list schedule that can be taken back, with copies of values: what a reader no longer finds on the
belt is issued or filled for it once more (rematerialization, Briggs, Cooper and Torczon 1992)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from polyloom.targets.belt.isa import OPS
from polyloom.targets.belt.machine import Slot
from polyloom.targets.belt.map.schedule.blocks.belt_state import BeltState, Key
from polyloom.targets.belt.map.schedule.graph import Node
from polyloom.targets.belt.map.schedule.open_code import ListScheduler
from polyloom.targets.belt.map.schedule.problem import drop_rank, gap, latency

SEARCHED: Final = 16
"""Bundles before a reader in which its constants and fills may be placed, at most."""


@dataclass(slots=True)
class CopyingScheduler(ListScheduler):
    """State of the schedule. Mutable. `nodes` and `after` grow by spills and fills; `copies` are the placed copies of a
    value, itself included; `pending` counts its reads that are not placed; `exposed` are dropped values that have
    such, and no home; `homes` are the spills of the others; `leaves` are constants, and fills from other
    blocks; `undo` takes back an attempt. `stalled`: operands that lie on the belt already are in each other's way."""

    nodes: list[Node] = field(default_factory=list[Node])
    after: dict[int, Sequence[tuple[int, int]]] = field(default_factory=dict[int, Sequence[tuple[int, int]]])
    belt: BeltState = field(default_factory=lambda: BeltState(0))
    copies: dict[Key, list[Key]] = field(default_factory=dict[Key, list[Key]])
    pending: dict[Key, int] = field(default_factory=dict[Key, int])
    exposed: dict[Key, None] = field(default_factory=dict[Key, None])
    homes: dict[Key, int] = field(default_factory=dict[Key, int])
    leaves: set[int] = field(default_factory=set[int])
    undo: list[Callable[[], object]] = field(default_factory=list[Callable[[], object]])
    stalled: bool = False

    def is_leaf_node(self, n: int) -> bool:
        return n in self.leaves

    def put(self, n: int, at: int, slot: Slot) -> None:
        """Put a node into a bundle and a slot."""
        self.start[n], self.slots[n] = at, slot
        self.undo.append(lambda: (self.start.pop(n), self.slots.pop(n)))
        node = self.nodes[n]
        # An operation that is not pipelined holds its slot.
        for k in range(self.machine.busy(OPS[node.name], self.code.graph.operand_width(node))):
            self.used[slot, at + k] = True
            self.undo.append(lambda k=k: self.used.pop((slot, at + k)))

    def count_read(self, key: Key, change: int) -> None:
        """Count a read of a value among those that are not placed, or no longer."""
        self.pending[key] += change
        self.undo.append(lambda: self.pending.update({key: self.pending[key] - change}))

    def read(self, key: Key, moment: tuple[int, int]) -> None:
        """A value is read at a moment: until then it must not fall off."""
        reads = self.belt.reads.setdefault(moment[0], [])
        reads.append((moment[1], key))
        self.undo.append(reads.pop)

    def drop(self, key: Key, drop: tuple[int, ...]) -> None:
        """A value drops; it is exposed where readers are still to come."""
        self.belt.drop(key, drop)
        self.undo.append(lambda: self.belt.remove_drop(key))
        if self.pending.get(key) and key[0] not in self.leaves:
            self.exposed[key] = None
            self.undo.append(lambda: self.exposed.pop(key))
        copies = self.copies.setdefault(key, [])
        copies.append(key)
        self.undo.append(copies.pop)

    def drop_key(self, n: int, r: int) -> tuple[int, ...]:
        """Sort key of a drop; with equal bundle and phase by latency, slot and number of the result."""
        node = self.nodes[n]
        cost = latency(self.machine, self.code.graph, node)
        # Results of the other phases drop in the bundle of issue.
        late = OPS[node.name].phase == "C" or not self.machine.phasing
        at = self.start[n] + (cost - 1 if late else 0)
        return at, drop_rank(self.machine, node), cost, *self.slots[n].order, r, n

    def supply(self, key: Key, reader: Node, moment: tuple[int, int]) -> Key | None:
        """A copy of a value that is on the belt at the moment, the nearest one; else a new one."""
        near = [c for c in self.copies.get(key, ()) if self.belt.holds(c, moment)]
        template = self._template(key)
        if near and (template is None or not self.stalled):
            return min(near, key=lambda c: self.belt.position(c, moment))
        if template is None:
            return None
        node, bounds = template
        if any(s not in self.start for s, _ in bounds):
            return None
        least = max([0, *(self.start[s] + w for s, w in bounds)])
        latest = moment[0] - latency(self.machine, self.code.graph, node) - gap(self.machine, node, reader)
        # As late as a slot is free: until then it takes no position.
        for at in range(latest, max(least, latest - SEARCHED) - 1, -1):
            if (slot := self.free_slot(node, at)) is not None:
                return self._add_copy(key, node, bounds, at, slot)
        return None

    def _template(self, key: Key) -> tuple[Node, Sequence[tuple[int, int]]] | None:
        """The constant or fill that gives a value once more, and what must come before it; None without a home."""
        if key[0] in self.leaves:
            return self.code.graph.nodes[key[0]], self.code.after.get(key[0], ())
        if key not in self.homes:
            return None
        value = self.nodes[key[0]].results[key[1]]
        home = self.nodes[self.homes[key]].home
        # A fill drops two bundles after its spill at the earliest (docs/targets/belt.md, In detail).
        return Node("fillx", (), (value,), value.type.width, home=home), [(self.homes[key], 2)]

    def _add_copy(self, key: Key, node: Node, bounds: Sequence[tuple[int, int]], at: int, slot: Slot) -> Key:
        """A copy of a value in a slot; the first one of a leaf is the leaf itself."""
        n = key[0]
        if n in self.start:
            n = len(self.nodes)
            self.nodes.append(node)
            self.undo.append(self.nodes.pop)
            self.after[n] = bounds
            self.undo.append(lambda: self.after.pop(n))
        self.put(n, at, slot)
        self.drop((n, 0), self.drop_key(n, 0))
        if n != key[0]:
            copies = self.copies.setdefault(key, [])
            copies.append((n, 0))
            self.undo.append(copies.pop)
        return n, 0

    def undo_attempt(self) -> None:
        """Take back what the attempt has placed, the last first."""
        while self.undo:
            self.undo.pop()()
