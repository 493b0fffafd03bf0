# SPDX-License-Identifier: Apache-2.0
"""Gives the statements of an imperfect nest places in one common space.

A placement maps a statement's loops to dimensions, shifted by constants, and fixes the dimensions that it does not run
over by affine expressions: a face, a diagonal, the place of what it reads or of what reads it. Statements are placed
one after another, deepest first; a beam keeps the cheapest partial placements. Cheap means: dependences of constant
short distance, few values passed along, and a signed permutation of the dimensions under which all of them are
lexicographically positive (Feautrier, "Some efficient solutions to the affine scheduling problem", 1992, searches
schedules in this way; here the space itself is searched). Of more than `MANY` statements, each is placed once, where it
costs least beside those before it: their number counts linearly then.
"""

from __future__ import annotations

from bisect import insort
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from itertools import islice, permutations, product
from math import prod

import islpy as isl

from polyloom.ir.recurrence import Produced, Recurrence, Stored, System
from polyloom.ir.work import expression_operators
from polyloom.names import fresh_name
from polyloom.sets import Affine, Condition
from polyloom.transform.carry import Carrier, NotUniform, Value
from polyloom.transform.order import Vector, find_order
from polyloom.transform.space import Point, Space, extremes

BEAM = 6
MANY = 64
"""Statements up to which alternatives are compared as wholes."""
CHOICES = 4
"""Coordinates that are tried for one dimension of one statement."""
COMBINATIONS = 160
ARRANGEMENTS = 120
"""Ways to give the loops of one statement to dimensions that are tried."""
IMPOSSIBLE = 1000.0
ROUNDING = 1e-6
"""More than sums of costs in another order differ by."""
DISTANCE = 0.05
"""The price of a step between producer and reader: distances cost registers, but much less than `PASSED`."""
PASSED = 1.0
"""The price of a value that variables pass along, besides that of each."""
LEG = 0.5
"""The price of each equation that passes a value along."""
GROWTH = 2.0
"""The price of a bounding box twice as large."""
BELOW = 0.16
"""The price of starting an iteration earlier than the deepest statement, in any dimension: negative coordinates are
hard to read."""
UNITS = 2
"""Functional units of each kind that a typical machine has."""
CROWD = 0.5
"""The price of an initiation interval twice as long."""
_KINDS = {"sub": "add", "neg": "add", "abs": "add", "madd": "mul", "max": "min"}


@dataclass(frozen=True, slots=True)
class Placement:
    """The instance of a statement at its `loops` is at the point `at`, affine in the loops and the parameters."""

    loops: tuple[str, ...]
    at: Point

    def loop_values(self, dims: tuple[str, ...]) -> dict[str, Affine]:
        """Each loop as an affine expression of the dimensions: the first one that follows it."""
        found: dict[str, Affine] = {}
        for dim, affine in zip(dims, self.at, strict=True):
            (loop, factor), *more = affine.terms or (("", 0),)
            # Only a dimension that is the loop plus a constant can be solved for it without division.
            if not more and factor == 1 and loop in self.loops and loop not in found:
                found[loop] = Affine.symbol(dim) - affine.constant
        return found

    def points(self, space: Space, domain: Condition) -> isl.Set:
        """Where the instances of `domain` are."""
        values = self.loop_values(space.dims)
        inside = [piece.substitute(values) for piece in domain.pieces]
        # Dimensions that no loop runs over are fixed: the instances lie on a face.
        on = [(here - at.substitute(values)) for here, at in zip(space.point_symbols, self.at, strict=True)]
        points = space.set(Condition(tuple(inside)))
        return points.intersect(space.solutions(*on, *(-a for a in on)))


Placements = dict[str, Placement]
_Extension = tuple[float, Placement, frozenset[Vector], list[tuple[Vector, Vector]]]


@dataclass(frozen=True, slots=True)
class Dependence:
    """On `domain`, `reader` uses what `writer` produced at its loops = `index`, affine in the reader's loops."""

    reader: str
    writer: str
    domain: Condition
    index: Point


