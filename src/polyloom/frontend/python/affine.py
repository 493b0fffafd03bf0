# SPDX-License-Identifier: Apache-2.0
"""Syntax trees read as affine forms and affine conditions of loops, sizes and integer parameters.

`affine` and `condition` answer None where an expression is not affine: then it is data, or `not_affine` says why it
cannot be.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from operator import index
from types import ModuleType
from typing import Any

from polyloom.diagnostics import PolyloomError
from polyloom.frontend.known import floored, never, nonnegative
from polyloom.frontend.names import suggestion
from polyloom.frontend.python.text import Text
from polyloom.frontend.python.types import Size
from polyloom.ir.nest import negate
from polyloom.sets import Affine, Condition, Polyhedron
from polyloom.sets.normal import conjunction, normalize

LIMIT = 1 << 31
NOTHING = object()
"""The value of a name that has none."""


@dataclass(frozen=True, slots=True)
class Scope:
    """What names mean at one place of a function: `integers` are loops, integer parameters and names for affine
    expressions; names that are `bound` by the function otherwise are data; all others are looked up in `namespace`, the
    module's. `domain` is where the place is executed, as far as loops and affine tests say; `sizes` are forms of
    parameters that loops around take apart."""

    text: Text
    namespace: Mapping[str, object]
    bound: frozenset[str]
    integers: Mapping[str, Affine]
    domain: Condition = field(default_factory=Condition)
    sizes: Mapping[str, Affine] = field(default_factory=dict[str, Affine])

    def having(self, name: str, value: Affine) -> Scope:
        return replace(self, integers={**self.integers, name: value})

    def within(self, where: Condition) -> Scope:
        return replace(self, domain=conjunction(self.domain, where))

    def value(self, node: ast.expr) -> object:
        """The module's object that a name or an attribute of one stands for, or NOTHING."""
        match node:
            case ast.Name(id=name) if name not in self.bound:
                return self.namespace.get(name, getattr(builtins, name, NOTHING))
            case ast.Attribute(value=base, attr=attribute):
                owner = self.value(base)
                return NOTHING if owner is NOTHING else getattr(owner, attribute, NOTHING)
            case _:
                return NOTHING

    def unknown(self, node: ast.Name | ast.Attribute) -> PolyloomError:
        """PL0140 for a name that stands for nothing."""
        if isinstance(node, ast.Name):
            return self.text.error(
                "PL0140",
                f"unknown name `{node.id}`",
                node,
                suggestion(
                    node.id,
                    self.known(),
                    f"pass it as an argument, or declare a size: `{node.id} = pl.size({node.id!r})`",
                ),
            )
        owner = self.value(node.value)
        known = [name for name in dir(owner) if not name.startswith("_")] if isinstance(owner, ModuleType) else []
        return self.text.error(
            "PL0140",
            f"`{ast.unparse(node.value)}` has no `{node.attr}`",
            node,
            suggestion(node.attr, known, "pass its value as an argument"),
        )

    def known(self) -> list[str]:
        """The names that can stand in a kernel."""
        return [
            *self.bound,
            *self.integers,
            *(name for name, value in self.namespace.items() if isinstance(value, int | float | Size)),
        ]


def affine(node: ast.expr, scope: Scope) -> Affine | None:
    """The affine form of an integer expression."""
    match node:
        case ast.Constant(value=int(value)):
            return Affine((), int(value))
        case ast.Name(id=name) if name in scope.integers:
            return scope.integers[name].substitute(scope.sizes)
        case ast.Name() | ast.Attribute():
            found = _module_integer(scope.value(node))
            return None if found is None else found.substitute(scope.sizes)
        case ast.UnaryOp(op=ast.USub() | ast.UAdd() as sign, operand=operand):
            value = affine(operand, scope)
            return -value if value is not None and isinstance(sign, ast.USub) else value
        case ast.BinOp(left=left, op=operator, right=right):
            a, b = affine(left, scope), affine(right, scope)
            return None if a is None or b is None else _combine(operator, a, b, scope.domain)
        case ast.IfExp(test=test, body=body, orelse=orelse):
            known = _known(test, scope)
            return None if known is None else affine(body if known else orelse, scope)
        case ast.Call(func=called, args=[left, right], keywords=[]) if scope.value(called) in (min, max):
            a, b = affine(left, scope), affine(right, scope)
            return None if a is None or b is None else _extreme(a, b, scope.value(called) is min, scope.domain)
        case _:
            return None


def _known(test: ast.expr, scope: Scope) -> bool | None:
    """Whether a test holds everywhere, or nowhere."""
    where = condition(test, scope)
    if where is None:
        return None
    if all(never(piece, scope.domain) for piece in where.pieces):
        return False
    return True if all(never(piece, scope.domain) for piece in negate(where).pieces) else None


def _extreme(a: Affine, b: Affine, least: bool, domain: Condition) -> Affine | None:
    """The lesser one or the greater one of two, where that is the same everywhere."""
    if nonnegative(b - a, domain):
        return a if least else b
    return (b if least else a) if nonnegative(a - b, domain) else None


def _module_integer(value: object) -> Affine | None:
    if isinstance(value, Size):
        return value.form
    number = as_integer(value)
    return None if number is None else Affine((), number)


def as_integer(value: Any) -> int | None:
    """The integer that an object of the module is, if it is one."""
    try:
        return index(value)
    except TypeError:
        return None


