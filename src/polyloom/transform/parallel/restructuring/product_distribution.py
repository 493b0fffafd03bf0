# SPDX-License-Identifier: Apache-2.0
"""Loop distribution around sums of products (Allen and Kennedy 2001, chapter 6.2): a sum whose loops do more becomes a
nest of its own, whose results are an array (scalar expansion; chapter 5.3).

    for i: for j: { s = 0; for k: s += A[i, k] * B[k, j]; C[i, j] = D[i, j] + s }

becomes a product P = A * B and the loops with C[i, j] = D[i, j] + P[i, j], so that a machine's matrix unit can compute
the first.
"""

from __future__ import annotations

from dataclasses import replace

from polyloom.ir.nest import Assign, Cell, Loop, Nest, Node, Storage, accesses, assignments, cell, taken_names
from polyloom.ir.nest_rewrite import Copy, Rewriter
from polyloom.ir.pla import Reference
from polyloom.names import fresh_name
from polyloom.sets import Affine
from polyloom.transform.parallel.restructuring.strided_products import enclosing_loops, match_product, match_sum


def distribute_products(nest: Nest) -> Nest:
    """Nest in which sums of products of whole loops are outermost statements of their own."""
    storage, body = list(nest.storage), list[Node]()
    taken = taken_names(nest)
    for node in nest.body:
        made = _distribute(node, nest, taken)
        body += (node,) if made is None else made[0]
        storage += () if made is None else (made[1],)
    return replace(nest, storage=tuple(storage), body=tuple(body))


def _distribute(node: Node, nest: Nest, taken: set[str]) -> tuple[tuple[Node, ...], Storage] | None:
    """The sum and what follows it as two nests, and the array between them; None where there is no such sum, or what
    follows changes a factor.
    """
    loops, body = enclosing_loops(node)
    found = match_sum(body[0], body[1]) if len(body) > 2 and loops else None
    if found is None:
        return None
    assign, depth, left, right, _ = found
    written = {each.target.name for each in assignments(body[2:])}
    bounds = [form for loop in loops for form in (*loop.lower, *loop.upper)]
    names = {loop.name for loop in (*loops, depth)}
    if written & {left.name, right.name, assign.target.name} or any(form.symbols & names for form in bounds):
        return None
    if nest[assign.target.name].role != "local" or nest[assign.target.name].shape:
        return None
    if any(len(loop.lower) != 1 or len(loop.upper) != 1 for loop in loops) or _has_later_reads(node, nest, assign):
        return None
    shape = tuple(loop.upper[0] - loop.lower[0] for loop in loops)
    name = fresh_name(assign.target.name, taken)
    between = Storage(name, nest[assign.target.name].dtype, shape, "local", span=assign.span)
    element = Reference(name, tuple(Affine.symbol(loop.name) - loop.lower[0] for loop in loops), assign.span)
    cells = {(assign.target.name, assign.target.index): element}
    # The second nest has copies of the loops: names of loops are unique.
    first = Copy({}, {}, taken).nodes(_Replaced(cells).nodes([_with_body(loops, body[:2])]))
    # Only matrix products gain from a nest of their own.
    if match_product(first[0]) is None:
        return None
    second = _Replaced(cells).nodes([_with_body(loops, body[2:])])
    return (*first, *second), between


class _Replaced(Rewriter):
    """Rewriter that puts elements in the place of others."""

    def __init__(self, cells: dict[Cell, Reference]) -> None:
        self.cells = cells

    def reference(self, reference: Reference) -> Reference:
        return self.cells.get(cell(reference), reference)


def _with_body(loops: tuple[Loop, ...], body: tuple[Node, ...]) -> Node:
    """Loops around another body."""
    made: tuple[Node, ...] = body
    for loop in reversed(loops):
        made = (replace(loop, body=made),)
    return made[0]


def _has_later_reads(node: Node, nest: Nest, assign: Assign) -> bool:
    """Whether the scalar of a sum is read by another statement before that writes it: its last value is wanted."""
    name, started = assign.target.name, False
    for each in nest.body:
        if each is node:
            started = True
            continue
        if not started:
            continue
        for other in assignments([each]):
            if any(read.name == name for read in accesses(other.value)):
                return True
            if other.target.name == name:
                return False
    return False
