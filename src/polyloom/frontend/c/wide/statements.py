# SPDX-License-Identifier: Apache-2.0
"""Statements on variables of 64 bits: two variables for each, and assignments of both words."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from itertools import count

from polyloom.frontend.c.wide.expressions import (
    Words,
    access_word,
    binary_operation,
    is_access,
    is_data,
    narrow_expression,
    pair,
    truth,
)
from polyloom.frontend.c.wide.words import WIDE, WORD, Pair, cast
from polyloom.frontend.loops import make
from polyloom.frontend.loops.counters import assigned_symbol
from polyloom.frontend.loops.roles import Roles
from polyloom.frontend.loops.substatements import Statements, map_statements
from polyloom.frontend.loops.tree import Node


def as_pairs(body: Node, roles: Roles) -> Node:
    """Body with pairs of words for its variables and expressions of 64 bits that are data."""
    if not any(part.ctype in WIDE for part in body):
        return body
    # What data set is none of them: a subscript that needs it is refused where it stands.
    counters = {*roles.sized, *roles.loops, *roles.parameters} - roles.data
    own = {n.symbol: n for n in body if n.kind == "variable" and n.symbol not in counters}
    pairs = {name: _pair(n) for name, n in own.items() if n.ctype in WIDE and n.storage not in ("static", "extern")}
    return _Lowering(pairs, own.keys() - pairs.keys()).block(body)


def _declarations(declaration: Node) -> tuple[Node, Node]:
    """The declarations of a variable's words."""
    low, high = (
        make.declare_variable(f"{declaration.name}_{part}", WORD, f"{declaration.symbol}@{part}", declaration)
        for part in ("low", "high")
    )
    return low, high


def _pair(declaration: Node) -> Pair:
    low, high = (make.variable_reference(each.inner[0], declaration) for each in _declarations(declaration))
    return Pair(low, high)


class _Lowering:
    """Lowering of a body; what an expression needs several times is named before its statement."""

    def __init__(self, pairs: dict[str, Pair], data: Collection[str]) -> None:
        self.pairs, self.data = pairs, data
        self.before = list[Node]()
        self.numbers = count(1)

    def block(self, node: Node) -> Node:
        return map_statements(node, self.statement)

    def words(self) -> Words:
        return Words(self.pairs, self.data, self.bind)

    def bind(self, node: Node) -> Node:
        """A variable for an expression that is not one, nor a constant."""
        inner = node
        while inner.kind == "convert" and inner.opcode == "IntegralCast":
            inner = inner.inner[0]
        if inner.kind in ("name", "integer"):
            return node
        declared = make.declare_variable("word", node.ctype, f"word@{next(self.numbers)}", node, node)
        self.before.append(declared)
        return make.variable_reference(declared.inner[0], node)

    def take_bindings(self, *made: Node) -> Statements:
        found, self.before = (*self.before, *made), []
        return found

    def statement(self, node: Node) -> Statements:
        match node.kind:
            case "declare":
                return tuple([s for declaration in node.inner for s in self.lower_declaration(declaration, node)])
            case "if":
                test = truth(node.inner[0], self.words())
                before = self.take_bindings()
                return (*before, self.block(replace(node, inner=(test, *node.inner[1:]))))
            case "binary" | "update" | "unary" if name := assigned_symbol(node):
                return self.lower_assignment(node, name)
            case "binary" | "update" | "unary" if node.opcode in ("=", "++", "--") or node.kind == "update":
                return self.lower_store(node)
            case _:
                return (self.block(node),)

    def lower_declaration(self, declaration: Node, node: Node) -> Statements:
        value = declaration.inner[-1] if declaration.initial else None
        if declaration.symbol not in self.pairs:
            if value is None or value.kind == "list" or declaration.ctype in WIDE:
                return (replace(node, inner=(declaration,)),)
            inner = (*declaration.inner[:-1], narrow_expression(value, self.words()))
            return self.take_bindings(replace(node, inner=(replace(declaration, inner=inner),)))
        low, high = _declarations(declaration)
        if value is None:
            return (low, high)
        found = pair(value, self.words())
        return self.take_bindings(_with_initializer(low, found.low), _with_initializer(high, found.high))

    def lower_assignment(self, node: Node, name: str) -> Statements:
        """An assignment to a variable."""
        to = self.pairs.get(name)
        if to is None:
            return self.lower_store(node)
        words = self.words()
        if node.kind == "unary":
            one = replace(make.number(1, node), ctype="long long")
            found = binary_operation(replace(node, opcode=node.opcode[0]), to, one, words)
        elif node.opcode == "=":
            found = pair(node.inner[1], words)
        else:
            whole = replace(node, ctype=node.types[-1] if node.types else node.ctype)
            found = binary_operation(whole, to, node.inner[1], words)
        # Both words before either is stored: the new ones depend on the old ones.
        low, high = words.bind(found.low), words.bind(found.high)
        return self.take_bindings(make.assignment(to.low, low, node), make.assignment(to.high, high, node))

    def store_words(self, node: Node) -> Statements:
        """An assignment to an element of 64 bits."""
        words, left = self.words(), node.inner[0]
        if node.kind == "unary":
            one = replace(make.number(1, node), ctype="long long")
            found = binary_operation(replace(node, opcode=node.opcode[0]), pair(left, words), one, words)
        elif node.opcode == "=":
            found = pair(node.inner[1], words)
        else:
            found = binary_operation(node, pair(left, words), node.inner[1], words)
        low, high = words.bind(found.low), words.bind(found.high)
        stores = [make.assignment(access_word(left, n), each, node) for n, each in enumerate((low, high))]
        return self.take_bindings(*stores)

    def lower_store(self, node: Node) -> Statements:
        """An assignment to an element, or to a variable of another type."""
        words = self.words()
        if is_access(node.inner[0]):
            return self.store_words(node)
        if node.kind == "unary":
            return (node,)
        left, right = node.inner
        if node.kind == "update" and {*node.types} & {*WIDE} and left.ctype not in WIDE:
            # Computed in 64 bits, and converted back (C17, section 6.5.16.2).
            before = Node("convert", node.span, node.types[0], (left,), "IntegralCast")
            opcode = node.opcode.removesuffix("=")
            whole = make.binary(opcode, before, right, node.types[-1], node)
            node, right = replace(node, kind="binary", opcode="=", types=()), cast(whole, left.ctype)
        if not is_data(right, words):
            return (node,)
        return self.take_bindings(replace(node, inner=(left, narrow_expression(right, words))))


def _with_initializer(declared: Node, value: Node) -> Node:
    (variable,) = declared.inner
    return replace(declared, inner=(replace(variable, inner=(value,), initial=True),))
