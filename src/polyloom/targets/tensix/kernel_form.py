# SPDX-License-Identifier: Apache-2.0
"""Vector kernels as a form of sources: C++ (.h, .hpp, .cpp), a Python kernel of `pl.tensix`, or the text of SSA form
(.ssa).

The oracle is the interpreter of the imported form, which shares no code with the compiler's passes (docs/sfpi.md).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import perf_counter
from typing import Any, Final

import numpy as np

from polyloom import files
from polyloom.diagnostics import USAGE, Diagnostic, PolyloomError
from polyloom.frontend.dependencies import source_dependencies
from polyloom.frontend.source import Options as Reading
from polyloom.ir.signature import Argument, Signature
from polyloom.ir.ssa import Function
from polyloom.ir.ssa import Place as SourcePlace
from polyloom.ir.ssa_read import read
from polyloom.targets.forms.relocation import relocate
from polyloom.targets.subject import Form, Oracle, Subject, Written
from polyloom.targets.tensix.options import Options
from polyloom.targets.tensix.place import Place
from polyloom.targets.tensix.run.reference import Reference
from polyloom.targets.tensix.source import locate
from polyloom.targets.tensix.source.language.file import is_vector_file, load_kernel, parse_kernel_name, split_path
from polyloom.targets.tensix.source.language.kernel import VectorKernel
from polyloom.targets.tensix.source.verify import verify
from polyloom.targets.tensix.words.isa import Member

SOURCES: Final = (".h", ".hpp", ".cpp", ".cc")
TEXT: Final = ".ssa"


@dataclass(frozen=True, slots=True)
class Kernel:
    """A kernel in SSA form, the function that initializes before it, and the source's names of values. `is_unrolled`
    says that tracing has unrolled its loops.
    """

    function: Function
    init: Function | None = None
    variables: Mapping[str, str] = field(default_factory=dict[str, str])
    is_unrolled: bool = False


def _accepts(written: Written) -> bool:
    if written.path is None:
        return isinstance(written.value, VectorKernel)
    if written.path.endswith((*SOURCES, TEXT)):
        return True
    # A .py file is a kernel's only if it says so itself; others are loops.
    return is_vector_file(written.path, written.options.function)


def _load(written: Written, place: Place, options: Options) -> Subject:
    """Subject of a vector kernel: its form, its oracle and the findings of the verifier."""
    start = perf_counter()
    kernel = read_kernel(written, place, options)
    reference = kernel_reference(kernel, place.member, options)
    oracle = Oracle("interpreter", "the interpreter of SSA form", reference.outputs, reference.bounds)
    seconds = perf_counter() - start
    signature = open_signature(kernel.function.name, runtime_parameters(kernel))
    # Verified here, and not only when it is compiled, so that every verb that loads a kernel gives the warnings.
    warnings = tuple(
        found for part in (kernel.init, kernel.function) if part is not None for found in verify(part, place.member)
    )
    return Subject(
        "kernel",
        kernel,
        written.path or kernel.function.name,
        signature,
        (oracle,),
        seconds,
        watch=written.watch,
        warnings=warnings,
        texts=_texts(kernel.function.place),
    )


def _texts(place: SourcePlace) -> tuple[tuple[str, str], ...]:
    """The file of a function, if it can be read."""
    text = locate.source_text(place.file)
    return () if text is None else ((place.shown_file, text),)


def kernel_reference(kernel: Kernel, member: Member, options: Options) -> Reference:
    """Oracle of a kernel: the interpreter, with the options that change its meaning."""
    dest, contract = options.dest or 16, not options.no_contract
    return Reference(kernel.function, kernel.init, member, dest, options.per, options.tiles, contract, options.spill)


def read_kernel(written: Written, place: Place, options: Options) -> Kernel:
    """Reader of a kernel, by the ending of the name or the type of a value. Errors: those of the reader."""
    if isinstance(written.value, VectorKernel):
        return trace_kernel(written.value, {}, place.member)
    path, name = split_path(str(written.path))
    if path.endswith(".py"):
        found = _trace_file(path, written.options.function or name, place.member)
        init = None if options.init is None else _trace_file(path, options.init, place.member).function
        return replace(found, init=init)
    if path.endswith(TEXT):
        return confine_places(Kernel(read(files.read(path).decode("utf-8", "replace"), path)), ())
    found = compile_source(path, written.options.function, options.init, written.options, place.member)
    return confine_places(found, (Path(path).resolve(), *source_dependencies(path, written.options.includes)))


def confine_places(kernel: Kernel, sources: Collection[Path]) -> Kernel:
    """Places confined to the `sources`: any other file becomes a label that is never opened. Text of SSA form and
    `#line` can name any file, and a listing would print it.
    """

    def place(of: SourcePlace) -> SourcePlace:
        # A NUL makes Path.resolve fail; such a name is no source in any case.
        if not of.file or ("\0" not in of.file and Path(of.file).resolve() in sources):
            return of
        return replace(of, file=locate.file_label(of.shown_file))

    init = None if kernel.init is None else relocate(kernel.init, place)
    return replace(kernel, function=relocate(kernel.function, place), init=init)


def trace_kernel(kernel: VectorKernel, constants: Mapping[str, object], member: Member) -> Kernel:
    """Trace of a Python kernel. Errors: PL1250 to PL1254."""
    found = kernel.traced(member, constants)
    return Kernel(found.function, None, found.variables, is_unrolled=True)


def _trace_file(path: str, text: str | None, member: Member) -> Kernel:
    named = parse_kernel_name(text)
    kernel = load_kernel(path, named.name)
    return trace_kernel(kernel, named.constants(kernel), member)


def compile_source(path: str, name: str | None, init: str | None, reading: Reading, member: Member) -> Kernel:
    """Kernel of a C++ file, through clang. Errors: PL0801 without the name of a function, PL0150, PL1260 to PL1269."""
    from polyloom.targets.tensix.source.cpp import source

    if name is None:
        help = "write for instance --function 'calculate_tanh<false, 8>'"
        raise PolyloomError(Diagnostic("PL0801", f"'{path}' is C++, and no function is named", USAGE, help=help))
    found = source.load_kernel(path, name, init, reading.defines, reading.includes, member)
    return Kernel(replace(found.function, name=name), found.init, found.variables)


def runtime_parameters(kernel: Kernel) -> tuple[str, ...]:
    """Run-time parameters of the kernel and of its initializing function; one name is one value."""
    parts = [part for part in (kernel.init, kernel.function) if part is not None]
    return tuple(dict.fromkeys(p.name for part in parts for p in part.parameters))


def open_signature(name: str, parameters: tuple[str, ...]) -> Signature:
    """Open signature: parameters alone, since Dst and its formats are no arguments."""
    arguments = tuple(Argument(p, np.dtype(np.int64), ()) for p in parameters)
    return Signature(name, parameters, (), arguments, is_open=True)


KERNEL: Final = Form("kernel", "a vector kernel (.h, .hpp, .cpp with --function, .py)", _accepts, _load)


def kernel_content(subject: Subject) -> Kernel:
    """Of a subject of this form."""
    made: Any = subject.content
    assert isinstance(made, Kernel)
    return made
