# SPDX-License-Identifier: Apache-2.0
"""Integer variables of Python that are affine although they are assigned again: offsets and counters. What
`frontend.c.counters` is for C: each has a value at each place, or none that is known, and a loop that adds the same
number in every turn leaves it affine in the turn."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import replace

from polyloom.frontend.python.affine import Scope, affine
from polyloom.names import hidden
from polyloom.sets import Affine

Values = Mapping[str, Affine | None]


def changed(statements: Sequence[ast.stmt], counters: frozenset[str]) -> frozenset[str]:
    """The counters that statements assign."""
    if not counters:
        return counters
    return counters.intersection(
        n.id
        for statement in statements
        for n in ast.walk(statement)
        if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
    )


def assigned(node: ast.stmt, scope: Scope) -> tuple[str, Affine | None] | None:
    """The variable that a statement assigns, and its value."""
    match node:
        case ast.Assign(targets=[ast.Name(id=name)], value=value):
            return name, affine(value, scope)
        case ast.AugAssign(target=ast.Name(id=name), op=ast.Add() | ast.Sub() as sign, value=value):
            before, by = scope.integers.get(name), affine(value, scope)
            if before is None or by is None:
                return name, None
            return name, before + by if isinstance(sign, ast.Add) else before - by
        case ast.AugAssign(target=ast.Name(id=name)):
            return name, None
        case _:
            return None


def with_values(scope: Scope, values: Values) -> Scope:
    """The scope in which variables have other values."""
    known = {name: value for name, value in values.items() if value is not None}
    return replace(scope, integers={**{k: v for k, v in scope.integers.items() if k not in values}, **known})


def steps(body: Sequence[ast.stmt], inside: Scope, counters: frozenset[str]) -> dict[str, int | None]:
    """By how much each variable that a loop's body changes grows in a turn; `inside` is the scope in it."""
    symbols = {name: Affine.symbol(hidden(name)) for name in sorted(changed(body, counters))}
    behind = _after(body, with_values(inside, symbols), counters)
    return {name: _difference(behind.integers.get(name), symbol) for name, symbol in symbols.items()}


def _difference(a: Affine | None, b: Affine) -> int | None:
    found = None if a is None else a - b
    return found.constant if found is not None and found.is_constant else None


def _after(statements: Sequence[ast.stmt], scope: Scope, counters: frozenset[str]) -> Scope:
    for node in statements:
        found = assigned(node, scope)
        if found is not None and found[0] in counters:
            scope = with_values(scope, {found[0]: found[1]})
        elif isinstance(node, ast.If | ast.For):
            scope = with_values(scope, dict.fromkeys(changed((node,), counters)))
    return scope


def at(turn: Affine | None, grows: Mapping[str, int | None], scope: Scope) -> Values:
    """The values before a turn, counted from 0, where they were those of `scope` before the loop."""
    found = dict[str, Affine | None]()
    for name, step in grows.items():
        first = scope.integers.get(name)
        found[name] = None if first is None or step is None or turn is None else first + turn * step
    return found
