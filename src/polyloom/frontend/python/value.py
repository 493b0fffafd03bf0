# SPDX-License-Identifier: Apache-2.0
"""From typed expressions to the nest's: references, constants, indices used as data, operations."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from functools import partial, reduce
from typing import Any

import numpy as np

from polyloom.diagnostics import Span
from polyloom.frontend.convert import comparison, converted
from polyloom.frontend.predicate import choice, guarded
from polyloom.frontend.python.affine import LIMIT, affine, depends_on_data, integer
from polyloom.frontend.python.function import Function
from polyloom.frontend.python.infer import Types, conversion, is_affine, subscripts
from polyloom.frontend.python.operators import BINARY, CALLS, COMPARE
from polyloom.frontend.python.outcome import Place, outcome
from polyloom.ir.library import KERNELS
from polyloom.ir.nest import Apply, Assign, Expression, If, Index, Node
from polyloom.ir.numbers import NUMPY, constant_in
from polyloom.ir.operations import BY_NAME, INTEGERS, ElementType, divides
from polyloom.ir.pla import Constant, Reference
from polyloom.ir.semantics import apply
from polyloom.sets import Affine, Condition, Polyhedron


class Values:
    """Builds expressions; `names` are the nest's for local variables and for copies of assigned scalar arguments."""

    def __init__(
        self,
        function: Function,
        types: Types,
        names: Mapping[str, str],
        held: Callable[[str, ElementType], str] | None = None,
    ) -> None:
        self.function, self.types, self.names, self.text = function, types, names, function.text
        self.held, self.before = held, list[Node]()

    def integer(self, node: ast.expr, place: Place, code: str, what: str) -> Affine:
        """The affine form of an index or a bound. Where data may be one, an integer scalar of `held` has it, which
        `before` assigns."""
        if self.held is None or not depends_on_data(node, place.scope):
            return integer(node, place.scope, code, what)
        self.types.slot(node)
        dtype = self.types.of(node)
        if dtype not in INTEGERS:
            help = "convert it: `pl.i32(...)`"
            raise self.text.error(code, f"{what} is of the type {dtype}, not an integer", node, help)
        value = self.of_type(node, "i32", place)
        scalar = Reference(self.held("at", "i32"), (), self.text.span(node))
        self.before.append(Assign("", scalar, value, scalar.span))
        return Affine.symbol(scalar.name)

    def taken(self) -> tuple[Node, ...]:
        """The nodes that must come before what was read since the last call."""
        found, self.before = tuple(self.before), []
        return found

    def gathers(self, node: ast.expr, place: Place) -> bool:
        """Whether an index of data is in an expression, which must be evaluated only where Python does."""
        slices = (inner.slice for inner in ast.walk(node) if isinstance(inner, ast.Subscript))
        parts = (part for each in slices for part in (each.elts if isinstance(each, ast.Tuple) else [each]))
        return self.held is not None and any(depends_on_data(part, place.scope) for part in parts)

    def assigned(self, held: Reference, value: Callable[[], Expression]) -> tuple[Node, ...]:
        """A branch that gives a scalar a value, which is evaluated in it."""
        around, self.before = self.before, []
        found = value()
        inner, self.before = self.taken(), around
        return (*inner, Assign("", held, found, held.span))

    def value(self, node: ast.expr, place: Place) -> Expression:
        """The value of `node`; raises PL0137, PL0143 and PL0148."""
        if is_affine(node, self.function.scope):
            return self.index(node, place)
        match node:
            case ast.Name(id=name) if name in self.types.variables or name in self.function.storage:
                return Reference(self.names.get(name, name), (), self.text.span(node))
            case ast.Constant() | ast.Name() | ast.Attribute():
                return self.constant(node, self.number(node))
            case ast.Subscript():
                return self.element(node, place)
            case ast.BinOp(left=left, op=ast.Pow(), right=right):
                return self.power(self.value(left, place), right, node)
            case ast.BinOp(left=left, op=operator, right=right):
                dtype = self.types.of(node)
                operands = self.of_type(left, dtype, place), self.of_type(right, dtype, place)
                return self.apply(BINARY[type(operator)][0], dtype, operands, node)
            case ast.UnaryOp(operand=operand) if not isinstance(node.op, ast.Not):
                return self.unary(node, self.value(operand, place))
            case ast.IfExp():
                return self.conditional(node, place)
            case ast.Call():
                return self.call(node, place)
            case _:
                return converted(self.test(node, place), "i32", "bool", self.text.span(node))

    def of_type(self, node: ast.expr, dtype: ElementType, place: Place) -> Expression:
        """The value of `node`, converted."""
        return converted(self.value(node, place), self.types.of(node), dtype, self.text.span(node))

    def power(self, base: Expression, exponent: ast.expr, node: ast.expr) -> Expression:
        """A library's function, which transform.library writes out."""
        by, dtype = affine(exponent, self.function.scope), self.types.of(node)
        assert by is not None
        span = self.text.span(node)
        return Apply("pow", dtype, (base, Constant(NUMPY[dtype].type(by.constant).item(), dtype, span)), span)

    def test(self, node: ast.expr, place: Place) -> Expression:
        """A condition on data, as an i32 that is not 0 where it holds."""
        known = outcome(node, place)
        if known is not None:
            return Constant(int(known), "i32", self.text.span(node))
        match node:
            case ast.Compare(left=left, ops=relations, comparators=others):
                sides, names = [left, *others], [COMPARE[type(relation)] for relation in relations]
                pairs = zip(names, sides, others, strict=False)
                return self.joined("and", [self.comparison(n, a, b, node, place) for n, a, b in pairs], node)
            case ast.BoolOp(op=operator, values=values):
                return self.connection(node, "and" if isinstance(operator, ast.And) else "or", values, place)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return self.apply("eq", "i32", (self.test(operand, place), Constant(0, "i32")), node)
            case _:
                dtype = self.types.of(node)
                if dtype == "bool":
                    return converted(self.value(node, place), dtype, "i32", self.text.span(node))
                return self.apply("ne", dtype, (self.value(node, place), self.constant(node, 0, dtype)), node)

    def comparison(self, name: str, left: ast.expr, right: ast.expr, node: ast.expr, place: Place) -> Expression:
        dtype = self.types.common(left, right)
        operands = self.of_type(left, dtype, place), self.of_type(right, dtype, place)
        if not BY_NAME[name].works_on(dtype) or all(isinstance(operand, Constant) for operand in operands):
            return self.apply(name, dtype, operands, node)
        return comparison(name, dtype, *operands, self.text.span(node))

    def connection(self, node: ast.BoolOp, operation: str, values: Sequence[ast.expr], place: Place) -> Expression:
        """Later operands count only where earlier ones have not decided, so that they must not fault elsewhere."""
        parts: list[Expression] = []
        for value in values:
            if outcome(value, place) is None:
                if parts and self.gathers(value, place):
                    parts = [self.short(operation, self.joined(operation, parts, node), value, place)]
                    continue
                part = self.test(value, place)
                # Both sides of `and` and `or` execute in the array; only a division in the later one could tell the
                # difference.
                parts.append(guarded(part, self.joined(operation, parts, node), operation == "and") if parts else part)
        return self.joined(operation, parts, node)

    def short(self, operation: str, first: Expression, later: ast.expr, place: Place) -> Expression:
        """`and` and `or` whose later operand is evaluated only where the first has not decided."""
        assert self.held is not None
        held = Reference(self.held("test", "i32"), (), self.text.span(later))
        self.before.append(Assign("", held, first, held.span))
        inner = self.assigned(held, lambda: self.test(later, place))
        ways = (inner, ()) if operation == "and" else ((), inner)
        self.before.append(If(not_zero(held), *ways, held.span))
        return held

    def joined(self, operation: str, parts: Sequence[Expression], node: ast.expr) -> Expression:
        return reduce(lambda a, b: self.apply(operation, "i32", (a, b), node), parts)

    def index(self, node: ast.expr, place: Place) -> Expression:
        self.in_scope(node, place)
        form, dtype = affine(node, place.scope), self.types.of(node)
        if form is not None and form.is_constant:
            return self.constant(node, form.constant, dtype)
        found = integer(node, place.scope, "PL0143", "a value", -LIMIT)
        return Index(found, dtype, self.text.span(node))

    def in_scope(self, node: ast.expr, place: Place) -> None:
        """Raises PL0148 for a loop, or a name of an affine expression, where it has no value."""
        for name in ast.walk(node):
            if (
                isinstance(name, ast.Name)
                and name.id in self.function.scope.integers
                and name.id not in place.scope.integers
            ):
                what = "the loop that it counts" if name.id in self.function.loops else "the block that assigns it"
                raise self.text.error(
                    "PL0148",
                    f"`{name.id}` has no value outside of {what}",
                    name,
                    "use another variable, or move the statement",
                )

    def number(self, node: ast.expr) -> float:
        value: Any = node.value if isinstance(node, ast.Constant) else self.function.scope.value(node)
        return int(value) if isinstance(value, bool) else float(value)

    def constant(self, node: ast.expr, value: float, dtype: ElementType | None = None) -> Constant:
        dtype = dtype or self.types.of(node)
        found = constant_in(value, dtype)
        if found is None:
            raise self.text.error(
                "PL0143", f"{value} is no {dtype}", node, "use a constant in range, or declare a wider type"
            )
        return Constant(found, dtype, self.text.span(node))

    def element(self, node: ast.Subscript, place: Place) -> Reference:
        """The element that is read or written; raises PL0137 where an index is not affine or counts from the end."""
        array, parts = subscripts(node)
        assert isinstance(array, ast.Name)
        for part in parts:
            self.in_scope(part, place)
        index = tuple([self.integer(part, place, "PL0137", "an index") for part in parts])
        for part, found, extent in zip(parts, index, self.function.storage[array.id].shape, strict=True):
            if found.is_constant and found.constant < 0:
                # Only a constant tells: whether `A[i - 1]` is negative somewhere is for the checks of the nest.
                help = f"write `{extent + found}`: a kernel counts from 0"
                raise self.text.error("PL0137", f"the index {found} counts from the end", part, help)
        return Reference(array.id, index, self.text.span(node))

    def unary(self, node: ast.UnaryOp, operand: Expression) -> Expression:
        dtype = self.types.of(node)
        match node.op:
            case ast.USub():
                return self.apply("neg", dtype, (operand,), node)
            case ast.Invert():
                ones = NUMPY[dtype].type(1 if dtype == "bool" else ~NUMPY[dtype].type(0)).item()
                return self.apply("xor", dtype, (operand, Constant(int(ones), dtype)), node)
            case _:
                return operand

    def conditional(self, node: ast.IfExp, place: Place) -> Expression:
        known = outcome(node.test, place)
        if known is not None:
            return self.of_type(node.body if known else node.orelse, self.types.of(node), place)
        test, dtype = self.test(node.test, place), self.types.of(node)
        # Constants that are compared give no affine condition where they are real numbers.
        if isinstance(test, Constant):
            return self.of_type(node.body if test.value else node.orelse, dtype, place)
        sides = (node.body, node.orelse)
        if self.held is not None and any(self.gathers(side, place) for side in sides):
            span = self.text.span(node)
            tested, held = Reference(self.held("test", "i32"), (), span), Reference(self.held("value", dtype), (), span)
            first, second = [self.assigned(held, partial(self.of_type, side, dtype, place)) for side in sides]
            self.before += Assign("", tested, test, span), If(not_zero(tested), first, second, span)
            return held
        body, orelse = (guarded(self.of_type(side, dtype, place), test, side is node.body) for side in sides)
        return choice(test, body, orelse, dtype, self.text.span(node))

    def call(self, node: ast.Call, place: Place) -> Expression:
        found = conversion(node, self.function.scope)
        if found is not None:
            return self.of_type(found[0], found[1], place)
        name = CALLS[self.function.scope.value(node.func)]
        if len(node.args) == 1:
            return self.apply(name, self.types.of(node.args[0]), (self.value(node.args[0], place),), node)
        dtype = self.types.of(node)
        operands = [self.of_type(argument, dtype, place) for argument in node.args]
        return reduce(lambda a, b: self.apply(name, dtype, (a, b), node), operands)

    def apply(
        self, name: str, dtype: ElementType, operands: tuple[Expression, ...], node: ast.expr | ast.stmt
    ) -> Expression:
        """An operation; one of constants is a constant, as the operation computes it."""
        if not BY_NAME[name].works_on(dtype):
            raise self.text.error(
                "PL0139",
                f"this operation does not exist for {dtype}: `{ast.unparse(node)}`",
                node,
                f"convert them: `pl.{'f32' if dtype == 'f16' else 'i32'}(...)`",
            )
        values = [operand.value for operand in operands if isinstance(operand, Constant)]
        if divides(name, dtype) and isinstance(operands[1], Constant) and operands[1].value == 0:
            raise self.text.error("PL0233", f"`{ast.unparse(node)}` divides by zero", node, "divide by another value")
        span = self.text.span(node)
        folded = _fold(name, dtype, values, span) if len(values) == len(operands) and name not in KERNELS else None
        return folded or Apply(name, dtype, operands, span)


def not_zero(held: Reference) -> Condition:
    """Where a scalar that is data is not 0."""
    value = Affine.symbol(held.name)
    return Condition((Polyhedron((value - 1,)), Polyhedron((-value - 1,))))


def _fold(name: str, dtype: ElementType, values: Sequence[float], span: Span) -> Constant | None:
    with np.errstate(all="ignore"):
        result = apply(name, dtype, [NUMPY[dtype].type(value) for value in values])
    kind = BY_NAME[name].result(dtype)
    if kind in ("f32", "f16", "f64"):
        return Constant(float(result), kind, span) if np.isfinite(result) else None
    return Constant(int(result), kind, span)
