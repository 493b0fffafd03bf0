# SPDX-License-Identifier: Apache-2.0
"""Symbolic timing: a candidate's schedule as expressions in the tile sizes: lambda_J, lambda_K, latency and validity
(the array paper, section 5.2).

lambda_J follows from the scan order; lambda_K is the least skew that every tile displacement of every use allows; the
latency is that of a full tile; a candidate is valid where every dependence within a tile has a slack of at least 0. All
are polynomials in the tile sizes p_m, for people to read: instantiation computes with numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations

from polyloom.targets.tcpa.words.symbolic import Candidate, Kind, Symbolic
from polyloom.targets.tcpa.words.syntax_tree import distance


@dataclass(frozen=True, slots=True)
class Polynomial:
    """A sum of integer multiples of products of symbols; `terms` are sorted, their coefficients not 0."""

    terms: tuple[tuple[tuple[str, ...], int], ...] = ()

    @staticmethod
    def of(coefficients: dict[tuple[str, ...], int]) -> Polynomial:
        """Normal form: equal polynomials have equal terms, by degree, then by name."""
        return Polynomial(
            tuple(sorted(((m, c) for m, c in coefficients.items() if c), key=lambda term: (-len(term[0]), term[0])))
        )

    @staticmethod
    def constant(value: int) -> Polynomial:
        return Polynomial.of({(): value})

    @staticmethod
    def symbol(name: str) -> Polynomial:
        return Polynomial.of({(name,): 1})

    def __add__(self, other: Polynomial) -> Polynomial:
        total = dict(self.terms)
        for monomial, c in other.terms:
            total[monomial] = total.get(monomial, 0) + c
        return Polynomial.of(total)

    def __mul__(self, other: Polynomial) -> Polynomial:
        total: dict[tuple[str, ...], int] = {}
        for a, x in self.terms:
            for b, y in other.terms:
                monomial = tuple(sorted(a + b))
                total[monomial] = total.get(monomial, 0) + x * y
        return Polynomial.of(total)

    def __sub__(self, other: Polynomial) -> Polynomial:
        return self + other * Polynomial.constant(-1)

    def substitute(self, value: Callable[[str], Polynomial]) -> Polynomial:
        total = Polynomial()
        for monomial, c in self.terms:
            product = Polynomial.constant(c)
            for symbol in monomial:
                product = product * value(symbol)
            total = total + product
        return total

    @property
    def has_no_negative_coefficient(self) -> bool:
        return all(c > 0 for _, c in self.terms)

    def __str__(self) -> str:
        text = ""
        for monomial, c in self.terms:
            magnitude = "*".join(((str(abs(c)),) if abs(c) != 1 or not monomial else ()) + monomial)
            text += (("-" if c < 0 else "") if not text else (" - " if c < 0 else " + ")) + magnitude
        return text or "0"


Skew = tuple[tuple[tuple[int, int], tuple[Polynomial, ...]], ...]


@dataclass(frozen=True, slots=True)
class Timing:
    """Symbolic timing. `lambda_j[m]` by dimension; `skew`: `row * lambda_K[rows] + column * lambda_K[columns]` is at
    least every bound of a displacement (row, column); `tile`: the latency of one full tile in cycles; `valid`: the
    candidate is valid where each is >= 0, if the tile is larger than the distance of the dependence in question.
    """

    lambda_j: tuple[Polynomial, ...]
    skew: Skew
    tile: Polynomial
    valid: tuple[Polynomial, ...]


def size(dimension: int) -> Polynomial:
    """The symbol p_m, which is `p0`, `p1`, ... by the dimension's number."""
    return Polynomial.symbol(f"p{dimension}")