def dependences(equations: Sequence[Recurrence]) -> list[Dependence]:
    """Flow dependences among `equations`: every read of a value that one of them produces."""
    names = {e.name for e in equations}
    found = [
        Dependence(e.name, piece.origin.statement, piece.domain, piece.origin.index)
        for e in equations
        for read in e.reads
        for piece in read
        if isinstance(piece.origin, Produced) and piece.origin.statement in names
    ]
    return list(dict.fromkeys(found))


def embed(system: System, equations: Sequence[Recurrence]) -> list[tuple[float, Placements]]:
    """Beam search for affine placements of all `equations` (Feautrier 1992 for affine schedules), cheapest first; none
    costs `IMPOSSIBLE` or more. The dimensions are `dimensions(system, equations)`.
    """
    return _Search(system, equations).run()


def _axis_loops(placement: Placement, loops: frozenset[str]) -> list[str] | None:
    """The one of `loops` that runs along each axis; "" for none. None where an axis that is fixed by loops may stand
    for one of them, as a diagonal does: multiples do not."""
    along, fixed = list[str](), list[str]()
    for a in placement.at:
        here = [(n, factor) for n, factor in a.terms if n in loops]
        runs = len(a.terms) == 1 and here == [(a.terms[0][0], 1)] and here[0][0] not in along
        if not runs and any(abs(factor) == 1 for _, factor in here):
            return None
        along.append(here[0][0] if runs else "")
        fixed += [] if runs else [n for n, _ in here]
    return along if len(fixed) == len({*fixed}) else None


def dimensions(system: System, equations: Sequence[Recurrence]) -> tuple[str, ...]:
    """The loops of the deepest statement, the first in the text of several: the names of the common space. Without any
    loop it has one dimension."""
    # An array scans at least one dimension; a statement without loops is a loop of one iteration.
    return max(equations, key=lambda e: len(e.loops)).loops or (fresh_name("i", {*system.names}),)


