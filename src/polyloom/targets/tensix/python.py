# SPDX-License-Identifier: Apache-2.0
"""`pl.tensix`: what the Tensix target offers in Python. `include` is the folder of its C headers and linker scripts."""

from __future__ import annotations

from polyloom.targets.tensix.assemble import assemble
from polyloom.targets.tensix.disassemble import disassemble
from polyloom.targets.tensix.place import include as _folder

__all__ = ["assemble", "disassemble", "include"]

include: str = _folder()
