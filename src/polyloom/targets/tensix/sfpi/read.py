# SPDX-License-Identifier: Apache-2.0
"""Reads a vector kernel: C++ by `source.py`, Python by `language/`, the text of the form by `ir.ssa_read`.

`--function` names it, in C++ with template arguments; a call, `f(true)` or in Python `f(rows=4)`, binds parameters to
constants.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from polyloom import files
from polyloom.diagnostics import USAGE, Diagnostic, PolyloomError
from polyloom.frontend import file_of
from polyloom.frontend.source import Options as Reading
from polyloom.ir.ssa import Function
from polyloom.ir.ssa_read import read
from polyloom.targets.subject import Written
from polyloom.targets.tensix.isa import Member

SOURCES: Final = (".h", ".hpp", ".cpp", ".cc")
TEXT: Final = ".ssa"
_PYTHON: Final = ".py"
_MARK: Final = b"tensix.kernel"
"""What a Python file with vector kernels has in it."""


@dataclass(frozen=True, slots=True)
class Kernel:
    """The kernel in its form, what initializes before it, and the source's names of values."""

    function: Function
    init: Function | None = None
    variables: Mapping[str, str] = field(default_factory=dict[str, str])


def is_kernel(written: Written) -> bool:
    """By the ending of a path, of a Python file by a look into it; or a kernel of `pl.tensix`."""
    path = written.path
    if path is None:
        return hasattr(written.value, "trace") and hasattr(written.value, "runtime")
    if path.endswith((*SOURCES, TEXT)):
        return True
    try:
        return file_of(path).endswith(_PYTHON) and _MARK in files.read(file_of(path))
    except PolyloomError:
        return False


def kernel_of(written: Written, init: str | None, member: Member) -> Kernel:
    """Errors: PL0801 without a function, and those of the frontends."""
    path, reading = written.path, written.options
    if path is None:
        return _traced(written.value, None, member)
    if path.endswith(TEXT):
        return Kernel(read(files.read(path).decode("utf-8", "replace"), path))
    if path.endswith(SOURCES):
        return _of_source(path, init, reading, member)
    return _of_python(path, init, reading, member)


def _of_source(path: str, init: str | None, reading: Reading, member: Member) -> Kernel:
    from polyloom.targets.tensix.sfpi.source import load  # not before a file is read

    if reading.function is None:
        raise _unnamed(path, "is C++, and no function is named", "calculate_tanh<false, 8>")
    found = load(path, reading.function, init, reading.defines, reading.includes, member)
    return Kernel(replace(found.function, name=reading.function), found.init, found.variables)


def _of_python(path: str, init: str | None, reading: Reading, member: Member) -> Kernel:
    from polyloom.targets.tensix.sfpi.language.kernel import load  # not before a file is read

    file = file_of(path)
    named = reading.function or path[len(file) + 1 :] or None
    name, constants = (None, {}) if named is None else _call(path, named)
    found = _traced(load(file, name), named, member, constants)
    if init is None:
        return found
    first, given = _call(path, init)
    return replace(found, init=_traced(load(file, first), init, member, given).function)


def _traced(kernel: Any, name: str | None, member: Member, constants: Mapping[str, object] | None = None) -> Kernel:
    function: Function = kernel.trace(member, **(constants or {}))
    return Kernel(replace(function, name=name or function.name))


def _call(path: str, text: str) -> tuple[str, dict[str, object]]:
    """`f`, or `f(rows=4)`: the name, and the constants."""
    try:
        tree = ast.parse(text.strip(), mode="eval").body
        match tree:
            case ast.Name(id=name):
                return name, {}
            case ast.Call(func=ast.Name(id=name), args=[], keywords=keywords):
                return name, {str(k.arg): ast.literal_eval(k.value) for k in keywords if k.arg is not None}
            case _:
                pass
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        pass
    raise _unnamed(path, f"is Python, and '{text}' names no kernel of it", "name(rows=4)")


def _unnamed(path: str, what: str, example: str) -> PolyloomError:
    return PolyloomError(Diagnostic("PL0801", f"'{path}' {what}", USAGE, help=f"write --function '{example}'"))
