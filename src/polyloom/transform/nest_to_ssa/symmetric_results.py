# SPDX-License-Identifier: Apache-2.0
"""Symmetric results by one triangle (rank-k update xSYRK of the Level 3 BLAS; Dongarra et al. 1990): a matrix whose
element at (i, j) is computed as that at (j, i) is computed from the diagonal on, and its other triangle is copied.

    for i: for j: C[i, j] = f(i, j)     becomes     for i: { for j from i: C[i, j] = f(i, j)
                                                             for j from i + 1: C[j, i] = C[i, j] }

Sums and products of two operands commute in each bit (IEEE 754, section 6.2: but for the payload of a NaN).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from polyloom.ir.nest import (
    Apply,
    Assign,
    Expression,
    If,
    Loop,
    Nest,
    Node,
    accesses,
    assignments,
    cell,
    loop_nodes,
    taken_names,
)
from polyloom.ir.nest_rewrite import Rewriter, substitute_symbols
from polyloom.ir.pla import Reference
from polyloom.names import fresh_name
from polyloom.sets import Affine

_COMMUTATIVE: Final = ("add", "mul", "and", "or", "xor")
_OWN: Final = Reference("", ())
"""The element that is computed, in the place of its two names."""


def compute_triangles(nest: Nest) -> Nest:
    """Nest in which symmetric results that cost a loop are computed once."""
    return replace(nest, body=_Triangles(nest).nodes(nest.body))


class _Triangles(Rewriter):
    """Rewriter of pairs of loops; `taken` are the names that there are (mutable)."""

    def __init__(self, nest: Nest) -> None:
        self.taken = taken_names(nest)
        self.numbers = {s.name for s in nest.storage if s.role == "local" and not s.shape}

    def loop(self, node: Loop) -> Iterable[Node]:
        target = self.symmetric_target(node)
        if target is None:
            return super().loop(node)
        (inner,) = node.body
        assert isinstance(inner, Loop)
        row = Affine.symbol(node.name)
        name = fresh_name(inner.name, self.taken)
        column = Affine.symbol(name)
        here, there = (
            replace(target, index=tuple([form.substitute(names) for form in target.index]))
            for names in ({inner.name: column}, {node.name: column, inner.name: row})
        )
        # In a loop of its own: within the triangle's, it would keep reductions from being interchanged.
        copy = Assign(fresh_name("S", self.taken), there, here, inner.span)
        triangle = replace(inner, lower=(row,))
        return (replace(node, body=(triangle, Loop(name, (row + 1,), inner.upper, (copy,), span=inner.span))),)

    def symmetric_target(self, outer: Loop) -> Reference | None:
        """The element that two loops over a square compute, where those at (i, j) and (j, i) are equal."""
        if len(outer.body) != 1 or not isinstance(inner := outer.body[0], Loop):
            return None
        # Both loops have to visit the same places, so that the mirrored element is one of them.
        if (outer.lower, outer.upper, outer.step) != (inner.lower, inner.upper, inner.step) or outer.step != 1:
            return None
        stored = {cell(a.target): a.target for a in assignments(inner.body) if a.target.name not in self.numbers}
        # Without a loop inside, a copy would cost as much as what it replaces.
        if len(stored) != 1 or not any(loop_nodes(inner.body)):
            return None
        (target,) = stored.values()
        pair = {outer.name: Affine.symbol(inner.name), inner.name: Affine.symbol(outer.name)}
        rows = [form for form in target.index if form.symbols & pair.keys()]
        if sorted(map(str, rows)) != sorted(pair) or not _begins(inner.body, target):
            return None
        # What the body computes as an index, as inner loops do, is not known where the copy stands.
        varying = {each.name for each in loop_nodes(inner.body)} | {a.target.name for a in assignments(inner.body)}
        if any(form.symbols & varying for form in target.index):
            return None
        reads = [r for a in assignments(inner.body) for r in accesses(a.value) if r.name == target.name]
        # An element that is read elsewhere may be one of the triangle that is no longer computed in time.
        if any(cell(read) != cell(target) for read in reads):
            return None
        own = _Own(target).nodes(inner.body)
        return target if _canonical(own) == _canonical(substitute_symbols(own, pair)) else None


def _begins(body: Sequence[Node], target: Reference) -> bool:
    """Whether the first assignment to an element does not need what was there."""
    first = next(a for a in assignments(body) if cell(a.target) == cell(target))
    return all(cell(read) != cell(target) for read in accesses(first.value))


class _Own(Rewriter):
    """Rewriter of one element to a name that has no index."""

    def __init__(self, target: Reference) -> None:
        self.target = cell(target)

    def reference(self, reference: Reference) -> Reference:
        return _OWN if cell(reference) == self.target else reference


def _canonical(nodes: Sequence[Node]) -> tuple[object, ...]:
    """Nodes without places and names of statements, with operands that commute in one order."""
    return tuple(map(_canonical_node, nodes))


def _canonical_node(node: Node) -> object:
    match node:
        case Assign(target=target, value=value):
            return cell(target), _canonical_value(value)
        case Loop(name=name, lower=lower, upper=upper, body=body, step=step):
            return name, lower, upper, step, _canonical(body)
        case If(condition=condition, body=body, orelse=orelse):
            return condition, _canonical(body), _canonical(orelse)


def _canonical_value(value: Expression) -> object:
    match value:
        case Reference():
            return cell(value)
        case Apply(operation=operation, dtype=dtype, operands=operands):
            found = [_canonical_value(operand) for operand in operands]
            return operation, dtype, tuple(sorted(found, key=repr) if operation in _COMMUTATIVE else found)
        case _:
            return replace(value, span=None)
