# SPDX-License-Identifier: Apache-2.0
"""List scheduling that counts positions of the belt, and spills and fills as it goes: for blocks that lose operands
again and again where the schedule is made first and repaired afterwards (integrated prepass scheduling, Goodman and
Hsu 1988).

An operation is placed only where its drops take no operand away from what is placed. A value that would fall off before
all its readers are placed is spilled in that bundle, and later readers fill it. What can be given again at any time, a
constant or a value at home, may fall off: its next reader gets a copy.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from polyloom.targets.belt.isa import OPS
from polyloom.targets.belt.machine import Machine, Slot
from polyloom.targets.belt.map.schedule.blocks.belt_state import BeltState, Key
from polyloom.targets.belt.map.schedule.graph import LEAF, LOADS, Graph, Node, Read
from polyloom.targets.belt.map.schedule.open_code import Code, ListScheduler
from polyloom.targets.belt.map.schedule.positions import Placed
from polyloom.targets.belt.map.schedule.problem import drop_rank, gap, latency, phase_rank
from polyloom.targets.belt.source.ir import Value

_SEARCHED: Final = 16
"""Bundles before a reader in which its constants and fills may be placed, at most."""
_STALL: Final = 2
"""Bundles without a placement after which operands are filled together, just before their reader."""
_PATIENCE: Final = 64
"""Bundles without a placement after which nothing will find room: more than the longest latency."""


def local_home(value: Value) -> Value:
    """Value for the scratch of a value that a block spills and fills for itself: a name of its own, since the value may
    live on in a list at the same time."""
    return Value(f"{value.name}''", value.type)


@dataclass(slots=True)
class IntegratedScheduler(ListScheduler):
    """State of the schedule. Mutable. `nodes` and `after` grow by spills and fills; `copies` are the placed copies of a
    value, itself included; `pending` counts its reads that are not placed; `exposed` are dropped values that have
    such, and no home; `homes` are the spills of the others; `given` are leaves: constants, and fills from other
    blocks; `undo` takes back an attempt. `stalled`: operands that lie on the belt already are in each other's way."""

    nodes: list[Node] = field(default_factory=list[Node])
    after: dict[int, Sequence[tuple[int, int]]] = field(default_factory=dict[int, Sequence[tuple[int, int]]])
    belt: BeltState = field(default_factory=lambda: BeltState(0))
    copies: dict[Key, list[Key]] = field(default_factory=dict[Key, list[Key]])
    pending: dict[Key, int] = field(default_factory=dict[Key, int])
    exposed: dict[Key, None] = field(default_factory=dict[Key, None])
    homes: dict[Key, int] = field(default_factory=dict[Key, int])
    given: set[int] = field(default_factory=set[int])
    undo: list[Callable[[], object]] = field(default_factory=list[Callable[[], object]])
    stalled: bool = False

    def integrate(self, in_order: bool) -> tuple[Code, Placed] | None:
        """Code with the spills and fills that it needs, placed; ready operations by critical path, or in the order of
        the program. None where an operation never finds room."""
        self.nodes, self.belt = list(self.code.graph.nodes), BeltState(self.machine.belt)
        for node in self.nodes:
            for read in node.reads:
                self.pending[read.node, read.result] = self.pending.get((read.node, read.result), 0) + 1
        self.given = {n for n in range(len(self.nodes)) if self._is_given(n)}
        # Whoever reads the old value of a parameter's scratch is ordered by now, and a copy comes when it likes.
        kept = {n: [pair for pair in pairs if pair[0] not in self.given] for n, pairs in self.code.after.items()}
        self.after, self.code = dict(kept), replace(self.code, after=kept)
        self.prepare()
        for k, n in enumerate(self.code.entry):
            # The first entry value lies at b0, as if it had dropped last.
            self._drop((n, 0), (-1, 0, -k, n))
        heights = self.critical_paths()
        order = sorted(
            (n for n in range(len(self.nodes)) if n not in self.given and n not in self.start),
            key=lambda n: (0 if in_order else -heights[n], self.nodes[n].index, n),
        )
        return self._finish() if self._schedule(order) else None

    def is_given(self, n: int) -> bool:
        return n in self.given

    def _is_given(self, n: int) -> bool:
        """Whether the node gives the same at any time: so does a parameter in scratch, unless its next value is put
        there in this block."""
        node = self.nodes[n]
        if node.name not in LEAF or not self.pending.get((n, 0)):
            return False
        return not node.role or not any(o.name == "spillx" and o.home == node.home for o in self.nodes)

    def _schedule(self, order: Sequence[int]) -> bool:
        """Place operations bundle by bundle."""
        at = idle = 0
        while order:
            self.stalled = idle > _STALL
            placed = [n for n in order if self.earliest_bundle(n) <= at and self._place(n, at)]
            # A spill can be placed for the sake of another operation, too.
            order = [n for n in order if n not in self.start]
            idle = 0 if placed else idle + 1
            at += not placed
            if idle > _PATIENCE:
                return False
        return True

    def _place(self, n: int, at: int) -> bool:
        """Put a node into the bundle, behind spills of what its drops would take from later readers."""
        if n in self.start:
            return False
        victims = self._attempt(n, at)
        if victims:
            # Each of them, even if one finds no slot: the next bundle then has fewer to spill.
            spilled = [self._spill(key, at) for key in victims]
            victims = self._attempt(n, at) if all(spilled) else None
        return victims == []

    def _attempt(self, n: int, at: int) -> list[Key] | None:
        """Place a node with the constants and fills that it reads: [], or the values that would fall off before their
        readers come, or None where it does not fit; then nothing has changed."""
        node = self.nodes[n]
        slot = self.free_slot(node, at)
        if slot is None or not self.has_station(node, at):
            return None
        self.undo.clear()
        self._put(n, at, slot)
        moment = at, phase_rank(OPS[node.name].phase)
        sources: dict[Read, Read] = {}
        for read in node.reads:
            self._count((read.node, read.result), -1)
            if read in sources:
                continue
            key = self._supply((read.node, read.result), node, moment)
            if key is None:
                return self._fail(self._blocking_operands(node))
            sources[read] = Read(*key)
        first = min([at, *(self.start[s.node] for s in sources.values() if s.node in self.start)])
        for r in range(len(node.results)):
            self._drop((n, r), self._drop_key(n, r))
        for source in sources.values():
            self._read((source.node, source.result), moment)
        if not self.belt.keeps_reads(max(first, at - 2 * _SEARCHED), at):
            return self._fail(self._blocking_operands(node))
        victims = [key for key in self.exposed if self.pending[key] and self.belt.falls_off(key)]
        if victims:
            return self._fail(victims)
        self.nodes[n] = replace(node, operands=tuple(sources[o] if isinstance(o, Read) else o for o in node.operands))
        if node.name in LOADS:
            self.loads.append(at)
        if node.name == "spillx":
            self._settle(n)
        return []

    def _blocking_operands(self, node: Node) -> list[Key] | None:
        """Operands that go home where nothing else gets on, and are filled one right after the other then."""
        found = [key for key in dict.fromkeys((r.node, r.result) for r in node.reads) if key in self.exposed]
        return found if found and self.stalled else None

    def _fail(self, victims: list[Key] | None) -> list[Key] | None:
        while self.undo:
            self.undo.pop()()
        return victims

    def _put(self, n: int, at: int, slot: Slot) -> None:
        self.start[n], self.slots[n] = at, slot
        self.undo.append(lambda: (self.start.pop(n), self.slots.pop(n)))
        node = self.nodes[n]
        # An operation that is not pipelined holds its slot.
        for k in range(self.machine.busy(OPS[node.name], self.code.graph.operand_width(node))):
            self.used[slot, at + k] = True
            self.undo.append(lambda k=k: self.used.pop((slot, at + k)))

    def _count(self, key: Key, change: int) -> None:
        self.pending[key] += change
        self.undo.append(lambda: self.pending.update({key: self.pending[key] - change}))

    def _read(self, key: Key, moment: tuple[int, int]) -> None:
        reads = self.belt.reads.setdefault(moment[0], [])
        reads.append((moment[1], key))
        self.undo.append(reads.pop)

    def _drop(self, key: Key, drop: tuple[int, ...]) -> None:
        self.belt.drop(key, drop)
        self.undo.append(lambda: self.belt.take_back(key))
        if self.pending.get(key) and key[0] not in self.given:
            self.exposed[key] = None
            self.undo.append(lambda: self.exposed.pop(key))
        copies = self.copies.setdefault(key, [])
        copies.append(key)
        self.undo.append(copies.pop)

    def _drop_key(self, n: int, r: int) -> tuple[int, ...]:
        """Sort key of a drop; with equal bundle and phase by latency, slot and number of the result."""
        node = self.nodes[n]
        cost = latency(self.machine, self.code.graph, node)
        # Results of the other phases drop in the bundle of issue.
        late = OPS[node.name].phase == "C" or not self.machine.phasing
        at = self.start[n] + (cost - 1 if late else 0)
        return at, drop_rank(self.machine, node), cost, *self.slots[n].order, r, n

    def _supply(self, key: Key, reader: Node, moment: tuple[int, int]) -> Key | None:
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
        for at in range(latest, max(least, latest - _SEARCHED) - 1, -1):
            if (slot := self.free_slot(node, at)) is not None:
                return self._add_copy(key, node, bounds, at, slot)
        return None

    def _template(self, key: Key) -> tuple[Node, Sequence[tuple[int, int]]] | None:
        """The constant or fill that gives a value once more, and what must come before it; None without a home."""
        if key[0] in self.given:
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
        self._put(n, at, slot)
        self._drop((n, 0), self._drop_key(n, 0))
        if n != key[0]:
            copies = self.copies.setdefault(key, [])
            copies.append((n, 0))
            self.undo.append(copies.pop)
        return n, 0

    def _spill(self, key: Key, at: int) -> bool:
        """Spill a value in the bundle: by the spill that the program has for it, else by one for this block alone."""
        own = [n for n in range(len(self.code.graph.nodes)) if n not in self.start and self._is_spill(n, key)]
        if own and self.earliest_bundle(own[0]) <= at and self._attempt(own[0], at) == []:
            return True
        value = self.nodes[key[0]].results[key[1]]
        node = Node("spillx", (Read(*key),), (), value.type.width, home=local_home(value))
        slot, moment = self.free_slot(node, at), (at, phase_rank(OPS["spillx"].phase))
        rooms = [n for n, each in enumerate(self.code.graph.nodes) if each.name == "scratchf" and not each.scale]
        if slot is None or not self.belt.holds(key, moment) or any(self.start.get(n, at) >= at for n in rooms):
            return False
        self.undo.clear()
        n = len(self.nodes)
        self.nodes.append(node)
        self.after[n] = [(room, 1) for room in rooms]
        self._put(n, at, slot)
        self._read(key, moment)
        self._settle(n)
        return True

    def _is_spill(self, n: int, key: Key) -> bool:
        """Whether a node puts the value into the value's own home, where it stays."""
        node, value = self.code.graph.nodes[n], self.nodes[key[0]].results[key[1]]
        return node.name == "spillx" and Read(*key) in node.operands and node.home == value

    def _settle(self, n: int) -> None:
        """A spill is placed: what it reads has a home, unless that is another value's."""
        # As the program has it: what the spill reads now may be a copy.
        nodes = self.code.graph.nodes if n < len(self.code.graph.nodes) else self.nodes
        (read,) = nodes[n].reads
        key = read.node, read.result
        value = self.nodes[key[0]].results[key[1]]
        if nodes[n].home in (value, local_home(value)) and key[0] not in self.given:
            self.homes[key] = n
            self.exposed.pop(key, None)

    def _finish(self) -> tuple[Code, Placed]:
        graph = Graph(tuple(self.nodes))
        return Code(graph, self.code.entry, self.after), self.placed(graph)


def schedule_with_spills(machine: Machine, code: Code) -> tuple[Code, Placed] | None:
    """Schedule of a block with the spills and fills that it needs: the shorter one of two orders of choice. None where
    an operation never finds room."""
    # By critical path values wait longest, in the order of the program they are read soon: which is shorter is not
    # known before (Goodman and Hsu 1988 go from one to the other).
    found = [IntegratedScheduler(machine, code).integrate(in_order) for in_order in (False, True)]
    made = [each for each in found if each is not None]
    return min(made, key=lambda each: (max(each[1].start), len(each[1].start)), default=None)
