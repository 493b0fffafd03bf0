# SPDX-License-Identifier: Apache-2.0
"""Nest rewriting: a copy in which affine forms, elements or statements are others (visitor pattern).

`Rewriter` rebuilds every node as it is; a transformation overrides what it changes. A node becomes any number of nodes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from polyloom.ir.nest import Apply, Assign, Cell, Expression, If, Index, Loop, Node, cell
from polyloom.ir.pla import Constant, Reference
from polyloom.names import dotted_name, fresh_name
from polyloom.sets import Affine, Condition, Polyhedron


class Rewriter:
    """Identity rewriting, of which others are subclasses."""

    def nodes(self, nodes: Sequence[Node]) -> tuple[Node, ...]:
        # A list, not a generator: Python resumes each level of nested generators anew for every node.
        return tuple([made for node in nodes for made in self.node(node)])

    def node(self, node: Node) -> Iterable[Node]:
        match node:
            case Assign():
                return self.assign(node)
            case Loop():
                return self.loop(node)
            case If():
                return self.branch(node)

    def assign(self, node: Assign) -> Iterable[Node]:
        return (self.assignment(node),)

    def assignment(self, node: Assign) -> Assign:
        return replace(node, target=self.reference(node.target), value=self.value(node.value))

    def loop(self, node: Loop) -> Iterable[Node]:
        return (replace(node, lower=self.forms(node.lower), upper=self.forms(node.upper), body=self.nodes(node.body)),)

    def branch(self, node: If) -> Iterable[Node]:
        condition = self.condition(node.condition)
        return (replace(node, condition=condition, body=self.nodes(node.body), orelse=self.nodes(node.orelse)),)

    def condition(self, condition: Condition) -> Condition:
        return Condition(tuple(Polyhedron(self.forms(piece.constraints)) for piece in condition.pieces))

    def value(self, value: Expression) -> Expression:
        match value:
            case Reference():
                return self.reference(value)
            case Index():
                return replace(value, value=self.form(value.value))
            case Apply():
                return replace(value, operands=tuple(map(self.value, value.operands)))
            case Constant():
                return value

    def reference(self, reference: Reference) -> Reference:
        return replace(reference, index=self.forms(reference.index))

    def forms(self, forms: Sequence[Affine]) -> tuple[Affine, ...]:
        return tuple(map(self.form, forms))

    def form(self, form: Affine) -> Affine:
        return form


class Substitution(Rewriter):
    """Substitution of affine forms for symbols."""

    def __init__(self, values: Mapping[str, Affine]) -> None:
        self.values = dict(values)

    def form(self, form: Affine) -> Affine:
        return form.substitute(self.values)


class Copy(Substitution):
    """A second copy in the same nest: also with elements in the place of others, and new names for its statements and
    loops, which are taken from then on."""

    def __init__(self, values: Mapping[str, Affine], cells: Mapping[Cell, Reference], taken: set[str]) -> None:
        super().__init__(values)
        self.cells, self.taken = cells, taken

    def assignment(self, node: Assign) -> Assign:
        return super().assignment(replace(node, name=fresh_name(node.name, self.taken, dotted_name)))

    def loop(self, node: Loop) -> Iterable[Node]:
        # Bounds first: the loop's own name means nothing in them.
        lower, upper, name = (
            self.forms(node.lower),
            self.forms(node.upper),
            fresh_name(node.name, self.taken, dotted_name),
        )
        self.values[node.name] = Affine.symbol(name)
        return (replace(node, name=name, lower=lower, upper=upper, body=self.nodes(node.body)),)

    def reference(self, reference: Reference) -> Reference:
        # Looked up before anything is substituted: cells are named as the original nest has them.
        return self.cells.get(cell(reference)) or super().reference(reference)


def substitute_symbols(nodes: Sequence[Node], values: Mapping[str, Affine]) -> tuple[Node, ...]:
    """Nodes with affine forms in the place of symbols."""
    return Substitution(values).nodes(nodes)


class _Symbols(Rewriter):
    """Collector of symbols: a rewriting that changes nothing."""

    def __init__(self) -> None:
        self.found = set[str]()

    def form(self, form: Affine) -> Affine:
        self.found |= form.symbols
        return form


def mentioned_symbols(nodes: Sequence[Node]) -> frozenset[str]:
    """Symbols of all affine forms below nodes: bounds, conditions, subscripts, operands."""
    found = _Symbols()
    found.nodes(tuple(nodes))
    return frozenset(found.found)
