# SPDX-License-Identifier: Apache-2.0
"""Canonical form of C: what C has several ways to write is brought into one, on clang's syntax tree, before anything
else looks at it.

A rewriting takes a function's body and gives one that means the same. They stand here in their order; each is a file.
What a rewriting does not understand it leaves as it was, and whoever meets it refuses it at its place.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from polyloom.frontend.c.canonical.aggregates import Fields, replace_aggregates
from polyloom.frontend.c.canonical.arguments.parameter_copies import copy_parameters
from polyloom.frontend.c.canonical.arguments.promotion import PromotedPlace, promote_arguments
from polyloom.frontend.c.canonical.countdowns import rewrite_countdowns
from polyloom.frontend.c.canonical.do_loops import hoist_test_effects
from polyloom.frontend.c.canonical.gotos import eliminate_gotos
from polyloom.frontend.c.canonical.headers import split_headers
from polyloom.frontend.c.canonical.initializers import expand_initializers
from polyloom.frontend.c.canonical.inlining import dereferenced_address, inline_calls, rename_pointers
from polyloom.frontend.c.canonical.leading_zeros import count_leading_zeros
from polyloom.frontend.c.canonical.memory_functions import expand_memory_calls
from polyloom.frontend.c.canonical.pointers.addressed_scalars import index_addressed_scalars
from polyloom.frontend.c.canonical.pointers.array_recovery import recover_arrays
from polyloom.frontend.c.canonical.pointers.live_ranges import split_pointers
from polyloom.frontend.c.canonical.pointers.swaps import eliminate_swaps
from polyloom.frontend.c.canonical.statics import automatic
from polyloom.frontend.c.canonical.subscripts import unwrap_subscripts
from polyloom.frontend.c.canonical.switches import eliminate_switches
from polyloom.frontend.loops import make
from polyloom.frontend.loops.affine import callee_name
from polyloom.frontend.loops.effects import separate_effects
from polyloom.frontend.loops.jumps import remove_continue
from polyloom.frontend.loops.refusals import refuse_call
from polyloom.frontend.loops.returns import has_no_outputs, loop_return, replace_returns
from polyloom.frontend.loops.tree import Node, refusal, strip_casts
from polyloom.frontend.loops.types import is_pointer

RESULT: Final = "@return"
"""The identity of the variable of a function's result."""


@dataclass(frozen=True, slots=True)
class File:
    """File-scope declarations of a function's file: functions, tables and variables by identity, structures of scalars
    by type.
    """

    functions: Mapping[str, Node] = field(default_factory=dict[str, Node])
    tables: Mapping[str, Node] = field(default_factory=dict[str, Node])
    records: Mapping[str, Fields] = field(default_factory=dict[str, Fields])
    variables: Mapping[str, Node] = field(default_factory=dict[str, Node])


def canonicalize(function: Node, file: File, shapes: Collection[str] = ()) -> tuple[Node, tuple[PromotedPlace, ...]]:
    """Canonicalization of a function, and what has become a parameter of it; what it returns is assigned to the
    variable `RESULT`. Raises PL0153, PL0161.
    """
    function, places = promote_arguments(inline_callees(function, file.functions), file.variables, shapes)
    function = copy_parameters(function)
    body = function.inner[-1]
    result = result_variable(function)
    # A pointer that is returned points into an array, all of which is an output.
    is_place = result is not None and is_pointer(result) and not has_no_outputs(function)
    body = replace_returns(body, None if is_place else result) or body
    body = expand_initializers(automatic(body), file.tables)
    body = index_addressed_scalars(replace_aggregates(body, file.records))
    body = rewrite_countdowns(body)
    body = separate_effects(body)
    body = unwrap_subscripts(body)
    parameters = tuple(n for n in function.inner if n.kind == "parameter")
    _check_passed_pointers(body, file.functions)
    body = split_pointers(eliminate_swaps(body, parameters), parameters)
    body = recover_arrays(body, parameters)
    # Last: without `continue`, what a header counts may move to the end of the body.
    body = hoist_test_effects(split_headers(remove_continue(body)))
    return replace(function, inner=(*function.inner[:-1], body)), places


def _check_passed_pointers(body: Node, functions: Mapping[str, Node]) -> None:
    """Calls that get a pointer of functions without a body: what these do to memory is not known. Raises PL0157."""
    for node in body:
        is_call = node.kind == "call" and callee_name(node) and strip_casts(node.inner[0]).symbol not in functions
        pointers = (a for a in node.inner[1:] if "*" in strip_casts(a).ctype)
        if is_call and any(pointers):
            raise refuse_call(node)


def _check_returns(body: Node, functions: Mapping[str, Node]) -> None:
    """Calls that get a pointer of functions that return within a loop: they cannot be inlined. Raises PL0156."""
    for node in body:
        called = functions.get(strip_casts(node.inner[0]).symbol) if node.kind == "call" else None
        found = None if called is None else loop_return(called.inner[-1])
        if found is not None and any("*" in strip_casts(a).ctype for a in node.inner[1:]):
            message = f"`{callee_name(node)}`, which is called here with a pointer, returns within a loop"
            help = "let its loop run to its end, and return behind it; a processor, `--on riscv`, runs it as it is"
            raise refusal("PL0156", message, node, help, f"the `return` is in line {found.span.line} of its file")


def inline_callees(function: Node, functions: Mapping[str, Node]) -> Node:
    """Inlining, before all else: pointers, structures and tables of callees are then the function's own."""
    body = inline_calls(
        _structure_control(function).inner[-1], {name: _structure_control(found) for name, found in functions.items()}
    )
    _check_returns(body, functions)
    body = rename_pointers(make.replace_nodes(body, dereferenced_address))
    body = expand_memory_calls(body, {found.name for found in functions.values()})
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


def _structure_control(function: Node) -> Node:
    """A function without `switch` and `goto`, whose labels are identities of its own, and without loops over bits."""
    body = count_leading_zeros(eliminate_gotos(eliminate_switches(function.inner[-1])))
    return replace(function, inner=(*function.inner[:-1], body))
