# SPDX-License-Identifier: Apache-2.0
"""Proofs about affine forms: what follows from where a text executes, decided by isl over the integers (Verdoolaege
2010); constants are decided at once.
"""

from __future__ import annotations

from typing import Final

from polyloom.sets import Affine, Condition, Polyhedron
from polyloom.sets.isl import to_set
from polyloom.sets.normal_form import conjunction


def is_nonnegative(value: Affine, domain: Condition) -> bool:
    """Whether a value is at least 0 wherever `domain` holds."""
    return value.constant >= 0 if value.is_constant else is_infeasible(Polyhedron((-value - 1,)), domain)


def is_infeasible(piece: Polyhedron, domain: Condition) -> bool:
    """Infeasibility: whether no integer point of `domain` is in `piece` (Presburger arithmetic, decidable)."""
    where = conjunction(domain, Condition((piece,)))
    names = sorted({name for part in where.pieces for c in part.constraints for name in c.symbols})
    return to_set(where, names, ()).is_empty()


def truncated_quotient(value: Affine, by: Affine, domain: Condition) -> tuple[Affine, Affine] | None:
    """Quotient and remainder of C, towards zero (C17, section 6.5.5, paragraph 6), where both are affine: of a
    multiple, and of a multiple and a rest that is known to be less than `by`, with the sign of the whole. `by` is at
    least 1.
    """
    if by.is_constant:
        whole, rest = _split_multiple(value, by.constant)
        if rest == Affine():
            return whole, rest
        if is_nonnegative(value, domain):
            turns = _constant_turns(rest, by, domain)
            return None if turns is None else (whole + turns, rest - by * turns)
        # Between -by and 0 the quotient is 0 and the remainder keeps its sign.
        if whole == Affine() and is_nonnegative(-value, domain) and is_nonnegative(value + by - 1, domain):
            return Affine(), value
        return None
    if not is_nonnegative(by - 1, domain) or not is_nonnegative(value, domain):
        return None
    turns = _constant_turns(value, by, domain)
    return None if turns is None else (Affine((), turns), value - by * turns)


def floor_quotient(value: Affine, by: Affine, domain: Condition) -> tuple[Affine, Affine] | None:
    """Quotient and remainder of Python, which round down (Python language reference, section 6.7), where both are
    affine. `by` is at least 1.
    """
    whole, rest = _split_multiple(value, by.constant) if by.is_constant else (Affine(), value)
    if by.is_constant and rest == Affine():
        return whole, rest
    if not by.is_constant and not is_nonnegative(by - 1, domain):
        return None
    turns = _constant_turns(rest, by, domain)
    return None if turns is None else (whole + turns, rest - by * turns)


MOST_PIECES: Final = 3
"""Of a quotient that is written once for each."""


def quotient_border(value: Affine, by: Affine, domain: Condition, first: int) -> Condition | None:
    """Deciding condition of a quotient: where a value is past a multiple of what divides it, the least from `first`
    times on that decides something; None where it is decided, or has too many pieces.
    """
    rest = _split_multiple(value, by.constant)[1] if by.is_constant else value
    # Each piece is another copy of the statement.
    if not is_infeasible(Polyhedron((rest - by * MOST_PIECES,)), domain):
        return None
    for turns in range(first, MOST_PIECES):
        past = rest - by * turns
        if not is_infeasible(Polyhedron((past,)), domain) and not is_nonnegative(past, domain):
            return Condition((Polyhedron((past,)),))
    return None


def _split_multiple(value: Affine, by: int) -> tuple[Affine, Affine]:
    """Multiples of a number, and what is left of each term, from 0 on."""
    whole = Affine.from_terms({name: c // by for name, c in value.terms}, value.constant // by)
    return whole, value - whole * by


def _constant_turns(value: Affine, by: Affine, domain: Condition) -> int | None:
    """Constant quotient: how often `by` goes into a value, where that is the same number everywhere: 0, 1
    or 2, or -1.
    """
    for turns in (0, 1, 2, -1):
        rest = value - by * turns
        if is_nonnegative(rest, domain) and is_nonnegative(by - rest - 1, domain):
            return turns
    return None


def turn_count(length: Affine, size: int) -> Affine | None:
    """Trip count of a loop of some length and step: ceil(length / size), where that is an affine form."""
    return Affine((), -(-length.constant // size)) if length.is_constant else exact_quotient(length, size)


def exact_quotient(value: Affine, by: int) -> Affine | None:
    """A multiple of a number, divided by it."""
    numbers = (value.constant, *(c for _, c in value.terms))
    if any(number % by for number in numbers):
        return None
    return Affine.from_terms({name: c // by for name, c in value.terms}, value.constant // by)
