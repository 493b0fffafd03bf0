# SPDX-License-Identifier: Apache-2.0
"""Induction variables: integers that are affine although they are assigned, such as offsets that a loop computes, and
counters that run along.

Each has a value at each place of the text, an affine form of loops and parameters, or none that is known. A loop that
adds the same number to a variable in every iteration leaves it affine in the loop's count (Gerlek, Stoltz, Wolfe,
"Beyond Induction Variables", TOPLAS 1995, for the linear ones); `propagate` finds the number by executing the body on
symbols.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from polyloom.diagnostics import PolyloomError
from polyloom.frontend.affine_proofs import is_nonnegative
from polyloom.frontend.loops.affine import Scope, affine_condition, affine_form
from polyloom.frontend.loops.headers import Header, from_values, loop_header
from polyloom.frontend.loops.substatements import child_statements
from polyloom.frontend.loops.tree import Node
from polyloom.names import hidden_name
from polyloom.sets import Affine

Values = Mapping[str, Affine | None]
"""By identity; None is not known."""


def assigned_symbol(node: Node) -> str:
    """The identity of the variable that a statement assigns, or ""."""
    assigns = node.opcode in ("=", "++", "--") or node.kind == "update"
    left = node.inner[0] if assigns and node.inner else None
    return left.symbol if left is not None and left.kind == "name" else ""


def changed_counters(node: Node, counters: frozenset[str]) -> frozenset[str]:
    """The counters that a statement changes; those that it declares are its own."""
    found = {assigned_symbol(part) for part in node}
    return counters & found if found else frozenset()


def assigned_value(node: Node, scope: Scope) -> Affine | None:
    """Symbolic execution of an assignment: the affine form that its variable gets; None where that is not known."""
    if node.opcode == "=":
        return affine_form(node.inner[1], scope)
    before = affine_form(node.inner[0], scope)
    by = Affine((), 1) if node.kind == "unary" else affine_form(node.inner[1], scope)
    if before is None or by is None or node.opcode not in ("++", "--", "+=", "-=", "*="):
        return None
    if node.opcode == "*=":
        return before * by.constant if by.is_constant else None
    value = before + by if node.opcode[0] == "+" else before - by
    # An unsigned variable that is not negative stays so when it grows; else it must be known.
    grows = node.opcode[0] == "+" and is_nonnegative(by, scope.domain)
    unsigned = node.inner[0].ctype.startswith("unsigned")
    return value if not unsigned or grows or is_nonnegative(value, scope.domain) else None


def with_values(scope: Scope, values: Values) -> Scope:
    """The scope in which variables have other values."""
    known = {name: value for name, value in values.items() if value is not None}
    symbols = {**{k: v for k, v in scope.symbols.items() if k not in values}, **known}
    return replace(scope, symbols=symbols, products={k: v for k, v in scope.products.items() if k not in values})


@dataclass(frozen=True, slots=True)
class Course:
    """Course of a loop's induction variables: how often the loop runs, as an affine form where that is known, and by
    how much each variable grows in a turn.
    """

    count: Affine | None
    steps: Mapping[str, int | None]

    def turn_values(self, turn: Affine | None, scope: Scope) -> Values:
        """The values before a turn, counted from 0, where they were those of `scope` before the loop."""
        found = dict[str, Affine | None]()
        for name, step in self.steps.items():
            first = scope.symbols.get(name)
            known = first is not None and step is not None and turn is not None
            found[name] = first + turn * step if known and first is not None and turn is not None and step else None
            if known and step == 0:
                found[name] = first
        return found


def find_course(
    body: Iterable[Node], count: Affine | None, inside: Scope, counters: frozenset[str], test: Node | None = None
) -> Course:
    """Induction variables of a loop with a body (Gerlek, Stoltz and Wolfe 1995); `inside` is the scope in it, `test`
    what holds at the head of each turn.
    """
    statements = tuple(body)
    names = frozenset[str]().union(*(changed_counters(node, counters) for node in statements))
    # One turn from unknown values: a variable whose difference is a constant then grows by it in every turn.
    symbols = {name: Affine.symbol(hidden_name(name)) for name in names}
    scope = with_values(inside, symbols)
    # What holds at the head of each turn may decide a branch in the body.
    holds = affine_condition(test, scope) if test is not None else None
    behind = propagate(statements, scope if holds is None else scope.restrict_domain(holds), counters)
    steps = {name: _constant_difference(behind.symbols.get(name), symbols[name]) for name in sorted(names)}
    return Course(count, steps)


def _constant_difference(a: Affine | None, b: Affine) -> int | None:
    found = None if a is None else a - b
    return found.constant if found is not None and found.is_constant else None


def propagate(statements: Iterable[Node], scope: Scope, counters: frozenset[str]) -> Scope:
    """Forward propagation of affine values: what is known of the counters behind statements."""
    for node in statements:
        scope = _propagate_statement(node, scope, counters)
    return scope


def _propagate_statement(node: Node, scope: Scope, counters: frozenset[str]) -> Scope:
    names = changed_counters(node, counters)
    if node.kind == "declare":
        initial = {d.symbol: affine_form(d.inner[-1], scope) for d in node.inner if d.initial and d.symbol in counters}
        return with_values(scope, initial)
    if not names:
        return scope
    if assigned_symbol(node):
        return with_values(scope, {assigned_symbol(node): assigned_value(node, scope)})
    if node.kind == "block":
        return propagate(node.inner, scope, counters)
    if node.kind == "if":
        sides = [propagate((side,), scope, counters).symbols for side in child_statements(node)]
        # Without `else`, the other way leaves the values of before.
        sides = sides if len(sides) > 1 else [*sides, scope.symbols]
        return with_values(scope, {n: v for n in names for v in [_common_value([side.get(n) for side in sides])]})
    if node.kind == "for":
        return propagate_loop(node, scope, counters)
    return with_values(scope, dict.fromkeys(names))


def _common_value(values: list[Affine | None]) -> Affine | None:
    return values[0] if all(value == values[0] for value in values) else None


def propagate_loop(node: Node, scope: Scope, counters: frozenset[str]) -> Scope:
    """Forward propagation across a `for`: what is known of the counters behind it."""
    names = changed_counters(node, counters)
    try:
        found = loop_header(node, scope.drop_gathers())
    except PolyloomError:
        return with_values(scope, dict.fromkeys(names))
    name = hidden_name(found.identity)
    inside = with_values(scope, {found.identity: Affine.symbol(name)}).restrict_domain(
        found.domain(Affine.symbol(name))
    )
    run = find_course((node.inner[4],), found.count(scope), inside, counters)
    return scope_after_loop(found, run, scope)


def scope_after_loop(found: Header, run: Course, scope: Scope) -> Scope:
    """The scope behind a loop: what ran along has grown, the loop's own variable stands past its end."""
    final = found.final(run.count)
    return with_values(scope, {**run.turn_values(run.count, scope), found.identity: final})


def counted_while_header(node: Node, scope: Scope, counters: frozenset[str]) -> Header | None:
    """Counted `while` loop: the header of one that goes on while a counter, which it changes by the same number in
    every turn, is on one side of a bound; None for others.
    """
    test, body = node.inner[0], node.inner[-1]
    bounds = with_values(scope, dict.fromkeys(changed_counters(body, counters)))
    steps = find_course((body,), None, bounds, counters, test).steps
    for part in test:
        if part.kind != "name" or not (step := steps.get(part.symbol)):
            continue
        first = scope.symbols.get(part.symbol)
        # Where the counter's first value is data, so is the number of turns.
        return None if first is None else from_values(part, step, (first,), test, bounds)
    return None
