# SPDX-License-Identifier: Apache-2.0
"""Frontend of vector kernels in C++, as functions in SSA form: `load_kernel`.

A unit is made around the user's file, in which every function is inlined, and read by `frontend.c.llvm` with the table
of operations. The function is named by a C++ expression, `ns::f<false, 8>`, whose parameters are those of the form, or
by a call, `silly(true)`, which binds them; a template whose arguments all have defaults is named without them. Where
arrays of vectors stay in memory, loops are unrolled and it is read again; what then still is there is an error.
Language and headers: docs/sfpi.md.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from polyloom.diagnostics import PolyloomError, Source
from polyloom.files import read_source
from polyloom.frontend.c.clang import CPP, include_directive, llvm_module
from polyloom.frontend.c.llvm import import_functions
from polyloom.frontend.source import Options
from polyloom.ir.ssa import Function
from polyloom.ir.ssa_externals import External, Externals
from polyloom.ir.ssa_types import I32
from polyloom.targets.tensix.place import include
from polyloom.targets.tensix.sfpi.header import PART, TRANSPOSED
from polyloom.targets.tensix.source.cpp.explain import Explainer, explain_import
from polyloom.targets.tensix.source.cpp.finish_import import finish_import, has_memory_vectors, refuse_unsupported
from polyloom.targets.tensix.source.cpp.names import variable_names
from polyloom.targets.tensix.source.cpp.unreached_functions import leave_out_functions
from polyloom.targets.tensix.source.operations import PREFIX, VECTOR, externals
from polyloom.targets.tensix.source.replace_assignments import replace_assignments
from polyloom.targets.tensix.words.isa import Member

TARGET: Final = "riscv32-unknown-elf"
HERE: Final = Path(__file__).parents[2] / "sfpi"
HEADERS: Final = (*(str(HERE / name) for name in ("include", "include/std", "include/ckernel")), include())
"""Before the user's own folders: what of the vendor's system a kernel includes is found here."""
_FLAGS: Final = ("-march=rv32im", "-mabi=ilp32", "-g", "-Xclang", "-no-enable-noundef-analysis")
# Unrolling of all counted loops turns constant indices into scalars; run-time counts are left, for they would only
# multiply code.
_UNROLLED: Final = (
    "-funroll-loops",
    *("-mllvm", "-unroll-runtime=0", "-mllvm", "-unroll-allow-partial=0", "-mllvm", "-unroll-threshold=100000"),
    *("-mllvm", "-unroll-full-max-count=64"),
)
_ARCHITECTURES: Final[Mapping[Member, str]] = {"wormhole": "ARCH_WORMHOLE", "blackhole": "ARCH_BLACKHOLE"}
_CALL = re.compile(r"^[^()]*(?:<.*>)?\s*\(.*\)$", re.DOTALL)
_UNIT: Final = """\
#pragma clang attribute push(__attribute__((always_inline)), apply_to = function)
{include}
#pragma clang attribute pop
{calls}extern "C" void *const __polyloom_kept[] = {{{kept}}};
"""


@dataclass(frozen=True, slots=True)
class Forms:
    """A kernel, and what is called once before it; `variables` are the source's names, by names of values."""

    function: Function
    init: Function | None
    source: Source
    variables: Mapping[str, str]


def load_kernel(
    path: str,
    function: str,
    init: str | None = None,
    defines: tuple[str, ...] = (),
    includes: tuple[str, ...] = (),
    member: Member = "wormhole",
) -> Forms:
    """Form of a function of the file and of its initialization. Errors: PL0104, PL0150, PL1260 to PL1269."""
    names = (function,) if init is None else (function, init)
    found = load_functions(path, names, defines, includes, member)
    return Forms(found.functions[0], found.functions[1] if init is not None else None, found.source, found.variables)


@dataclass(frozen=True, slots=True)
class Functions:
    """Functions of one file, in the order in which they were named."""

    functions: tuple[Function, ...]
    source: Source
    variables: Mapping[str, str]


