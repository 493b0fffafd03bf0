# SPDX-License-Identifier: Apache-2.0
"""A vector kernel as a subject: C++ (.h, .hpp, .cpp), a Python kernel of `pl.tensix`, or the text of its form (.ssa).

Its oracle is the interpreter of the imported form.
"""

from __future__ import annotations

from time import perf_counter
from typing import Any, Final

import numpy as np

from polyloom.ir.signature import Argument, Signature
from polyloom.targets.subject import Form, Oracle, Subject, Written
from polyloom.targets.tensix.options import Options
from polyloom.targets.tensix.place import Place
from polyloom.targets.tensix.sfpi.read import Kernel, is_kernel, kernel_of
from polyloom.targets.tensix.sfpi.reference import Reference
from polyloom.targets.tensix.sfpi.verify import verify


def _load(written: Written, place: Place, options: Options) -> Subject:
    start = perf_counter()
    kernel = kernel_of(written, options.init, place.member)
    reference = Reference(
        kernel.function,
        kernel.init,
        place.member,
        options.dest or 16,
        options.per,
        options.tiles,
        not options.no_contract,
    )
    oracle = Oracle("interpreter", "the interpreter of SSA form", reference.outputs, reference.bound)
    seconds = perf_counter() - start
    signature = signature_of(kernel.function.name, parameters_of(kernel))
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
    )


def parameters_of(kernel: Kernel) -> tuple[str, ...]:
    """The run-time arguments: those of the kernel and of what initializes; one name is one value."""
    parts = [part for part in (kernel.init, kernel.function) if part is not None]
    return tuple(dict.fromkeys(p.name for part in parts for p in part.parameters))


def signature_of(name: str, parameters: tuple[str, ...]) -> Signature:
    """Dst and its formats are beyond it: the signature is open."""
    arguments = tuple(Argument(p, np.dtype(np.int64), ()) for p in parameters)
    return Signature(name, parameters, (), arguments, is_open=True)


KERNEL: Final = Form("kernel", "a vector kernel (.h, .hpp, .cpp with --function; .py)", is_kernel, _load)


def content(subject: Subject) -> Kernel:
    """Of a subject of this form."""
    made: Any = subject.content
    assert isinstance(made, Kernel)
    return made
