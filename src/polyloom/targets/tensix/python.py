# SPDX-License-Identifier: Apache-2.0
"""`pl.tensix`: what the Tensix target offers in Python. `include` is the folder of its C headers and linker scripts;
`Tile` is a tile."""

from __future__ import annotations

from polyloom.targets.tensix.assemble import assemble
from polyloom.targets.tensix.disassemble import disassemble
from polyloom.targets.tensix.place import include as _folder
from polyloom.targets.tensix.tile import Finding, Outcome, Tile

__all__ = ["Finding", "Outcome", "Tile", "assemble", "disassemble", "include"]

include: str = _folder()
