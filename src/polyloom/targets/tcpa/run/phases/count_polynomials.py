# SPDX-License-Identifier: Apache-2.0
"""Closed forms of access counts in the sizes: quasi-polynomials (Ehrhart 1962; Clauss 1996), interpolated exactly.

With one candidate and sizes of one residue class modulo the region, or modulo twice or four times as much where several
iterations are one, tiles grow evenly, so that counts are polynomials there. They are computed at a simplex of sizes
from one element per processor class (Newton's forward differences, in integers), and compared at more sizes than there
are coefficients. Where the elements that end last are others as one size exceeds another, each order of the sizes has
polynomials of its own (chambers; Clauss 1996): they are then made of sizes of one order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate, combinations_with_replacement, islice, product
from math import comb, factorial, lcm, prod
from typing import Final

from polyloom.diagnostics import infeasible
from polyloom.targets.tcpa.machine import Machine
from polyloom.targets.tcpa.run import model
from polyloom.targets.tcpa.run.access_counts import Counts, name_counts, sum_counts
from polyloom.targets.tcpa.run.phases import plan_execution
from polyloom.targets.tcpa.run.phases.step_sequence import run
from polyloom.targets.tcpa.words.concrete_file import decode

DEGREES: Final = range(1, 6)
"""Degrees that are tried: there are as many loops at most, those of steps included."""
UNROLLED: Final = (1, 2, 4)
"""Iterations in one, by which the period is longer where no polynomial fits."""
LIFTS: Final = (0, 6, 18)
"""Periods by which sizes are enlarged where no polynomial fits."""
Sizes = Mapping[str, int]
Point = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ClosedForm:
    """Polynomials by name on the sizes `first + period * k`, k >= 0, as forward differences of k; where there is an
    `order` of the sizes, for k that do not fall in it."""

    first: Mapping[str, int]
    period: int
    differences: Mapping[str, Mapping[Point, int]]
    checked: int
    """At how many sizes it was compared, besides those that it was made of."""
    order: tuple[str, ...] = ()

    def evaluate(self, sizes: Sizes) -> dict[str, int]:
        """Counts at sizes of its residue class."""
        steps = [(sizes[name] - first) // self.period for name, first in self.first.items()]
        return {
            name: sum(value * prod(map(comb, steps, point)) for point, value in own.items())
            for name, own in self.differences.items()
        }

    def text(self, name: str) -> str:
        """Polynomial of a count in the sizes, as in `4*N^3 + N^2`."""
        total: dict[Point, Fraction] = {}
        for point, value in self.differences[name].items():
            for exponents, factor in self._expand(point).items():
                total[exponents] = total.get(exponents, Fraction()) + value * factor
        ordered = sorted(total.items(), key=lambda term: (-sum(term[0]), [-e for e in term[0]]))
        return " + ".join(_term(self.first, e, c) for e, c in ordered if c).replace("+ -", "- ") or "0"

    def _expand(self, point: Point) -> dict[Point, Fraction]:
        """Product of the binomials C((size - first) / period, n) of all sizes, as monomials."""
        made: dict[Point, Fraction] = {(): Fraction(1)}
        for first, n in zip(self.first.values(), point, strict=True):
            factors = [Fraction(1)]
            for m in range(n):
                root, scale = first + self.period * m, Fraction(1, self.period * (m + 1))
                shifted = zip([Fraction(0), *factors], [*factors, Fraction(0)], strict=True)
                factors = [(higher - root * lower) * scale for higher, lower in shifted]
            made = {(*e, power): c * f for e, c in made.items() for power, f in enumerate(factors) if f}
        return made


def _term(names: Sequence[str] | Mapping[str, int], exponents: Point, factor: Fraction) -> str:
    powers = [name if e == 1 else f"{name}^{e}" for name, e in zip(names, exponents, strict=True) if e]
    if powers and abs(factor) == 1:
        return ("-" if factor < 0 else "") + "*".join(powers)
    return "*".join([str(factor), *powers])


def fit_closed_form(count: Callable[[Sizes], Counts], first: Sizes, period: int) -> ClosedForm:
    """Closed form of counts on the residue class of `first` modulo the period or a multiple in `UNROLLED`, from these
    sizes on, or from larger ones if tiles have all cases only there: of the least degree for which more sizes than it
    has coefficients agree. Errors: PL0523 where none does, and those of `count`.
    """
    # Points of one period are among those of its half.
    known: dict[Point, Counts] = {}

    def cached_count(sizes: Sizes) -> Counts:
        at = tuple(sizes.values())
        if at not in known:
            known[at] = count(sizes)
        return known[at]

    # Of all sizes before those of one order.
    ordered = tuple(sorted(first, key=first.__getitem__))
    for order, factor, lift in product(((), ordered), UNROLLED, LIFTS):
        start = {name: size + period * factor * lift for name, size in first.items()}
        if (made := _fit_polynomials(cached_count, start, period * factor, order)) is not None:
            return made
    message = f"no polynomial of degree {DEGREES[-1]} or less counts what runs do"
    raise infeasible("PL0523", message, help="take larger sizes to begin with, so that every tile has all cases")


def _fit_polynomials(
    count: Callable[[Sizes], Counts], first: Sizes, period: int, order: tuple[str, ...]
) -> ClosedForm | None:
    def point_sizes(point: Point) -> dict[str, int]:
        # In an order, a point has by how much each size has grown more than the one before it.
        steps = dict(zip(order, accumulate(point), strict=True)) if order else dict(zip(first, point, strict=True))
        return {name: size + period * steps[name] for name, size in first.items()}

    def count_point(point: Point) -> Counts:
        return count(point_sizes(point))

    # A polynomial of too low a degree fails at the first point beyond its simplex; one of a higher degree than needed
    # would agree, but take more points.
    for degree in DEGREES:
        basis = list(_simplex(len(first), degree))
        names = sorted({name for point in basis for name in count_point(point)})
        differences = {name: _differences(basis, [count_point(p).get(name, 0) for p in basis]) for name in names}
        if order:
            places = [tuple(first).index(name) for name in order]
            differences = {name: _in_steps(basis, own, places) for name, own in differences.items()}
        made = ClosedForm(dict(first), period, differences, len(basis) + 1, order)
        further = islice((p for p in _points(len(first)) if sum(p) > degree), len(basis) + 1)
        if all(made.evaluate(point_sizes(p)) == {n: count_point(p).get(n, 0) for n in names} for p in further):
            return made
    return None


def _in_steps(basis: Sequence[Point], own: Mapping[Point, int], places: Sequence[int]) -> dict[Point, int]:
    """Forward differences in the steps of the sizes, of those in how much more each grows than the one before it."""

    def value(steps: Point) -> int:
        grown = [steps[place] for place in places]
        more = [b - a for a, b in zip([0, *grown], grown, strict=False)]
        return sum(v * prod(map(_binomial, more, point)) for point, v in own.items())

    return _differences(basis, [value(steps) for steps in basis])


def _binomial(k: int, n: int) -> int:
    """C(k, n) as a polynomial in k, which may be negative."""
    return prod(k - m for m in range(n)) // factorial(n)


def _points(names: int) -> Iterator[Point]:
    """Points of natural numbers, by their sum."""
    total = 0
    while True:
        for chosen in combinations_with_replacement(range(names), total):
            found = Counter(chosen)
            yield tuple(found[n] for n in range(names))
        total += 1
        if not names:
            return


def _simplex(names: int, degree: int) -> Iterator[Point]:
    return islice(_points(names), comb(names + degree, names))


def _differences(basis: Sequence[Point], values: Sequence[int]) -> dict[Point, int]:
    """Newton's forward differences at 0: values there are sums of them, times binomials."""
    found: dict[Point, int] = {}
    # Points come by their sum, so that all smaller ones are known.
    for point, value in zip(basis, values, strict=True):
        found[point] = value - sum(d * prod(map(comb, point, p)) for p, d in found.items())
    return {point: d for point, d in found.items() if d}


