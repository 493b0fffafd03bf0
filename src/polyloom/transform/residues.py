# SPDX-License-Identifier: Apache-2.0
"""Loops unrolled by residue classes, so that accesses which meet at a stride meet in one class or never.

Where `a[2 * i]` is written and `a[j]` read, who wrote what is read depends on the remainder of j by 2, which no affine
condition says. With j = 2 k + r and a copy of the body for each r, 2 i = 2 k + r has the solution i = k for r = 0, and
none for r = 1 (Banerjee's test by greatest common divisors, "Dependence Analysis for Supercomputing", 1988, decides it
for each copy). Loops over the places of a strip (`frontend.strip_mining`) are unrolled whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from math import gcd, lcm
from typing import Final

from polyloom.ir.nest import (
    Assign,
    If,
    Loop,
    Nest,
    Node,
    Statement,
    accesses,
    assignments,
    loop_nodes,
    statements,
    taken_names,
)
from polyloom.ir.nest_rewrite import Rewriter, substitute_symbols
from polyloom.ir.pla import Reference
from polyloom.names import dotted_name, fresh_name
from polyloom.sets import Affine, Condition, Polyhedron

COPIES: Final = 6
"""Of a body, at most."""
STATEMENTS: Final = 24
"""Of an unrolled nest, at most: more seldom find a common space, and take long to be placed."""


def unroll_by_residues(nest: Nest) -> Nest | None:
    """Unrolling by residue classes (Banerjee 1988, GCD test): the nest with loops unrolled where accesses need it; None
    where none does, or where it would become too long.
    """
    places = frozenset(_places(nest))
    unrolling = _Unrolling(nest, places, {})
    made = unrolling.unroll() if places else nest
    factors = _factors(made)
    if factors:
        made = _Unrolling(made, frozenset(), factors).unroll()
    if made is nest or len(list(assignments(made.body))) > STATEMENTS:
        return None
    return made


def _count(loop: Loop) -> int | None:
    """How many turns a loop has, where its bounds are constants."""
    if len(loop.lower) != 1 or len(loop.upper) != 1:
        return None
    count = loop.upper[0] - loop.lower[0]
    return count.constant if count.is_constant and loop.lower[0].is_constant else None


def _places(nest: Nest) -> Iterator[str]:
    """The loops over the places of strips: of a few turns, whose variable stands beside a multiple of another one."""
    forms = [form for s in statements(nest) for form in _forms(s)]
    for loop in loop_nodes(nest.body):
        count = _count(loop)
        # A loop of one turn has nothing to unroll.
        if count is not None and 1 < count <= COPIES and any(_is_place(form, loop.name, count) for form in forms):
            yield loop.name


def _forms(statement: Statement) -> Iterator[Affine]:
    for reference in _references(statement):
        yield from reference.index
    for piece in statement.domain.pieces:
        yield from piece.constraints


def _references(statement: Statement) -> Iterator[Reference]:
    yield statement.assign.target
    yield from accesses(statement.assign.value)


def _is_place(form: Affine, name: str, count: int) -> bool:
    factor = form.coefficient(name)
    return bool(factor) and any(other != name and abs(c) == abs(factor) * count for other, c in form.terms)


def _factors(nest: Nest) -> dict[str, int]:
    """By how much each loop is unrolled: as often as it needs to come to the same residue of what is written."""
    found = dict[str, int]()
    everything = statements(nest)
    for writer in everything:
        target = writer.assign.target
        for other in everything:
            for reference in (r for r in _references(other) if r.name == target.name):
                for written, met in zip(target.index, reference.index, strict=True):
                    for loop, factor in _loop_factors(written, met, writer.loops, other.loops):
                        # Several accesses of one loop: a multiple of all periods serves each of them.
                        found[loop] = lcm(found.get(loop, 1), factor)
    return {loop: factor for loop, factor in found.items() if 1 < factor <= COPIES}


def _loop_factors(
    written: Affine, met: Affine, writers: tuple[str, ...], others: tuple[str, ...]
) -> Iterator[tuple[str, int]]:
    steps = [abs(written.coefficient(loop)) for loop in writers if written.coefficient(loop)]
    step = gcd(*steps)
    if step > 1:
        for loop in others:
            factor = met.coefficient(loop)
            # Else the loop stays in one residue class.
            if factor % step:
                yield loop, step // gcd(step, factor)


class _Unrolling(Rewriter):
    """Unrolls the loops `places` whole, and others by `factors`. Mutable: names are taken as copies get theirs."""

    def __init__(self, nest: Nest, places: frozenset[str], factors: Mapping[str, int]) -> None:
        self.nest, self.places, self.factors, self.taken = nest, places, factors, taken_names(nest)

    def unroll(self) -> Nest:
        return replace(self.nest, body=self.nodes(self.nest.body))

    def loop(self, node: Loop) -> Iterable[Node]:
        if node.name in self.places:
            count, first = _count(node) or 0, node.lower[0]
            values = [first + n for n in range(count)][:: node.step]
            return [n for v, value in enumerate(values) for n in self.copy(node, value, v)]
        start = _start(node, self.factors[node.name]) if node.name in self.factors else None
        return super().loop(node) if start is None else (self.unroll_loop(node, self.factors[node.name], start),)

    def unroll_loop(self, loop: Loop, factor: int, start: tuple[Affine, ...]) -> Loop:
        """A loop over classes of `factor` values, with a copy of the body for each place in a class."""
        here, made = Affine.symbol(loop.name) * factor, list[Node]()
        for number, place in enumerate(range(factor)[:: loop.step]):
            value = here + place
            low, high = (value - form for form in loop.lower), (form - value - 1 for form in loop.upper)
            # First and last classes may be incomplete: each copy has the loop's own bounds as its condition.
            where = Condition((Polyhedron((*low, *high)),))
            made.append(If(where, self.copy(loop, value, number), (), loop.span))
        past = tuple(_past(form, factor) for form in loop.upper)
        return replace(loop, lower=start, upper=past, body=tuple(made))

    def copy(self, loop: Loop, value: Affine, number: int) -> tuple[Node, ...]:
        """A copy of a body, where the loop has a value; the first one keeps the names."""
        body = self.nodes(substitute_symbols(loop.body, {loop.name: value}))
        return _Renaming(self.taken).nodes(body) if number else body


class _Renaming(Rewriter):
    """With other names of statements and loops."""

    def __init__(self, taken: set[str]) -> None:
        self.taken = taken

    def assign(self, node: Assign) -> Iterable[Node]:
        return (replace(node, name=fresh_name(dotted_name(node.name, 1), self.taken, dotted_name)),)

    def loop(self, node: Loop) -> Iterable[Node]:
        # The name first: it is taken before those of loops inside.
        other, body = fresh_name(node.name, self.taken), self.nodes(node.body)
        return (replace(node, name=other, body=substitute_symbols(body, {node.name: Affine.symbol(other)})),)


def _start(loop: Loop, factor: int) -> tuple[Affine, ...] | None:
    """The first class of a loop's values; None where it is not known."""
    if not all(form.is_constant for form in loop.lower):
        return None
    return tuple(dict.fromkeys(Affine((), form.constant // factor) for form in loop.lower))


def _past(form: Affine, factor: int) -> Affine:
    """A class that is not before the one behind the last."""
    numbers = (form.constant, *(c for _, c in form.terms))
    if form.is_constant or all(number % factor == 0 for number in numbers):
        return Affine.from_terms({name: c // factor for name, c in form.terms}, -(-form.constant // factor))
    # Dividing needs multiples: elsewhere the loop runs too far, and the copies' conditions hold it.
    return form
