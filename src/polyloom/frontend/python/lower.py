# SPDX-License-Identifier: Apache-2.0
"""From a function's statements to an affine loop nest.

A test that is affine becomes an `If`; so do the affine parts of mixed tests and of conditional expressions, by lowering
the statement once for each outcome of such a part. What remains of a test is data and becomes a select.
"""

from __future__ import annotations

import ast
import builtins
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from polyloom.frontend.convert import converted
from polyloom.frontend.known import nonnegative, rounded
from polyloom.frontend.predicate import inlines, merge
from polyloom.frontend.python.affine import Scope, affine, condition, integer
from polyloom.frontend.python.counters import Values as Known
from polyloom.frontend.python.counters import assigned, at, changed, steps, with_values
from polyloom.frontend.python.function import Function, names_in, stored_names
from polyloom.frontend.python.infer import Types
from polyloom.frontend.python.operators import BINARY
from polyloom.frontend.python.outcome import Place, affine_part, affine_test, outcome
from polyloom.frontend.python.remainders import stride
from polyloom.frontend.python.value import Values, not_zero
from polyloom.frontend.strips import Interval, Parted, strips
from polyloom.ir.nest import Assign, Expression, If, Loop, Nest, Node, Storage, accesses, assignments, depends
from polyloom.ir.operations import ElementType
from polyloom.ir.pla import Constant, Reference
from polyloom.names import fresh, hidden
from polyloom.sets import Affine, Condition, Polyhedron
from polyloom.sets.normal import conjunction, normalize

Bounds = tuple[tuple[Affine, ...], tuple[Affine, ...], int]
"""From max(first) up to below min(last), by a step; a step below 0 takes the same values downwards."""


@dataclass(frozen=True, slots=True)
class _Course:
    """What a loop's variable is for each value of its counter, and the turn, counted from 0, where it is affine.
    `within` holds where the variable has a value, of which there is one for each value of the counter if `exact`."""

    value: Affine
    turn: Affine | None
    within: Condition | None
    exact: bool = True

    @property
    def guard(self) -> Condition:
        assert self.within is not None
        return self.within

    def at(self, name: str, counter: Affine) -> _Course:
        """With another form in the place of the counter `name`."""
        to = {name: counter}
        turn = None if self.turn is None else self.turn.substitute(to)
        within = self.within and Condition(tuple(piece.substitute(to) for piece in self.within.pieces))
        return _Course(self.value.substitute(to), turn, within, self.exact)


def lower(function: Function, types: Types, *, indirect: bool = False) -> Nest:
    """The nest of a typed function; with `indirect`, indices and bounds may be data."""
    return _Lowering(function, types, indirect).nest()