class _Search:
    """Search for placements: the system, and what was found about dependences and boxes so far."""

    def __init__(self, system: System, equations: Sequence[Recurrence]) -> None:
        self.equations = {e.name: e for e in equations}
        self.space = Space(dimensions(system, equations), system.parameters, system.assumptions)
        self.dependences = dependences(equations)
        self.own = {e.name: Space(e.loops, system.parameters, system.assumptions) for e in equations}
        self.sets = {d: self.own[d.reader].set(d.domain) for d in self.dependences}
        self.equalities = {d: self.own[d.reader].equalities(s) for d, s in self.sets.items()}
        self.typical = self.space.typical()
        self.boxes: dict[tuple[str, Placement], tuple[Vector, Vector]] = {}
        self.ranges: dict[tuple[str, Affine], tuple[int, int]] = {}
        self.work = {e.name: Counter(_KINDS.get(o, o) for o, _ in expression_operators(e.value)) for e in equations}
        self.instances: dict[tuple[str, Placement], isl.Set] = {}
        self.numbers: dict[tuple[str, Placement], int] = {}
        self.points: list[isl.Set] = []
        self.known_points: dict[str, int] = {}
        self.common: dict[tuple[int, int], int | None] = {}
        self.constants: dict[tuple[Dependence, Affine], int | None] = {}
        # By the identity of a dependence: to hash its sets takes longer than what is looked up.
        self.written = {
            id(d): dict(zip(self.equations[d.writer].loops, d.index, strict=True)) for d in self.dependences
        }
        self.gaps: dict[int, dict[tuple[Affine, Affine], int | None]] = {id(d): {} for d in self.dependences}
        self.empty = {d for d, s in self.sets.items() if s.is_empty()}
        self.running = {d: self._running_loops(d) for d in self.dependences}
        self.known: dict[tuple[Dependence, Placement, Placement], tuple[float, tuple[Vector, ...]]] = {}
        self.of: dict[str, list[Dependence]] = {e.name: [] for e in equations}
        for d in self.dependences:
            for name in dict.fromkeys((d.reader, d.writer)):
                self.of[name].append(d)

    def run(self) -> list[tuple[float, Placements]]:
        return self._greedy() if len(self.equations) > MANY else self._beam()

    def _greedy(self) -> list[tuple[float, Placements]]:
        """Greedy placement, for many statements: each is placed once, where it costs least beside those before it."""
        placed, vectors, total = Placements(), frozenset[Vector](), 0.0
        boxes: list[tuple[Vector, Vector]] = []
        for name in self._sequence():
            best: _Extension | None = None
            for p in dict.fromkeys(self._candidates(name, placed)):
                limit = IMPOSSIBLE if best is None else best[0]
                found = self._extended_cost(name, p, placed, vectors, boxes, limit)
                best = found if found[0] < limit else best
            # Without backtracking: one statement that fits nowhere ends the attempt, and the caller cuts the system
            # into phases.
            if best is None:
                return []
            cost, placed[name], vectors, boxes = best
            total += cost
        return [(total, placed)]

    def _extended_cost(
        self,
        name: str,
        placement: Placement,
        placed: Placements,
        vectors: frozenset[Vector],
        boxes: list[tuple[Vector, Vector]],
        limit: float,
    ) -> _Extension:
        """What one more placement costs, or a lower bound that is not below the limit; the vectors that an order must
        meet then, and the first statement's box with the one around all."""
        low, high = self._box(name, placement)
        first, around = (boxes[0], boxes[-1]) if boxes else ((low, high), (low, high))
        around = tuple(map(min, around[0], low)), tuple(map(max, around[1], high))
        cost = self._box_cost(first, around)
        for d in self.of[name] if cost < limit else ():
            ends = {**({n: placed[n] for n in (d.reader, d.writer) if n in placed}), name: placement}
            if len(ends) == len({d.reader, d.writer}):
                more, found = self._measure(d, ends[d.reader], ends[d.writer])
                # Only dependences to what is placed already are measured, so that each is measured once in all.
                cost, vectors = cost + more, vectors.union(found)
            if cost >= limit:
                break
        return cost + self._order_cost(vectors), placement, vectors, [first, around]

    def _beam(self) -> list[tuple[float, Placements]]:
        beam: list[tuple[float, Placements]] = [(0.0, {})]
        for name in self._sequence():
            wider = list[tuple[float, Placements]]()
            for _, placed in beam:
                # Dependences among the statements before are the same whatever comes next: they are measured once.
                floor, vectors = self._bounds(self.dependences, placed)
                floor += self._mismatch(placed)
                for p in dict.fromkeys(self._candidates(name, placed)):
                    extended = {**placed, name: p}
                    more, found = self._bounds(self.of[name], extended)
                    cost = floor + more + self._growth(extended)
                    wider.append((self._possible(cost, vectors | found), extended))
            beam = self._cheapest(wider)
        return beam

    def _cheapest(self, wider: Sequence[tuple[float, Placements]]) -> list[tuple[float, Placements]]:
        """The `BEAM` cheapest placements, of lower bounds and placements. Branch and bound, best first (Land and Doig
        1960): what cannot be among the cheapest is not measured; of a deep nest that is most."""
        # Sorted by cost, then by number: ties are broken by the order of candidates, which is the text's.
        best, limit = list[tuple[float, int]](), IMPOSSIBLE
        waiting = [(least, n, False) for n, (least, _) in enumerate(wider)]
        heapify(waiting)
        while waiting and waiting[0][0] < limit:
            _, n, is_closer = heappop(waiting)
            placed = wider[n][1]
            if not is_closer:
                heappush(waiting, (self._closer_cost(placed), n, True))
            elif (cost := self._cost(placed, limit)) < IMPOSSIBLE:
                insort(best, (cost, n))
                limit = best[BEAM - 1][0] + ROUNDING if len(best) >= BEAM else limit
        return [(cost, wider[n][1]) for cost, n in best[:BEAM]]

    def _bounds(self, among: Iterable[Dependence], placed: Placements) -> tuple[float, set[Vector]]:
        """A lower bound of what dependences cost, without the moves of values that have to be passed along, and the
        vectors that are known of them."""
        total, vectors = 0.0, set[Vector]()
        for d, reader, writer in self._placed_dependences(among, placed):
            cost, found = self._dependence_bound(d, reader, writer)
            total += cost
            vectors.update(found)
        return total, vectors

    def _possible(self, cost: float, vectors: set[Vector]) -> float:
        """The cost where some order allows these vectors: more vectors allow no order that fewer forbid."""
        return IMPOSSIBLE if find_order(vectors, len(self.space.dims)) is None else cost

    def _closer_cost(self, placed: Placements) -> float:
        """A lower bound of `_cost` of placements that some order allows, with their own shape."""
        cost, vectors = self._bounds(self.dependences, placed)
        return self._possible(cost + self._shape_cost(placed) + self._crowd(placed), vectors)

    def _shape_cost(self, placed: Placements) -> float:
        return self._mismatch(placed) + self._growth(placed) if placed else 0.0

    def _sequence(self) -> list[str]:
        """Deepest first, then always a deep one that depends on, or feeds, what is placed."""
        rest, order, linked = list(self.equations), list[str](), set[str]()
        while rest:
            # A statement next to what is placed has suggestions for its coordinates; one without neighbours could stand
            # anywhere.
            near = [n for n in rest if n in linked] or rest
            order.append(max(near, key=lambda n: len(self.equations[n].loops)))
            rest.remove(order[-1])
            linked.update(n for d in self.of[order[-1]] for n in (d.reader, d.writer))
        return order

    def _candidates(self, name: str, placed: Placements) -> Iterator[Placement]:
        loops, dims = self.equations[name].loops, self.space.dims
        own = [n for n in loops if n not in dims]
        free = [d for d in dims if d not in loops]
        known = dict[tuple[int, Affine | None], tuple[list[Affine], int]]()

        def coordinates(n: int, loop: Affine | None) -> tuple[list[Affine], int]:
            if (n, loop) not in known:
                known[n, loop] = self._coordinates(name, placed, n, loop)
            return known[n, loop]

        def votes(targets: tuple[str, ...]) -> int:
            """How many neighbours suggest these dimensions for the loops."""
            return sum(coordinates(dims.index(d), Affine.symbol(n))[1] for d, n in zip(targets, own, strict=True))

        # Of a deep nest only the likeliest arrangements: they are as many as the factorial of the depth.
        arrangements = sorted(permutations(free, len(own)), key=lambda targets: -votes(targets))[:ARRANGEMENTS]
        for targets in arrangements if len(arrangements) == ARRANGEMENTS else permutations(free, len(own)):
            runs = dict(zip(targets, own, strict=True))
            base = [Affine.symbol(runs.get(d, d)) if d in runs or d in loops else None for d in dims]
            choices = [
                [b] if b is not None and d in loops else coordinates(n, b)[0]
                for n, (d, b) in enumerate(zip(dims, base, strict=True))
            ]
            for at in islice(product(*choices), COMBINATIONS):
                yield Placement(loops, at)

    def _coordinates(self, name: str, placed: Placements, n: int, loop: Affine | None) -> tuple[list[Affine], int]:
        """What dimension n of `name` may be: its loop, shifted; or, where no loop runs, what its neighbours suggest.
        And how many of them suggest the first of these."""
        found: dict[Affine, int] = {}
        for affine in self._suggestions(name, placed, n, loop):
            found[affine] = found.get(affine, 0) + 1
        # The loop itself is always a candidate: the statement then stands where it was written.
        if loop is not None:
            found[loop] = found.get(loop, 0) + 1
        # What most neighbours suggest, then what is simplest: the beam keeps few, and the product over dimensions is
        # large.
        ranked = sorted(found, key=lambda a: (-found[a], abs(a.constant), len(a.terms), a.constant < 0))
        return (ranked[:CHOICES], found[ranked[0]]) if ranked else (self._anywhere(placed, n), 0)

    def _anywhere(self, placed: Placements, n: int) -> list[Affine]:
        """Coordinates for a statement without neighbours: 0, or where the deepest statement begins, which makes the box
        no larger."""
        name, placement = next(iter(placed.items()), ("", None))
        low = self.space.lowest(placement.points(self.space, self.equations[name].domain), n) if placement else None
        return [Affine()] if low in (None, Affine()) else [Affine(), low]

    def _suggestions(self, name: str, placed: Placements, n: int, loop: Affine | None) -> Iterator[Affine]:
        for d in self.of[name]:
            if d.reader == name and d.writer in placed:
                at = self._source_point(d, placed[d.writer])[n]
                if loop is None:
                    # Where the value is produced, or one step later: the two distances that cost least.
                    yield from (at, at + 1)
                elif (gap := self._constant(d, loop - at)) is not None:
                    yield from (loop - gap, loop - gap + 1)
            elif d.writer == name and d.reader in placed:
                yield from self._writer_coordinates(d, placed[d.reader].at[n], loop)

    def _writer_coordinates(self, d: Dependence, here: Affine, loop: Affine | None) -> Iterator[Affine]:
        """Coordinates of a writer that put it where, or one before where, it is read."""
        index = dict(zip(self.equations[d.writer].loops, d.index, strict=True))
        symbols = [loop] if loop is not None else [Affine.symbol(n) for n in (*index, *self.space.params)] + [Affine()]
        for symbol in symbols:
            gap = self._constant(d, here - symbol.substitute(index))
            if gap is not None:
                yield from (symbol + gap, symbol + gap - 1)

    def _source_point(self, d: Dependence, writer: Placement) -> Point:
        """Where the value was written, in the reader's loops."""
        return tuple(a.substitute(self.written[id(d)]) for a in writer.at)

    def _constant(self, d: Dependence, affine: Affine) -> int | None:
        if affine.is_constant:
            return affine.constant
        if (d, affine) not in self.constants:
            self.constants[d, affine] = self.own[d.reader].constant(self.sets[d], affine)
        return self.constants[d, affine]

    def _placed_dependences(
        self, among: Iterable[Dependence], placed: Placements
    ) -> Iterator[tuple[Dependence, Placement, Placement]]:
        return ((d, placed[d.reader], placed[d.writer]) for d in among if d.reader in placed and d.writer in placed)

    def _cost(self, placed: Placements, limit: float) -> float:
        """What placements cost; `IMPOSSIBLE` where that is not below the limit."""
        total, vectors = self._shape_cost(placed) + self._crowd(placed), set[Vector]()
        for d, reader, writer in self._placed_dependences(self.dependences, placed):
            cost, found = self._dependence(d, reader, writer)
            total += cost
            vectors.update(found)
            # Nothing makes up for it: the rest need not be measured.
            if total >= limit:
                return IMPOSSIBLE
        return total + self._order_cost(vectors)

    def _order_cost(self, vectors: Iterable[Vector]) -> float:
        order = find_order(vectors, len(self.space.dims))
        return (
            # Natural order and ascending loops are only a matter of taste: small prices, so that they decide between
            # equals.
            IMPOSSIBLE if order is None else sum(0.5 * (sign < 0) + 0.1 * (n != m) for m, (n, sign) in enumerate(order))
        )

    def _dependence(self, d: Dependence, reader: Placement, writer: Placement) -> tuple[float, tuple[Vector, ...]]:
        key = d, reader, writer
        if key not in self.known:
            self.known[key] = self._measure(d, reader, writer)
        return self.known[key]

    def _dependence_bound(
        self, d: Dependence, reader: Placement, writer: Placement
    ) -> tuple[float, tuple[Vector, ...]]:
        """A lower bound of `_dependence`; what is known already is exact."""
        vector = self._uniform_distance(d, reader, writer)
        if vector is None and self._is_blocked_value(d, reader, writer):
            return IMPOSSIBLE, ()
        if vector is None:
            # Whoever passes a value along has at least one leg.
            return self.known.get((d, reader, writer), (PASSED + LEG * (d not in self.empty), ()))
        return DISTANCE * sum(map(abs, vector)), (vector,)

    def _is_blocked_value(self, d: Dependence, reader: Placement, writer: Placement) -> bool:
        """Whether some axis can be no leg of the value's way (carry.py), as where windows with a stride are read: along
        it the value changes, and other legs do not end that. False where this is not seen without isl."""
        loops = self.running[d]
        along = _axis_loops(reader, loops)
        if not loops or along is None:
            return False
        written = [a.symbols & loops for a in self._source_point(d, writer)]
        changing, gaps = frozenset[str]().union(*written), self.gaps[id(d)]
        axes = zip(zip(reader.at, writer.at, strict=True), along, written, strict=True)
        open_axes = [(loop, there) for pair, loop, there in axes if gaps[pair] is None]
        # A leg that ends where loops say could take the place of one of them in what remains.
        if any(loop not in changing and there for loop, there in open_axes):
            return False
        return any(loop in changing for loop, _ in open_axes)

    def _running_loops(self, d: Dependence) -> frozenset[str]:
        """The reader's loops that run where it reads the value; none where they depend on each other there."""
        loops = frozenset(self.own[d.reader].dims)
        found = [equality.symbols & loops for equality in self.equalities[d]]
        if d in self.empty or any(len(names) > 1 for names in found):
            return frozenset()
        return loops.difference(*found)

    def _uniform_distance(self, d: Dependence, reader: Placement, writer: Placement) -> Vector | None:
        """The constant distance of a dependence; None where it has none."""
        vector, gaps = list[int | None](), self.gaps[id(d)]
        # Candidates of a statement differ in few coordinates: each pair is asked for once.
        for pair in zip(reader.at, writer.at, strict=True):
            if pair not in gaps:
                gaps[pair] = self._constant(d, pair[0] - pair[1].substitute(self.written[id(d)]))
            vector.append(gaps[pair])
        return None if None in vector else tuple(v for v in vector if v is not None)

    def _measure(self, d: Dependence, reader: Placement, writer: Placement) -> tuple[float, tuple[Vector, ...]]:
        vector = self._uniform_distance(d, reader, writer)
        if vector is not None:
            return DISTANCE * sum(map(abs, vector)), (vector,)
        written = self._source_point(d, writer)
        values = reader.loop_values(self.space.dims)
        # The same code that will make the equations tells whether, and with how many moves, the value can be passed
        # along.
        carrier = Carrier(self.space, {d.writer: d.writer}, lambda name, axis: f"{name}.{axis}")
        try:
            points = reader.points(self.space, d.domain)
            carrier.need(points, Value(d.writer, tuple(a.substitute(values) for a in written)))
            transfers = carrier.transfers()
        except NotUniform:
            return IMPOSSIBLE, ()
        return PASSED + LEG * len(transfers), tuple({self.space.distance(t.reference) for t in transfers})

    def _growth(self, placed: Placements) -> float:
        """How much larger than the deepest statement's the bounding box is, for typical parameters."""
        boxes = [self._box(name, p) for name, p in placed.items()]
        # Typical parameters stand for all: volumes are polynomials in the parameters, and only their proportions matter
        # here.
        low, high = (
            tuple(f(column) for column in zip(*(b[n] for b in boxes), strict=True)) for n, f in ((0, min), (1, max))
        )
        return self._box_cost(boxes[0], (low, high))

    def _box_cost(self, first: tuple[Vector, Vector], around: tuple[Vector, Vector]) -> float:
        volume = prod(h - lo + 1 for lo, h in zip(*around, strict=True))
        below = sum(max(0, base - b) for b, base in zip(around[0], first[0], strict=True))
        return BELOW * below + GROWTH * (volume / prod(h - lo + 1 for lo, h in zip(*first, strict=True)) - 1)

    def _crowd(self, placed: Placements) -> float:
        """Resource pressure (the resource-constrained bound of modulo scheduling; Rau 1994): how much more often than
        the deepest statement alone, the iterations with most operations can start.
        """
        deepest = next(iter(placed))
        # One ranking for all statements: leaving one out does not change the order of the others.
        ranked = sorted(placed, key=lambda n: -self.work[n].total())
        numbers = {name: self._instance_number(name, placed[name]) for name in ranked}
        # Statements of the same iterations meet the same others: one of them answers for all.
        alike = {number: name for name, number in numbers.items()}
        intervals = [self._interval(self._concurrent_statements(name, ranked, numbers)) for name in alike.values()]
        return CROWD * (max(intervals) / self._interval([deepest]) - 1)

    def _concurrent_statements(self, name: str, ranked: Sequence[str], numbers: Mapping[str, int]) -> list[str]:
        """Statements that some iteration executes together with `name`, those with most operations first."""
        found, points = [name], numbers[name]
        for other in ranked:
            common = self._intersection_number(points, numbers[other])
            if other != name and self.work[other] and common is not None:
                found.append(other)
                points = common
        return found

    def _interval(self, names: Sequence[str]) -> int:
        total = dict[str, int]()
        for name in names:
            for kind, count in self.work[name].items():
                total[kind] = total.get(kind, 0) + count
        # The kind with most operations per unit bounds the initiation interval.
        return max((-(-count // UNITS) for count in total.values()), default=1)

    def _instance_number(self, name: str, placement: Placement) -> int:
        """Number of the set of iterations in which the statement is executed: equal sets have one number."""
        if (name, placement) not in self.numbers:
            self.numbers[name, placement] = self._number_points(self._instances(name, placement))
        return self.numbers[name, placement]

    def _number_points(self, points: isl.Set) -> int:
        # Two texts of one set cost a question more, and change no answer.
        number = self.known_points.setdefault(str(points), len(self.points))
        if number == len(self.points):
            self.points.append(points)
        return number

    def _intersection_number(self, one: int, other: int) -> int | None:
        """Number of what two sets have in common, or None for nothing. Searches ask for few pairs, many times each."""
        if (one, other) not in self.common:
            points = self.points[one].intersect(self.points[other])
            self.common[one, other] = None if points.is_empty() else self._number_points(points.coalesce())
        return self.common[one, other]

    def _instances(self, name: str, placement: Placement) -> isl.Set:
        """Where the statement is executed, for typical parameters."""
        if (name, placement) not in self.instances:
            self.instances[name, placement] = placement.points(self.space, self.equations[name].domain).intersect(
                self.typical
            )
        return self.instances[name, placement]

    def _box(self, name: str, placement: Placement) -> tuple[Vector, Vector]:
        """Corners around the instances of a statement, for typical parameters: in each dimension the extremes of its
        coordinate."""
        if (name, placement) not in self.boxes:
            found = [self._range(name, a) for a in placement.at]
            self.boxes[name, placement] = tuple(low for low, _ in found), tuple(high for _, high in found)
        return self.boxes[name, placement]

    def _range(self, name: str, coordinate: Affine) -> tuple[int, int]:
        """Extremes of a coordinate over a statement's own loops. Placements share few of these."""
        if (name, coordinate) not in self.ranges:
            own = self.own[name]
            points = own.set(self.equations[name].domain).intersect(own.typical())
            (low,), (high,) = extremes(own.image(points, (coordinate,), ("",)))
            self.ranges[name, coordinate] = low, high
        return self.ranges[name, coordinate]

    def _mismatch(self, placed: Placements) -> float:
        """A small price for each further way in which the placed statements read one array."""
        ways: dict[str, set[tuple[Affine, ...]]] = {}
        for name, placement in placed.items():
            values = placement.loop_values(self.space.dims)
            for read in self.equations[name].reads:
                for piece in read:
                    if isinstance(piece.origin, Stored):
                        index = tuple(a.substitute(values) for a in piece.origin.index)
                        ways.setdefault(piece.origin.name, set()).add(tuple(a - a.constant for a in index))
        return 0.3 * sum(len(w) - 1 for w in ways.values())
