# SPDX-License-Identifier: Apache-2.0
"""Files with vector kernels in Python: which files are such, and the kernel that a name with constants means:
`leaky(slope=0.1)`, or the file's only one.

Whether a file is one is read off its decorators, without executing it.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field

from polyloom import files
from polyloom.diagnostics import USAGE, Diagnostic, PolyloomError, input_error
from polyloom.frontend import source_file
from polyloom.frontend.python import execute_file
from polyloom.targets.tensix.source.language.kernel import VectorKernel
from polyloom.targets.tensix.source.locate import error


@dataclass(frozen=True, slots=True)
class KernelName:
    """Name of a kernel, None for the only one, and constants, those without a name first."""

    name: str | None
    positional: tuple[object, ...] = ()
    named: Mapping[str, object] = field(default_factory=dict[str, object])

    def constants(self, kernel: VectorKernel) -> Mapping[str, object]:
        """Constants by name. Errors: PL1253 where there are more than the kernel has."""
        names = kernel.constants
        if len(self.positional) > len(names):
            help = f"its constants are {', '.join(names)}" if names else "it has none"
            message = f"`{kernel.name}` gets {len(self.positional)} constants"
            raise error("PL1253", message, kernel.place, help=help)
        return {**dict(zip(names, self.positional, strict=False)), **self.named}


def is_vector_file(path: str, function: str | None) -> bool:
    """Whether the function of a Python file, or the only one of any kind, is a vector kernel."""
    file, of_path = split_path(path)
    if not file.endswith(".py"):
        return False
    try:
        decorated = _kernel_decorators(ast.parse(files.read(file)))
    except (PolyloomError, SyntaxError, ValueError, RecursionError, MemoryError):
        return False  # whoever reads the file says what is wrong
    name = _base_name(function or of_path)
    if name is not None and name in decorated:
        return decorated[name] == "tensix.kernel"
    # A file with kernels of both kinds needs a name to tell which is meant.
    return "tensix.kernel" in decorated.values() and "pl.kernel" not in decorated.values()


def split_path(path: str) -> tuple[str, str | None]:
    """Path and name of `FILE:NAME`."""
    file = source_file(path)
    return file, path[len(file) + 1 :] or None


def _kernel_decorators(module: ast.Module) -> Mapping[str, str]:
    """Functions by name, with the last two words of a decorator that ends in `kernel`."""
    found: dict[str, str] = {}
    for node in ast.walk(module):
        if isinstance(node, ast.FunctionDef):
            for decorator in node.decorator_list:
                words = ast.unparse(decorator).split(".")
                if words[-1] == "kernel":
                    found[node.name] = ".".join(words[-2:])
    return found


def _base_name(text: str | None) -> str | None:
    return text.partition("(")[0].strip() if text else None


def parse_kernel_name(text: str | None) -> KernelName:
    """Kernel name of `name`, `name(1.5, other=True)` or nothing; PL0801 for what is neither."""
    if text is None:
        return KernelName(None)
    try:
        node = ast.parse(text, mode="eval").body
        if isinstance(node, ast.Name):
            return KernelName(node.id)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            named = {k.arg: ast.literal_eval(k.value) for k in node.keywords if k.arg is not None}
            return KernelName(node.func.id, tuple(map(ast.literal_eval, node.args)), named)
    except (SyntaxError, ValueError):
        pass
    help = "write a name, or with constants `--function 'leaky(slope=0.1)'`"
    raise PolyloomError(Diagnostic("PL0801", f"{text!r} is no kernel of a Python file", USAGE, help=help))


def load_kernel(path: str, name: str | None = None) -> VectorKernel:
    """Vector kernel of a file, or the one of this name; raises PL0131 and PL1253."""
    found = {k: v for k, v in execute_file(path).items() if isinstance(v, VectorKernel)}
    if name is None and len(found) == 1:
        return next(iter(found.values()))
    if name is not None and name in found:
        return found[name]
    help = f"its vector kernels are {', '.join(found)}" if found else "write `@pl.tensix.kernel` above a function"
    message = f"{path} has no vector kernel `{name}`" if name else f"{path} has {len(found) or 'no'} vector kernels"
    raise input_error("PL1253", message if found else message.removesuffix("s"), help=help)