def derive_timing(symbolic: Symbolic, candidate: Candidate) -> Timing:
    """Timing expressions of one candidate (the array paper, section 5.2)."""
    schedule = symbolic.schedules[candidate.schedule]
    steps: dict[int, Polynomial] = {}
    step = Polynomial.constant(schedule.initiation_interval)
    for m in candidate.order:
        # Innermost first: pi, then pi times the sizes passed so far.
        steps[m], step = step, step * size(m)
    lambda_j = tuple(steps[m] for m in range(len(candidate.order)))
    tile = Polynomial.constant(
        max((start + cycles for start, cycles in zip(schedule.tau, schedule.latency, strict=True)), default=0)
    )
    for m, factor in enumerate(lambda_j):
        tile = tile + factor * (size(m) - Polynomial.constant(1))
    return Timing(lambda_j, _skew_bounds(symbolic, candidate, lambda_j), tile, _validity(symbolic, candidate, lambda_j))


def _slack(
    symbolic: Symbolic, candidate: Candidate, use: int, lambda_j: tuple[Polynomial, ...], theta: dict[int, int]
) -> Polynomial:
    """Slack lambda_J . (d - P theta) + tau(w) - r of a use in cycles, without lambda_K and hops (the array paper,
    section 5.2).
    """
    schedule = symbolic.schedules[candidate.schedule]
    one = symbolic.uses[use]
    ready = max((schedule.tau[w.node] + schedule.latency[w.node] for w in one.writers), default=0)
    total = Polynomial.constant(schedule.tau[one.consumer] - ready)
    for m, d in enumerate(distance(one, candidate)):
        # d - P theta: the distance within the tile once the displacement between tiles is taken off.
        total = total + lambda_j[m] * (Polynomial.constant(d) - size(m) * Polynomial.constant(theta.get(m, 0)))
    return total


def _skew_bounds(symbolic: Symbolic, candidate: Candidate, lambda_j: tuple[Polynomial, ...]) -> Skew:
    bounds: dict[tuple[int, int], dict[Polynomial, None]] = {}
    for use, links in enumerate(candidate.links):
        for link in links:
            if link.kind is not Kind.CHANNEL:
                continue
            theta = {
                m: k
                for m, k in zip((candidate.rows, candidate.columns), link.displacement, strict=True)
                if m is not None
            }
            hops = len(candidate.routes[link.register].hops) * symbolic.limits.hop_delay
            bound = Polynomial.constant(hops) - _slack(symbolic, candidate, use, lambda_j, theta)
            bounds.setdefault(link.displacement, {})[bound] = None
    return tuple((displacement, _undominated_bounds(tuple(found))) for displacement, found in sorted(bounds.items()))


def _undominated_bounds(bounds: tuple[Polynomial, ...]) -> tuple[Polynomial, ...]:
    """Without bounds that another one is at least as great as for all sizes >= 1."""
    kept = list(bounds)
    for a, b in combinations(bounds, 2):
        if a in kept and b in kept:
            if _is_nonnegative(a - b, {}):
                # A sufficient test only: a bound that is kept without need costs a comparison at instantiation.
                kept.remove(b)
            elif _is_nonnegative(b - a, {}):
                kept.remove(a)
    return tuple(kept)


def _validity(symbolic: Symbolic, candidate: Candidate, lambda_j: tuple[Polynomial, ...]) -> tuple[Polynomial, ...]:
    """Validity domain: slacks that small tiles make negative, and tile sizes p_m >= |d_m| (the array paper, section
    5.1).
    """
    found: dict[Polynomial, None] = {}
    for u, use in enumerate(symbolic.uses):
        slack = _slack(symbolic, candidate, u, lambda_j, {})
        if not _is_nonnegative(slack, {f"p{m}": abs(d) for m, d in enumerate(use.distance)}):
            found[slack] = None
    for m in (candidate.rows, candidate.columns):
        longest = max((abs(use.distance[m]) for use in symbolic.uses), default=0) if m is not None else 0
        # Tiles have at least one iteration, so that a distance of 1 demands nothing.
        if m is not None and longest > 1:
            found[size(m) - Polynomial.constant(longest)] = None
    return tuple(found)


def _is_nonnegative(value: Polynomial, distances: dict[str, int]) -> bool:
    """A sufficient test for p_m >= |d_m| + 1: with p_m = |d_m| + 1 + q_m no coefficient is negative."""
    return value.substitute(
        lambda name: Polynomial.symbol(name) + Polynomial.constant(1 + distances.get(name, 0))
    ).has_no_negative_coefficient
