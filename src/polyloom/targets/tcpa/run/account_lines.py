# SPDX-License-Identifier: Apache-2.0
"""Debugging information for the account of the array: which lines an instruction's executions are of, and which
dependence edge leaves no slack in the schedule that the words obey.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Final

import numpy as np

from polyloom.targets.account import Row
from polyloom.targets.tcpa.words.concrete import Concrete
from polyloom.targets.tcpa.words.event_resolution import Known, evaluate_condition, tile_iterations

Slots = dict[tuple[int, int, int], list[int]]
_MOST: Final = 1 << 22
"""Iterations that are looked at one by one to tell nodes of one instruction apart."""


def node_line(known: Known, node: int) -> int:
    """Line of a node; 0 where the file does not tell."""
    origins = known.symbolic.origins
    return origins[node].line if origins else 0


@dataclass(frozen=True, slots=True)
class Tiles:
    """Elements of one class: their rows and columns, in the configuration that says what their tiles are."""

    concrete: Concrete
    known: Known | None
    places: tuple[tuple[int, int], ...]

    def weigh(self, row: Row, nodes: Sequence[int]) -> list[tuple[Row, int]]:
        """Rows of the lines that an instruction may be of, weighted by the iterations in which each is meant."""
        known = self.known
        if known is None or not nodes:
            return [(row, 1)]
        lines = {node_line(known, node) for node in nodes}
        if len(lines) == 1:
            return [(replace(row, line=lines.pop()), 1)]
        # Nodes that share an instruction exclude each other, so that their conditions share out its executions.
        return [(replace(row, line=node_line(known, node)), self._count(known, node)) for node in nodes]

    def _count(self, known: Known, node: int) -> int:
        """Iterations of a node in the tiles of these elements; of very many all nodes count alike."""
        steps = prod(max(extent, 1) for extent in self.concrete.extents)
        if steps * len(self.places) > _MOST:
            return 1
        step = np.tile(np.arange(steps, dtype=np.int64), len(self.places))
        rows, columns = (np.repeat(np.array(axis, np.int64), steps) for axis in zip(*self.places, strict=True))
        points, inside = tile_iterations(step, rows, columns, self.concrete, known)
        return int((inside & evaluate_condition(known.symbolic.nodes[node].condition, points, known)).sum())


def critical_edge(concrete: Concrete, known: Known | None) -> tuple[str, int]:
    """Dependence edge that leaves no slack, carried by a loop if there is one (RecMII; Rau 1994), as text, and the line
    of its reader.
    """
    if known is None:
        return "", 0
    edges = list(_tight_edges(concrete, known))
    if not edges:
        return "slots that no value waits for", 0
    carried, latency, producer, consumer = max(edges)
    names = known.symbolic.node_names
    text = f"{names[producer]} to {names[consumer]}" if names else "an edge without names"
    over = ", carried by a loop" if carried else ""
    return f"{text}, {latency} cycle{'' if latency == 1 else 's'}{over}", node_line(known, consumer)


def _tight_edges(concrete: Concrete, known: Known) -> Iterator[tuple[bool, int, int, int]]:
    """Edges without slack: whether a loop carries them, latency, producer, consumer."""
    schedule, interval = known.schedule, concrete.initiation_interval
    for use in known.symbolic.uses:
        steps = _steps(use.distance, concrete, known)
        for writer in use.writers:
            due = schedule.tau[writer.node] + schedule.latency[writer.node]
            if schedule.tau[use.consumer] + interval * steps == due:
                yield steps > 0, schedule.latency[writer.node], writer.node, use.consumer


def _steps(distance: Sequence[int], concrete: Concrete, known: Known) -> int:
    """Steps of an element between iterations of this distance, innermost loop first."""
    stride, found = 1, 0
    for m, extent in zip(known.candidate.order, concrete.extents, strict=True):
        sign = -1 if known.candidate.reflected[m] else 1
        found, stride = found + sign * distance[m] * stride, stride * max(extent, 1)
    return found
