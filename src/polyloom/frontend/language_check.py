# SPDX-License-Identifier: Apache-2.0
"""Check of a source without a target: what its language and its loops have wrong, function by function.

Reading stops at the first fault of a function, as later ones may follow from it; other functions are read all the same.
What only loops whose accesses are known in advance must not have is a warning: functions in SSA form may have it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from polyloom import frontend
from polyloom.diagnostics import Diagnostic, PolyloomError
from polyloom.files import read_source
from polyloom.frontend import Options, checked_nest

if TYPE_CHECKING:
    from polyloom.frontend import FunctionSource

_KERNELS: Final = re.compile(rb"polyloom|kernel")
"""One of these words stands in every file that defines kernels: its import, or the decorator."""
Findings = tuple[str, tuple[Diagnostic, ...]]
"""A function's name, empty of a file that has one program, and what is wrong with it."""
_ELSEWHERE = "machines with a program counter take it: check with --on riscv"


def check_language(path: str, options: Options) -> Iterator[Findings]:
    """Findings of each function of a source. Errors of the whole file are raised."""
    file, chosen = frontend.split_function_name(path, options)
    match file.rpartition(".")[2]:
        case "py":
            yield from _check_python(file, chosen)
        case "mlir":
            yield from _check_mlir(file, chosen)
        case "c":
            yield from _check_c(file, chosen)
        case "onnx":
            yield "", _findings(lambda: checked_nest(frontend.array_source(file, chosen), indirect=True))
        case _:
            frontend.load(file, chosen)
            yield "", ()


def has_kernels(path: str) -> bool:
    """Whether a Python file may define kernels. An editor opens others, too, which must not be executed for that."""
    return _KERNELS.search(read_source(path, "source")) is not None


def _check_python(path: str, options: Options) -> Iterator[Findings]:
    # Imported when used, as every front end is: most files are of one language.
    from polyloom.frontend.python import execute_file, file_kernels, load_kernel

    if options.function is not None:
        yield options.function, _check_function(load_kernel(path, options.function))
        return
    found = file_kernels(path, execute_file(path))
    if not found:
        load_kernel(path)
    for name, kernel in found.items():
        yield name, _check_function(kernel)


def _check_mlir(path: str, options: Options) -> Iterator[Findings]:
    from polyloom.frontend.mlir import function_names, load_mlir

    names = (options.function,) if options.function is not None else function_names(path)
    if not names:
        load_mlir(path, None)
    for name in names:
        try:
            function = load_mlir(path, name)
        except PolyloomError as error:
            yield name, error.diagnostics
            continue
        yield name, _check_function(function)


def _check_function(function: FunctionSource) -> tuple[Diagnostic, ...]:
    """Findings of a function whose nest may have data as indices."""
    found = _demote_refusals(lambda: checked_nest(function), lambda: checked_nest(function, indirect=True))
    return _with_prints(found, lambda: frontend.read_observed(function, Options()))


def _check_c(path: str, options: Options) -> Iterator[Findings]:
    from polyloom.frontend.c.choose_function import kernel_names
    from polyloom.frontend.c.clang import cached_trees, syntax_tree

    with cached_trees():
        names = (options.function,) if options.function is not None else kernel_names(syntax_tree(path, options))
        if not names:
            frontend.c_nest(path, options)
        for name in names:
            own = replace(options, function=name)
            found = _demote_refusals(
                lambda own=own: frontend.c_nest(path, own), lambda own=own: frontend.ssa(path, own, 1)
            )
            yield name, _with_prints(found, lambda own=own: frontend.read_observed(path, own))


def _demote_refusals(read: Callable[[], object], otherwise: Callable[[], object]) -> tuple[Diagnostic, ...]:
    """Findings of one way to read a function; warnings where another way has none."""
    found = _findings(read)
    if not found or _findings(otherwise):
        return found
    return tuple(replace(each, exit_code=0, notes=(*each.notes, _ELSEWHERE)) for each in found)


def _with_prints(found: tuple[Diagnostic, ...], read: Callable[[], object]) -> tuple[Diagnostic, ...]:
    """Findings of a function with those of what it prints, which is read where it has no errors of its own. Prints of
    what is no loop nest are not shown, so that only those that never can be are wrong.
    """
    # Of a wrong function the prints are wrong for the same reason.
    prints = () if any(each.exit_code for each in found) else _findings(read)
    return (*found, *(each for each in prints if not found or each.code == "PL1510"))


def _findings(read: Callable[[], object]) -> tuple[Diagnostic, ...]:
    try:
        read()
    except PolyloomError as error:
        return error.diagnostics
    return ()
