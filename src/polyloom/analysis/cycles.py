# SPDX-License-Identifier: Apache-2.0
"""Dependence cycles of total distance zero: instances that depend on themselves (Karp, Miller, Winograd, JACM 14(3),
1967).

An edge leads from an equation to one that defines its operand x[I - d]. Within a strongly connected component, edges
whose distances have one sign in a dimension cannot all be part of a zero cycle: those that are nonzero there are
dropped, and the components of the rest are looked at again. What survives is searched for a walk back to the same
instance.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import islpy as isl

from polyloom.analysis.components import components
from polyloom.ir.pla import Program, Reference
from polyloom.sets.isl import translate

SEARCH_LIMIT = 4000
"""Set operations after which the search gives up. Only programs without a positive order get that far."""


@dataclass(frozen=True, slots=True)
class Edge:
    """Equation number `reader` at I uses the result of equation number `writer` at I - distance."""

    reader: int
    writer: int
    distance: tuple[int, ...]


def dependences(program: Program) -> list[Edge]:
    """Reduced dependence graph: every use of an internal variable, once for each equation that defines the variable
    (Karp, Miller, Winograd 1967).
    """
    writers: dict[str, list[int]] = {v.name: [] for v in program.variables}
    for n, equation in enumerate(program.equations):
        writers.get(equation.target.name, []).append(n)
    edges = [
        Edge(n, writer, program.distance(operand))
        for n, equation in enumerate(program.equations)
        for operand in equation.operands
        if isinstance(operand, Reference)
        for writer in writers.get(operand.name, ())
    ]
    return list(dict.fromkeys(edges))


def suspicious(edges: Sequence[Edge]) -> Iterator[list[Edge]]:
    """Decomposition by Karp, Miller and Winograd (1967): groups of edges that may hold a zero cycle; none for a program
    with a lexicographically positive signed order.
    """
    nodes = sorted({n for e in edges for n in (e.reader, e.writer)})
    for group in components({n: [e.writer for e in edges if e.reader == n] for n in nodes}):
        inside = [e for e in edges if e.reader in group and e.writer in group]
        rest = next(
            filter(
                lambda r: len(r) < len(inside),
                map(lambda s, inside=inside: _edges_without_distance(inside, s), _signs(inside)),
            ),
            None,
        )
        # Karp, Miller and Winograd: in a zero cycle the distances of every dimension sum to 0. Where all have one sign,
        # only edges of distance 0 there can take part, and dropping the others may break the component up.
        if rest is not None:
            yield from suspicious(rest)
        elif inside:
            yield inside


def _signs(edges: Sequence[Edge]) -> list[int]:
    """Dimensions in which all distances have one sign."""
    size = len(edges[0].distance) if edges else 0
    return [m for m in range(size) if all(e.distance[m] >= 0 for e in edges) or all(e.distance[m] <= 0 for e in edges)]


def _edges_without_distance(edges: Sequence[Edge], dimension: int) -> list[Edge]:
    return [e for e in edges if e.distance[dimension] == 0]


def zero_cycle(edges: Sequence[Edge], conditions: Sequence[isl.Set]) -> tuple[list[int], isl.Set] | None:
    """Walk back to the same instance: its equations and the iterations at which it starts, shortest first;
    breadth-first search with a budget.
    """
    # Whether a system of uniform recurrences with conditions has a zero cycle is not decidable by enumeration alone:
    # walks may be arbitrarily long. A search that gives up reports nothing; the schedule is the second line of defence.
    budget = SEARCH_LIMIT
    for start in sorted({e.reader for e in edges}):
        origin = tuple(0 for _ in edges[0].distance)
        reached: dict[tuple[int, tuple[int, ...]], isl.Set] = {}
        # Breadth first, so that the walk that a message shows is a shortest one.
        queue = deque([([start], origin, conditions[start])])
        while queue and budget > 0:
            path, offset, points = queue.popleft()
            for edge in (e for e in edges if e.reader == path[-1]):
                budget -= 1
                total = tuple(a + b for a, b in zip(offset, edge.distance, strict=True))
                there = points.intersect(translate(conditions[edge.writer], total))
                if there.is_empty():
                    continue
                if edge.writer == start and not any(total):
                    return [*path, start], there
                # Same equation, same offset, no new start: whatever follows from here has been followed already.
                before = reached.get((edge.writer, total))
                if before is not None and there.is_subset(before):
                    continue
                reached[edge.writer, total] = there if before is None else before.union(there).coalesce()
                queue.append(([*path, edge.writer], total, there))
    return None
