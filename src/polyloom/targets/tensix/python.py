# SPDX-License-Identifier: Apache-2.0
"""`pl.tensix`: what the Tensix target offers in Python. `include` is the folder of its C headers and linker scripts;
`Tile` is a tile, `Grid` many of them with their NoCs. `kernel` makes a vector kernel of a function, whose vectors the
functions of `sfpi/language/library.py` take: `pl.tensix.exexp(x)`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from polyloom.targets.tensix.place import include as _folder
from polyloom.targets.tensix.run.grid import Grid
from polyloom.targets.tensix.run.tile import Finding, Outcome, Tile
from polyloom.targets.tensix.words.assemble import assemble
from polyloom.targets.tensix.words.chip import Memory
from polyloom.targets.tensix.words.disassemble import disassemble
from polyloom.targets.tensix.words.dram_port import DramPort

if TYPE_CHECKING:
    from polyloom.targets.tensix.llk.run import LlkRun, llk
    from polyloom.targets.tensix.source.language.kernel import VectorKernel, function, kernel
    from polyloom.targets.tensix.source.language.values import (
        CONST_0 as const_0,
    )
    from polyloom.targets.tensix.source.language.values import (
        CONST_0P8373 as const_0p8373,
    )
    from polyloom.targets.tensix.source.language.values import (
        CONST_1 as const_1,
    )
    from polyloom.targets.tensix.source.language.values import (
        CONST_NEG1 as const_neg1,
    )
    from polyloom.targets.tensix.source.language.values import (
        L_REG as l_reg,
    )
    from polyloom.targets.tensix.source.language.values import (
        PRGM as prgm,
    )
    from polyloom.targets.tensix.source.language.values import (
        TILE_ID as tile_id,
    )

__all__ = [
    "DramPort", "Finding", "Grid", "LlkRun", "Memory", "Outcome", "Tile", "VectorKernel", "assemble", "const_0",
    "const_0p8373", "const_1", "const_neg1", "disassemble", "function", "include", "kernel", "l_reg", "llk", "prgm",
    "tile_id",
]  # fmt: skip

include: str = _folder()
# `pl.tensix` must be importable without the language and the compiler of kernels, which most programs do not use.
_OF_KERNELS = ("VectorKernel", "function", "kernel")
_OF_LLK = ("LlkRun", "llk")
_OF_VALUES = ("const_0", "const_0p8373", "const_1", "const_neg1", "l_reg", "prgm", "tile_id")


def __getattr__(name: str) -> Any:
    """Lazy import of the language of vector kernels (PEP 562 of 2017)."""
    if name in _OF_KERNELS:
        from polyloom.targets.tensix.source.language import kernel as kernels

        return getattr(kernels, name)
    if name in _OF_LLK:
        from polyloom.targets.tensix.llk import run

        return getattr(run, name)
    if name in _OF_VALUES:
        from polyloom.targets.tensix.source.language import values

        return getattr(values, name.upper())
    from polyloom.targets.tensix.source.language import library

    if name.startswith("_") or name not in library.NAMES:
        raise AttributeError(f"pl.tensix has no {name!r}")
    return getattr(library, name)