def load_functions(
    path: str,
    names: tuple[str, ...],
    defines: tuple[str, ...] = (),
    includes: tuple[str, ...] = (),
    member: Member = "wormhole",
) -> Functions:
    """Forms of functions of a file, read at once by one call of clang. Errors: as `load_kernel`."""
    source = Source(path, read_source(path, ".h").decode("utf-8", "replace"))
    options = Options(includes=(*HEADERS, *includes), defines=(f"{_ARCHITECTURES[member]}=1", *defines))
    found, module = _read_functions(path, names, source, options)
    for each in found:
        refuse_unsupported(each, source)
    # Assignments outside of conditions are replaced last, when the operations are those of the table.
    return Functions(
        tuple(replace_assignments(finish_import(each)) for each in found), source, variable_names(module, HEADERS)
    )


def _read_functions(
    path: str, names: tuple[str, ...], source: Source, options: Options
) -> tuple[tuple[Function, ...], str]:
    """Functions, and the module; without other functions that clang refuses."""
    explained = Explainer(source, HEADERS, options.defines)
    try:
        return _read_unit(path, names, explained, options)
    except PolyloomError as first:
        fewer = leave_out_functions(explained.refused, names, options)
        if fewer is None:
            raise
        try:
            return _read_functions(path, names, source, fewer)
        except PolyloomError:
            # A function that is needed was left out, so that its own error counts.
            raise first from None


def _read_unit(
    path: str, names: tuple[str, ...], explained: Explainer, options: Options
) -> tuple[tuple[Function, ...], str]:
    """Functions, and the module; with loops unrolled where vectors are in memory otherwise."""
    unit, module = _compile_unit(path, names, explained, options)
    try:
        found = _import_module(module, explained.source)
    except PolyloomError as error:
        # Only vectors in memory are cured by unrolling; other errors would come again.
        if error.diagnostics[0].code != "PL1264":
            raise
    else:
        if not any(map(has_memory_vectors, found)):
            return found, module
    module = _compile_module(unit, explained, options, _UNROLLED)
    return _import_module(module, explained.source), module


def _compile_unit(path: str, names: tuple[str, ...], explained: Explainer, options: Options) -> tuple[str, str]:
    """Unit and its module. C++ has no name for a template with defaults but `f<>`, which is tried where it is all that
    a name can mean.
    """
    unit = _unit_text(path, names)
    try:
        return unit, _compile_module(unit, explained, options)
    except PolyloomError as first:
        given = tuple(f"{name}<>" if name.split("::")[-1] in explained.alone else name for name in names)
        if given == names:
            raise
        unit = _unit_text(path, given)
        try:
            return unit, _compile_module(unit, explained, options)
        except PolyloomError as second:
            # The second attempt's errors are of interest only if it found the function.
            nameless = any(each.code == "PL1268" for each in second.diagnostics)
            raise (first if nameless else second) from None


def _compile_module(unit: str, explained: Explainer, options: Options, more: tuple[str, ...] = ()) -> str:
    return llvm_module(unit, 1, TARGET, options, *_FLAGS, *more, language=CPP, explained=explained)


def _import_module(module: str, source: Source) -> tuple[Function, ...]:
    try:
        return import_functions(module, source, import_externals())
    except PolyloomError as error:
        raise explain_import(error) from None


def import_externals() -> Externals:
    """Externals: all operations, and the pair of functions that stands for the one with four results."""
    known = externals(HEADERS)
    four = External(PREFIX + TRANSPOSED, (VECTOR,) * 4, (VECTOR,), ("ordered",))
    part = External(PREFIX + PART, (VECTOR, I32), (VECTOR,), ("ordered",))
    return replace(known, functions=(*known.functions, four, part))


def _unit_text(path: str, names: tuple[str, ...]) -> str:
    """Text of the unit; a call becomes a function without parameters."""
    calls = "".join(
        f"static void __polyloom_call_{k}() {{ {name}; }}\n" for k, name in enumerate(names) if _CALL.match(name)
    )
    kept = (f"__polyloom_call_{k}" if _CALL.match(name) else f"{name}" for k, name in enumerate(names))
    return _UNIT.format(
        include=include_directive(path), calls=calls, kept=", ".join(f"(void *)&{name}" for name in kept)
    )