def _combine(operator: ast.operator, a: Affine, b: Affine, domain: Condition) -> Affine | None:
    match operator:
        case ast.Add():
            return a + b
        case ast.Sub():
            return a - b
        case ast.Mult() if b.is_constant:
            return a * b.constant
        case ast.Mult() if a.is_constant:
            return b * a.constant
        case ast.FloorDiv() if a.is_constant and b.is_constant and b.constant:
            return Affine((), a.constant // b.constant)
        case ast.Mod() if a.is_constant and b.is_constant and b.constant:
            return Affine((), a.constant % b.constant)
        case ast.FloorDiv() | ast.Mod() if not b.is_constant or b.constant > 0:
            both = floored(a, b, domain)
            return None if both is None else both[isinstance(operator, ast.Mod)]
        case _:
            return None


def condition(node: ast.expr, scope: Scope) -> Condition | None:
    """Where an affine test holds; a bare integer holds where it is not 0."""
    match node:
        case ast.Compare(left=left, ops=relations, comparators=others):
            sides = [affine(e, scope) for e in (left, *others)]
            found = Condition()
            for a, relation, b in zip(sides, relations, sides[1:], strict=False):
                where = None if a is None or b is None else _relation(a - b, relation)
                if where is None:
                    return None
                found = conjunction(found, where)
            return found
        case ast.BoolOp(op=operator, values=values):
            parts = [condition(value, scope) for value in values]
            known = [part for part in parts if part is not None]
            return _join(operator, known) if len(known) == len(parts) else None
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            inner = condition(operand, scope)
            return None if inner is None else normalize(negate(inner))
        case _:
            value = affine(node, scope)
            return None if value is None else _relation(value, ast.NotEq())


def _join(operator: ast.boolop, parts: list[Condition]) -> Condition:
    if isinstance(operator, ast.Or):
        return normalize(Condition(tuple(piece for part in parts for piece in part.pieces)))
    found = Condition()
    for part in parts:
        found = conjunction(found, part)
    return found


def _relation(difference: Affine, relation: ast.cmpop) -> Condition | None:
    """Where `difference relation 0`."""
    above, below = difference - 1, -difference - 1
    match relation:
        case ast.Eq():
            pieces = ((difference, -difference),)
        case ast.NotEq():
            pieces = ((above,), (below,))
        case ast.Lt():
            pieces = ((below,),)
        case ast.LtE():
            pieces = ((-difference,),)
        case ast.Gt():
            pieces = ((above,),)
        case ast.GtE():
            pieces = ((difference,),)
        case _:
            return None
    return normalize(Condition(tuple(map(Polyhedron, pieces))))


def decided(where: Condition) -> bool | None:
    """Whether a condition holds always or never, as far as its form shows."""
    if not where.pieces:
        return False
    return True if any(not piece.constraints for piece in where.pieces) else None


def integer(node: ast.expr, scope: Scope, code: str, what: str, least: int = 1 - LIMIT) -> Affine:
    """The affine form of what must have one, its constants from `least` on; raises `code`, for `what`, at the part that
    is not affine, and PL0140."""
    found = affine(node, scope)
    if found is None:
        raise not_affine(node, scope, code, what)
    if any(not least <= c < LIMIT for c in (found.constant, *(c for _, c in found.terms))):
        raise scope.text.error(code, f"{what} has a constant that is too large", node, "stay below 2**31")
    return found


def depends_on_data(node: ast.expr, scope: Scope) -> bool:
    """Whether data are all that keeps an expression from being affine, at its innermost such part."""
    part = next((n for n in _inside_out(node) if affine(n, scope) is None and not isinstance(n, ast.Slice)), None)
    return part is not None and any(
        isinstance(n, ast.Subscript) or (isinstance(n, ast.Name) and n.id in scope.bound and n.id not in scope.integers)
        for n in ast.walk(part)
    )


def not_affine(node: ast.expr, scope: Scope, code: str, what: str) -> PolyloomError:
    """Why an expression is not affine, at its innermost part that is not."""
    part = next(n for n in _inside_out(node) if affine(n, scope) is None and not isinstance(n, ast.Slice))
    error = scope.text.error
    match part:
        case ast.Name(id=name) if name in scope.bound:
            return error(
                code,
                f"{what} depends on data: `{name}`",
                part,
                "use loops, sizes, `int` arguments and constants; a loop has a value only in its body",
            )
        case ast.Name() | ast.Attribute() if scope.value(part) is NOTHING:
            return scope.unknown(part)
        case ast.Subscript():
            help = (
                "which iterations run and which elements they access must be known before data is: access a fixed "
                "range and select, or run the function as it is on a processor, `--on riscv`"
            )
            return error(code, f"{what} depends on data: `{ast.unparse(part)}`", part, help)
        case ast.BinOp(op=ast.Mult()):
            return error(
                code,
                f"{what} has a product of two variables: `{ast.unparse(part)}`",
                part,
                "multiply by integer constants only",
            )
        case ast.Call(func=ast.Name(id="min" | "max")):
            help = "select between two accesses: `x[i - 1] if i >= 1 else x[0]` for `x[max(i - 1, 0)]`"
            return error(code, f"{what} is a minimum or a maximum: `{ast.unparse(part)}`", part, help)
        case ast.BinOp(op=ast.FloorDiv() | ast.Mod() | ast.Div()):
            return error(
                code,
                f"{what} has a quotient or a remainder: `{ast.unparse(part)}`",
                part,
                "declare a size, or an argument, for its value",
            )
        case _:
            help = "write sums of loops, sizes and `int` arguments times integer constants"
            return error(code, f"{what} is not affine: `{ast.unparse(part)}`", part, help)


def _inside_out(node: ast.expr) -> Iterator[ast.expr]:
    """The integer expressions in a node, innermost first; what an access or a call holds is no part."""
    children = ast.iter_child_nodes(node) if isinstance(node, ast.BinOp | ast.UnaryOp) else ()
    for child in children:
        if isinstance(child, ast.expr):
            yield from _inside_out(child)
    yield node
