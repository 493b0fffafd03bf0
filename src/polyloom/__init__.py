# SPDX-License-Identifier: Apache-2.0
"""Polyloom compiles a loop program once, symbolically, and runs it on a processor array of any size.

    import polyloom as pl
    result = pl.compile("matmul.pla", on="tcpa:unit").instantiate(N=20, M=20, K=20, pes=(4, 4)).run()

Python functions are kernels too: `@pl.kernel`, with `pl.sizes`, `pl.f32[N, K]` and the other names of
`polyloom.frontend.python`. Every name below is imported from its module when it is first used; `pl.ssa` is the module
`polyloom.ssa`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from polyloom.version import VERSION

if TYPE_CHECKING:
    from polyloom import ssa
    from polyloom.api import Compiled, Instance, Result, compile, load, model, prove, run_together
    from polyloom.comparison.pipeline import compare
    from polyloom.comparison.result import Comparison
    from polyloom.debugger.entry_point import debug
    from polyloom.diagnostics import PolyloomError
    from polyloom.exploration.entry_point import explore
    from polyloom.exploration.sweep import Sweep
    from polyloom.frontend.python.kernel import Kernel, kernel
    from polyloom.frontend.python.types import bool_ as bool
    from polyloom.frontend.python.types import (
        ceil,
        cos,
        exp,
        exp2,
        f16,
        f32,
        f64,
        floor,
        i8,
        i16,
        i32,
        log,
        rint,
        round_i32,
        sat8,
        satu8,
        sin,
        size,
        sizes,
        sqrt,
        steps,
        tanh,
        to_f16,
        to_f32,
        to_i32,
        trunc,
        u8,
        u16,
        u32,
    )
    from polyloom.report.progress import progress

    # A target's name, found when it is used: here for editors and type checkers alone.
    from polyloom.targets.tensix import python as tensix  # noqa: F401  # pyright: ignore[reportUnusedImport]

__version__ = VERSION
__all__ = [
    "Comparison",
    "Compiled",
    "Instance",
    "Kernel",
    "PolyloomError",
    "Result",
    "Sweep",
    "__version__",
    "bool",
    "ceil",
    "compare",
    "compile",
    "cos",
    "debug",
    "exp",
    "exp2",
    "explore",
    "f16",
    "f32",
    "f64",
    "floor",
    "i8",
    "i16",
    "i32",
    "kernel",
    "load",
    "log",
    "model",
    "progress",
    "prove",
    "rint",
    "round_i32",
    "run_together",
    "sat8",
    "satu8",
    "sin",
    "size",
    "sizes",
    "sqrt",
    "ssa",
    "steps",
    "tanh",
    "to_f16",
    "to_f32",
    "to_i32",
    "trunc",
    "u8",
    "u16",
    "u32",
]
_KERNEL = "polyloom.frontend.python.kernel"
_TYPES = "polyloom.frontend.python.types"
_MODULES: dict[str, str] = {
    "Comparison": "polyloom.comparison.result",
    "compare": "polyloom.comparison.pipeline",
    "debug": "polyloom.debugger.entry_point",
    "Kernel": _KERNEL,
    "Sweep": "polyloom.exploration.sweep",
    "explore": "polyloom.exploration.entry_point",
    "bool": _TYPES,
    "kernel": _KERNEL,
    "progress": "polyloom.report.progress",
    **dict.fromkeys(
        [
            "ceil",
            "cos",
            "exp",
            "exp2",
            "f16",
            "f32",
            "f64",
            "floor",
            "i16",
            "i32",
            "i8",
            "log",
            "rint",
            "round_i32",
            "sat8",
            "satu8",
            "sin",
            "size",
            "sizes",
            "sqrt",
            "steps",
            "tanh",
            "to_f16",
            "to_f32",
            "to_i32",
            "trunc",
            "u16",
            "u32",
            "u8",
        ],
        _TYPES,
    ),
}


def __getattr__(name: str) -> object:
    if name not in __all__:
        return _target_attribute(name)
    if name == "ssa":
        return import_module("polyloom.ssa")
    # Within its own module, the type has another name than Python's.
    return getattr(import_module(_MODULES.get(name, "polyloom.api")), "bool_" if name == "bool" else name)


def _target_attribute(name: str) -> object:
    """Attribute that a registered target brings."""
    entry = import_module("polyloom.targets.entry")
    # Entries name modules as text: a target is imported when one of its names is used, not before.
    where = next((e.names[name] for e in entry.entries().values() if name in e.names), None)
    if where is None:
        raise AttributeError(f"module 'polyloom' has no attribute {name!r}")
    return entry.load_named(where)


def __dir__() -> list[str]:
    return __all__
