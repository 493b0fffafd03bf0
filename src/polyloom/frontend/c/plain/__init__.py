# SPDX-License-Identifier: Apache-2.0
"""Canonical form of C: what C has several ways to write is brought into one, on clang's syntax tree, before anything
else looks at it.

A rewriting takes a function's body and gives one that means the same. They stand here in their order; each is a file.
What a rewriting does not understand it leaves as it was, and whoever meets it refuses it at its place.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from polyloom.frontend.c.plain.aggregates import Fields, replace_aggregates
from polyloom.frontend.c.plain.array_recovery import recover_arrays
from polyloom.frontend.c.plain.countdowns import rewrite_countdowns
from polyloom.frontend.c.plain.headers import split_headers
from polyloom.frontend.c.plain.initializers import expand_initializers
from polyloom.frontend.c.plain.inlining import inline_calls
from polyloom.frontend.c.plain.labels import remove_labels
from polyloom.frontend.loops.effects import separate_effects
from polyloom.frontend.loops.jumps import remove_continue
from polyloom.frontend.loops.returns import replace_returns
from polyloom.frontend.loops.tree import Node

RESULT: Final = "@return"
"""The identity of the variable of a function's result."""


@dataclass(frozen=True, slots=True)
class File:
    """File-scope declarations of a function's file: functions and tables by identity, structures of scalars by type."""

    functions: Mapping[str, Node] = field(default_factory=dict[str, Node])
    tables: Mapping[str, Node] = field(default_factory=dict[str, Node])
    records: Mapping[str, Fields] = field(default_factory=dict[str, Fields])


def canonicalize(function: Node, file: File) -> Node:
    """Canonicalization of a function's body; what it returns is assigned to the variable `RESULT`."""
    body = function.inner[-1]
    body = remove_labels(body)
    # Inlining first: pointers, structures and tables of callees are then the function's own.
    body = inline_calls(body, {name: _remove_function_labels(found) for name, found in file.functions.items()})
    body = replace_returns(body, result_variable(function)) or body
    body = expand_initializers(body, file.tables)
    body = replace_aggregates(body, file.records)
    body = rewrite_countdowns(body)
    body = separate_effects(body)
    body = recover_arrays(body, tuple(n for n in function.inner if n.kind == "parameter"))
    # Last: without `continue`, what a header counts may move to the end of the body.
    body = split_headers(remove_continue(body))
    return replace(function, inner=(*function.inner[:-1], body))


def result_variable(function: Node) -> Node | None:
    """Result of a function as the declaration of a variable; None for void."""
    # The type of a function is printed as `float (int)`.
    ctype = function.ctype.partition(" (")[0].partition("(")[0].strip()
    if ctype == "void":
        return None
    return replace(
        function,
        kind="variable",
        ctype=ctype,
        symbol=RESULT,
        name="return",
        qualified=ctype,
        inner=(),
    )


def _remove_function_labels(function: Node) -> Node:
    return replace(function, inner=(*function.inner[:-1], remove_labels(function.inner[-1])))
