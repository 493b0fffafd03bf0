# SPDX-License-Identifier: Apache-2.0
"""MLIR front end: functions of the dialects func, affine, scf, arith, math, index, memref, tensor, linalg and
bufferization as loop nests; xDSL reads the text (extra `mlir`).

    text -> operations    reader.py over xDSL, dialects/: what it lacks; verify/: what it lets pass
         -> tree -> Nest  lowering/, function_nest.py, frontend/loops; extents.py
         -> ir.arrays     transform/arrays/raising.py, of structured operations; function.py
         -> Python        evaluate/: what the operations themselves say, the oracle
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING

from polyloom import extras
from polyloom.diagnostics import USAGE, Diagnostic, PolyloomError, input_error
from polyloom.files import read_source
from polyloom.frontend.source import Options, Reference
from polyloom.frontend.suggestions import suggestion
from polyloom.ir.nest import Nest
from polyloom.recursion import with_deep_stack

if TYPE_CHECKING:
    from xdsl.dialects.func import FuncOp

    from polyloom.frontend.mlir.function import MlirFunction
    from polyloom.frontend.mlir.reader import Module


def load(path: str, options: Options, *, indirect: bool = False) -> tuple[Nest, Reference]:
    """The nest of a function in a file, and what its operations compute; raises PL0104, PL0170 to PL0177."""
    found = load_mlir(path, options.function)
    nest = found.indirect if indirect else found.nest
    return nest, found.reference


def load_mlir(path: str, name: str | None) -> MlirFunction:
    """The function called `name` of a file, or its only one. Raises PL0104, PL0170 to PL0173, PL0177."""
    check_installed()
    from polyloom.frontend.mlir.function import MlirFunction

    return MlirFunction(path, *load_function(path, name))


def check_installed() -> None:
    """Raises PL0177 with the command where the extra is missing."""
    if find_spec("xdsl") is None:
        help = f"install it: {extras.install_command('mlir')}"
        raise PolyloomError(Diagnostic("PL0177", extras.NO_XDSL, USAGE, help=help))


def function_names(path: str) -> tuple[str, ...]:
    """Names of the functions of a file, also of those that are refused. Raises PL0104, PL0170, PL0177."""
    check_installed()
    return tuple(key for module in _read_modules(path) for key in (*module.functions, *module.refused) if key)


def _read_modules(path: str) -> Sequence[Module]:
    from polyloom.frontend.mlir.reader import read_module

    try:
        text = read_source(path, "MLIR").decode("utf-8-sig")
    except UnicodeDecodeError:
        raise input_error(
            "PL0104", f"cannot read {path}: it is not UTF-8 text", help="give the path of an MLIR file"
        ) from None
    return with_deep_stack(read_module)(path, text)


def load_function(path: str, name: str | None) -> tuple[Module, FuncOp]:
    """The function called `name` of a file, or its only one. Raises PL0170 to PL0173 of it, and PL0171."""
    modules = _read_modules(path)
    found = {key: (module, function) for module in modules for key, function in module.functions.items()}
    refused: Mapping[str, PolyloomError] = {key: error for module in modules for key, error in module.refused.items()}
    if name is not None and name in found:
        return found[name]
    if name in refused:
        raise refused[name]
    if name is None and len(found) == 1 and not refused:
        return next(iter(found.values()))
    if refused and (not found or (name is not None and name not in found and "" in refused)):
        raise next(iter(refused.values()))
    known = ", ".join(f"@{key}" for key in (*found, *(key for key in refused if key)))
    if name is not None:
        raise input_error("PL0171", f"{path} has no function @{name}", help=suggestion(name, found, f"it has {known}"))
    if not found:
        help = "define one: func.func @f(%x: memref<4xf32>) { return }"
        raise input_error("PL0171", f"{path} defines no function", help=help)
    help = f"name one: --function {next(iter(found))}"
    raise input_error("PL0171", f"{path} has several functions", notes=(f"it has {known}",), help=help)
