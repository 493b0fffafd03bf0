# SPDX-License-Identifier: Apache-2.0
"""Induction variables: integers that are affine although they are assigned, such as offsets that a loop computes, and
counters that run along.

Each has a value at each place of the text, an affine form of loops and parameters, or none that is known. A loop that
adds the same number to a variable in every iteration leaves it affine in the loop's count (Gerlek, Stoltz, Wolfe,
"Beyond Induction Variables", TOPLAS 1995, for the linear ones); `propagate` finds the number by executing the body on
symbols.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from polyloom.diagnostics import PolyloomError
from polyloom.frontend.affine_proofs import is_nonnegative
from polyloom.frontend.loops.affine import Scope, affine_condition, affine_form, decide_test
from polyloom.frontend.loops.counters import (
    assigned_product,
    assigned_symbol,
    assigned_value,
    changed_counters,
    is_dead_variable,
    with_values,
)
from polyloom.frontend.loops.headers import Header, from_values, loop_header
from polyloom.frontend.loops.induction.courses import Course
from polyloom.frontend.loops.substatements import child_statements, flatten_blocks
from polyloom.frontend.loops.tree import Node
from polyloom.frontend.loops.types import RANGE
from polyloom.names import hidden_name
from polyloom.sets import Affine, Condition, Polyhedron


def find_course(
    body: Iterable[Node],
    count: Affine | None,
    inside: Scope,
    counters: frozenset[str],
    test: Node | None = None,
    found: Header | None = None,
    before: Scope | None = None,
    turn: Affine | None = None,
) -> Course:
    """Induction variables of a loop with a body (Gerlek, Stoltz and Wolfe 1995); `inside` is the scope in it, `test`
    what holds at the head of each turn, `found` its header where that is known, `before` the scope in front of it and
    `turn` the number of a turn in terms of `inside`.
    """
    statements = tuple(body)
    names = frozenset[str]().union(*(changed_counters(node, counters) for node in statements))
    # One turn from unknown values: a variable whose difference is a constant then grows by it in every turn.
    symbols = {name: Affine.symbol(hidden_name(name)) for name in names}
    own = inside.symbols.get(found.identity) if found is not None else None
    scope = with_values(inside, symbols).restrict_domain(_unsigned(statements, symbols))
    # What holds at the head of each turn may decide a branch in the body.
    holds = affine_condition(test, scope) if test is not None else None
    behind = propagate(statements, scope if holds is None else scope.restrict_domain(holds), counters)
    # What the loop's variable is in changes from turn to turn.
    moving = {*map(hidden_name, names), *(own.symbols if own is not None else ())}
    steps = {name: _constant_difference(behind.symbols.get(name), symbols[name], moving) for name in sorted(names)}
    if None in steps.values() and before is not None and turn is not None:
        # Where nothing is executed, nothing wraps: what follows is a guess.
        guessed = propagate(statements, replace(scope, domain=Condition(())), counters).symbols
        trial = _trial_steps(steps, guessed, symbols, moving, turn)
        steps = _verified_steps(statements, steps, trial, inside, counters, before, turn)
    live = {
        name
        for name in names
        if not is_dead_variable(name, [part for node in statements for part in flatten_blocks(node)])
    }
    carried = {name: behind.symbols[name] for name in live if steps[name] is None and name in behind.symbols}
    if found is None or own is None:
        return Course(count, steps)
    depths = {name: depth for name in carried if (depth := _depth(name, carried, ())) is not None}
    kept = {name: carried[name] for name in depths}
    return Course(count, steps, kept, max(depths.values(), default=0), own, found.step)


def _unsigned(statements: Iterable[Node], symbols: Mapping[str, Affine]) -> Condition:
    """What the types of variables say of unknown values: their ranges."""
    types = {n.symbol: n.ctype for node in statements for n in node if n.kind == "name" and n.symbol in symbols}
    least = [symbols[name] for name, ctype in sorted(types.items()) if ctype.startswith("unsigned")]
    most = [-symbols[name] + RANGE[ctype][1] for name, ctype in sorted(types.items()) if ctype in RANGE]
    return Condition((Polyhedron((*least, *most)),))


def _trial_steps(
    steps: Mapping[str, Affine | None],
    behind: Mapping[str, Affine],
    symbols: Mapping[str, Affine],
    moving: Collection[str],
    turn: Affine,
) -> dict[str, Affine | None]:
    """Steps of the other variables, if they have any: constant differences, and of a variable that each turn sets to a
    form over others what this grows by.
    """
    found = dict(steps)
    while True:
        rates = {hidden_name(name): step for name, step in found.items()}
        rates |= {name: Affine((), c) for name, c in turn.terms if name in moving}
        before = dict(found)
        for name, step in steps.items():
            form = behind.get(name)
            if step is None and form is not None and found[name] is None:
                difference = _constant_difference(form, symbols[name], moving)
                found[name] = _growth(form, rates) if difference is None else difference
        if found == before:
            return {name: step for name, step in found.items() if steps[name] is None}


def _growth(form: Affine, rates: Mapping[str, Affine | None]) -> Affine | None:
    """What a form grows by in a turn, where each of its symbols grows at a rate; others stay."""
    grown = [(c, rates[name]) for name, c in form.terms if name in rates]
    known = [rate * c for c, rate in grown if rate is not None]
    return sum(known, Affine()) if len(known) == len(grown) else None


def _verified_steps(
    statements: Iterable[Node],
    steps: Mapping[str, Affine | None],
    trial: Mapping[str, Affine | None],
    inside: Scope,
    counters: frozenset[str],
    before: Scope,
    turn: Affine,
) -> dict[str, Affine | None]:
    """Steps with those of `trial` that hold by induction over the turns: from the values that they give in any turn,
    one more turn leads to those of the next. So `count--` of an unsigned variable is affine where its first value is
    as large as the number of turns (C17, section 6.2.5, paragraph 9).
    """
    found = dict(trial)
    while any(step is not None for step in found.values()):
        tried = {**steps, **found}
        values = Course(None, tried).turn_values(turn, before)
        behind = propagate(statements, with_values(inside, values), counters)
        wrong = [
            name
            for name, step in found.items()
            if step is not None
            and (not isinstance(value := values[name], Affine) or behind.symbols.get(name) != value + step)
        ]
        if not wrong:
            return tried
        found = {**found, **dict.fromkeys(wrong)}
    return dict(steps)


def _depth(name: str, carried: Mapping[str, Affine], path: tuple[str, ...]) -> int | None:
    """After how many turns a wrap-around variable has its form; None where it depends on itself."""
    if name in path:
        return None
    others = [_depth(n, carried, (*path, name)) for n in carried if hidden_name(n) in carried[name].symbols]
    found = [depth for depth in others if depth is not None]
    return None if len(found) < len(others) else 1 + max(found, default=0)


def _constant_difference(a: Affine | None, b: Affine, moving: Collection[str]) -> Affine | None:
    found = None if a is None else a - b
    return found if found is not None and not found.symbols & set(moving) else None


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
        form = assigned_value(node, scope)
        return with_values(scope, {assigned_symbol(node): assigned_product(node, scope) if form is None else form})
    if node.kind == "block":
        return propagate(node.inner, scope, counters)
    if node.kind == "if":
        outcome = decide_test(node.inner[0], scope)
        if outcome is not None:
            return propagate(node.inner[1:2] if outcome else node.inner[2:], scope, counters)
        sides = [propagate((side,), scope, counters).symbols for side in child_statements(node)]
        # Without `else`, the other way leaves the values of before.
        sides = sides if len(sides) > 1 else [*sides, scope.symbols]
        return with_values(scope, {n: v for n in names for v in [_common_value([side.get(n) for side in sides])]})
    if node.kind == "for":
        return propagate_loop(node, scope, counters)
    if node.kind == "while":
        return _propagate_counted_loop(node, scope, counters)
    if node.kind == "do":
        # Its first turn, and the loop over the others.
        behind = propagate(node.inner[:1], scope, counters)
        others = replace(node, kind="while", inner=node.inner[::-1])
        return (
            behind if affine_form(node.inner[1], behind) == Affine() else _propagate_statement(others, behind, counters)
        )
    return with_values(scope, dict.fromkeys(names))


def _propagate_counted_loop(node: Node, scope: Scope, counters: frozenset[str]) -> Scope:
    """Forward propagation across a counted `while`."""
    test, body = node.inner[0], node.inner[-1]
    try:
        found = counted_while_header(node, scope.drop_gathers(), counters)
    except PolyloomError:
        found = None
    if found is None:
        return with_values(scope, dict.fromkeys(changed_counters(node, counters)))
    symbol = Affine.symbol(hidden_name(found.identity))
    inside = with_values(scope, {found.identity: symbol}).restrict_domain(found.domain(symbol))
    turn = found.turn(symbol)
    course = find_course((body,), found.count(scope), inside, counters, test, before=scope, turn=turn)
    return scope_after_loop(found, course, scope)


def _common_value(values: list[Affine | None]) -> Affine | None:
    return values[0] if all(value == values[0] for value in values) else None


def propagate_loop(node: Node, scope: Scope, counters: frozenset[str]) -> Scope:
    """Forward propagation across a `for`: what is known of the counters behind it."""
    names = changed_counters(node, counters)
    try:
        found = loop_header(node, scope.drop_gathers())
    except PolyloomError:
        return with_values(scope, dict.fromkeys(names))
    symbol = Affine.symbol(hidden_name(found.identity))
    inside = with_values(scope, {found.identity: symbol}).restrict_domain(found.domain(symbol))
    turn = found.turn(symbol)
    run = find_course((node.inner[4],), found.count(scope), inside, counters, found=found, before=scope, turn=turn)
    return scope_after_loop(found, run, scope)


def scope_after_loop(found: Header, run: Course, scope: Scope) -> Scope:
    """The scope behind a loop: what ran along has grown, the loop's own variable stands past its end."""
    final = found.final(run.count)
    values = dict(run.turn_values(run.count, scope))
    # Behind at least as many turns as they need, wrap-around variables have their forms, too.
    if final is not None and run.count is not None and is_nonnegative(run.count - run.depth, scope.domain):
        values = dict(run.values_at_start(run.count, final, scope))
    return with_values(scope, {**values, found.identity: final})


def counted_while_header(node: Node, scope: Scope, counters: frozenset[str]) -> Header | None:
    """Counted `while` loop: the header of one that goes on while a counter, which it changes by the same number in
    every turn, is on one side of a bound; None for others.
    """
    test, body = node.inner[0], node.inner[-1]
    bounds = with_values(scope, dict.fromkeys(changed_counters(body, counters)))
    steps = find_course((body,), None, bounds, counters, test).steps
    for part in test:
        step = steps.get(part.symbol) if part.kind == "name" else None
        if step is None or not step.is_constant or not step.constant:
            continue
        first = scope.symbols.get(part.symbol)
        # Where the counter's first value is data, so is the number of turns.
        return None if first is None else from_values(part, step.constant, (first,), test, bounds)
    return None