def count_accesses(data: bytes, machine: Machine) -> dict[str, int]:
    """Access counts of a concrete file, without running it: what one element of each class of each configuration does
    once, times its elements and steps. Errors: those of a static run."""
    found = run(data)
    times = Counter(id(own) for own in found.steps)
    counts = [(_count_by_classes(own.data, machine), times[id(own)]) for own in found.configurations]
    return sum_counts([{name: n * factor for name, n in own.items()} for own, factor in counts])


def _count_by_classes(data: bytes, machine: Machine) -> dict[str, int]:
    # Where one element per class does not suffice (late or idle tokens), every element runs, still without data.
    config = model.load(data, machine)
    found = model.execute_kinds(config, machine)
    return name_counts(found or model.execute([(config, 0, 0, ())], machine, check_only=True)[0])


def best_candidate(data: bytes, sizes: Sizes, region: tuple[int, int]) -> int | None:
    """Number of the candidate that is taken at these sizes; None for a symbolic file of several phases, which has one
    for each. Errors: those of instantiation."""
    taken = {own.data for own in run(plan_execution.instantiate(data, sizes, region, None)).configurations}
    made_of = decode(taken.pop()).made_of if len(taken) == 1 else None
    return None if made_of is None else made_of.candidate


def closed_form(
    data: bytes, first: Sizes, region: tuple[int, int], machine: Machine, candidate: int | None = None
) -> ClosedForm:
    """Closed form of the access counts of a candidate of a symbolic file on a region, from these sizes on. Errors:
    PL0523, and those of instantiation and of a static run."""

    def count(sizes: Sizes) -> Counts:
        return count_accesses(plan_execution.instantiate(data, sizes, region, candidate), machine)

    return fit_closed_form(count, first, lcm(*region))
