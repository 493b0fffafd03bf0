# SPDX-License-Identifier: Apache-2.0
"""What the tests of C share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from polyloom.frontend.if_convert import strip_spans
from polyloom.ir.nest import Apply, Assign, Expression, If, Index, Loop, Nest, Node
from polyloom.ir.pla import Reference
from polyloom.sets import Affine, Condition, Polyhedron
from polyloom.sets.normal_form import normalize

HERE = Path(__file__).parent
KERNELS = HERE.parents[2] / "examples" / "kernels"


def canonical(nest: Nest) -> Nest:
    """`nest` without spans, with conditions in normal form."""
    return renamed(nest, {}, nest.name)


def renamed(nest: Nest, names: Mapping[str, str], name: str) -> Nest:
    """`nest` under another name, with other names for parameters and loops; parameters are sorted, locals stand
    last."""
    forms = {old: Affine.symbol(new) for old, new in names.items()}
    storage = tuple(
        replace(s, shape=tuple(e.substitute(forms) for e in s.shape))
        for s in sorted(nest.storage, key=lambda s: s.role)
    )
    parameters = tuple(sorted(names.get(p, p) for p in nest.parameters))
    body = tuple([_node(node, names, forms) for node in nest.body])
    return strip_spans(Nest(name, parameters, _condition(nest.assumptions, forms), storage, body))


def loops(nodes: tuple[Node, ...]) -> Iterator[str]:
    """The names of all loops in the order of the text."""
    for node in nodes:
        if isinstance(node, Loop):
            yield node.name
            yield from loops(node.body)
        elif isinstance(node, If):
            yield from loops((*node.body, *node.orelse))


def _node(node: Node, names: Mapping[str, str], forms: Mapping[str, Affine]) -> Node:
    match node:
        case Loop():
            lower, upper = (tuple(a.substitute(forms) for a in bounds) for bounds in (node.lower, node.upper))
            body = tuple([_node(inner, names, forms) for inner in node.body])
            return replace(node, name=names.get(node.name, node.name), lower=lower, upper=upper, body=body)
        case If():
            body, orelse = (
                tuple([_node(inner, names, forms) for inner in nodes]) for nodes in (node.body, node.orelse)
            )
            return replace(node, condition=_condition(node.condition, forms), body=body, orelse=orelse)
        case Assign():
            return replace(node, target=_reference(node.target, forms), value=_value(node.value, forms))


def _condition(condition: Condition, forms: Mapping[str, Affine]) -> Condition:
    return normalize(
        Condition(
            tuple(Polyhedron(tuple(c.substitute(forms) for c in piece.constraints)) for piece in condition.pieces)
        )
    )


def _reference(reference: Reference, forms: Mapping[str, Affine]) -> Reference:
    return replace(reference, index=tuple(a.substitute(forms) for a in reference.index))


def _value(value: Expression, forms: Mapping[str, Affine]) -> Expression:
    match value:
        case Reference():
            return _reference(value, forms)
        case Index(value=form):
            return replace(value, value=form.substitute(forms))
        case Apply(operands=operands):
            return replace(value, operands=tuple([_value(operand, forms) for operand in operands]))
        case _:
            return value
