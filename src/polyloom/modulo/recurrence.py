# SPDX-License-Identifier: Apache-2.0
"""Maximum cycle ratio (RecMII): no initiation interval below weight / distance of any circuit of arcs has a schedule
(Reiter 1968).

The ratio rises from circuit to circuit, as in Newton's method for ratios (Dinkelbach 1967): one of positive weight `q *
weight - p * distance` has a ratio above p / q, which is the next one to try; when there is none left, the last one was
critical. Positive circuits are looked for by longest paths inside of a strongly connected component (Bellman 1958), and
seen early: as soon as the arcs by which the nodes were last improved form a circuit, it is one. All numbers are
integers, so the ratio is exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from polyloom.modulo.graph import Arc, strong_components


@dataclass(frozen=True, slots=True)
class Circuit:
    """Arcs that lead from one to the next and back, beginning at the least point, and their numbers."""

    arcs: tuple[Arc, ...]
    numbers: tuple[int, ...]

    @property
    def weight(self) -> int:
        return sum(arc.weight for arc in self.arcs)

    @property
    def distance(self) -> int:
        return sum(arc.distance for arc in self.arcs)

    @property
    def bound(self) -> int:
        return -(-self.weight // self.distance)


def critical_circuit(count: int, arcs: Sequence[Arc]) -> Circuit | None:
    """Critical circuit: one of greatest ratio, if that is above 0; one of distance 0 and positive weight, which no
    interval allows, at once.
    """
    successors: list[list[int]] = [[] for _ in range(count)]
    for arc in arcs:
        successors[arc.source].append(arc.sink)
    of = [0] * count
    components = strong_components(successors)
    for number, members in enumerate(components):
        for point in members:
            of[point] = number
    inner: list[list[int]] = [[] for _ in components]
    for number, arc in enumerate(arcs):
        if of[arc.source] == of[arc.sink]:
            inner[of[arc.source]].append(number)
    best: Circuit | None = None
    for members, numbers in zip(components, inner, strict=True):
        if not numbers:
            continue
        mine = [arcs[n] for n in numbers]
        local = {point: n for n, point in enumerate(members)}
        ends = [(local[arc.source], local[arc.sink]) for arc in mine]
        while True:
            ratio = Fraction(best.weight, best.distance) if best is not None else Fraction(0)
            # A circuit of positive weight here has a greater ratio than the best one so far. Integers throughout: no
            # rounding can miss one.
            weights = [arc.weight * ratio.denominator - arc.distance * ratio.numerator for arc in mine]
            circuit = positive_circuit(len(members), ends, weights)
            if not circuit:
                break
            best = _rotate_circuit(arcs, [numbers[k] for k in circuit])
            # No interval satisfies it: the search ends, because the caller only names it.
            if best.distance == 0:
                return best
    return best


def positive_circuit(count: int, ends: Sequence[tuple[int, int]], weights: Sequence[int]) -> list[int]:
    """Positive-cycle detection (Bellman 1958): the arcs, by number and in order, of a circuit of positive weight; empty
    if there is none.
    """
    outgoing: list[list[tuple[int, int, int]]] = [[] for _ in range(count)]
    for k, ((source, sink), weight) in enumerate(zip(ends, weights, strict=True)):
        outgoing[source].append((sink, weight, k))
    reach = [0] * count
    entered = [-1] * count
    active: Sequence[int] = range(count)
    rounds = 0
    while active:
        rounds += 1
        improved: dict[int, None] = {}
        for node in active:
            here = reach[node]
            for sink, weight, k in outgoing[node]:
                if here + weight > reach[sink]:
                    reach[sink], entered[sink] = here + weight, k
                    improved[sink] = None
        active = sorted(improved)
        # Looking costs as much as a round: often at first, then every few rounds.
        if (rounds & (rounds - 1) == 0 or rounds % 8 == 0) and (found := _predecessor_cycle(ends, entered)):
            return found
    return []


def _predecessor_cycle(ends: Sequence[tuple[int, int]], entered: Sequence[int]) -> list[int]:
    """Cycle of the predecessor graph: a circuit among the arcs by which nodes were last entered (the parent graph of
    Cherkassky and Goldberg 1999)."""
    mark = [0] * len(entered)
    for first in range(len(entered)):
        node = first
        while mark[node] == 0 and entered[node] >= 0:
            mark[node] = first + 1
            node = ends[entered[node]][0]
        if mark[node] == first + 1:
            trail = [entered[node]]
            while ends[trail[-1]][0] != node:
                trail.append(entered[ends[trail[-1]][0]])
            return trail[::-1]
        mark[node] = mark[node] or first + 1
    return []


def _rotate_circuit(arcs: Sequence[Arc], numbers: list[int]) -> Circuit:
    # A circuit has no beginning; messages show the same one from run to run.
    first = min(range(len(numbers)), key=lambda k: arcs[numbers[k]].source)
    turned = (*numbers[first:], *numbers[:first])
    return Circuit(tuple(arcs[n] for n in turned), turned)
