# SPDX-License-Identifier: Apache-2.0
"""C front end: a function's loops as a nest (C17, section 6.8.5), and the function itself, compiled, as the oracle."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from polyloom.diagnostics import PolyloomError, input_error
from polyloom.files import read_source
from polyloom.frontend.c.calls.adapter import adapter_text
from polyloom.frontend.c.calls.ignore import remove_ignored
from polyloom.frontend.c.calls.prints import Bodies, assign_prints, read_prints, remove_prints
from polyloom.frontend.c.calls.recursion import check_recursion
from polyloom.frontend.c.canonical import File, canonicalize
from polyloom.frontend.c.canonical.word_unions import replace_word_unions, word_unions
from polyloom.frontend.c.choose_function import choose_function, defined_functions
from polyloom.frontend.c.clang import printed_function, syntax_tree
from polyloom.frontend.c.clang_tree import typedefs
from polyloom.frontend.c.file_constants import declarations, variables, with_constants
from polyloom.frontend.c.function_nest import build_nest
from polyloom.frontend.c.narrow.functions import narrow_functions
from polyloom.frontend.c.reachable_functions import read_reachable, unreached_bodies
from polyloom.frontend.c.reference import Native
from polyloom.frontend.c.signature import declarators
from polyloom.frontend.dependencies import dependencies_with_options
from polyloom.frontend.loops.affine import Scope, callee_name
from polyloom.frontend.prints import Observed, Print, check_accesses
from polyloom.frontend.source import Options, Reference
from polyloom.ir.nest import Nest
from polyloom.recursion import nesting_error, with_deep_stack

__all__ = ["load", "load_observed"]


def load(path: str, options: Options) -> tuple[Nest, Reference]:
    """C function as a nest: that of the file `path`, and the compiled function itself. Raises PL0104, and PL0150 to
    PL0167 with the user's positions.
    """
    read_source(path, ".c")
    try:
        return read_reachable(path, options.function, options, partial(_load, path))
    except RecursionError:
        raise nesting_error(path) from None


def load_observed(path: str, options: Options) -> Observed | None:
    """C function with its observation points (`frontend.prints`); None where it has none. Errors: PL1510, and those of
    `load` for what is printed.
    """
    silent = remove_ignored(path, options)
    prints = read_prints(path, silent, _unreached_functions(options))
    if not prints:
        return None
    # First without: what is wrong with the function itself has its place in the user's text.
    without, _ = _load(path, remove_prints(path, silent))
    try:
        return Observed(_load_prints(path, silent, prints), without, prints)
    except PolyloomError as error:
        raise _located_at_print(path, silent, prints, error) from None


def _unreached_functions(options: Options) -> Bodies:
    return partial(unreached_bodies, function=options.function)


def _load_prints(path: str, options: Options, prints: Sequence[Print], only: int | None = None) -> Nest:
    """Nest that assigns what is printed, by all prints or one, checked for all sizes."""
    return check_accesses(_load(path, assign_prints(path, options, _unreached_functions(options), prints, only))[0])


def _located_at_print(path: str, options: Options, prints: Sequence[Print], error: PolyloomError) -> PolyloomError:
    """PL1510 at the first print with a value that is none of a kernel: places in the text with assignments are
    nobody's.
    """
    for number, each in enumerate(prints):
        try:
            _load_prints(path, options, prints, number)
        except PolyloomError as own:
            found = own.diagnostics[0]
            return input_error("PL1510", f"a value cannot be printed: {found.message}", span=each.span, help=found.help)
    return error


@with_deep_stack
def _load(path: str, options: Options) -> tuple[Nest, Reference]:
    unit = syntax_tree(path, options)
    headers = dependencies_with_options(path, options)
    function, functions = choose_function(path, unit, options.function, headers)
    check_recursion(function, functions)
    unions = word_unions(unit)
    function = replace_word_unions(function, unions)
    functions = {name: replace_word_unions(each, unions) for name, each in functions.items()}
    # Constants of the file come first: extents and bounds of the function may name them.
    outside = with_constants(unit, Scope({}, {}, functions, defined=frozenset(defined_functions(unit))))
    declared = declarators(printed_function(path, function.name, options), function.name, typedefs(unit))
    tables, records = declarations(unit)
    file = File(narrow_functions(functions), tables, records, variables(unit, outside, tables, headers))
    canonical, places = canonicalize(function, file, options.shapes)
    own = [n for n in function.inner if n.kind == "parameter"]
    found = build_nest(canonical, {n.name: text for n, text in zip(own, declared, strict=True)}, outside, options)
    # In C's order, which the nest's parameters and storage no longer tell.
    parameters = tuple(n for n in canonical.inner if n.kind == "parameter")
    is_adapted = places or len(parameters) < len(own)
    adapted = adapter_text(function, declared, parameters, places, file.variables) if is_adapted else ""
    called = {callee_name(node) for each in functions.values() for node in each if node.kind == "call"}
    # What is called and has no body anywhere is C's library, which the oracle must link.
    library = frozenset(name.removeprefix("__builtin_") for name in called.difference(defined_functions(unit)))
    return found, Native(path, found, tuple(p.name for p in parameters), options, library, adapted)
