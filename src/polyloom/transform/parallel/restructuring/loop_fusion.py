# SPDX-License-Identifier: Apache-2.0
"""Loop fusion and array contraction (Allen and Kennedy 2001, chapter 8.6; Gao et al., "Collective loop fusion for array
contraction", 1992): neighbouring loops that go through the same iterations become one, as deep as they are perfectly
nested, and temporaries of one iteration become scalars.

    for i: for j: E[i, j] = exp(X[i, j] - M[i]);  for i: { S[i] = 0; for j: S[i] += E[i, j] }
    becomes  for i: { for j: E[i, j] = exp(X[i, j] - M[i]); s = 0; for j: s += E[i, j] }

Legal where each iteration touches what it shares with the other loop at places of its own: then every dependence is
within one iteration.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from polyloom.analysis.privatizable import upward_exposed
from polyloom.ir.nest import Loop, Nest, Node, Storage, accesses, assignments, cell, loops
from polyloom.ir.nest_rewrite import Rewriter, substitute_symbols
from polyloom.ir.pla import Reference
from polyloom.sets import Affine
from polyloom.transform.parallel.restructuring.strided_products import enclosing_loops


def fuse_loops(nest: Nest) -> Nest:
    """Nest whose neighbouring loops are fused, and temporaries of iterations are scalars."""
    body = list[Node]()
    for node in nest.body:
        fused = _fuse(nest, body[-1], node) if body else None
        if fused is None:
            body.append(node)
        else:
            body[-1] = fused
    return _contract_arrays(replace(nest, body=tuple(body)))


def _fuse(nest: Nest, one: Node, other: Node) -> Node | None:
    """Two neighbours as one loop, as deep as is legal; None where they are none."""
    first, second = enclosing_loops(one)[0], enclosing_loops(other)[0]
    depth = 0
    while depth < min(len(first), len(second)) and _has_same_iterations(first, second, depth):
        depth += 1
    while depth and not _is_legal(nest, first[:depth], second[:depth]):
        depth -= 1
    if not depth:
        return None
    names = {b.name: Affine.symbol(a.name) for a, b in zip(first[:depth], second[:depth], strict=True)}
    body = (*first[depth - 1].body, *substitute_symbols(second[depth - 1].body, names))
    made: Node = replace(first[depth - 1], body=body)
    for loop in reversed(first[: depth - 1]):
        made = replace(loop, body=(made,))
    return made


def _has_same_iterations(first: Sequence[Loop], second: Sequence[Loop], depth: int) -> bool:
    """Whether loops of one depth count alike, and upwards; those around them may be in their bounds."""
    a, b = first[depth], second[depth]
    names = {two.name: Affine.symbol(one.name) for one, two in zip(first[:depth], second[:depth], strict=True)}
    lower, upper = (tuple(form.substitute(names) for form in forms) for forms in (b.lower, b.upper))
    return (a.lower, a.upper, a.step, a.stepped) == (lower, upper, 1, b.stepped) and b.step == 1


def _is_legal(nest: Nest, first: Sequence[Loop], second: Sequence[Loop]) -> bool:
    """Whether all dependences between two loops are within one iteration."""
    touched = [_references(loops_[0]) for loops_ in (first, second)]
    written = [{a.target.name for a in assignments([loops_[0]])} for loops_ in (first, second)]
    shared = {n for n in written[0] | written[1] if all(any(r.name == n for r in refs) for refs in touched)}
    for name in shared:
        if not nest[name].shape:
            # Each loop writes a scalar before it reads it, so that no iteration sees the other loop's.
            if nest[name].role != "local" or any(
                upward_exposed(ls[-1].body, name) is not False for ls in (first, second)
            ):
                return False
            continue
        own = [r for r in touched[0] if r.name == name], [r for r in touched[1] if r.name == name]
        if not all(_has_own_places(a.name, b.name, *own) for a, b in zip(first, second, strict=True)):
            return False
    return True


def _has_own_places(one: str, other: str, first: Sequence[Reference], second: Sequence[Reference]) -> bool:
    """Whether iteration n of both loops touches the same elements, and no other iteration does: in one dimension all
    subscripts are the same form of the loop alone.
    """
    common = Affine.symbol("@iteration")
    rank = len(first[0].index)
    for n in range(rank):
        forms = {r.index[n].substitute({one: common}) for r in first}
        forms |= {r.index[n].substitute({other: common}) for r in second}
        (form, *others) = forms
        if not others and [abs(c) for name, c in form.terms if name == "@iteration"] and len(form.terms) == 1:
            return True
    return False


def _references(node: Node) -> list[Reference]:
    return [r for a in assignments([node]) for r in (a.target, *accesses(a.value))]


def _contract_arrays(nest: Nest) -> Nest:
    """Array contraction: a local array that one loop alone touches, in each iteration at one element that it writes
    first, is a scalar.
    """
    storage = list[Storage]()
    scalars = set[str]()
    for each in nest.storage:
        holds = each.role == "local" and bool(each.shape) and _is_scalar(nest, each.name)
        scalars |= {each.name} if holds else set()
        storage.append(replace(each, shape=()) if holds else each)
    return replace(nest, storage=tuple(storage), body=_Scalars(scalars).nodes(nest.body)) if scalars else nest


class _Scalars(Rewriter):
    """Rewriter that drops the subscripts of arrays which have become scalars."""

    def __init__(self, names: set[str]) -> None:
        self.names = names

    def reference(self, reference: Reference) -> Reference:
        return replace(reference, index=()) if reference.name in self.names else reference


def _is_scalar(nest: Nest, name: str) -> bool:
    users = [node for node in nest.body if any(r.name == name for r in _references(node))]
    if len(users) != 1:
        return False
    found = {cell(r) for r in _references(users[0]) if r.name == name}
    if len(found) != 1:
        return False
    ((_, index),) = found
    symbols = frozenset[str]().union(*(form.symbols for form in index))
    # The element is another one in each iteration of the innermost loop that chooses it: all that read it are inside.
    inside = _innermost(users[0], symbols)
    if inside is None or upward_exposed(inside.body, name) is not False:
        return False
    count = sum(r.name == name for r in _references(users[0]))
    return count == sum(r.name == name for r in _references(inside))


def _innermost(node: Node, symbols: frozenset[str]) -> Loop | None:
    """Loop at which all of these symbols are bound, along the path of nests with one loop of them."""
    left, found, nodes = set(symbols), None, (node,)
    while left:
        loop = next((each for each in nodes if isinstance(each, Loop) and left & {each.name, *loops(each.body)}), None)
        if loop is None:
            return None
        left.discard(loop.name)
        found, nodes = loop, loop.body
    return found
