# SPDX-License-Identifier: Apache-2.0
"""Copies of nodes in which loops are other forms, elements other elements, and loops inside have new names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from polyloom.ir.nest import Apply, Assign, Expression, If, Index, Loop, Node
from polyloom.ir.pla import Constant, Reference
from polyloom.names import dotted, fresh
from polyloom.sets import Affine, Condition
from polyloom.targets.minion.loops.simd.elements import Key, key


class Renamed:
    """`forms` are those of loops, `elements` those of elements of arrays; `taken` are names that loops have."""

    def __init__(self, forms: dict[str, Affine], elements: dict[Key, Reference], taken: set[str]) -> None:
        self.forms, self.elements, self.taken = dict(forms), elements, taken

    def nodes(self, nodes: Sequence[Node]) -> tuple[Node, ...]:
        return tuple(self.node(node) for node in nodes)

    def node(self, node: Node) -> Node:
        match node:
            case Assign():
                return replace(node, target=self.reference(node.target), value=self.value(node.value))
            case If():
                pieces = tuple(p.substitute(self.forms) for p in node.condition.pieces)
                return If(Condition(pieces), self.nodes(node.body), self.nodes(node.orelse), node.span)
            case Loop():
                lower, upper = (tuple(e.substitute(self.forms) for e in ends) for ends in (node.lower, node.upper))
                name = fresh(node.name, self.taken, dotted)
                self.forms[node.name] = Affine.symbol(name)
                return replace(node, name=name, lower=lower, upper=upper, body=self.nodes(node.body))

    def reference(self, reference: Reference) -> Reference:
        if key(reference) in self.elements:
            return self.elements[key(reference)]
        return replace(reference, index=tuple(i.substitute(self.forms) for i in reference.index))

    def value(self, value: Expression) -> Expression:
        match value:
            case Reference():
                return self.reference(value)
            case Apply():
                return replace(value, operands=tuple(self.value(o) for o in value.operands))
            case Index():
                return replace(value, value=value.value.substitute(self.forms))
            case Constant():
                return value
