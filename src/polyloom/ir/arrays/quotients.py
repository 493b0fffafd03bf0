# SPDX-License-Identifier: Apache-2.0
"""Extents that are a quotient rounded up: how many elements a slice with a step has.

Such an extent is one symbol, whose name says what it is, so that equal extents are equal values: `ceil{N - 1; 2}`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from polyloom.sets import Affine

_TERM = re.compile(r"\s*(?P<sign>[+-]?)\s*(?:(?P<factor>\d+)\*)?(?P<name>ceil\{[^}]*\}|[^\W\d][\w.]*|\$\d+|\d+)")


@dataclass(frozen=True, slots=True)
class Quotient:
    """ceil(length / step), of a length that is at least 0."""

    length: Affine
    step: int


def ceiling_quotient(length: Affine, step: int) -> Affine:
    """ceil(length / step) as an extent: an affine form where that is one."""
    if length.is_constant:
        return Affine((), -(-length.constant // step))
    # Multiples of the step stay affine, whatever the rest: only the constant is rounded.
    if all(factor % step == 0 for _, factor in length.terms):
        terms = tuple((name, factor // step) for name, factor in length.terms)
        return Affine(terms, -(-length.constant // step))
    return Affine.symbol(f"ceil{{{length}; {step}}}")


def quotient(extent: Affine) -> Quotient | None:
    """What an extent is that is a rounded quotient."""
    if len(extent.terms) != 1 or extent.constant or extent.terms[0][1] != 1:
        return None
    name = extent.terms[0][0]
    if not name.startswith("ceil{"):
        return None
    length, _, step = name[5:-1].rpartition("; ")
    return Quotient(read_affine(length), int(step))


def bound(extent: Affine) -> Affine:
    """An affine form that is no less than the extent."""
    found = quotient(extent)
    return extent if found is None else found.length


def value(extent: Affine, values: Mapping[str, int]) -> int:
    """The number that an affine form with quotients is."""
    known = dict(values)
    for name in extent.symbols - known.keys():
        found = quotient(Affine.symbol(name))
        if found is not None:
            known[name] = -(-max(0, found.length.evaluate(values)) // found.step)
    return extent.evaluate(known)


def read_affine(text: str) -> Affine:
    """Reads what `str` of an affine form writes; raises ValueError."""
    total, at = Affine(), 0
    text = text.strip()
    while at < len(text):
        found = _TERM.match(text, at)
        if found is None:
            raise ValueError(f"no affine form: {text!r}")
        factor = int(found["factor"] or 1) * (-1 if found["sign"] == "-" else 1)
        name = found["name"]
        total = total + (factor * int(name) if name.isdigit() else Affine.symbol(name) * factor)
        at = found.end()
    return total
