# SPDX-License-Identifier: Apache-2.0
"""Preconditions against wrap-around: `for (i = 0; i < n - 1U; i++)` over `unsigned` with n = 0 would run 2^32 times (C17,
section 6.2.5, paragraph 9), beyond every array; such sizes are excluded, and refused before a run.

Differences of sizes alone, in what loops begin and end with and in what counters are assigned; those under a condition
are left to it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from polyloom.frontend.affine_proofs import is_infeasible, is_nonnegative
from polyloom.frontend.loops.affine import Scope, affine_form
from polyloom.frontend.loops.roles import Roles
from polyloom.frontend.loops.tree import Node
from polyloom.sets import Affine, Condition, Polyhedron
from polyloom.sets.normal_form import conjunction


def wrap_preconditions(nodes: Iterable[Node], roles: Roles, scope: Scope) -> Condition:
    """Conditions on sizes under which no unsigned difference of them falls below 0."""
    found = Condition()
    for node in nodes:
        for bound in _unconditional_bounds(node, roles):
            for form in _unsigned_differences(bound, scope):
                domain = conjunction(scope.domain, found)
                piece = Polyhedron((form,))
                if not is_nonnegative(form, domain) and not is_infeasible(piece, domain):
                    found = conjunction(found, Condition((piece,)))
    return found


def _unconditional_bounds(node: Node, roles: Roles) -> Iterator[Node]:
    """Expressions that loops begin and end with, and values of counters, which no condition guards."""
    match node.kind:
        case "if" | "choose" | "switch":
            return
        case "for":
            yield from (node.inner[0], node.inner[2])
        case "while":
            yield node.inner[0]
        case "do":
            yield node.inner[1]
        case "variable" if node.initial and node.symbol in roles.sized:
            yield node.inner[-1]
        case "binary" if node.opcode == "=" and node.inner[0].symbol in roles.sized:
            yield node.inner[1]
        case _:
            pass
    for child in node.inner:
        yield from _unconditional_bounds(child, roles)


def _unsigned_differences(node: Node, scope: Scope) -> Iterator[Affine]:
    if node.kind == "choose" or node.opcode in ("&&", "||"):
        return
    if node.kind == "binary" and node.opcode == "-" and node.ctype.startswith("unsigned"):
        left, right = (affine_form(side, scope) for side in node.inner)
        if left is not None and right is not None:
            yield left - right
    for child in node.inner:
        yield from _unsigned_differences(child, scope)
