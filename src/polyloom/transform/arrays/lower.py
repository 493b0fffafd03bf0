# SPDX-License-Identifier: Apache-2.0
"""Whole-array programs as nests: each store is one loop per axis of its target, reductions are loops within.

A reduction that is the whole value accumulates in the target itself, which is the perfect nest that a user writes; any
other one in a scalar. What is stored over elements that the value still has to read is computed into a local array
first, unless loops in one direction read them in time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import count

from polyloom.diagnostics import Span
from polyloom.ir import nest
from polyloom.ir.arrays.program import (
    Apply,
    Cases,
    Contract,
    For,
    Gather,
    If,
    Program,
    Read,
    Reduce,
    Scan,
    Statement,
    Store,
    Value,
    axis,
    dtype,
    gather_places,
    label_extents,
    read_array,
    reads,
    shape,
    summed_labels,
)
from polyloom.ir.arrays.quotients import quotient
from polyloom.ir.nest import Assign, Expression, Loop, Nest, Node, Storage
from polyloom.ir.nest import If as NestIf
from polyloom.ir.operations import FLOATS, SIGNED, ElementType
from polyloom.ir.pla import Constant, Reference
from polyloom.names import fresh_name
from polyloom.sets import Affine, Condition
from polyloom.transform.arrays.conflicts import accesses, direction
from polyloom.transform.arrays.elements import (
    Branch,
    Place,
    Tree,
    assignment,
    combine_reduction,
    distribute,
    element,
    keeps_best,
    places,
)
from polyloom.transform.arrays.hoist import has_axes, hoist_invariants, is_partial
from polyloom.transform.arrays.loop_order import order_accumulations
from polyloom.transform.arrays.ranges import Range, bound_by_sizes, extent_bounds, loop_names, loop_nest

_LETTERS = "ijklmnpqrst"
Nodes = tuple[Node, ...]


def lower_program(program: Program) -> Nest:
    """The nest of a verified program."""
    lowering = _Lowering(program)
    body = order_accumulations(lowering.statements(program.body, _Context({}, tuple(_constraints(program)))))
    storage = (*program.storage, *lowering.storage)
    numbered = _number_statements(body, {*lowering.taken})
    used = {r.name for a in nest.assignments(numbered) for r in (a.target, *nest.accesses(a.value))}
    kept_storage = tuple(s for s in storage if s.role == "argument" or s.name in used)
    return Nest(program.name, program.parameters, program.assumptions, kept_storage, numbered, program.span)


def _constraints(program: Program) -> Sequence[Affine]:
    pieces = program.assumptions.pieces
    return pieces[0].constraints if len(pieces) == 1 else ()


@dataclass(frozen=True, slots=True)
class _Context:
    """The loops of the program around a store, and what is at least 0 within them."""

    loops: dict[str, For]
    domain: tuple[Affine, ...]

    def enter_loop(self, loop: For) -> _Context:
        symbol = Affine.symbol(loop.loop)
        bounds = (*(symbol - f for f in loop.lower), *(f - symbol - 1 for f in loop.upper))
        return _Context({**self.loops, loop.loop: loop}, (*self.domain, *bounds))


class _Lowering:
    """`storage` are the locals that it makes, `taken` all names (mutable)."""

    def __init__(self, program: Program) -> None:
        self.storage = list[Storage]()
        self.taken = {*program.parameters, *(s.name for s in program.storage), *loop_names(program.body)}

    def statements(self, statements: Sequence[Statement], around: _Context) -> Nodes:
        return tuple([node for statement in statements for node in self.statement(statement, around)])

    def statement(self, statement: Statement, around: _Context) -> Nodes:
        match statement:
            case Store():
                return self.store(statement, around)
            case For(loop=name, lower=lower, upper=upper, step=step, span=span):
                body = self.statements(statement.body, around.enter_loop(statement))
                return (Loop(name, lower, upper, body, step, span, called=statement.called),)
            case If(condition=condition, body=body, orelse=orelse, span=span):
                pieces = condition.pieces
                holds = pieces[0].constraints if len(pieces) == 1 else ()
                then = self.statements(body, replace(around, domain=(*around.domain, *holds)))
                return (NestIf(condition, then, self.statements(orelse, around), span),)

    def store(self, store: Store, around: _Context) -> Nodes:
        """Loops over the target; before them, the arrays that the value needs."""
        ranges, at = self.ranges(store.target.shape, _starts(store.target))
        before = list[Node]()

        def keep(value: Value, where: Condition | None = None) -> Value:
            local = self.local(value, around, store.span)
            made = self.store(Store(local, value, store.span), around)
            before.extend(made if where is None else (NestIf(where, made, (), store.span),))
            return local

        loops = frozenset(r.place for r in ranges)
        value = store.value
        if isinstance(value, Scan):
            # The prefix so far is a scalar, so that the axis of the scan is the innermost loop.
            axis = at[value.axis].symbols
            ranges = [*(r for r in ranges if r.name not in axis), *(r for r in ranges if r.name in axis)]
            value = replace(value, source=hoist_invariants(value.source, at, loops, keep))
        else:
            value = hoist_invariants(value, at if shape(value) else (), loops, keep)
        to = places(store.target.index, at)
        domain = (*around.domain, *(c for r in ranges for c in extent_bounds(r.place, r.extent)))
        found = accesses(value, store.target.name, at if shape(value) else ())
        step = direction(to, found, [r.name for r in ranges], domain)
        # A scan has one direction, whatever reads what.
        if step is None or (step == -1 and isinstance(value, Scan)):
            copy = keep(value)
            return (*before, *self.store(replace(store, value=copy), around))
        target = Reference(store.target.name, to, store.target.span or store.span)
        body = _Body(self, store.span)
        if isinstance(value, Scan):
            nodes = body.scan(value, at, target, ranges)
        elif isinstance(value, Reduce | Contract) and body.accumulates(value, store.target):
            nodes = loop_nest(ranges, body.total(value, at, target), store.span, step)
        else:
            made = assignment(target, body.tree(value, at if shape(value) else ()), store.span)
            nodes = loop_nest(ranges, (*body.before, *made), store.span, step)
        return (*before, *nodes)

    def ranges(self, extents: Sequence[Affine], starts: Sequence[Affine] | None = None) -> tuple[list[Range], Place]:
        """A loop for each extent that is not 1, and the place that they are at."""
        found, at = list[Range](), list[Affine]()
        for extent, start in zip(extents, starts or [Affine()] * len(extents), strict=True):
            # A loop of one turn would hide from other passes that the index is 0.
            if extent == Affine((), 1):
                at.append(Affine())
                continue
            found.append(Range(self.loop(), extent, start))
            at.append(found[-1].place)
        return found, tuple(at)

    def loop(self) -> str:
        """A new loop: i, j and so on, then numbered ones."""
        free = next((letter for letter in _LETTERS if letter not in self.taken), None)
        return fresh_name(free or _LETTERS[0], self.taken)

    def local(self, value: Value, around: _Context, span: Span | None) -> Read:
        """A new local array for a value; where loops around bound its extents, with room for the largest."""
        room = tuple(bound_by_sizes(extent, around.loops) for extent in shape(value))
        storage = Storage(fresh_name("t", self.taken), dtype(value), room, "local", True, span)
        self.storage.append(storage)
        return replace(read_array(storage, span), shape=shape(value))

    def scalar(self, kind: ElementType, name: str, span: Span | None) -> Reference:
        storage = Storage(fresh_name(name, self.taken), kind, (), "local", True, span)
        self.storage.append(storage)
        return Reference(storage.name, (), span)


class _Body:
    """The innermost nodes of a store: `before` are those in front of its assignment (mutable)."""

    def __init__(self, lowering: _Lowering, span: Span | None) -> None:
        self.lowering, self.span, self.before = lowering, span, list[Node]()

    def tree(self, value: Value, at: Place) -> Tree:
        return element(value, at, self.compound)

    def compound(self, value: Value, at: Place) -> Tree:
        """What is no single expression: nodes in front of the assignment compute scalars of it."""
        match value:
            case Cases():
                return self.branch(value, at)
            case Gather():
                return self.gather(value, at)
            case _:
                return self.reduction(value, at)

    def branch(self, value: Cases, at: Place) -> Tree:
        """A piecewise value; what a side needs is computed only where it is chosen, if it may not exist elsewhere."""
        where = value.condition.substitute({f"${n}": place for n, place in enumerate(at)})
        sides = [_Body(self.lowering, self.span) for _ in range(2)]
        inside, outside = [
            body.tree(side, at if shape(side) else ())
            for body, side in zip(sides, (value.inside, value.outside), strict=True)
        ]
        nodes = [tuple(body.before) for body in sides]
        if has_axes(value.condition) and not any(map(is_partial, (value.inside, value.outside))):
            # Loops without branches are products that machines have units for.
            self.before += nodes[0] + nodes[1]
        elif any(nodes):
            self.before.append(NestIf(where, nodes[0], nodes[1], self.span))
        return Branch(where, inside, outside)

    def gather(self, value: Gather, at: Place) -> Tree:
        """An element at data: a scalar holds the index, from the start of the axis."""
        own, place = gather_places(value, at)
        extent, kind, index = shape(value.source)[value.axis], dtype(value.index), value.index
        index = index if kind == "i32" else Apply("to_i32", kind, (index,), self.span)
        held = self.lowering.scalar("i32", "at", self.span)
        self.before += assignment(held, self.tree(index, place), self.span)
        # Unsigned indices need no test; others count from the end below 0, as NumPy's do.
        if kind in SIGNED:
            zero = Constant(0, "i32")
            ends = nest.Apply("add", "i32", (held, _extent_expression(extent, self.span)), self.span)
            is_negative = nest.Apply("lt", "i32", (held, zero), self.span)
            self.before.append(
                Assign("", held, nest.Apply("select", "i32", (is_negative, ends, held), self.span), self.span)
            )
        # A nest takes the name of an integer scalar as an index, and means what it holds then.
        along = Affine.symbol(held.name)
        return self.tree(value.source, (*own[: value.axis], along, *own[value.axis :]))

    def reduction(self, value: Value, at: Place) -> Tree:
        """A scalar, computed in front of the assignment."""
        if not isinstance(value, Reduce | Contract):
            raise AssertionError(f"a {type(value).__name__} is an array of its own")
        total = self.lowering.scalar(dtype(value), "sum" if isinstance(value, Contract) else value.operation, self.span)
        self.before += self.total(value, at, total)
        return total

    def accumulates(self, value: Reduce | Contract, target: Read) -> bool:
        """Whether the target itself can hold the total: nothing reads it meanwhile."""
        sums = isinstance(value, Contract) or value.operation in ("add", "mul", "and", "or")
        return sums and all(read.name != target.name for read in reads(value))

    def total(self, value: Reduce | Contract, at: Place, total: Reference) -> Nodes:
        """The nodes that leave the reduction in `total`."""
        if isinstance(value, Contract):
            return self.contraction(value, at, total)
        extents = [shape(value.source)[n] for n in value.axes]
        ranges, own = self.lowering.ranges(extents)
        if value.operation in ("argmax", "argmin"):
            return self.begin_place(value, at, total, ranges, own)
        kind = dtype(value.source)
        inner = _Body(self.lowering, self.span)
        term = inner.tree(value.source, _reduction_place(value, at, own))
        if value.operation in ("maximum", "minimum"):
            start = self.begin_total(value, at, total)
            last = isinstance(term, Reference)
            # The comparison and the choice both read the element: it is computed once.
            new = term if isinstance(term, Reference) else self.lowering.scalar(kind, "new", self.span)
            more = () if last else assignment(new, term, self.span)
            step = Assign("", total, combine_reduction(value.operation, kind, total, new, self.span), self.span)
            return (*start, *loop_nest(ranges, (*inner.before, *more, step), self.span))
        start = (Assign("", total, _identity(value.operation, kind), self.span),)
        return (
            *start,
            *loop_nest(ranges, (*inner.before, *self.accumulate(value.operation, total, term, kind)), self.span),
        )

    def accumulate(self, operation: str, total: Reference, term: Tree, kind: ElementType) -> Nodes:
        tree = distribute(lambda found: combine_reduction(operation, kind, total, found[0], self.span), [term])
        return assignment(total, tree, self.span)

    def begin_total(self, value: Reduce, at: Place, total: Reference) -> Nodes:
        """The total begins with the first element; without one, the sizes are refused."""
        begin = _Body(self.lowering, self.span)
        tree = begin.tree(value.source, _reduction_place(value, at, (Affine(),) * len(value.axes)))
        return (*begin.before, *assignment(total, tree, self.span))

    def begin_place(self, value: Reduce, at: Place, place: Reference, ranges: Sequence[Range], own: Place) -> Nodes:
        kind = dtype(value.source)
        best, new = (self.lowering.scalar(kind, name, self.span) for name in ("best", "new"))
        inner = _Body(self.lowering, self.span)
        term = inner.tree(value.source, _reduction_place(value, at, own))
        stays = keeps_best(value.operation, kind, best, new, self.span)
        index = nest.Index(own[0], "i32", self.span)
        steps = (
            *inner.before,
            *assignment(new, term, self.span),
            Assign("", place, nest.Apply("select", "i32", (stays, place, index), self.span), self.span),
            Assign("", best, nest.Apply("select", kind, (stays, best, new), self.span), self.span),
        )
        # The first element is compared with itself once more, and stays: so the place begins at 0.
        start = (*self.begin_total(value, at, best), Assign("", place, Constant(0, "i32"), self.span))
        return (*start, *loop_nest(ranges, steps, self.span))

    def contraction(self, value: Contract, at: Place, total: Reference) -> Nodes:
        """Sums of products: one perfect nest, the summed labels innermost."""
        kind, extents = dtype(value), label_extents(value.labels, value.operands)
        over = summed_labels(value)
        ranges, own = self.lowering.ranges([extents[label] for label in over])
        known = {**dict(zip(value.result, at, strict=True)), **dict(zip(over, own, strict=True))}
        inner = _Body(self.lowering, self.span)
        factors = [
            inner.tree(operand, tuple(known[label] for label in labels))
            for labels, operand in zip(value.labels, value.operands, strict=True)
        ]

        def product(found: tuple[Expression, ...]) -> Expression:
            return reduce(lambda a, b: nest.Apply("mul", kind, (a, b), self.span), found)

        term = distribute(product, factors)
        start = (Assign("", total, _identity("add", kind), self.span),)
        return (*start, *loop_nest(ranges, (*inner.before, *self.accumulate("add", total, term, kind)), self.span))

    def scan(self, value: Scan, at: Place, target: Reference, ranges: Sequence[Range]) -> Nodes:
        """The prefix in a scalar, stored after each step."""
        kind = dtype(value.source)
        total = self.lowering.scalar(kind, "prefix", self.span)
        term = self.tree(value.source, at)
        steps = (
            *self.before,
            *self.accumulate(value.operation, total, term, kind),
            Assign("", target, total, self.span),
        )
        own = [r for r in ranges if r.name in at[value.axis].symbols]
        start = (Assign("", total, _identity(value.operation, kind), self.span),)
        inner = loop_nest(own, steps, self.span)
        return loop_nest([r for r in ranges if r not in own], (*start, *inner), self.span)


def _starts(target: Read) -> list[Affine]:
    """What loops over a view begin at, so that they are indices of its array where they can be."""
    starts = [Affine()] * len(target.shape)
    for form in target.index:
        for n, extent in enumerate(target.shape):
            start = form - axis(n)
            if f"${n}" in form.symbols and not any(s.startswith("$") for s in start.symbols) and not quotient(extent):
                starts[n] = start
    return starts


def _reduction_place(value: Reduce, at: Place, own: Place) -> Place:
    """The place in the source of a reduction."""
    along, rest = iter(own), iter(at)
    return tuple(next(along) if n in value.axes else next(rest) for n in range(len(shape(value.source))))


def _extent_expression(extent: Affine, span: Span | None) -> Expression:
    """An extent as data; quotients that are rounded up, too."""
    found = quotient(extent)
    if found is None:
        return nest.Index(extent, "i32", span)
    above = nest.Index(found.length + (found.step - 1), "i32", span)
    return nest.Apply("div", "i32", (above, Constant(found.step, "i32")), span)


def _identity(operation: str, kind: ElementType) -> Constant:
    number = int(operation in ("mul", "and"))
    return Constant(float(number) if kind in FLOATS else number, kind)


def _number_statements(nodes: Nodes, taken: set[str]) -> Nodes:
    """Statements named S1, S2 and so on."""
    numbers = count(1)

    def name_statement(node: Node) -> Node:
        match node:
            case Assign():
                return replace(node, name=fresh_name(f"S{next(numbers)}", taken))
            case Loop(body=body):
                return replace(node, body=tuple([name_statement(each) for each in body]))
            case NestIf(body=body, orelse=orelse):
                first = tuple([name_statement(each) for each in body])
                return replace(node, body=first, orelse=tuple([name_statement(each) for each in orelse]))

    return tuple([name_statement(node) for node in nodes])