class _Lowering:
    """Holds the names that are taken and the local variables made so far; `names` are those of the text's variables in
    the nest."""

    def __init__(self, function: Function, types: Types, indirect: bool) -> None:
        self.function, self.types, self.text = function, types, function.text
        self.taken = {*function.storage, *function.parameters}
        self.locals: dict[str, Storage] = {}
        self.temporaries: set[str] = set()
        own = {name: self.local(name, types.variable(name)) for name in sorted(function.data)}
        stored = set(stored_names(function.node))
        # A scalar argument that the kernel assigns to is copied first: as in Python, the caller's value does not
        # change.
        self.copies = {
            name: self.local(name, function.storage[name].dtype) for name in function.storage if name in stored
        }
        self.names = own | self.copies
        self.values = Values(function, types, self.names, self.local if indirect else None)
        self.assumptions = _assumptions(function)

    def nest(self) -> Nest:
        integers = {name: Affine.symbol(name) for name in self.function.parameters if name in self.function.order}
        start_scope = replace(self.function.scope, integers=integers, domain=self.assumptions)
        start = [
            Assign("", Reference(local), Reference(name), self.function.storage[name].span)
            for name, local in self.copies.items()
        ]
        body = (*start, *self.block(self.function.node.body, Place(start_scope)))
        node = self.function.node
        storage = (*self.function.storage.values(), *self.locals.values())
        used = {r.name for a in assignments(body) for r in (a.target, *accesses(a.value))}
        # Arguments stay in any case, as they are part of the signature.
        kept = tuple(s for s in storage if s.role == "argument" or s.name in used)
        return Nest(
            node.name,
            self.function.parameters,
            self.assumptions,
            kept,
            _numbered(body, self.taken),
            self.text.line(node.lineno),
        )

    def local(self, name: str, dtype: ElementType) -> str:
        found = fresh(name, self.taken)
        self.locals[found] = Storage(found, dtype, (), "local")
        return found

    def dtype(self, name: str) -> ElementType:
        return (self.locals.get(name) or self.function.storage[name]).dtype

    def block(self, body: Sequence[ast.stmt], place: Place) -> tuple[Node, ...]:
        nodes: list[Node] = []
        for statement in body:
            match statement:
                case ast.Assign(targets=[ast.Name(id=name)], value=value) if name in self.function.scope.integers:
                    self.values.in_scope(value, place)
                    place = replace(
                        place, scope=place.scope.having(name, integer(value, place.scope, "PL0137", "an index"))
                    )
                case ast.AugAssign(target=ast.Name(id=name)) if name in self.function.counters:
                    found = assigned(statement, place.scope)
                    place = self.valued(place, {} if found is None else {found[0]: found[1]})
                case ast.Assert():
                    self.assume(statement, place)
                case _:
                    nodes += self.statement(statement, place)
                    place = self.behind(statement, place)
        return tuple(nodes)

    def valued(self, place: Place, values: Known) -> Place:
        return replace(place, scope=with_values(place.scope, values)) if values else place

    def behind(self, node: ast.stmt, place: Place) -> Place:
        """What is known of the counters behind a statement that may change them."""
        names = changed((node,), self.function.counters)
        if not names:
            return place
        if isinstance(node, ast.For) and isinstance(node.target, ast.Name):
            lower, upper, step = self.bounds(node.iter, place)
            inside = place.scope.having(node.target.id, Affine.symbol(hidden(node.target.id)))
            grows = steps(node.body, inside, self.function.counters)
            return self.valued(place, at(_turns(lower, upper, step, place.scope), grows, place.scope))
        return self.valued(place, dict.fromkeys(names))

    def entered(self, node: ast.For, inner: Place, turn: Affine | None, place: Place) -> Place:
        """A loop's body, with the counters that it changes as they are in a turn."""
        grows = steps(node.body, inner.scope, self.function.counters)
        return self.valued(inner, at(turn, grows, place.scope))

    def statement(self, node: ast.stmt, place: Place) -> tuple[Node, ...]:
        match node:
            case ast.For():
                return self.loop(node, place)
            case ast.If():
                return self.branch(node, place)
            case ast.Assign() | ast.AugAssign() | ast.AnnAssign() if node.value is not None:
                return self.assign(node, node.value, place)
            case _:
                return ()

    def assume(self, node: ast.Assert, place: Place) -> None:
        """An assertion at the head of the function restricts the parameters."""
        where = condition(node.test, place.scope)
        if (
            node not in self.function.node.body
            or where is None
            or any(a.symbols - set(self.function.parameters) for p in where.pieces for a in p.constraints)
        ):
            help = "at the head of the function, assert what holds for the sizes: `assert N >= 1`"
            raise self.text.error("PL0133", "this assertion cannot stand in a kernel", node, help)
        self.assumptions = conjunction(self.assumptions, where)

    def loop(self, node: ast.For, place: Place) -> tuple[Node, ...]:
        assert isinstance(node.target, ast.Name)
        lower, upper, step = self.bounds(node.iter, place)
        return (*self.values.taken(), *self.bounded(node, lower, upper, step, place))

    def bounded(
        self, node: ast.For, lower: tuple[Affine, ...], upper: tuple[Affine, ...], step: int, place: Place
    ) -> tuple[Node, ...]:
        assert isinstance(node.target, ast.Name)
        # Two loops may have the same variable in Python; in a nest each has a name of its own.
        name = fresh(node.target.id.lstrip("_") or "t", self.taken)
        symbol = Affine.symbol(name)
        if abs(step) == 1:
            counter = Interval(lower, upper, 1 if step > 0 else -1)
            turn = symbol - lower[0] if step > 0 and len(lower) == 1 else None
            turn = upper[0] - symbol - 1 if step < 0 and len(upper) == 1 else turn
            return self.counted(node, symbol, counter, _Course(symbol, turn, None), place)
        # A loop that counts by more than one counts its turns.
        value = lower[0] + symbol * step if step > 0 else upper[0] + symbol * step - 1
        lengths = [high - low for high in upper for low in lower]
        counts = [rounded(length, abs(step)) for length in lengths]
        past = tuple(length if count is None else count for length, count in zip(lengths, counts, strict=True))
        counter = Interval((Affine(),), past, 1)
        within = _between(value, lower, upper)
        return self.counted(node, symbol, counter, _Course(value, symbol, within, None not in counts), place)

    def counted(
        self, node: ast.For, symbol: Affine, counter: Interval, course: _Course, place: Place
    ) -> tuple[Node, ...]:
        """A loop over a counter, which is `symbol` and has strips where divisions need them."""
        (name,), span = symbol.symbols, self.text.span(node)
        inner = self.inside(node, course, counter.holds(symbol), place)
        found = stride(node.body, name, inner.scope)
        size = next((p for p in self.function.parameters if found is not None and p in found.open), None)
        if size is not None and found is not None:
            return self.parted(node, Parted(size, found.parts, fresh(size, self.taken), fresh(size, self.taken)), place)
        cut = None if found is None else strips(counter, found.size, place.scope.domain)
        if found is None or cut is None:
            body = self.body(node, inner, course, place)
            return (Loop(name, counter.lower, counter.upper, body, counter.direction, span),) if body else ()

        def at(form: Affine, where: Condition) -> tuple[Node, ...]:
            moved = course.at(name, form)
            return self.body(node, self.inside(node, moved, where, place), moved, place)

        return cut.loops(fresh(name, self.taken), None if found.unrolls else name, at, span)

    def parted(self, node: ast.For, parted: Parted, place: Place) -> tuple[Node, ...]:
        """A loop in which a remainder of a parameter decides an index."""

        def at(form: Affine, where: Condition) -> tuple[Node, ...]:
            sizes = {**place.scope.sizes, parted.parameter: form}
            return self.loop(node, replace(place, scope=replace(place.scope.within(where), sizes=sizes)))

        return parted.loops(at, self.text.span(node))

    def inside(self, node: ast.For, course: _Course, where: Condition, place: Place) -> Place:
        """The place of a loop's body, where the counter has a value."""
        assert isinstance(node.target, ast.Name)
        known = where if course.within is None else conjunction(course.within, where)
        return replace(place, scope=place.scope.having(node.target.id, course.value).within(known))

    def body(self, node: ast.For, inner: Place, course: _Course, place: Place) -> tuple[Node, ...]:
        made = self.block(node.body, self.entered(node, inner, course.turn, place))
        return made if course.exact or not made else (If(course.guard, made, (), self.text.span(node)),)

    def bounds(self, node: ast.expr, place: Place) -> Bounds:
        self.values.in_scope(node, place)
        scope = place.scope
        match node:
            case ast.Call(func=function, args=[inner], keywords=[]) if scope.value(function) is builtins.reversed:
                lower, upper, step = self.bounds(inner, place)
                if abs(step) != 1:
                    help = "count down: `range(last, first - 1, -step)`"
                    raise self.text.error("PL0136", "a range with a step cannot be reversed", node, help)
                return lower, upper, -step
            case ast.Call(func=function, args=[stop], keywords=[]) if scope.value(function) is builtins.range:
                return (Affine(),), self.extreme(stop, builtins.min, place), 1
            case ast.Call(func=function, args=[start, stop, *steps], keywords=[]) if (
                scope.value(function) is builtins.range and len(steps) <= 1
            ):
                by = self.step(steps[0], scope) if steps else 1
                if by > 0:
                    first = self.extreme(start, builtins.max, place)
                    return self.one(first, by, start), self.extreme(stop, builtins.min, place), by
                # `range(start, stop, -1)` ends before stop and includes start; a loop of the nest has its first value
                # and the one after its last.
                after = tuple(bound + 1 for bound in self.extreme(stop, builtins.max, place))
                first = tuple(bound + 1 for bound in self.extreme(start, builtins.min, place))
                return after, self.one(first, by, start), by
            case _:
                help = "write `range(start, stop)`, or with a step of -1"
                raise self.text.error("PL0136", f"a kernel cannot iterate over `{ast.unparse(node)}`", node, help)

    def one(self, first: tuple[Affine, ...], by: int, node: ast.expr) -> tuple[Affine, ...]:
        """Where a loop by more than one begins."""
        if abs(by) != 1 and len(first) != 1:
            help = "write two loops, or begin at one value"
            raise self.text.error("PL0136", f"a loop that counts by {abs(by)} begins at several values", node, help)
        return first

    def step(self, node: ast.expr, scope: Scope) -> int:
        step = affine(node, scope)
        if step is None or not step.is_constant or not step.constant:
            help = "count by a constant that is not 0"
            raise self.text.error("PL0136", f"a loop's step is a constant, not {ast.unparse(node)}", node, help)
        return step.constant

    def extreme(self, node: ast.expr, function: Callable[..., object], place: Place) -> tuple[Affine, ...]:
        """The affine operands of max (of a first value) or min (of a last one); other ways would need several loops."""
        scope = place.scope
        match node:
            case ast.Call(func=called, args=operands, keywords=[]) if scope.value(called) is function:
                return tuple(
                    dict.fromkeys(bound for operand in operands for bound in self.extreme(operand, function, place))
                )
            case ast.Call(func=called) if scope.value(called) in (builtins.min, builtins.max):
                help = (
                    "a loop begins at the greatest of several bounds and ends at the least of several; otherwise "
                    "write two loops"
                )
                raise self.text.error("PL0136", f"`{ast.unparse(node)}` cannot be this bound of a loop", node, help)
            case ast.BinOp(left=left, op=ast.Add() | ast.Sub() as sign, right=right) if isinstance(left, ast.Call):
                shift = integer(right, scope, "PL0136", "a loop's bound")
                return tuple(
                    bound + (shift if isinstance(sign, ast.Add) else -shift)
                    for bound in self.extreme(left, function, place)
                )
            case _:
                return (self.values.integer(node, place, "PL0136", "a loop's bound"),)

    def assign(
        self, node: ast.Assign | ast.AugAssign | ast.AnnAssign, value: ast.expr, place: Place
    ) -> tuple[Node, ...]:
        to = node.targets[0] if isinstance(node, ast.Assign) else node.target
        part = affine_test(value, place) or affine_test(to, place)
        if part is not None:
            return self.split(part, place, lambda inner: self.assign(node, value, inner))
        target = self.target(node.targets[0] if isinstance(node, ast.Assign) else node.target, place)
        of = self.dtype(target.name)
        if not isinstance(node, ast.AugAssign):
            found = self.values.of_type(value, of, place)
        else:
            dtype, span = self.types.operation(node), self.text.span(node)
            operands = converted(target, of, dtype, span), self.values.of_type(value, dtype, place)
            found = converted(self.values.apply(BINARY[type(node.op)][0], dtype, operands, node), dtype, of, span)
        return (*self.values.taken(), Assign("", target, found, self.text.span(node)))

    def target(self, node: ast.expr, place: Place) -> Reference:
        if isinstance(node, ast.Subscript):
            return self.values.element(node, place)
        assert isinstance(node, ast.Name)
        return Reference(self.names.get(node.id, node.id), (), self.text.span(node))

    def split(
        self, test: ast.expr | Condition, place: Place, lowered: Callable[[Place], tuple[Node, ...]]
    ) -> tuple[Node, ...]:
        """A statement once for each outcome of the affine part `test` of it."""
        where = test if isinstance(test, Condition) else None
        if not isinstance(test, Condition):
            self.values.in_scope(test, place)
            where = condition(test, place.scope)
        assert where is not None
        body, orelse = lowered(place.knowing(where, True)), lowered(place.knowing(where, False))
        span = None if isinstance(test, Condition) else self.text.span(test)
        return (If(where, body, orelse, span),) if body or orelse else ()

    def branching(
        self, node: ast.expr, test: Expression, body: tuple[Node, ...], orelse: tuple[Node, ...]
    ) -> tuple[Node, ...]:
        """A branch on data: its test is held by a scalar, which is 0 where it fails."""
        held = Reference(self.local("test", "i32"), (), self.text.span(node))
        return (Assign("", held, test, held.span), If(not_zero(held), body, orelse, held.span))

    def branch(self, node: ast.If, place: Place) -> tuple[Node, ...]:
        known = outcome(node.test, place)
        if known is not None:
            return self.block(node.body if known else node.orelse, place)
        part = affine_part(node.test, place)
        return (
            self.select(node, place)
            if part is None
            else self.split(part, place, lambda inner: self.branch(node, inner))
        )

    def select(self, node: ast.If, place: Place) -> tuple[Node, ...]:
        """A test of data is held by a variable while its branches are executed, unless only one assignment uses it."""
        part = affine_test(node.test, place)
        if part is not None:
            return self.split(part, place, lambda inner: self.select(node, inner))
        test = self.values.test(node.test, place)
        before = self.values.taken()
        if isinstance(test, Constant):
            return (*before, *self.block(node.body if test.value else node.orelse, place))
        then, orelse = self.block(node.body, place), self.block(node.orelse, place)
        if self.values.held is not None and depends((*then, *orelse), self.locals):
            return (*before, *self.branching(node.test, test, then, orelse))
        free = self.temporaries | {self.names[name] for name in _private(node, self.function)}
        if inlines(then, orelse):
            return (*before, *merge(test, then, orelse, self.dtype, free))
        name = self.local("test", "i32")
        self.temporaries.add(name)
        held = Reference(name, (), self.text.span(node.test))
        kept = Assign("", held, test, self.text.span(node.test))
        return (*before, kept, *merge(held, then, orelse, self.dtype, free))


