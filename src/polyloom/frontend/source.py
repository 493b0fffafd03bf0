# SPDX-License-Identifier: Apache-2.0
"""Result of every front end: a function's meaning as a plan for targets, and the function itself, which is the oracle.

`load(path, options)` in `polyloom.frontend` chooses the front end by the file's ending.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from polyloom.ir.nest import Nest
from polyloom.ir.plan import Plan
from polyloom.ir.recurrence import System

Arrays = Mapping[str, npt.NDArray[np.generic]]
Reference = Callable[[Mapping[str, int], Arrays], Arrays]
"""Parameter values and every input of the plan: every output, as the source itself computes them."""


@dataclass(frozen=True, slots=True)
class Options:
    """Options of reading a file. `shapes` are texts such as "A=n,m" for bare pointers of C; `reassociate` lets f32
    reductions change their order; `single_constants` takes unsuffixed C constants as single precision. `companions` are
    other C files, whose functions may be called; `ignore` are names of calls, macros and loop variables that are left
    out (c.calls.ignored). `values` are texts such as "S->taps=8": integer arguments of C that have one value.
    `instead` is what is read in the place of C files: their paths and texts.
    """

    function: str | None = None
    includes: tuple[str, ...] = ()
    defines: tuple[str, ...] = ()
    shapes: tuple[str, ...] = ()
    single_constants: bool = False
    reassociate: bool = False
    companions: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    values: tuple[str, ...] = ()
    instead: tuple[tuple[str, str], ...] = ()
    data: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Source:
    """A loaded function. `nest` and `system` are None for equation programs, whose reference is their interpreter.
    `plan` has no phases where it would need loops of steps, and they are not asked for.
    `exact` is False where `--reassociate` changed the order of an f32 reduction: then results are close, not equal.
    `seconds` is how long reading took. `data` are elements of inputs that the source brings."""

    path: str
    plan: Plan
    reference: Reference
    nest: Nest | None = None
    system: System | None = None
    exact: bool = True
    seconds: float = 0.0
    data: Arrays = field(default_factory=dict[str, Any], repr=False)
