# SPDX-License-Identifier: Apache-2.0
"""Processor allocation and scan orders (the array paper, sections 5.1 and 5.2).

An allocation maps at most two dimensions to array rows and columns. A scan order is a signed permutation of the
dimensions that makes every dependence lexicographically positive, so that lambda_J, mixed radix in the tile sizes, is a
legal schedule vector. Orders are built from the outermost dimension inwards: a dimension may come next if no dependence
that is not yet carried by an outer one has a component against its direction (Feautrier 1992 builds multidimensional
schedules by the same greedy choice). Adding a carried dependence never hurts, so no choice ends blind. Of more than six
dimensions the outermost ones keep the program's order where they can: what is distributed, and what FIFOs hold, asks
for the innermost ones, of which every choice remains.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import perm
from typing import Final

from polyloom.diagnostics import infeasible
from polyloom.ir.rdg import Graph

Vector = tuple[int, ...]
_MOST: Final = 1000
"""Scan orders that are judged at most, where no dimension is reflected either way; all orders of six dimensions are
fewer."""


@dataclass(frozen=True, slots=True)
class Order:
    """A scan order, innermost dimension first; a reflected dimension counts down."""

    order: tuple[int, ...]
    reflected: tuple[bool, ...]


@dataclass(frozen=True, slots=True)
class Allocation:
    """Allocation matrix Phi (the array paper, section 5.1): the dimensions that are mapped to array rows and
    columns."""

    rows: int | None
    columns: int | None


def list_allocations(dimensions: int) -> tuple[Allocation, ...]:
    """Allocation matrices: every pair of dimensions (exchanged, it is the same on the array's transpose); then the
    single ones, along columns and along rows; an array of one element is served by any of them.
    """
    pairs = tuple(Allocation(r, c) for r, c in combinations(range(dimensions), 2))
    single = tuple(a for m in range(dimensions) for a in (Allocation(None, m), Allocation(m, None)))
    return pairs + single or (Allocation(None, None),)


def list_scan_orders(graph: Graph) -> tuple[Order, ...]:
    """Scan orders: every legal one of six dimensions, and every choice of the innermost ones of more. PL0402 when there
    is none, with the dependences that conflict.
    """
    distances = tuple(dict.fromkeys(use.distance for use in graph.uses if not use.is_local and use.writers))
    dimensions = frozenset(range(len(graph.program.dimensions)))
    inner = max(k for k in range(len(dimensions) + 1) if perm(len(dimensions), k) <= _MOST)
    # More than `_MOST` orders are not judged: outer dimensions matter least, so that these get one order each.
    legal = (
        pair
        for free in combinations(sorted(dimensions), inner)
        for pair in _enumerate_orders(distances, dimensions, frozenset(free))
    )
    found = tuple(Order(o, tuple(m in down for m in sorted(dimensions))) for o, down in legal)
    if not found:
        raise _conflict_error(graph, distances, dimensions)
    return found


def is_legal(order: Order, distances: Sequence[Vector]) -> bool:
    """Legality of a scan order: every distance is lexicographically positive in it (Lamport 1974)."""
    signed = ([-d[m] if order.reflected[m] else d[m] for m in reversed(order.order)] for d in distances)
    return all(next((c for c in d if c), 1) > 0 for d in signed)


def is_orderable(distances: Collection[Vector], dimensions: int) -> bool:
    """Feasibility: whether some scan order runs along all distances."""
    return _is_feasible(tuple(distances), frozenset(range(dimensions)))


def _enumerate_orders(
    remaining: Sequence[Vector], dimensions: frozenset[int], free: frozenset[int]
) -> Iterator[tuple[tuple[int, ...], frozenset[int]]]:
    """Enumeration of legal orders: pairs of an order of `dimensions`, innermost first, and the dimensions in it that
    count down. Those that are not free are outermost, in the first order that is legal.
    """
    if not dimensions:
        yield (), frozenset()
        return
    outer = sorted(dimensions - free)
    for m in outer or sorted(dimensions, reverse=True):
        components = [d[m] for d in remaining]
        # A dimension in which all remaining distances have one sign may come next; reflected where that sign is
        # negative.
        down = min(components, default=0) < 0
        if down and max(components) > 0:
            continue
        # Distances that are nonzero here are satisfied by this dimension, and constrain none further in.
        for order, reflected in _enumerate_orders([d for d in remaining if not d[m]], dimensions - {m}, free):
            yield (*order, m), reflected | {m} if down else reflected
        if outer:
            return


def _is_feasible(distances: Sequence[Vector], dimensions: frozenset[int]) -> bool:
    return next(_enumerate_orders(distances, dimensions, dimensions), None) is not None


def _conflict_error(graph: Graph, distances: Sequence[Vector], dimensions: frozenset[int]):
    kept = list(distances)
    for d in distances:
        without = [e for e in kept if e != d]
        # A minimal set of conflicting distances, by deletion: the message names only dependences that matter.
        if not _is_feasible(without, dimensions):
            kept = without
    names: list[str] = []
    for d in kept:
        use = next(u for u in graph.uses if u.distance == d and u.writers)
        producer, consumer = graph.equations[use.writers[0].node].name, graph.equations[use.consumer].name
        names.append(f"{use.variable} from {producer} to {consumer}, distance ({', '.join(map(str, d))})")
    return infeasible(
        "PL0402",
        f"no scan order of {', '.join(graph.program.dimensions)} runs along all dependences",
        span=next((graph.equations[u.consumer].span for u in graph.uses if u.distance == kept[0]), None),
        notes=tuple(f"dependence of {name}" for name in names),
        help=(
            "skew the loop: replace a dimension by its sum with a multiple of another, so that one dimension has no "
            "negative component"
        ),
    )
