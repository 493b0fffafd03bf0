# SPDX-License-Identifier: Apache-2.0
"""Preconditions against wrap-around: `for (i = 0; i < n - 1U; i++)` over `unsigned` with n = 0 would run 2^32 times,
beyond every array (C17, section 6.2.5, paragraph 9), and so would `do { ... } while (--n > 0U)`; such sizes are
excluded, and refused before a run.

Differences of sizes alone: in what loops begin and end with, in what counters are assigned, and of what is counted down
in the first turn of a `do` loop. Those that data decide are left to them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from polyloom.frontend.affine_proofs import is_infeasible, is_nonnegative
from polyloom.frontend.loops.affine import Scope, affine_condition, affine_form
from polyloom.frontend.loops.counters import assigned_symbol, changed_counters, with_values
from polyloom.frontend.loops.induction.variables import propagate
from polyloom.frontend.loops.roles import Roles
from polyloom.frontend.loops.substatements import child_statements
from polyloom.frontend.loops.tree import CASTS, Node
from polyloom.ir.nest import negate
from polyloom.sets import Affine, Condition, Polyhedron
from polyloom.sets.normal_form import conjunction


def wrap_preconditions(nodes: Iterable[Node], roles: Roles, scope: Scope) -> Condition:
    """Conditions on sizes under which no unsigned difference of them falls below 0."""
    walk = _Walk(roles, frozenset(name for form in scope.symbols.values() for name in form.symbols), Condition())
    return walk.statements(nodes, scope).found


@dataclass(frozen=True, slots=True)
class _Walk:
    """Walk over statements that are executed whatever data are; `found` is what holds so far."""

    roles: Roles
    sizes: frozenset[str]
    found: Condition

    def statements(self, nodes: Iterable[Node], scope: Scope) -> _Walk:
        walk = self
        for node in nodes:
            walk = walk._statement(node, scope.restrict_domain(walk.found))
            if node.kind == "declare":
                initial = [d for d in node.inner if d.initial and d.symbol in self.roles.sized]
                here = scope.restrict_domain(walk.found)
                scope = with_values(here, {d.symbol: affine_form(d.inner[-1], here) for d in initial})
            elif node.kind not in ("if", "switch"):
                scope = propagate((node,), scope.restrict_domain(walk.found), self.roles.counters)
            else:
                scope = _forget_counters(node, scope, self.roles)
        return walk

    def _statement(self, node: Node, scope: Scope) -> _Walk:
        if node.kind == "if":
            return self._branches(node, scope)
        walk = self
        for bound in _statement_bounds(node, self.roles):
            for form in _unsigned_differences(bound, scope):
                walk = walk._require(form, scope)
        if node.kind == "block":
            return walk.statements(node.inner, scope)
        # The first turn of a `do` loop is executed; of other loops nothing is known but what they do not change.
        if node.kind == "do":
            walk = walk.statements(child_statements(node), scope)
            behind = propagate(child_statements(node), scope.restrict_domain(walk.found), self.roles.counters)
            return walk._require_end(node.inner[1], scope, behind)
        inside = _forget_counters(node, scope, self.roles)
        for child in child_statements(node):
            walk = walk.statements((child,), inside)
        return walk

    def _require_end(self, test: Node, before: Scope, behind: Scope) -> _Walk:
        """What `do { ... } while (--n)` counts down is at its end, or above it, behind the first turn: it would pass it
        otherwise, and count on.
        """
        while test.kind in (*CASTS, "parentheses"):
            test = test.inner[0]
        left, right = test.inner if test.opcode == "!=" else (test, None)
        forms = [affine_form(left, scope) for scope in (before, behind)]
        end = Affine() if right is None else affine_form(right, behind)
        if test.kind not in ("name", "binary") or None in (*forms, end):
            return self
        first, second = (form for form in forms if form is not None)
        counts_down = (second - first).is_constant and (second - first).constant < 0
        return self._require(second - (end or Affine()), behind) if counts_down else self

    def _branches(self, node: Node, scope: Scope) -> _Walk:
        """Both sides of a test of sizes, each where it is taken; what data decide is left to them."""
        walk = self
        if affine_condition(node.inner[0], scope) is None and self._compares_sizes(node.inner[0], scope):
            # `if (first + count > n - 1U)`: where it wraps, no side is known to be the one that is meant.
            for form in _unsigned_differences(node.inner[0], scope):
                walk = walk._require(form, scope)
            scope = scope.restrict_domain(walk.found)
        where = affine_condition(node.inner[0], scope)
        for side, holds in zip(node.inner[1:], (where, where and negate(where)), strict=False):
            walk = walk if holds is None else walk.statements((side,), scope.restrict_domain(holds))
        return walk

    def _compares_sizes(self, test: Node, scope: Scope) -> bool:
        """Whether a test is one of sizes alone, which the walk has values of."""
        forms = [scope.symbols.get(n.symbol) for n in test if n.kind == "name"]
        known = all(form is not None and form.symbols <= self.sizes for form in forms)
        return known and not any(n.kind in ("element", "call", "member") for n in test)

    def _require(self, form: Affine, scope: Scope) -> _Walk:
        # Known ones are left out: a domain of few conditions is read by users, too.
        domain = conjunction(scope.domain, self.found)
        piece = Polyhedron((form,))
        if not form.symbols <= self.sizes or is_nonnegative(form, domain) or is_infeasible(piece, domain):
            return self
        return _Walk(self.roles, self.sizes, conjunction(self.found, Condition((piece,))))


def _forget_counters(node: Node, scope: Scope, roles: Roles) -> Scope:
    return with_values(scope, dict.fromkeys(changed_counters(node, roles.counters)))


def _statement_bounds(node: Node, roles: Roles) -> Iterator[Node]:
    """What a loop begins and ends with, and what a statement assigns to counters."""
    match node.kind:
        case "for":
            yield from (node.inner[0], node.inner[2])
        case "while":
            yield node.inner[0]
        case "declare":
            yield from (d.inner[-1] for d in node.inner if d.initial and d.symbol in roles.sized)
        case "binary" | "update" | "unary" if assigned_symbol(node) in roles.sized:
            yield node
        case _:
            pass


def _unsigned_differences(node: Node, scope: Scope) -> Iterator[Affine]:
    if node.kind == "choose" or node.opcode in ("&&", "||"):
        return
    if node.opcode in ("-", "-=", "--") and node.inner[0].ctype.startswith("unsigned"):
        left = affine_form(node.inner[0], scope)
        right = affine_form(node.inner[1], scope) if len(node.inner) > 1 else Affine((), 1)
        if left is not None and right is not None and (node.opcode != "-" or len(node.inner) > 1):
            yield left - right
    for child in node.inner:
        yield from _unsigned_differences(child, scope)
