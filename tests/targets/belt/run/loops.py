# SPDX-License-Identifier: Apache-2.0
"""Pipelined loops by hand: operations at flat times, from which belt positions, drops and the entry belt follow by the
formula of docs/targets/belt.md (Time). Nothing of the specializer is used."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from polyloom.targets.belt.isa import OPS, PHASES, Phase
from polyloom.targets.belt.machine import Machine, Slot
from polyloom.targets.belt.words.program import NONE, Belt, Bundle, Immediate, Issue, Operand

_ORDER: Final[Mapping[Phase, int]] = {phase: n for n, phase in enumerate(PHASES)}


@dataclass(frozen=True, slots=True)
class Node:
    """An operation of iteration 0 at `time`. An operand is a node's name, or (name, distance), or an immediate."""

    name: str
    op: str
    time: int
    slot: str
    operands: tuple[str | int | tuple[str, int], ...] = ()
    fields: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop's nodes, the bundles of its pass, and what loops begin with: initial values by name of the node that they
    stand for, one iteration before the first."""

    machine: Machine
    nodes: tuple[Node, ...]
    interval: int

    def latency(self, node: Node) -> int:
        op = OPS[node.op]
        delay = int(node.fields.get("delay", 0))
        return delay or self.machine.latency(op, node.fields.get("width", "w"))

    def drop(self, node: Node) -> int:
        return node.time + max(self.latency(node), 1) - 1

    def phase(self, node: Node) -> int:
        return _ORDER[OPS[node.op].phase]

    @property
    def drops(self) -> list[Node]:
        """Those with a result, in the order of a pass's drops."""
        made = [n for n in self.nodes if OPS[n.op].results]
        slots = "EFRPWL"
        return sorted(
            made,
            key=lambda n: (
                self.drop(n) % self.interval,
                self.phase(n),
                self.latency(n),
                slots.index(n.slot[0]),
                int(n.slot[1:]),
            ),
        )

    def position(self, reader: Node, name: str, distance: int) -> int:
        """Where the reader finds what the named node gave `distance` iterations before."""
        drops, row = self.drops, reader.time % self.interval
        index = next(k for k, n in enumerate(drops) if n.name == name)
        earlier = (row, self.phase(reader))
        seen = sum((self.drop(n) % self.interval, self.phase(n)) < earlier for n in drops)
        passes = reader.time // self.interval + distance - self.drop(drops[index]) // self.interval
        return len(drops) * passes + seen - index - 1

    def entry(self, initial: Mapping[str, int]) -> tuple[Operand, ...]:
        """The belt with which `inner` begins: a position of the belt before for each initial value, None elsewhere."""
        items: list[Operand] = [Belt(NONE, "w")] * self.machine.belt
        for k, node in enumerate(self.drops):
            if node.name in initial:
                number = len(self.drops) * (self.drop(node) // self.interval - 1) + k
                items[-number - 1] = Belt(initial[node.name])
        return tuple(items)

    def bundles(self) -> tuple[Bundle, ...]:
        rows: list[list[Issue]] = [[] for _ in range(self.interval)]
        for node in self.nodes:
            operands = tuple(self._operand(node, operand) for operand in node.operands)
            slot = Slot(node.slot[0], int(node.slot[1:]))
            rows[node.time % self.interval].append(Issue(node.op, slot, operands, **node.fields))
        counts = [sum(self.drop(n) % self.interval == row for n in self.drops) for row in range(self.interval)]
        return tuple(Bundle(tuple(row), count) for row, count in zip(rows, counts, strict=True))

    def _operand(self, node: Node, operand: str | int | tuple[str, int]) -> Operand:
        if isinstance(operand, int):
            return Immediate(operand)
        name, distance = (operand, 0) if isinstance(operand, str) else operand
        return Belt(self.position(node, name, distance))


def around(loop: Loop, head: Sequence[Bundle], inner: Issue, tail: Sequence[Bundle]) -> tuple[tuple[Bundle, ...], int]:
    """Open code around the loop; `inner` closes the head. Gives the first bundle of the pass, too."""
    return (*head, Bundle((inner,), 0), *loop.bundles(), *tail), len(head) + 1
