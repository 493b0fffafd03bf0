# SPDX-License-Identifier: Apache-2.0
"""Signed permutations of the dimensions under which every dependence vector is lexicographically positive.

Taking any dimension in which all remaining vectors have one sign never spoils a later choice (it only removes vectors),
so the greedy search is complete: it fails exactly when no signed permutation exists.
"""

from __future__ import annotations

from collections.abc import Iterable

Vector = tuple[int, ...]
Order = tuple[tuple[int, int], ...]
"""(dimension, sign), outermost first; every dimension once."""


def find_order(vectors: Iterable[Vector], size: int) -> Order | None:
    """Signed permutation as schedule (Darte, Robert, Vivien 2000): the first one under which all vectors are
    lexicographically positive, in natural order and ascending if possible, or None. Zero vectors do not count.
    """
    rest = {v for v in vectors if any(v)}
    chosen: list[tuple[int, int]] = []
    free = list(range(size))
    while free:
        sign = {n: s for n in free for s in (-1, 1) if all(v[n] * s >= 0 for v in rest)}
        if not sign:
            return None
        # Ascending before descending, then the outer dimension: what the user wrote, if it is legal.
        pick = min(sign, key=lambda n: (sign[n] < 0, n))
        chosen.append((pick, sign[pick]))
        free.remove(pick)
        # A vector that is positive in an outer dimension is lexicographically positive, whatever its inner components.
        # Greedy is exact: a pick never rules out what was possible before it.
        rest = {v for v in rest if not v[pick]}
    return tuple(chosen)


def positive(vector: Vector, order: Order) -> bool:
    """Whether `vector` is lexicographically positive in `order`."""
    leading = next((vector[n] * sign for n, sign in order if vector[n]), 0)
    return leading > 0
