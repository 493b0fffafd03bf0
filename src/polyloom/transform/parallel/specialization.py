# SPDX-License-Identifier: Apache-2.0
"""A nest at given sizes, in the arithmetic that `--fp` asks for.

Parameters become numbers, so that later passes ask isl about bounded sets of integers. Under `contract` and
`reassociate`, `a * b + c` within one value is one `madd`, rounded once (C17 6.5, "contracted"); under `strict` every
operation rounds. `a * b - c` and `c - a * b` are `madd`s with an operand negated, which is exact.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeGuard

from polyloom.ir.nest import Apply, Assign, Expression, If, Index, Loop, Nest, Node
from polyloom.ir.numbers import element
from polyloom.ir.pla import Constant, Reference
from polyloom.sets import Affine, Condition, Polyhedron
from polyloom.targets.minion.options import Fp


def concrete(nest: Nest, values: Mapping[str, int], fp: Fp) -> Nest:
    """The nest without parameters."""
    made = _Made({name: Affine((), value) for name, value in values.items()}, fp != "strict")
    storage = tuple(replace(s, shape=tuple(made.affine(e) for e in s.shape)) for s in nest.storage)
    return Nest(nest.name, (), Condition(), storage, made.nodes(nest.body), nest.span)


class _Made:
    def __init__(self, values: Mapping[str, Affine], contracts: bool) -> None:
        self.values, self.contracts = values, contracts

    def affine(self, form: Affine) -> Affine:
        return form.substitute(self.values)

    def nodes(self, nodes: tuple[Node, ...]) -> tuple[Node, ...]:
        return tuple(self.node(node) for node in nodes)

    def node(self, node: Node) -> Node:
        match node:
            case Assign():
                return replace(node, target=self.reference(node.target), value=self.value(node.value))
            case Loop():
                lower, upper = (tuple(map(self.affine, ends)) for ends in (node.lower, node.upper))
                return replace(node, lower=_extreme(lower, max), upper=_extreme(upper, min), body=self.nodes(node.body))
            case If():
                pieces = (Polyhedron(tuple(map(self.affine, p.constraints))) for p in node.condition.pieces)
                condition = Condition(tuple(p for p in map(_reduced, pieces) if p is not None))
                return replace(node, condition=condition, body=self.nodes(node.body), orelse=self.nodes(node.orelse))

    def reference(self, reference: Reference) -> Reference:
        return replace(reference, index=tuple(map(self.affine, reference.index)))

    def value(self, value: Expression) -> Expression:
        match value:
            case Reference():
                return self.reference(value)
            case Index():
                form = self.affine(value.value)
                if not form.is_constant:
                    return replace(value, value=form)
                number: Any = element(form.constant, value.dtype).item()
                return Constant(number, value.dtype, value.span)
            case Apply():
                made = replace(value, operands=tuple(self.value(operand) for operand in value.operands))
                return fused(made) if self.contracts else made
            case _:
                return value


def fused(value: Apply) -> Apply:
    """An addition or a subtraction one of whose operands is a product, in f32, as one operation."""
    if value.dtype != "f32" or value.operation not in ("add", "sub"):
        return value
    left, right = value.operands
    if _is_product(right):
        a, b = right.operands
        return replace(value, operation="madd", operands=(_negated(a) if value.operation == "sub" else a, b, left))
    if _is_product(left):
        addend = _negated(right) if value.operation == "sub" else right
        return replace(value, operation="madd", operands=(*left.operands, addend))
    return value


def _is_product(value: Expression) -> TypeGuard[Apply]:
    return isinstance(value, Apply) and (value.operation, value.dtype) == ("mul", "f32")


def _negated(value: Expression) -> Expression:
    if isinstance(value, Apply) and value.operation == "neg":
        return value.operands[0]
    if isinstance(value, Constant):
        return replace(value, value=-value.value)
    return Apply("neg", "f32", (value,))


def _extreme(ends: tuple[Affine, ...], choose: Callable[[list[int]], int]) -> tuple[Affine, ...]:
    """Without all constants but the one that decides."""
    constants = [end.constant for end in ends if end.is_constant]
    rest = tuple(dict.fromkeys(end for end in ends if not end.is_constant))
    return (*rest, Affine((), choose(constants))) if constants else rest


def _reduced(piece: Polyhedron) -> Polyhedron | None:
    """Without constraints that always hold; None where one never does."""
    if any(c.is_constant and c.constant < 0 for c in piece.constraints):
        return None
    return Polyhedron(tuple(c for c in piece.constraints if not c.is_constant))
