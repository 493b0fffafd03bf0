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
from numpy.typing import NDArray

from polyloom.targets.account import Row
from polyloom.targets.tcpa.words.concrete import Concrete
from polyloom.targets.tcpa.words.event_resolution import Known, evaluate_bound, evaluate_constant

Slots = dict[tuple[int, int, int], list[int]]
_MOST: Final = 1 << 22
"""Points of the dimensions of a condition that are enumerated to tell nodes of one instruction apart."""


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
        counts = [self.count_iterations(known, known.symbolic.nodes[node].condition) for node in nodes]
        if None in counts:
            counts = [1] * len(nodes)
        return [(replace(row, line=node_line(known, n)), count or 0) for n, count in zip(nodes, counts, strict=True)]

    def count_iterations(self, known: Known, condition: int) -> int | None:
        """Iterations at which a condition holds in the tiles of these elements; None of very many. Only dimensions that
        the condition has are enumerated, and multiplied by the extents of the others.
        """
        axes = _coordinates(self.concrete, known, self.places)
        extents = [len(self.places), *(axis.shape[n + 1] for n, axis in enumerate(axes))]
        found = np.zeros((1,) * len(extents), np.bool_)
        for conjunction in known.symbolic.conditions[condition]:
            piece = np.ones((1,) * len(extents), np.bool_)
            for row in (known.symbolic.constraints[number] for number in conjunction):
                terms = [c * axis for c, axis in zip(row.dims, axes, strict=True) if c]
                spanned = np.broadcast_shapes(piece.shape, found.shape, *(term.shape for term in terms))
                if prod(spanned) > _MOST:
                    return None
                piece = piece & (sum(terms, np.int64(0)) + evaluate_constant(row, known) >= 0)
            found = found | piece
        return int(found.sum()) * prod(n for n, own in zip(extents, found.shape, strict=True) if own == 1)


def _coordinates(concrete: Concrete, known: Known, places: Sequence[tuple[int, int]]) -> list[NDArray[np.int64]]:
    """Coordinates of the iterations of tiles by dimension, which broadcast to (places, extents): inverse of the tiling
    (the array paper, section 5.1).
    """
    candidate, count = known.candidate, len(concrete.extents)
    tiles = {
        axis: np.array(own, np.int64)
        for axis, own in zip((candidate.rows, candidate.columns), zip(*places, strict=True), strict=True)
    }
    made = list[NDArray[np.int64]]()
    extents = dict(zip(candidate.order, concrete.extents, strict=True))
    for m in range(count):
        extent = max(extents[m], 1)
        digit = np.arange(extent, dtype=np.int64).reshape(1, *(-1 if n == m else 1 for n in range(count)))
        tile = tiles[m].reshape(-1, *([1] * count)) if m in tiles else np.zeros((1,) * (count + 1), np.int64)
        bounds = known.symbolic.extents[m]
        counted = digit + extents[m] * tile
        if candidate.reflected[m]:
            made.append(evaluate_bound(bounds.upper, known) - counted)
        else:
            made.append(evaluate_bound(bounds.lower, known) + counted)
    return made


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
