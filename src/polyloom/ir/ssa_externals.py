# SPDX-License-Identifier: Apache-2.0
"""External functions, such as the intrinsics of a machine: their types, and what passes may do with calls (effects).

Effects are a set. Without any, a call is a function of its operands without faults: it may be left out, merged with an
equal one, and run where nobody asked for it. Any effect keeps every call, once, in the order of the program. `reads`
and `writes` say that memory is read, or changed through the pointers among the operands; `ordered` is any other state.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from polyloom.ir.ssa_types import Type

Effect = Literal["reads", "writes", "ordered"]
EFFECT_NAMES: Final[tuple[Effect, ...]] = ("reads", "writes", "ordered")
"""In the order in which they are printed."""


@dataclass(frozen=True, slots=True)
class External:
    """A function by its name in calls, with or without results; `effects` is in the order of `EFFECT_NAMES`."""

    name: str
    parameters: tuple[Type, ...] = ()
    results: tuple[Type, ...] = ()
    effects: tuple[Effect, ...] = ()


@dataclass(frozen=True, slots=True)
class Externals:
    """External functions of a front end: what it may call beyond the file, by name, and what a pointer into an address
    space stands for.

    C has a vector as a pointer to an incomplete type, in an address space of its own: `spaces` maps that to the
    vector's type, everywhere. Lines of files in `headers`, files or folders, are not shown: what stands there is placed
    at its user's.
    """

    functions: tuple[External, ...] = ()
    spaces: Mapping[int, Type] = field(default_factory=dict[int, Type])
    headers: tuple[str, ...] = ()
