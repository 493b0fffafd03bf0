# SPDX-License-Identifier: Apache-2.0
"""Nests of one element type from a few lines in Python's syntax, so that tests of the middle do not need a front end.

`nest("A[N]; s", "for i in range(N): s = s + A[i]")`: declarations are arguments, `local NAME[...]` a local, `const
NAME` by value.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import count

from polyloom.diagnostics import Source, Span
from polyloom.ir.nest import Apply, Assign, Expression, If, Index, Loop, Nest, Node, Storage, negate
from polyloom.ir.operations import ElementType
from polyloom.ir.pla import Constant, Reference
from polyloom.sets import Affine, Condition, Polyhedron
from polyloom.sets.normal_form import conjunction

BINARY: dict[type[ast.operator], str] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.Div: "div",
    ast.FloorDiv: "floordiv",
    ast.Mod: "mod",
}
COMPARE: dict[type[ast.cmpop], str] = {
    ast.Lt: "lt",
    ast.LtE: "le",
    ast.Gt: "gt",
    ast.GtE: "ge",
    ast.Eq: "eq",
    ast.NotEq: "ne",
}


def nest(declarations: str, body: str, assume: str = "", dtype: ElementType = "i32", name: str = "test") -> Nest:
    """The parameters are the names of the extents, of `assume` and all capitals of `body`; each is at least 0."""
    return _Reader(declarations, body, assume, dtype, name).nest()


class _Reader:
    def __init__(self, declarations: str, body: str, assume: str, dtype: ElementType, name: str) -> None:
        self.name, self.labels = name, count(1)
        self.dtype: ElementType = dtype
        self.source = Source("test.py", body)
        self.tree = ast.parse(body)
        self.starts = [0]
        for line in body.split("\n"):
            self.starts.append(self.starts[-1] + len(line) + 1)
        self.storage = {s.name: s for s in [self.declared(d.strip()) for d in declarations.split(";")]}
        assumed = ast.parse(assume or "True", mode="eval").body
        names = {n.id for t in (*self.tree.body, assumed) for n in ast.walk(t) if isinstance(n, ast.Name)}
        extents = {n for s in self.storage.values() for e in s.shape for n in e.symbols}
        self.parameters = tuple(sorted(extents | {n for n in names if n.isupper() and n not in self.storage}))
        self.assumptions = conjunction(
            self.condition(assumed), Condition((Polyhedron(tuple(map(Affine.symbol, self.parameters))),))
        )

    def declared(self, text: str) -> Storage:
        role = "local" if text.startswith("local ") else "argument"
        tree = ast.parse(text.removeprefix("local ").removeprefix("const "), mode="eval").body
        name, shape = (tree.value, _indices(tree)) if isinstance(tree, ast.Subscript) else (tree, [])
        assert isinstance(name, ast.Name)
        return Storage(name.id, self.dtype, tuple(map(self.affine, shape)), role, not text.startswith("const "))

    def nest(self) -> Nest:
        return Nest(
            self.name,
            self.parameters,
            self.assumptions,
            tuple(self.storage.values()),
            tuple(self.nodes(self.tree.body)),
        )

    def nodes(self, statements: list[ast.stmt]) -> Iterator[Node]:
        for statement in statements:
            match statement:
                case ast.For(target=ast.Name(id=name), iter=ast.Call(args=arguments)):
                    yield self.loop(name, arguments, statement)
                case ast.If(test=test):
                    yield If(
                        self.condition(test),
                        tuple(self.nodes(statement.body)),
                        tuple(self.nodes(statement.orelse)),
                        self.span(statement),
                    )
                case ast.Assign(targets=[target], value=value):
                    yield Assign(
                        f"S{next(self.labels)}", self.reference(target), self.value(value), self.span(statement)
                    )
                case ast.AugAssign(target=target, op=op, value=value):
                    total = Apply(
                        BINARY[type(op)], self.dtype, (self.reference(target), self.value(value)), self.span(statement)
                    )
                    yield Assign(f"S{next(self.labels)}", self.reference(target), total, self.span(statement))
                case _:
                    raise AssertionError(ast.dump(statement))

    def loop(self, name: str, arguments: list[ast.expr], statement: ast.For) -> Loop:
        """`range(max(a, b), min(c, d))`, or `range(last, before, -1)`."""
        body = tuple(self.nodes(statement.body))
        ends = [self.bounds(a) for a in arguments[:2]]
        if len(arguments) == 3:
            return Loop(
                name, tuple(e + 1 for e in ends[1]), tuple(e + 1 for e in ends[0]), body, -1, self.span(statement)
            )
        return Loop(name, ends[0] if len(ends) == 2 else (Affine(),), ends[-1], body, 1, self.span(statement))

    def bounds(self, tree: ast.expr) -> tuple[Affine, ...]:
        if not isinstance(tree, ast.Call):
            return (self.affine(tree),)
        assert ast.unparse(tree.func) in ("min", "max")
        return tuple(map(self.affine, tree.args))

    def affine(self, tree: ast.expr) -> Affine:
        match tree:
            case ast.Constant(value=int(value)):
                return Affine((), value)
            case ast.Name(id=name):
                return Affine.symbol(name)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return -self.affine(operand)
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                return self.affine(left) + self.affine(right)
            case ast.BinOp(left=left, op=ast.Sub(), right=right):
                return self.affine(left) - self.affine(right)
            case ast.BinOp(left=ast.Constant(value=int(factor)), op=ast.Mult(), right=right):
                return self.affine(right) * factor
            case _:
                raise AssertionError(ast.dump(tree))

    def condition(self, tree: ast.expr) -> Condition:
        match tree:
            case ast.Constant(value=True):
                return Condition()
            case ast.BoolOp(op=ast.And(), values=values):
                met = Condition()
                for value in values:
                    met = conjunction(met, self.condition(value))
                return met
            case ast.BoolOp(values=values):
                return Condition(tuple(p for value in values for p in self.condition(value).pieces))
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return negate(self.condition(operand))
            case ast.Compare(left=left, ops=ops, comparators=others):
                sides = list(map(self.affine, [left, *others]))
                met = Condition()
                for a, op, b in zip(sides, ops, sides[1:], strict=False):
                    met = conjunction(met, _compared(a, type(op), b))
                return met
            case _:
                raise AssertionError(ast.dump(tree))

    def reference(self, tree: ast.expr) -> Reference:
        match tree:
            case ast.Subscript(value=ast.Name(id=name)):
                return Reference(name, tuple(map(self.affine, _indices(tree))), self.span(tree))
            case ast.Name(id=name):
                return Reference(name, (), self.span(tree))
            case _:
                raise AssertionError(ast.dump(tree))

    def value(self, tree: ast.expr) -> Expression:
        match tree:
            case ast.Constant(value=int() | float() as value):
                return Constant(value, self.dtype, self.span(tree))
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(value))):
                return Constant(-value, self.dtype, self.span(tree))
            case ast.Name(id=name) if name not in self.storage:
                return Index(Affine.symbol(name), self.dtype, self.span(tree))
            case ast.Name() | ast.Subscript():
                return self.reference(tree)
            case ast.BinOp(left=left, op=op, right=right):
                return Apply(BINARY[type(op)], self.dtype, (self.value(left), self.value(right)), self.span(tree))
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                return Apply(COMPARE[type(op)], self.dtype, (self.value(left), self.value(right)), self.span(tree))
            case ast.Call(func=ast.Name(id=name), args=arguments):
                return Apply(name, self.dtype, tuple(map(self.value, arguments)), self.span(tree))
            case _:
                raise AssertionError(ast.dump(tree))

    def span(self, tree: ast.expr | ast.stmt) -> Span:
        start = self.starts[tree.lineno - 1] + tree.col_offset
        return Span(self.source, start, self.starts[(tree.end_lineno or 1) - 1] + (tree.end_col_offset or 0))


def _indices(tree: ast.Subscript) -> list[ast.expr]:
    return tree.slice.elts if isinstance(tree.slice, ast.Tuple) else [tree.slice]


def _compared(a: Affine, op: type[ast.cmpop], b: Affine) -> Condition:
    at_least, at_most = a - b, b - a
    pieces: dict[type[ast.cmpop], tuple[tuple[Affine, ...], ...]] = {
        ast.Lt: ((at_most - 1,),),
        ast.LtE: ((at_most,),),
        ast.Gt: ((at_least - 1,),),
        ast.GtE: ((at_least,),),
        ast.Eq: ((at_least, at_most),),
        ast.NotEq: ((at_least - 1,), (at_most - 1,)),
    }
    return Condition(tuple(map(Polyhedron, pieces[op])))
