# SPDX-License-Identifier: Apache-2.0
"""Polyloom compiles a loop program once, symbolically, and runs it on a processor array of any size.

    import polyloom as pl
    result = pl.compile("matmul.pla", on="tcpa:unit").instantiate(N=20, M=20, K=20, pes=(4, 4)).run()

The names below come from `polyloom.api`, which is imported when the first of them is used; `pl.ssa` is the module `polyloom.ssa`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from polyloom import ssa
    from polyloom.api import Compiled, Instance, Result, compile, load
    from polyloom.diagnostics import PolyloomError

__version__ = "0.1.0"
__all__ = ["Compiled", "Instance", "PolyloomError", "Result", "__version__", "compile", "load", "ssa"]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module 'polyloom' has no attribute {name!r}")
    return import_module("polyloom.ssa") if name == "ssa" else getattr(import_module("polyloom.api"), name)


def __dir__() -> list[str]:
    return __all__
