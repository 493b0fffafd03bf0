# SPDX-License-Identifier: Apache-2.0
"""Counters: integers that are affine although they are assigned, such as offsets that a loop computes; what a statement
assigns to them, and what is known of them in a scope.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace

from polyloom.frontend.affine_proofs import is_nonnegative
from polyloom.frontend.loops.affine import Polynomial, Scope, affine_form
from polyloom.frontend.loops.elements import polynomial, times, total
from polyloom.frontend.loops.tree import Node
from polyloom.frontend.loops.types import RANGE
from polyloom.sets import Affine

Form = Affine | Polynomial
"""A value over loops and parameters; a sum of products where it is not affine."""
Values = Mapping[str, Form | None]
"""By identity; None is not known."""


def assigned_symbol(node: Node) -> str:
    """The identity of the variable that a statement assigns, or ""."""
    assigns = node.opcode in ("=", "++", "--") or node.kind == "update"
    left = node.inner[0] if assigns and node.inner else None
    return left.symbol if left is not None and left.kind == "name" else ""


def changed_counters(node: Node, counters: frozenset[str]) -> frozenset[str]:
    """The counters that a statement changes; those that it declares are its own."""
    found = {assigned_symbol(part) for part in node}
    return counters & found if found else frozenset()


def count_uses(nodes: Iterable[Node]) -> Counter[str]:
    """Use counts of variables in statements."""
    return Counter(n.symbol for node in nodes for n in node if n.kind == "name")


def is_dead_variable(name: str, statements: Iterable[Node]) -> bool:
    """Whether statements assign a variable before they read it: its value before them is not live."""
    first = next((part for part in statements if count_uses((part,))[name] or _declares(part, name)), None)
    if first is None or _declares(first, name):
        return True
    assigns = first.kind == "binary" and first.opcode == "=" and assigned_symbol(first) == name
    return assigns and not count_uses(first.inner[1:])[name]


def _declares(node: Node, name: str) -> bool:
    return node.kind == "declare" and any(declaration.symbol == name for declaration in node.inner)


def assigned_value(node: Node, scope: Scope) -> Affine | None:
    """Symbolic execution of an assignment: the affine form that its variable gets; None where that is not known."""
    if node.opcode == "=":
        return affine_form(node.inner[1], scope)
    before = affine_form(node.inner[0], scope)
    by = Affine((), 1) if node.kind == "unary" else affine_form(node.inner[1], scope)
    if before is None or by is None or node.opcode not in ("++", "--", "+=", "-=", "*="):
        return None
    if node.opcode == "*=":
        return before * by.constant if by.is_constant else None
    value = before + by if node.opcode[0] == "+" else before - by
    if (bounds := RANGE.get(node.inner[0].ctype)) is not None:
        inside = (value - bounds[0], -value + bounds[1])
        return value if all(is_nonnegative(form, scope.domain) for form in inside) else None
    # An unsigned variable that is not negative stays so when it grows; else it must be known.
    grows = node.opcode[0] == "+" and is_nonnegative(by, scope.domain)
    unsigned = node.inner[0].ctype.startswith("unsigned")
    return value if not unsigned or grows or is_nonnegative(value, scope.domain) else None


def assigned_product(node: Node, scope: Scope) -> Polynomial | None:
    """Symbolic execution of an assignment: the sum of products that its variable gets, where that is known."""
    if node.opcode == "=":
        return polynomial(node.inner[1], scope)
    before = polynomial(node.inner[0], scope)
    by = {(): 1} if node.kind == "unary" else polynomial(node.inner[1], scope)
    # What wraps below 0 has no value here: see `assigned_value`.
    if before is None or by is None or node.opcode not in ("++", "--", "+=", "-="):
        return None
    if node.opcode[0] == "-" and node.inner[0].ctype.startswith("unsigned"):
        return None
    return total(before, times(by, {(): 1 if node.opcode[0] == "+" else -1}))


def with_values(scope: Scope, values: Values) -> Scope:
    """The scope in which variables have other values."""
    symbols = {k: v for k, v in scope.symbols.items() if k not in values}
    products = {k: v for k, v in scope.products.items() if k not in values}
    for name, value in values.items():
        if isinstance(value, Affine):
            symbols[name] = value
        elif value is not None:
            products[name] = value
    return replace(scope, symbols=symbols, products=products)


def known_value(scope: Scope, name: str) -> Form | None:
    """What is known of a variable."""
    return scope.symbols.get(name, scope.products.get(name))


def monomials(form: Form) -> Polynomial:
    """A form as a sum of products."""
    if not isinstance(form, Affine):
        return form
    return {(name,): c for name, c in form.terms} | ({(): form.constant} if form.constant else {})
