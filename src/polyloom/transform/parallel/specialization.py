# SPDX-License-Identifier: Apache-2.0
"""Specialization of a nest to values of its parameters (partial evaluation; Jones, Gomard and Sestoft 1993), so that
later passes ask isl about bounded sets of integers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from polyloom.ir.nest import Expression, If, Index, Loop, Nest, Node
from polyloom.ir.nest_rewrite import Substitution
from polyloom.ir.numbers import make_element
from polyloom.ir.pla import Constant
from polyloom.sets import Affine, Condition, Polyhedron


def specialize(nest: Nest, values: Mapping[str, int]) -> Nest:
    """Nest without parameters."""
    # Substitution leaves constant parts, which the methods below fold away.
    made = _Specialization({name: Affine((), value) for name, value in values.items()})
    storage = tuple(replace(s, shape=made.forms(s.shape)) for s in nest.storage)
    return Nest(nest.name, (), Condition(), storage, made.nodes(nest.body), nest.span)


class _Specialization(Substitution):
    """Rewriter that substitutes numbers for parameters and folds what becomes constant."""

    def loop(self, node: Loop) -> Iterable[Node]:
        lower, upper = (
            _merge_constant_ends(self.forms(node.lower), max),
            _merge_constant_ends(self.forms(node.upper), min),
        )
        return (replace(node, lower=lower, upper=upper, body=self.nodes(node.body)),)

    def branch(self, node: If) -> Iterable[Node]:
        pieces = (_simplify_constraints(self.forms(piece.constraints)) for piece in node.condition.pieces)
        condition = Condition(tuple(piece for piece in pieces if piece is not None))
        return (replace(node, condition=condition, body=self.nodes(node.body), orelse=self.nodes(node.orelse)),)

    def value(self, value: Expression) -> Expression:
        """Constant of a form without loops."""
        made = super().value(value)
        if not isinstance(made, Index) or not made.value.is_constant:
            return made
        number: Any = make_element(made.value.constant, made.dtype).item()
        return Constant(number, made.dtype, made.span)


def _merge_constant_ends(ends: tuple[Affine, ...], choose: Callable[[list[int]], int]) -> tuple[Affine, ...]:
    """Bounds of a loop, of which all constants but the one that decides are dropped."""
    constants = [end.constant for end in ends if end.is_constant]
    rest = tuple(dict.fromkeys(end for end in ends if not end.is_constant))
    return (*rest, Affine((), choose(constants))) if constants else rest


def _simplify_constraints(constraints: Sequence[Affine]) -> Polyhedron | None:
    """Constraints without those that always hold; None where one never does."""
    if any(c.is_constant and c.constant < 0 for c in constraints):
        return None
    return Polyhedron(tuple(c for c in constraints if not c.is_constant))
