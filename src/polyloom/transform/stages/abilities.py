# SPDX-License-Identifier: Apache-2.0
"""Abilities of a machine's stages, as data; which formulas are too large for it."""

from __future__ import annotations

from dataclasses import dataclass

from polyloom.ir.formula import Apply, Leaf, Term, leaves, subterms
from polyloom.ir.operations import ElementType


@dataclass(frozen=True, slots=True)
class Abilities:
    """Abilities of a machine's stages. `unit` multiplies elements of the types `factors`, in messages by this name.
    `accumulates`: sums may begin with an array. `fuses`: a formula contains what it alone reads, library functions and
    sums too. `folds`: the machine takes maxima, minima and sums of rows, and formulas read one for all of a row; they
    multiply by reciprocals of what is the same for a row. `row`: elements of a row of which one stage takes a maximum.
    `has_halves`: arrays have 16 bits, and formulas more: a reciprocal whose product is rounded to an integer is the sum
    of two arrays. `arrays` and `scalars`: how many a formula may read; 0 is without a limit.
    """

    unit: str
    factors: frozenset[ElementType]
    accumulates: bool = False
    fuses: bool = False
    folds: bool = False
    row: int = 0
    has_halves: bool = False
    arrays: int = 0
    scalars: int = 0


def fits(term: Term, can: Abilities) -> bool:
    """Whether a formula reads no more than a machine's may."""
    scalars = {leaf.array for leaf in leaves(term) if not leaf.index}
    return (not can.arrays or len(_array_leaves(term)) <= can.arrays) and (
        not can.scalars or len(scalars) <= can.scalars
    )


def largest_part(term: Term, can: Abilities) -> Term | None:
    """Largest part that fits, of a formula that reads too much; None of one that fits as it is, or has no part."""
    if fits(term, can):
        return None
    # A comparison gives no element that an array could hold.
    parts = [p for p in list(subterms(term))[1:] if isinstance(p, Apply) and not _is_comparison(p)]
    # A part that reads one array would not make the formula smaller.
    parts = [p for p in parts if fits(p, can) and len(_array_leaves(p)) > 1]
    return max(parts, key=lambda p: len(_array_leaves(p)), default=None)


def _is_comparison(term: Apply) -> bool:
    return term.operation in ("lt", "le", "eq", "ne", "ge", "gt")


def _array_leaves(term: Term) -> set[Leaf]:
    return {leaf for leaf in leaves(term) if leaf.index}
