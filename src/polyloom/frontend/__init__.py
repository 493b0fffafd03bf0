# SPDX-License-Identifier: Apache-2.0
"""Front ends by file type: a file, a function or a program becomes a plan, with the source's own behaviour as
reference.

`load` chooses by the file's ending: `.pla` holds equations, `.py`, `.c` and `.mlir` functions, `.onnx` a model. A
function becomes a nest, is checked for all parameter values, and becomes a plan through `transform.plan`; equations are
a plan of one phase already.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from os import PathLike, fspath
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final, cast

from polyloom.diagnostics import USAGE, Diagnostic, PolyloomError, input_error
from polyloom.files import read_source
from polyloom.frontend.array_source import ArraySource
from polyloom.frontend.prints import Observed
from polyloom.frontend.source import Options, Reference, Source
from polyloom.ir.nest import Nest
from polyloom.ir.pla import Program
from polyloom.ir.plan import Plan, single_phase_plan
from polyloom.ir.plan_interpret import interpret
from polyloom.ir.recurrence import System
from polyloom.ir.ssa import Function
from polyloom.ir.ssa_externals import Externals
from polyloom.passes import Form, Pass, Watch, run_passes
from polyloom.recursion import nesting_error, with_deep_stack

if TYPE_CHECKING:
    from polyloom.frontend.mlir.function import MlirFunction
    from polyloom.frontend.python.kernel import Kernel

    FunctionSource = Kernel | ArraySource | MlirFunction
    """A function that a front end has read, other than that of C, which has expressions of its own: `path` is its file,
    `program` the whole-array program that it is, `nest` its meaning as loops, and `data` are elements that the file
    brings."""

__all__ = [
    "Options",
    "Source",
    "array_source",
    "c_function",
    "c_nest",
    "checked_nest",
    "function_plan",
    "is_array_file",
    "is_source",
    "load",
    "nest_source",
    "nest_ssa",
    "plan_source",
    "python_nest",
    "read_function",
    "read_observed",
    "source_file",
    "split_function_name",
    "ssa",
]

FUNCTION_FILES: Final = (".py", ".c", ".mlir")
"""Endings of files of functions."""
ARRAY_FILES: Final = (".onnx",)
"""Endings of files that are programs of whole arrays."""
SOURCE_FILES: Final = (".pla", *FUNCTION_FILES, *ARRAY_FILES)
_MEANT_FOR: Final = {
    "function": ("--function", FUNCTION_FILES),
    "reassociate": ("--reassociate", (*FUNCTION_FILES, *ARRAY_FILES)),
    "includes": ("-I", (".c",)),
    "defines": ("-D", (".c",)),
    "shapes": ("--shape", (".c",)),
    "companions": ("--with", (".c",)),
    "ignore": ("--ignore", (".c",)),
    "values": ("--set", (".c", ".onnx")),
    "data": ("--data", (".onnx",)),
    "single_constants": ("--single-constants", (".c",)),
}
"""By field of `Options`: how it is written, and the endings of the files that it is for."""


def load(path: str, options: Options | None = None, watch: Watch | None = None, *, has_steps: bool = True) -> Source:
    """The program in the file `path`, or the function NAME of `FILE:NAME`; PL0810 for another kind of file. `watch`
    sees the passes that make equations of a function (`transform.PASSES`); `has_steps` as for `transform.plan`."""
    file, chosen = split_function_name(path, options or Options())
    if not is_source(path):
        help = "give a file whose name ends in .py, .c or .mlir (a function), in .pla (equations) or in .onnx (a model)"
        raise input_error("PL0810", f"'{path}' is not a program", help=help)
    # Before anything is read: a wrong option is reported even where the file has errors of its own.
    _check_options(file, chosen)
    # Kept apart from the times of passes: reading runs clang, or the user's own file.
    start = perf_counter()
    source = _load_equations(file) if file.endswith(".pla") else _load_function(file, chosen, watch, has_steps)
    return replace(source, seconds=perf_counter() - start)


def ssa(
    path: str,
    options: Options,
    level: int = 0,
    target: str | None = None,
    externals: Externals | None = None,
    watch: Watch | None = None,
) -> Function:
    """SSA form of a C, C++ or Python function: from LLVM's IR at -O0 to -O2 for C, from its nest for Python, whatever
    the level; variables in memory are made values (Cytron et al. 1991). Functions that `externals` has may be called;
    `watch` sees `SSA_PASSES`. Errors: PL0801, PL015x, PL0975, and for Python PL010x and PL024x.
    """
    file, chosen = split_function_name(path, options)
    if file.endswith((".py", ".mlir")):
        # A kernel has no clang that would tell the data model: the target's triple names XLEN.
        pointers = 32 if (target or "").startswith("riscv32") else 64
        return with_deep_stack(nest_ssa)(python_nest(path, options, indirect=True)[0], pointers, watch)
    from polyloom.frontend.c.llvm import CPP_ENDINGS

    if not file.endswith((".c", *CPP_ENDINGS)):
        raise _usage(f"'{file}' is no function, of which SSA form is made", "give the path of a .c or .py file")
    function: Function = run_passes(file, _ssa_passes(chosen, level, target, externals), watch)
    return function


def _ssa_passes(
    options: Options, level: int, target: str | None, externals: Externals | None
) -> tuple[Pass[Any, Any], ...]:
    # Imported when used: llvmlite and clang belong to the extra `c`, which an installation may lack.
    """Passes of the C front end to SSA form, each with its printer and verifier."""
    from polyloom.frontend.c.llvm import TARGET, load_ssa
    from polyloom.ir.ssa_text import print_ssa
    from polyloom.ir.ssa_verify import verify
    from polyloom.transform.ssa.construct import construct

    form = Form(print_ssa, verify)
    read = partial(load_ssa, options=options, level=level, target=target or TARGET, externals=externals)
    return Pass("import", read, form), Pass("construct", construct, form)


SSA_PASSES: Final = ("import", "construct")
"""The names of the passes that make SSA form of a C function or of a nest."""


def nest_ssa(nest: Nest, pointers: int = 64, watch: Watch | None = None) -> Function:
    """SSA form of a checked nest, for pointers of 32 or 64 bits; its parameters come first. `watch` sees
    `SSA_PASSES`.
    """
    from polyloom.ir.ssa_text import print_ssa
    from polyloom.ir.ssa_verify import verify
    from polyloom.transform.nest_to_ssa import lower_in_memory, promote_locals

    form = Form(print_ssa, verify)
    passes = (
        Pass("import", partial(lower_in_memory, pointers=pointers), form),
        Pass("construct", promote_locals, form),
    )
    function: Function = run_passes(nest, passes, watch)
    return function


def python_nest(path: str, options: Options, *, indirect: bool = False) -> tuple[Nest, Reference]:
    """Nest of a Python or an MLIR function, and the function itself as reference, without a plan for arrays; with
    `indirect`, indices and bounds may be data. Errors: PL010x, PL024x.
    """
    function = read_function(path, options)
    assert function is not None
    return checked_nest(function, indirect=indirect), function.reference


def read_function(source: Any, options: Options) -> FunctionSource | None:
    """Function that a value is, or that a file in Python, MLIR or ONNX holds; None for another source. Errors: those of
    its front end."""
    from polyloom.frontend.python.kernel import Kernel

    if isinstance(source, Kernel | ArraySource):
        return source
    if not isinstance(source, str | PathLike):
        return None
    path = fspath(cast("str | PathLike[str]", source))
    if is_array_file(path):
        return array_source(path, options)
    file, chosen = split_function_name(path, options)
    if not file.endswith((".py", ".mlir")):
        return None
    _check_options(file, chosen)
    if file.endswith(".mlir"):
        from polyloom.frontend.mlir import load_mlir

        return load_mlir(file, chosen.function)
    from polyloom.frontend.python import load_kernel

    return load_kernel(file, chosen.function)


def checked_nest(function: FunctionSource, *, indirect: bool = False) -> Nest:
    """Nest of a function, checked for all sizes; with `indirect`, indices and bounds may be data. Errors: PL024x."""
    from polyloom.analysis import nest_check

    nest = function.indirect if indirect else function.nest
    return with_deep_stack(nest_check.check_with_least_sizes)(nest)


def read_observed(source: Any, options: Options) -> Observed | None:
    """Function with the prints of a source (`prints`), whose accesses are checked for all sizes as those of the
    function are; None where it has none. Errors: PL1510, and those of what is printed.
    """
    if not isinstance(source, str | PathLike):
        observed: Observed | None = getattr(source, "observed", None)
        return observed
    file, chosen = split_function_name(fspath(cast("str | PathLike[str]", source)), options)
    # Most files print nothing: they are not read a second time.
    if not file.endswith((".py", ".c")) or b"print" not in read_source(file, "source"):
        return None
    if file.endswith(".c"):
        from polyloom.frontend.c import load_observed

        return load_observed(file, chosen)
    from polyloom.frontend.python import load_kernel

    try:
        return load_kernel(file, chosen.function).observed
    except PolyloomError as error:
        # A file of another form, such as vector kernels, whose prints are code.
        if error.code == "PL0132":
            return None
        raise


def array_source(path: str, options: Options) -> ArraySource:
    """Program of whole arrays that a model is. Errors: PL018x."""
    # Imported when used: the package that reads it belongs to an extra, which an installation may lack.
    from polyloom.frontend.onnx import load_model

    _check_options(path, options)
    return load_model(path, options)


def function_plan(
    function: FunctionSource,
    path: str = "",
    *,
    reassociate: bool = False,
    watch: Watch | None = None,
    has_steps: bool = True,
) -> Source:
    """Source of a function, with the elements that its file brings. Errors: those of `nest_source`."""
    path = path or function.path
    made = nest_source(
        function.nest, function.reference, path, reassociate=reassociate, watch=watch, has_steps=has_steps
    )
    return replace(made, data=function.data)


def is_array_file(path: str) -> bool:
    """Whether a file is a program of whole arrays, by its ending."""
    return path.endswith(ARRAY_FILES)


def c_nest(path: str, options: Options) -> Nest:
    """The nest of a C function, without a plan for arrays. Errors: PL0104, PL015x, PL016x, PL024x."""
    return c_function(path, options)[0]


def c_function(path: str, options: Options) -> tuple[Nest, Reference]:
    """`c_nest`, and the function itself, compiled."""
    from polyloom.analysis import nest_check
    from polyloom.frontend.c import load as read

    file, chosen = split_function_name(path, options)
    nest, reference = read(file, chosen)
    return nest_check.check_with_least_sizes(nest), reference


def is_source(path: str) -> bool:
    """Whether `path` names a source, and not a file that polyloom wrote."""
    return source_file(path).endswith(SOURCE_FILES)


def source_file(path: str) -> str:
    """Path of a source: `FILE` of `FILE` or `FILE:NAME`."""
    return split_function_name(path, Options())[0]


def _load_equations(file: str) -> Source:
    from polyloom.frontend import pla

    return plan_source(single_phase_plan(pla.load(file)), file)


def _load_function(file: str, options: Options, watch: Watch | None, has_steps: bool) -> Source:
    function, reassociate = read_function(file, options), options.reassociate
    if function is not None:
        return function_plan(function, file, reassociate=reassociate, watch=watch, has_steps=has_steps)
    from polyloom.frontend.c import load as read

    return nest_source(*read(file, options), file, reassociate=reassociate, watch=watch, has_steps=has_steps)


def nest_source(
    nest: Nest,
    reference: Reference,
    path: str,
    *,
    reassociate: bool = False,
    watch: Watch | None = None,
    has_steps: bool = True,
) -> Source:
    """Source of a nest whose function is `reference`; `has_steps` as for `transform.plan`. Errors: PL0308, PL024x, and
    what cannot be made uniform."""
    try:
        # On a stack of its own size: passes recurse as deep as the user nests expressions.
        sized, system, plan = with_deep_stack(_make_plan)(nest, reassociate, watch, has_steps)
    except RecursionError:
        raise nesting_error(path, nest.span) from None
    # Reassociated sums differ from the reference by rounding: such a run is compared within a bound, not exactly.
    return Source(path, plan, reference, sized, system, exact=not reassociate)


def _make_plan(nest: Nest, reassociate: bool, watch: Watch | None, has_steps: bool) -> tuple[Nest, System | None, Plan]:
    from polyloom import transform
    from polyloom.analysis import nest_check
    from polyloom.transform.limits import check_size

    check_size(nest)
    nest = nest_check.check_with_least_sizes(nest)
    return nest, *transform.plan(nest, reassociate, watch, has_steps=has_steps)


def plan_source(plan: Plan | Program, path: str = "") -> Source:
    """Source of equations, which are their own reference: their interpreter."""
    whole = single_phase_plan(plan) if isinstance(plan, Program) else plan
    return Source(path, whole, partial(interpret, whole))


def split_function_name(path: str, options: Options) -> tuple[str, Options]:
    """File and function of `FILE:NAME`: the path, and options that name the function. Errors: PL0801 for two names."""
    file, colon, name = path.rpartition(":")
    # A colon may be part of the path (`C:\x.pla`): only what follows `.py` or `.c` is a function.
    if not colon or not file.endswith(FUNCTION_FILES):
        return path, options
    if options.function not in (None, name):
        raise _usage(f"'{path}' names a function, and so does --function {options.function}", "name it once")
    return file, replace(options, function=name)


def _check_options(file: str, options: Options) -> None:
    """Validation of options: PL0801 for one that means nothing for this kind of file."""
    for field, (option, endings) in _MEANT_FOR.items():
        if getattr(options, field) and not file.endswith(endings):
            kinds = " and ".join(filter(None, (", ".join(endings[:-1]), endings[-1])))
            raise _usage(f"{option} means nothing for '{file}'", f"leave it out; it is for {kinds} files")


def _usage(message: str, help: str) -> PolyloomError:
    return PolyloomError(Diagnostic("PL0801", message, USAGE, help=help))