def _assumptions(function: Function) -> Condition:
    """Parameters are at least 0, and so are extents."""
    extents = (extent for storage in function.storage.values() for extent in storage.shape)
    return normalize(Condition((Polyhedron((*map(Affine.symbol, function.parameters), *extents)),)))


def _turns(lower: tuple[Affine, ...], upper: tuple[Affine, ...], step: int, scope: Scope) -> Affine | None:
    """How often a loop runs, where that is an affine form."""
    if len(lower) != 1 or len(upper) != 1 or not nonnegative(upper[0] - lower[0], scope.domain):
        return None
    return rounded(upper[0] - lower[0], abs(step))


def _between(value: Affine, lower: tuple[Affine, ...], upper: tuple[Affine, ...]) -> Condition:
    """Where a loop has a value."""
    return Condition((Polyhedron((*(value - low for low in lower), *(high - value - 1 for high in upper))),))


def _private(node: ast.If, function: Function) -> set[str]:
    """The local variables of the branches of `node` only, where they are assigned before they are read."""
    everywhere = Counter(names_in(function.node))
    inside = Counter(name for part in (*node.body, *node.orelse) for name in names_in(part))
    whole = {name for name in function.data if inside[name] and inside[name] == everywhere[name]}
    return {name for name in whole if all(_begins(name, branch) for branch in (node.body, node.orelse))}


def _begins(name: str, branch: Sequence[ast.stmt]) -> bool:
    first = next((part for part in branch if name in names_in(part)), None)
    match first:
        case None:
            return True
        case ast.Assign(targets=[ast.Name(id=target)], value=value):
            return target == name and name not in names_in(value)
        case _:
            return False


def _numbered(nodes: Sequence[Node], taken: set[str]) -> tuple[Node, ...]:
    """Statements named S1, S2, ... in the order of the text; they have other names than what the text has names for."""
    names = (fresh(f"S{n}", taken) for n in range(1, len(list(assignments(nodes))) + 1))

    def number(node: Node) -> Node:
        match node:
            case Assign():
                return replace(node, name=next(names))
            case Loop(body=body):
                return replace(node, body=tuple([number(inner) for inner in body]))
            case If(body=body, orelse=orelse):
                first = tuple([number(inner) for inner in body])
                return replace(node, body=first, orelse=tuple([number(inner) for inner in orelse]))

    return tuple([number(node) for node in nodes])
