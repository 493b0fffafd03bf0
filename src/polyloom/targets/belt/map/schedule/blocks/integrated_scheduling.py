# SPDX-License-Identifier: Apache-2.0
"""List scheduling that counts positions of the belt, and spills and fills as it goes: for blocks that lose operands
again and again where the schedule is made first and repaired afterwards (integrated prepass scheduling, Goodman and
Hsu 1988).

An operation is placed only where its drops take no operand away from what is placed. A value that would fall off before
all its readers are placed is spilled in that bundle, and later readers fill it. What can be given again at any time, a
constant or a value at home, may fall off: its next reader gets a copy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from polyloom.targets.belt.isa import OPS
from polyloom.targets.belt.machine import Machine
from polyloom.targets.belt.map.schedule.blocks.belt_state import BeltState, Key
from polyloom.targets.belt.map.schedule.blocks.copying_scheduler import SEARCHED, CopyingScheduler
from polyloom.targets.belt.map.schedule.graph import LEAF, LOADS, Graph, Node, Read
from polyloom.targets.belt.map.schedule.open_code import Code
from polyloom.targets.belt.map.schedule.positions import Placed
from polyloom.targets.belt.map.schedule.problem import phase_rank
from polyloom.targets.belt.source.ir import Value

_STALL: Final = 2
"""Bundles without a placement after which operands are filled together, just before their reader."""
_PATIENCE: Final = 64
"""Bundles without a placement after which nothing will find room: more than the longest latency."""


def local_home(value: Value) -> Value:
    """Value for the scratch of a value that a block spills and fills for itself: a name of its own, since the value may
    live on in a list at the same time."""
    return Value(f"{value.name}''", value.type)


@dataclass(slots=True)
class IntegratedScheduler(CopyingScheduler):
    """Policy: what is placed in which bundle, and what is spilled for it. Mutable."""

    def integrate(self, in_order: bool) -> tuple[Code, Placed] | None:
        """Code with the spills and fills that it needs, placed; ready operations by critical path, or in the order of
        the program. None where an operation never finds room."""
        self.nodes, self.belt = list(self.code.graph.nodes), BeltState(self.machine.belt)
        for node in self.nodes:
            for read in node.reads:
                self.pending[read.node, read.result] = self.pending.get((read.node, read.result), 0) + 1
        self.leaves = set(filter(self._is_repeatable_node, range(len(self.nodes))))
        # Whoever reads the old value of a parameter's scratch is ordered by now, and a copy comes when it likes.
        kept = {n: [pair for pair in pairs if pair[0] not in self.leaves] for n, pairs in self.code.after.items()}
        self.after, self.code = dict(kept), replace(self.code, after=kept)
        self.prepare()
        for k, n in enumerate(self.code.entry):
            # The first entry value lies at b0, as if it had dropped last.
            self.drop((n, 0), (-1, 0, -k, n))
        heights = self.critical_paths()
        order = sorted(
            (n for n in range(len(self.nodes)) if n not in self.leaves and n not in self.start),
            key=lambda n: (0 if in_order else -heights[n], self.nodes[n].index, n),
        )
        return self._finish() if self._schedule(order) else None

    def _is_repeatable_node(self, n: int) -> bool:
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
        self.put(n, at, slot)
        moment = at, phase_rank(OPS[node.name].phase)
        sources: dict[Read, Read] = {}
        for read in node.reads:
            self.count_read((read.node, read.result), -1)
            if read in sources:
                continue
            key = self.supply((read.node, read.result), node, moment)
            if key is None:
                return self._fail(self._blocking_operands(node))
            sources[read] = Read(*key)
        first = min([at, *(self.start[s.node] for s in sources.values() if s.node in self.start)])
        for r in range(len(node.results)):
            self.drop((n, r), self.drop_key(n, r))
        for source in sources.values():
            self.read((source.node, source.result), moment)
        if not self.belt.keeps_reads(max(first, at - 2 * SEARCHED), at):
            return self._fail(self._blocking_operands(node))
        victims = [key for key in self.exposed if self.pending[key] and self.belt.exceeds_belt(key)]
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
        self.undo_attempt()
        return victims

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
        self.put(n, at, slot)
        self.read(key, moment)
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
        if nodes[n].home in (value, local_home(value)) and key[0] not in self.leaves:
            self.homes[key] = n
            self.exposed.pop(key, None)

    def _finish(self) -> tuple[Code, Placed]:
        graph = Graph(tuple(self.nodes))
        return Code(graph, self.code.entry, self.after, self.code.mode), self.placement(graph)


def schedule_with_spills(machine: Machine, code: Code) -> tuple[Code, Placed] | None:
    """Schedule of a block with the spills and fills that it needs: the shorter one of two orders of choice. None where
    an operation never finds room."""
    # By critical path values wait longest, in the order of the program they are read soon: which is shorter is not
    # known before (Goodman and Hsu 1988 go from one to the other).
    found = [IntegratedScheduler(machine, code).integrate(in_order) for in_order in (False, True)]
    made = [each for each in found if each is not None]
    return min(made, key=lambda each: (max(each[1].start), len(each[1].start)), default=None)
