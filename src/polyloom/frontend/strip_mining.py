# SPDX-License-Identifier: Apache-2.0
"""Strip-mining (Wolfe, "More iteration space tiling", 1989): a counter t as `size * strip + place`, so that quotients
and remainders of t by divisors of `size` are affine in both.

Both front ends make one loop over strips and one over the places of a strip, in the direction of the counter, and a
guard where the ends of the counter are not multiples of the size. Where a place decides in many ways, its loop is
unrolled: each copy of the body has a constant place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from math import gcd, lcm
from typing import Final, Literal

from polyloom.diagnostics import Span
from polyloom.frontend.affine_proofs import MOST_PIECES, exact_quotient, is_nonnegative
from polyloom.ir.nest import If, Loop, Node
from polyloom.sets import Affine, Condition, Polyhedron

Forms = tuple[Affine, ...]
Body = Callable[[Affine, Condition], tuple[Node, ...]]
"""What a loop does where its counter is a form, and where it is."""
LARGEST: Final = 1 << 12
"""Of a size."""
COPIES: Final = 24
"""Of a body that is unrolled."""


@dataclass(frozen=True, slots=True)
class Interval:
    """Interval of a counter: from max(`lower`) to below min(`upper`); with direction -1 the same values, downwards."""

    lower: Forms
    upper: Forms
    direction: Literal[1, -1]

    def holds(self, value: Affine) -> Condition:
        """Domain of the counter: where it has a value."""
        low, high = (value - form for form in self.lower), (form - value - 1 for form in self.upper)
        return Condition((Polyhedron((*low, *high)),))


@dataclass(frozen=True, slots=True)
class Strips:
    """The strips of a counter: those from max(`lower`) to below min(`upper`) contain its values, and if `exact` no
    others."""

    counter: Interval
    size: int
    lower: Forms
    upper: Forms
    exact: bool

    def loops(self, strip: str, place: str | None, body: Body, span: Span | None, called: str) -> tuple[Node, ...]:
        """Strip-mined loops: one over the strips, around one over the places in each if that has a name, else around a
        copy of the body for every place. The source calls the counter `called`.
        """
        outer, step = Affine.symbol(strip), self.counter.direction
        if place is None:
            # Unrolled: with a constant place every quotient in the body is decided.
            places = [Affine((), n) for n in range(self.size)][::step]
            made = tuple(node for p in places for node in self._place_body(outer, p, body, span))
        else:
            inner = self._place_body(outer, Affine.symbol(place), body, span)
            one = Loop(place, (Affine(),), (Affine((), self.size),), inner, step, span, called=called)
            made = (one,) if inner else ()
        return (Loop(strip, self.lower, self.upper, made, step, span, called=called),) if made else ()

    def _place_body(self, strip: Affine, place: Affine, body: Body, span: Span | None) -> tuple[Node, ...]:
        value = strip * self.size + place
        (values,) = self.counter.holds(value).pieces
        made = body(value, Condition((Polyhedron((*values.constraints, place, -place + (self.size - 1))),)))
        # Without a remainder every place of every strip is a value of the counter.
        if self.exact or not made:
            return made
        return (If(self.counter.holds(value), made, (), span),)


def make_strips(counter: Interval, size: int, domain: Condition) -> Strips | None:
    """Strip-mining of a counter (Wolfe 1989); None where the first strip is not known, or each has one value."""
    if size == 1:
        return None
    lower = [_begin_strip(form, size, domain) for form in counter.lower]
    known = tuple(form for form in lower if form is not None)
    if len(known) < len(lower):
        return None
    # Exact where strips begin and end on the counter's own bounds.
    starts = all(form * size == own for form, own in zip(known, counter.lower, strict=True))
    counts = [_end_strip(form, size) for form in counter.upper]
    exact = starts and all(form * size == own for form, own in zip(counts, counter.upper, strict=True))
    return Strips(counter, size, tuple(dict.fromkeys(known)), tuple(dict.fromkeys(counts)), exact)


def _begin_strip(form: Affine, size: int, domain: Condition) -> Affine | None:
    """A strip that is not past the one in which a value lies."""
    if form.is_constant:
        return Affine((), form.constant // size)
    found = exact_quotient(form, size)
    return found if found is not None else Affine() if is_nonnegative(form, domain) else None


def _end_strip(form: Affine, size: int) -> Affine:
    """A strip that is not before the first one behind a value."""
    if form.is_constant:
        return Affine((), -(-form.constant // size))
    found = exact_quotient(form, size)
    # n strips of one or more values contain n values: a bound that is affine, whatever the remainder.
    return form if found is None else found


@dataclass(frozen=True, slots=True)
class Period:
    """Period of an expression: a counter that grows by `length` makes it grow by `growth`, whatever its value is.
    Within that, some quotient in it changes up to `turns` times, and once more if it is `loose`: if it does not change
    where a strip begins. `rest` is what the expression is for 0, as far as that is affine; `open` are the symbols in
    one of which a remainder by `parts` decides.
    """

    growth: int
    length: int = 1
    turns: int = 0
    loose: bool = False
    rest: Affine | None = None
    open: frozenset[str] = frozenset()
    parts: int = 1

    @staticmethod
    def of(form: Affine, name: str) -> Period:
        growth = form.coefficient(name)
        return Period(growth, rest=form - Affine.symbol(name) * growth)

    def quotient(self, by: int) -> Period:
        """Period of the expression divided by a number: the least count of turns after which the quotient grows by an
        integer.
        """
        # growth * lengths is the least multiple of growth that `by` divides.
        lengths = by // gcd(by, self.growth)
        growth, rest = self.growth * lengths // by, None if self.rest is None else exact_quotient(self.rest, by)
        turns = max(self.turns * lengths, abs(growth))
        undecided = {name for name, c in self.rest.terms if c % by} if self.rest is not None else set[str]()
        parts = lcm(self.parts, by) if undecided else self.parts
        is_loose = self.loose or rest is None
        return Period(growth, self.length * lengths, turns, is_loose, rest, self.open | undecided, parts)

    def remainder(self, by: int) -> Period:
        # After a whole period a remainder is what it was.
        return replace(self.quotient(by), growth=0, rest=None)

    def plus(self, other: Period) -> Period:
        # Both repeat after a common multiple of their periods.
        length = lcm(self.length, other.length)
        a, b = length // self.length, length // other.length
        growth, turns = self.growth * a + other.growth * b, max(self.turns * a, other.turns * b)
        rest = None if self.rest is None or other.rest is None else self.rest + other.rest
        parts = lcm(self.parts, other.parts)
        return Period(growth, length, turns, self.loose or other.loose, rest, self.open | other.open, parts)

    def times(self, factor: int) -> Period:
        return replace(self, growth=self.growth * factor, rest=None if self.rest is None else self.rest * factor)


@dataclass(frozen=True, slots=True)
class Size:
    """Strip length that divisions need. `unrolls` if a quotient has more values in a strip than are taken apart; `open`
    are the symbols in one of which a remainder by `parts` decides an index.
    """

    size: int
    unrolls: bool
    open: frozenset[str]
    parts: int


def strip_length(periods: Iterable[Period]) -> Size | None:
    """Strip length for expressions with divisions, the least common multiple of their periods; None without any, and
    where it is beyond `LARGEST` or `COPIES`.
    """
    found = tuple(periods)
    size = lcm(*(period.length for period in found))
    most = max((period.turns * (size // period.length) + period.loose for period in found), default=0)
    undecided = frozenset[str]().union(*(period.open for period in found))
    parts = lcm(*(period.parts for period in found if period.open))
    if size > LARGEST or parts > COPIES or (size == 1 and not undecided):
        return None
    # More cases than are written out as conditions: then each place is a copy.
    return Size(size, most > MOST_PIECES and size <= COPIES, undecided, parts)


@dataclass(frozen=True, slots=True)
class Parted:
    """A parameter as `size * whole + rest`: two loops, of which one iteration has its value, around what divides it.
    Of many rests each has a copy instead, and of all if `unrolls`."""

    parameter: str
    size: int
    whole: str
    rest: str
    unrolls: bool = False

    def loops(self, body: Body, span: Span | None) -> tuple[Node, ...]:
        if self.unrolls or self.size > MOST_PIECES:
            inner = tuple(node for n in range(self.size) for node in self._rest_body(Affine((), n), body, span))
        else:
            made = self._rest_body(Affine.symbol(self.rest), body, span)
            inner = (Loop(self.rest, (Affine(),), (Affine((), self.size),), made, 1, span),) if made else ()
        # A bound without a quotient: the whole part is at most the parameter itself, and a condition selects its value.
        past = Affine.symbol(self.parameter) + 1
        return (Loop(self.whole, (Affine(),), (past,), inner, 1, span),) if inner else ()

    def _rest_body(self, rest: Affine, body: Body, span: Span | None) -> tuple[Node, ...]:
        whole = Affine.symbol(self.whole)
        form = whole * self.size + rest
        apart = form - Affine.symbol(self.parameter)
        made = body(form, Condition((Polyhedron((whole, rest, -rest + (self.size - 1), apart, -apart)),)))
        return (If(Condition((Polyhedron((apart, -apart)),)), made, (), span),) if made else ()
