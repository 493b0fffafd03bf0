# SPDX-License-Identifier: Apache-2.0
"""The compiler's own vocabulary, taken from what it makes and from the tables that its texts are made by."""

from __future__ import annotations

import builtins
import inspect
import keyword
import re
from collections.abc import Iterable, Iterator

from polyloom import api
from polyloom.frontend.source import Source
from polyloom.ir import ssa
from polyloom.ir.c_library import FUNCTIONS
from polyloom.ir.nest_c import RESERVED as OF_C
from polyloom.ir.nest_c import print_c
from polyloom.ir.pla_names import RESERVED as OF_EQUATIONS
from polyloom.ir.pla_text import print_program
from polyloom.ir.recurrence_text import print_system
from polyloom.riscv.isa import F_NAMES, X_NAMES

OF_ISL = (
    "exists",
    "and",
    "or",
    "not",
    "mod",
    "floor",
    "ceil",
    "floord",
    "ceild",
    "min",
    "max",
    "infty",
    "infinity",
    "NaN",
    "true",
    "false",
    "rat",
    "implies",
)
"""Words of isl's notation of sets."""
LOCAL = (
    "i",
    "j",
    "k",
    "t",
    "test",
    "e0",
    "e1",
    "_0",
    "_1",
    "r0",
    "x0",
    "a0",
    "c0",
    "f0",
    "byte",
    "entry",
    "addr",
    "value",
    "index",
    "s0",
    "v0",
    "run",
    "values",
)
"""Names within what is written for one purpose: dimensions, registers, blocks, functions that are compiled and
called."""


def words() -> tuple[str, ...]:
    """What is reserved somewhere, or has a meaning, whatever the program is."""
    arguments = (
        name
        for call in (api.Instance.run, api.Compiled.instantiate, api.compile)
        for name in inspect.signature(call).parameters
    )
    found = {
        *OF_ISL,
        *LOCAL,
        *OF_C,
        *OF_EQUATIONS,
        *FUNCTIONS,
        *ssa.OPERATIONS,
        *ssa.FLAGS,
        *X_NAMES,
        *F_NAMES,
        *arguments,
    }
    return tuple(sorted(found))


def made(source: Source) -> tuple[str, ...]:
    """Every name in what the compiler shows of a function: the nest as C, its dataflow, the equations and their
    arrays."""
    assert source.nest is not None
    plan = source.plan
    texts = (
        print_c(source.nest),
        *([] if source.system is None else [print_system(source.system)]),
        *(print_program(phase.program) for phase in plan.phases),
    )
    arrays = (a.name for a in (*plan.inputs, *plan.outputs, *plan.intermediates))
    return tuple(sorted({*arrays, *(word for text in texts for word in re.findall(r"\w+", text))}))


def writable(names: Iterable[str], text: str, of_c: bool) -> Iterator[str]:
    """The names that a variable of this text can have: keywords cannot, nor what the text calls by its name. In C,
    Python's keywords can."""
    used = set(re.findall(r"\w+", text))
    if of_c:
        return (
            n for n in (*names, *keyword.kwlist) if n.isidentifier() and n.isascii() and n not in OF_C and n not in used
        )
    return (
        n
        for n in names
        if n.isidentifier()
        and not keyword.iskeyword(n)
        and not (n in used and (hasattr(builtins, n) or n in ("pl", "math")))
    )
