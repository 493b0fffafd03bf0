# SPDX-License-Identifier: Apache-2.0
"""Omega test on boxes with half-spaces in normal form: whether they have an integer point, tight bounds, no implied
half-space (Pugh 1991).

Bounds are propagated first; what is left is decided by Fourier-Motzkin elimination with exact and dark shadows, and by
halving the box where the two disagree (Pugh, "The Omega test", 1991). A row is (coefficients, constant), a.x + constant
>= 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from math import gcd

from polyloom.targets.tcpa.words.concrete import ConvexSet, HalfSpace

_Row = tuple[tuple[int, ...], int]


@lru_cache(maxsize=1 << 14)
def normal_form(low: tuple[int, ...], high: tuple[int, ...], spaces: tuple[HalfSpace, ...]) -> ConvexSet | None:
    """Normal form: the integer points of a box in half-spaces (two nonzero coefficients or more); None if there are
    none.
    """
    lower, upper, rows = list(low), list(high), {h.coefficients: h.constant for h in spaces}
    for h in spaces:
        rows[h.coefficients] = min(rows[h.coefficients], h.constant)
    settled = False
    for _ in range(4):  # propagation may go on for as long as the box is wide; the exact tests below finish the work
        before = (lower[:], upper[:])
        reduced: dict[tuple[int, ...], int] = {}
        for coefficients, constant in rows.items():
            row = _propagate(coefficients, constant, lower, upper)
            if any(a > b for a, b in zip(lower, upper, strict=True)):
                return None
            if row is not None:
                reduced[row[0]] = min(reduced.get(row[0], row[1]), row[1])
        # Nothing moved and no row fell away: another round would change nothing.
        settled = (lower, upper) == before and len(rows) == len(reduced)
        rows = reduced
        if settled:
            break
    if len(rows) > 1 or not settled:
        if not _feasible(lower, upper, list(rows.items())):
            return None
        # A canonical form: tight box, irredundant rows, so that equal sets are equal values.
        rows = _tighten(lower, upper, rows)
    return ConvexSet(tuple(lower), tuple(upper), tuple(HalfSpace(c, k) for c, k in sorted(rows.items())))


def _row_minimum(coefficients: Sequence[int], constant: int, lower: Sequence[int], upper: Sequence[int]) -> int:
    return constant + sum(min(a * x, a * y) for a, x, y in zip(coefficients, lower, upper, strict=True))


def _row_maximum(coefficients: Sequence[int], constant: int, lower: Sequence[int], upper: Sequence[int]) -> int:
    return constant + sum(max(a * x, a * y) for a, x, y in zip(coefficients, lower, upper, strict=True))


def _propagate(coefficients: tuple[int, ...], constant: int, lower: list[int], upper: list[int]) -> _Row | None:
    """Bound propagation: tighten the box by one row (empty it if no point satisfies the row). Returns the row in lowest
    terms without fixed digits, or None where the box implies it.
    """
    if _row_minimum(coefficients, constant, lower, upper) >= 0:
        return None
    most = _row_maximum(coefficients, constant, lower, upper)
    if most < 0:
        # An empty box says "no point" to the caller without another kind of result.
        lower[0] = upper[0] + 1
        return None
    for g, a in enumerate(coefficients):
        if a > 0:
            lower[g] = max(lower[g], -((most - a * upper[g]) // a))
        elif a < 0:
            upper[g] = min(upper[g], (most - a * lower[g]) // -a)
    if _row_minimum(coefficients, constant, lower, upper) >= 0:
        return None
    free = tuple(0 if x == y else a for a, x, y in zip(coefficients, lower, upper, strict=True))
    constant += sum(a * x for a, x, y in zip(coefficients, lower, upper, strict=True) if x == y)
    divisor = gcd(*free)
    # Flooring the constant cuts off only points that are not integers (normalization in Pugh 1991).
    return tuple(a // divisor for a in free), constant // divisor


def _tighten(lower: list[int], upper: list[int], rows: dict[tuple[int, ...], int]) -> dict[tuple[int, ...], int]:
    """Canonical form of a nonempty set: make its box tight in place, and drop the rows that the others imply."""
    for g in range(len(lower)):
        if any(c[g] for c in rows):
            items = list(rows.items())
            lower[g] = _bound(lower, upper, items, g, low=True)
            upper[g] = _bound(lower, upper, items, g, low=False)
    kept: dict[tuple[int, ...], int] = {}
    for c, k in rows.items():
        row = _propagate(c, k, lower, upper)
        if row is not None:
            kept[row[0]] = min(kept.get(row[0], row[1]), row[1])
    for c in sorted(kept):
        others = [(d, k) for d, k in kept.items() if d != c]
        # Redundant if no point of the others violates it: the row's integer negation is -a.x - k - 1 >= 0.
        if not _feasible(lower, upper, [*others, (tuple(-a for a in c), -kept[c] - 1)]):
            del kept[c]
    return kept


def _bound(lower: list[int], upper: list[int], rows: list[_Row], g: int, *, low: bool) -> int:
    """The least (greatest) value of digit g, by bisection over exact feasibility tests."""
    first, last = lower[g], upper[g]

    def reaches(a: int, b: int) -> bool:
        return _feasible([*lower[:g], a, *lower[g + 1 :]], [*upper[:g], b, *upper[g + 1 :]], rows)

    if reaches(first, first) if low else reaches(last, last):
        return first if low else last
    while first < last:
        middle = (first + last) // 2
        if low:
            first, last = (first, middle) if reaches(first, middle) else (middle + 1, last)
        else:
            first, last = (middle + 1, last) if reaches(middle + 1, last) else (first, middle)
    return first


def _feasible(lower: Sequence[int], upper: Sequence[int], rows: Sequence[_Row]) -> bool:
    """Exact integer feasibility: whether a box has an integer point in all half-spaces `rows` (Pugh 1991)."""
    active = [r for r in rows if _row_minimum(*r, lower, upper) < 0]
    if any(_row_maximum(*r, lower, upper) < 0 for r in active):
        return False
    # A single row that holds somewhere in the box holds at a corner, which has integer coordinates.
    if len(active) < 2:
        return True
    used = [g for g in range(len(lower)) if any(c[g] for c, _ in active)]
    if all(lower[g] == upper[g] for g in used):
        return True
    system = [
        (tuple(c[g] for g in used), k + sum(c[g] * lower[g] for g in range(len(lower)) if g not in used))
        for c, k in active
    ]
    for i, g in enumerate(used):
        unit = tuple(int(i == k) for k in range(len(used)))
        system += [(unit, -lower[g]), (tuple(-a for a in unit), upper[g])]
    # Pugh, "The Omega test", 1991: the real shadow may be too large, the dark shadow too small; between the two the box
    # is halved.
    verdict = _shadows(system)
    if verdict is not None:
        return verdict
    g = max(used, key=lambda g: upper[g] - lower[g])
    middle = (lower[g] + upper[g]) // 2
    left = _feasible(lower, [*upper[:g], middle, *upper[g + 1 :]], rows)
    return left or _feasible([*lower[:g], middle + 1, *lower[g + 1 :]], upper, rows)


def _shadows(system: list[_Row]) -> bool | None:
    """Shadow test (Pugh 1991): False if the real shadow is empty, True if it is exact or the dark shadow is not empty,
    else None.
    """
    real, exact = _eliminate_digits(system, dark=False)
    if not real:
        return False
    if exact:
        return True
    return True if _eliminate_digits(system, dark=True)[0] else None


def _eliminate_digits(system: list[_Row], *, dark: bool) -> tuple[bool, bool]:
    """Fourier-Motzkin elimination of all digits: (whether the shadow is nonempty, whether every elimination was
    exact)."""
    rows, exact = _normalize_rows(system), True
    while rows:
        n = len(rows[0][0])
        if n == 0:
            break
        # Exact eliminations first, then the one that makes fewest new rows: their number grows with the product of
        # signs.
        g = min(
            range(n), key=lambda g: (_inexact(rows, g), sum(c[g] > 0 for c, _ in rows) * sum(c[g] < 0 for c, _ in rows))
        )
        # Where all coefficients of one sign are 1, real and dark shadow agree.
        exact = exact and not _inexact(rows, g)
        above, below = [r for r in rows if r[0][g] > 0], [r for r in rows if r[0][g] < 0]
        rows = _normalize_rows(
            [_drop(r, g) for r in rows if not r[0][g]]
            + [_drop(_combine(a, b, g, dark=dark), g) for a in above for b in below]
        )
        if any(not any(c) and k < 0 for c, k in rows):
            return False, exact
    return all(k >= 0 for c, k in rows if not any(c)), exact


def _inexact(rows: Sequence[_Row], g: int) -> bool:
    return any(c[g] > 1 for c, _ in rows) and any(c[g] < -1 for c, _ in rows)


def _drop(row: _Row, g: int) -> _Row:
    return row[0][:g] + row[0][g + 1 :], row[1]


def _combine(above: _Row, below: _Row, g: int, *, dark: bool) -> _Row:
    a, b = above[0][g], -below[0][g]
    # The dark shadow: in a gap of at least (a - 1)(b - 1) there is an integer for certain.
    slack = (a - 1) * (b - 1) if dark else 0
    return tuple(b * x + a * y for x, y in zip(above[0], below[0], strict=True)), b * above[1] + a * below[1] - slack


def _normalize_rows(rows: Iterable[_Row]) -> list[_Row]:
    least: dict[tuple[int, ...], int] = {}
    for c, k in rows:
        divisor = gcd(*c) or 1
        key, constant = tuple(a // divisor for a in c), k // divisor
        least[key] = min(least.get(key, constant), constant)
    return list(least.items())
