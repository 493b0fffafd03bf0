# SPDX-License-Identifier: Apache-2.0
"""Integer expressions of C as affine forms of loops and parameters, comparisons of them as conditions.

Both answer None for an expression that is not affine: what that means depends on where it stands, and `obstacle` says
why.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from polyloom.frontend.c.tree import Node, strip
from polyloom.ir.nest import Expression, Storage, negate
from polyloom.ir.operations import ElementType
from polyloom.sets import Affine, Condition, Polyhedron
from polyloom.sets.normal import conjunction, normalize

COMPARISONS = {"<": "lt", "<=": "le", ">": "gt", ">=": "ge", "==": "eq", "!=": "ne"}
_INTEGERS = ("char", "signed char", "unsigned char", "short", "unsigned short", "int", "long", "long long")


@dataclass(frozen=True, slots=True)
class Scope:
    """What names stand for, by clang's identity of their declarations.

    `symbols`: loops, parameters and names of affine values; `storage`: arrays and scalars; `functions`: what can be
    expanded; `loops`: loop variables, also outside of their loops; `values`: the arguments of a function that is being
    expanded; `choices`: conditional operators that a surrounding condition has decided; `domain`: where the text at
    hand executes; `named`: the integers of `symbols` by the names that they have at this place of the text, for the
    extents, of which clang gives the text; `defined`: the names of the functions that have a body, also in headers.
    """

    symbols: Mapping[str, Affine]
    storage: Mapping[str, Storage]
    functions: Mapping[str, Node]
    loops: frozenset[str] = frozenset()
    values: Mapping[str, tuple[Expression, ElementType]] = field(
        default_factory=dict[str, tuple[Expression, ElementType]]
    )
    choices: Mapping[str, bool] = field(default_factory=dict[str, bool])
    domain: Condition = field(default_factory=Condition)
    named: Mapping[str, Affine] = field(default_factory=dict[str, Affine])
    defined: frozenset[str] = frozenset()

    def naming(self, name: str, identity: str, value: Affine) -> Scope:
        """With a declaration of an integer called `name`."""
        return replace(self, symbols={**self.symbols, identity: value}, named={**self.named, name: value})

    def storing(self, name: str, identity: str, storage: Storage) -> Scope:
        """With a declaration of data called `name`, which hides an integer."""
        return replace(
            self, storage={**self.storage, identity: storage}, named={n: a for n, a in self.named.items() if n != name}
        )

    def within(self, condition: Condition) -> Scope:
        return replace(self, domain=conjunction(self.domain, condition))

    def choosing(self, conditional: Node, first: bool) -> Scope:
        return replace(self, choices={**self.choices, conditional.id: first})

    def without(self, function: str) -> Scope:
        """While `function` is expanded, it cannot be expanded again."""
        return replace(self, functions={key: node for key, node in self.functions.items() if node.name != function})

    def chosen(self, conditional: Node) -> Node | None:
        """The operand of a decided conditional operator."""
        choice = self.choices.get(conditional.id)
        return None if choice is None else conditional.inner[1 if choice else 2]


def affine(node: Node, scope: Scope) -> Affine | None:
    """The affine form of an integer expression."""
    node = strip(node)
    match node.kind:
        case "IntegerLiteral" | "CharacterLiteral":
            return Affine((), int(node.data["value"]))
        case "DeclRefExpr":
            return scope.symbols.get(node.declaration)
        case "UnaryOperator" if node.opcode in ("+", "-"):
            value = affine(node.inner[0], scope)
            return value if value is None or node.opcode == "+" else -value
        case "BinaryOperator" if node.opcode in _ARITHMETIC:
            return _binary(node.opcode, affine(node.inner[0], scope), affine(node.inner[1], scope))
        case "ImplicitCastExpr" | "CStyleCastExpr" if node.data["castKind"] == "IntegralCast" and _widens(node):
            return affine(node.inner[0], scope)
        case "ConditionalOperator":
            chosen = scope.chosen(node)
            return None if chosen is None else affine(chosen, scope)
        case _:
            return None


_ARITHMETIC = ("+", "-", "*", "/", "%")


def _binary(opcode: str, a: Affine | None, b: Affine | None) -> Affine | None:
    if a is None or b is None:
        return None
    match opcode:
        case "+":
            return a + b
        case "-":
            return a - b
        case "*" if a.is_constant or b.is_constant:
            return b * a.constant if a.is_constant else a * b.constant
        case "/" | "%" if a.is_constant and b.is_constant and b.constant:
            # C truncates towards zero (C17 6.5.5), Python's // rounds down.
            quotient = abs(a.constant) // abs(b.constant) * (1 if (a.constant < 0) == (b.constant < 0) else -1)
            return Affine((), quotient if opcode == "/" else a.constant - quotient * b.constant)
        case _:
            return None


def _widens(cast: Node) -> bool:
    known = cast.ctype in _INTEGERS and not cast.ctype.startswith("unsigned") and cast.inner[0].ctype in _INTEGERS
    return known and _INTEGERS.index(cast.ctype) >= _INTEGERS.index(cast.inner[0].ctype)


def condition(node: Node, scope: Scope) -> Condition | None:
    """Where an expression of affine comparisons holds."""
    node = strip(node)
    match node.kind:
        case "BinaryOperator" if node.opcode in COMPARISONS:
            a, b = (affine(child, scope) for child in node.inner)
            return None if a is None or b is None else normalize(_relation(node.opcode, a - b))
        case "BinaryOperator" if node.opcode in ("&&", "||"):
            left, right = (condition(child, scope) for child in node.inner)
            if left is None or right is None:
                return None
            return (
                conjunction(left, right) if node.opcode == "&&" else normalize(Condition((*left.pieces, *right.pieces)))
            )
        case "UnaryOperator" if node.opcode == "!":
            inner = condition(node.inner[0], scope)
            return None if inner is None else normalize(negate(inner))
        case "ImplicitCastExpr" if node.data["castKind"] == "IntegralToBoolean":
            return condition(node.inner[0], scope)
        case _:
            value = affine(node, scope)
            return None if value is None else normalize(_relation("!=", value))


def _relation(opcode: str, difference: Affine) -> Condition:
    """Where `difference opcode 0`."""
    above, below = difference + -1, -difference + -1
    pieces = {
        "<": ((below,),),
        "<=": ((-difference,),),
        ">": ((above,),),
        ">=": ((difference,),),
        "==": ((difference, -difference),),
        "!=": ((above,), (below,)),
    }
    return Condition(tuple(Polyhedron(piece) for piece in pieces[opcode]))


def extremes(node: Node, scope: Scope, least: bool) -> tuple[Affine, ...] | None:
    """The affine forms whose minimum (`least`) or maximum an expression is; `a < b ? a : b` is one."""
    node = strip(node)
    value = affine(node, scope)
    if value is not None:
        return (value,)
    if node.kind == "ConditionalOperator":
        return _idiom(node, scope, least)
    if node.kind == "BinaryOperator" and node.opcode in ("+", "-"):
        return _shifted(node, scope, least)
    if expanded := expand(node, scope):
        return extremes(*expanded, least)
    return None


def _shifted(node: Node, scope: Scope, least: bool) -> tuple[Affine, ...] | None:
    """An extreme plus or minus an affine form: the extreme of the sums."""
    base, offset = extremes(node.inner[0], scope, least), affine(node.inner[1], scope)
    if base is None and node.opcode == "+":
        base, offset = extremes(node.inner[1], scope, least), affine(node.inner[0], scope)
    if base is None or offset is None:
        return None
    return tuple(form + offset if node.opcode == "+" else form - offset for form in base)


def _idiom(node: Node, scope: Scope, least: bool) -> tuple[Affine, ...] | None:
    test, first, second = map(strip, node.inner)
    if test.opcode not in ("<", "<=", ">", ">="):
        return None
    a, b = (extremes(child, scope, least) for child in test.inner)
    arms = extremes(first, scope, least), extremes(second, scope, least)
    # `a < b ? a : b` is a minimum and `a < b ? b : a` a maximum; `>` exchanges them.
    ordered = (a, b) if (test.opcode[0] == "<") == least else (b, a)
    return None if a is None or b is None or arms != ordered else tuple(dict.fromkeys((*a, *b)))


def expand(call: Node, scope: Scope) -> tuple[Node, Scope] | None:
    """The result of a call of a function that only returns an expression, with its parameters bound, where the
    arguments are affine."""
    body = function_result(call, scope)
    if body is None:
        return None
    parameters, result = body
    values = [affine(argument, scope) for argument in call.inner[1:]]
    bound = {p.id: value for p, value in zip(parameters, values, strict=True) if value is not None}
    inside = replace(scope, symbols={**scope.symbols, **bound}).without(callee(call))
    return (result, inside) if len(bound) == len(values) else None


def callee(call: Node) -> str:
    """The name of the called function, "" where it is computed."""
    function = strip(call.inner[0])
    return function.data["referencedDecl"].get("name", "") if function.kind == "DeclRefExpr" else ""


def function_result(call: Node, scope: Scope) -> tuple[list[Node], Node] | None:
    """The parameters of the called function and the expression that it returns, if that is all it does."""
    if call.kind != "CallExpr":
        return None
    called = strip(call.inner[0])
    function = scope.functions.get(called.declaration) if called.kind == "DeclRefExpr" else None
    if function is None:
        return None
    parameters, body = [n for n in function.inner if n.kind == "ParmVarDecl"], function.inner[-1]
    # Helpers such as `static int min(int a, int b) { return ...; }`; anything longer is not expanded in bounds.
    simple = len(body.inner) == 1 and body.inner[0].kind == "ReturnStmt" and len(body.inner[0].inner) == 1
    return (parameters, body.inner[0].inner[0]) if simple and len(parameters) == len(call.inner) - 1 else None


def obstacle(node: Node, scope: Scope) -> tuple[Node, str]:
    """The innermost part that keeps an expression from being affine, and what is the matter with it."""
    node = strip(node)
    if node.kind in ("ArraySubscriptExpr", "CallExpr", "MemberExpr") or (
        node.kind == "UnaryOperator" and node.opcode == "*"
    ):
        return node, "depends on a function's result" if node.kind == "CallExpr" else "depends on data"
    if node.kind == "DeclRefExpr":
        return node, f"depends on the value of the variable `{node.data['referencedDecl'].get('name', '')}`"
    for child in node.inner:
        if child.kind and affine(child, scope) is None:
            return obstacle(child, scope)
    return node, f"is not affine because of `{node.opcode}`" if node.opcode else "is not affine"
