# SPDX-License-Identifier: Apache-2.0
"""Python front end: functions as loop nests; `load` finds the kernel in a user's file, `kernel.py` says what a kernel
is.

    text -> Function (names) -> Types -> tree -> Nest  function.py, statements.py and infer.py, lower.py, frontend/loops
         -> Executable                                 execute.py: the function itself, the oracle

The file is executed as a module of its own, so that its constants and sizes are what Python says they are.
"""

from __future__ import annotations

import copyreg
import os
import sys
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

from polyloom.diagnostics import PolyloomError, input_error
from polyloom.files import read_source
from polyloom.frontend.python.kernel import Kernel
from polyloom.frontend.python.syntax_tree import Text, parse_file, syntax_error
from polyloom.frontend.python.types import DTYPES
from polyloom.frontend.source import Options, Reference
from polyloom.frontend.suggestions import suggestion
from polyloom.ir.nest import Nest
from polyloom.recursion import with_deep_stack

__all__ = ["Kernel", "execute_file", "file_kernels", "load", "load_kernel"]


def load(path: str, options: Options) -> tuple[Nest, Reference]:
    """The nest of a kernel in a file and the function itself; raises PL0104, PL0131 to PL0148 at the user's line."""
    kernel = load_kernel(path, options.function)
    return kernel.nest, kernel.reference


def load_kernel(path: str, name: str | None = None) -> Kernel:
    """The kernel called `name` of a file, or its only one; raises PL0104, PL0131 and PL0132."""
    found = {value.name: value for value in execute_file(path).values() if isinstance(value, Kernel)}
    own = file_kernels(path, found)
    if name is not None:
        if name in found:
            return found[name]
        raise input_error(
            "PL0132", f"{path} has no kernel `{name}`", help=suggestion(name, own, _list_kernels(list(own)))
        )
    if len(own) == 1:
        return next(iter(own.values()))
    if not own:
        raise input_error(
            "PL0132", f"{path} has no kernel", help="write `@pl.kernel` above the function to be compiled"
        )
    help = f"name one: `{path}:{next(iter(own))}`"
    raise input_error("PL0132", f"{path} has several kernels", notes=(_list_kernels(list(own)),), help=help)


def file_kernels(path: str, names: Mapping[str, object]) -> dict[str, Kernel]:
    """Kernels that an executed file defines; those that it imports can be named, but are not meant by default."""
    found = {value.name: value for value in names.values() if isinstance(value, Kernel)}
    return {name: kernel for name, kernel in found.items() if kernel.path == path}


def _reduce_kernel(kernel: Kernel) -> str | tuple[Callable[..., Kernel], tuple[str, str]]:
    """Pickled as a function is, by its name in its module; a kernel that was loaded from a file, by the file."""
    if getattr(sys.modules.get(kernel.function.__module__), kernel.name, None) is kernel:
        return kernel.name
    return load_kernel, (kernel.path, kernel.name)


# Not a method of `Kernel`, whose module would have to import the loader, which imports it.
copyreg.pickle(Kernel, _reduce_kernel)


def _list_kernels(names: list[str]) -> str:
    return f"its kernels are {', '.join(names)}" if names else "write `@pl.kernel` above the function to be compiled"


def execute_file(path: str) -> dict[str, object]:
    """Execution of a file as a module: the names that it has then; an exception in it becomes a diagnostic at its line
    (PL0131).
    """
    text = _read_text(path)
    # Before it is executed: syntax errors have positions of their own there.
    parse_file(path, text)
    module = ModuleType(Path(path).stem)
    module.__file__ = path
    try:
        code = with_deep_stack(compile)(text, path, "exec", dont_inherit=True)
        with _neighbour_imports(str(Path(path).parent)):
            exec(code, vars(module))
    except PolyloomError:
        raise
    # A script that ends by `sys.exit` would end the compiler.
    except (Exception, SystemExit) as error:
        raise _execution_failure(Text(path, text), error) from None
    return vars(module)


def _read_text(path: str) -> str:
    try:
        text = read_source(path, "Python").decode("utf-8-sig")
    except UnicodeDecodeError:
        raise input_error(
            "PL0104", f"cannot read {path}: it is not UTF-8 text", help="give the path of a Python file"
        ) from None
    return text.replace("\r\n", "\n").replace("\r", "\n")


@contextmanager
def _neighbour_imports(folder: str) -> Generator[None]:
    """Imports of neighbours, as a script has them (Python language reference, chapter 5). They are forgotten again: the
    next file may have others of these names, and the same ones may have changed.
    """
    before = set(sys.modules)
    sys.path.insert(0, folder)
    try:
        yield
    finally:
        sys.path.remove(folder)
        for name in set(sys.modules) - before:
            if Path(getattr(sys.modules[name], "__file__", None) or os.devnull).is_relative_to(folder):
                del sys.modules[name]


def _execution_failure(text: Text, error: BaseException) -> PolyloomError:
    if isinstance(error, SyntaxError) and error.filename == text.source.name:
        return syntax_error(text, error)
    line, trace = None, error.__traceback__
    # The innermost frame of the user's own file: deeper ones belong to what it calls.
    while trace is not None:
        line = trace.tb_lineno if trace.tb_frame.f_code.co_filename == text.source.name else line
        trace = trace.tb_next
    message = f"the file cannot be executed: {type(error).__name__}: {error}"
    return input_error("PL0131", message, span=None if line is None else text.line(line), help=_failure_help(error))


def _failure_help(error: BaseException) -> str:
    """Help for a failure: what to write instead, where declarations of sizes and arguments are wrong."""
    match error:
        case AttributeError(obj=ModuleType(__name__="polyloom"), name=str(name)):
            types = ", ".join(f"pl.{dtype}" for dtype in DTYPES.values())
            return (
                suggestion(name, DTYPES.values(), f"an array is declared as in `A: pl.f32[N, M]`; types are {types}")
                or ""
            )
        case NameError(name=str(name)) if name.isidentifier():
            return f"define `{name}` above; a size is declared by `{name} = pl.size({name!r})`"
        case ValueError() if "to unpack" in str(error):
            return "name each size: `N, M = pl.sizes('N M')`"
        case TypeError() if str(error).startswith("kernel() missing"):
            return "write `@pl.kernel` without parentheses"
        case TypeError() if str(error).endswith("is not affine"):
            return "sizes are added to each other, and multiplied by integers"
        case _:
            return "a kernel is compiled after its file was executed: Python must be able to run it"
