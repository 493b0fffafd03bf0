# SPDX-License-Identifier: Apache-2.0
"""The sixty C loops of `examples/loops`, in ten families, with inputs that no loop runs beyond.

A loop that ends at a zero gets one; scalars are small, so that searches neither end at once nor never.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from polyloom.cli import examples
from polyloom.ir.signature import Signature
from polyloom.run.inputs import complete_inputs, read_values

Array = npt.NDArray[Any]
FAMILIES: Final = (
    "streams",
    "reductions",
    "recurrences",
    "stencils",
    "conditional",
    "search",
    "exits",
    "induction",
    "indirect",
    "calls",
)
_NAME: Final = re.compile(r"^(?:void|float|double|u?int\d+_t) (\w+)\(", re.MULTILINE)
_ENDED: Final = frozenset({"length", "copy", "mismatch"})
"""Loops that end at a zero."""
_SCALARS: Final[Mapping[str, Mapping[str, int | float]]] = {
    "iir": {"a": 21000, "b": 3},
    "clipped_sum": {"low": -100, "high": 100},
    "laplace": {"m": 9},
    "count": {"low": -50, "high": 50},
    "column": {"m": 5, "k": 3},
    "chase": {"steps": 100},
    "collatz": {"x": 97, "most": 1000},
    "twos": {"x": 3 << 40},
    "settle": {"limit": 1e30},
}
"""Those that are not made up, beside `n`."""


@dataclass(frozen=True, slots=True)
class Loop:
    """A function of a family's file."""

    family: str
    name: str
    scalars: Mapping[str, int | float] = field(default_factory=dict[str, "int | float"])

    @property
    def path(self) -> str:
        return str(file(self.family))


def file(family: str) -> Path:
    return examples.folder() / "loops" / f"{family}.c"


def loops() -> Iterator[Loop]:
    """All sixty, family by family, in the order of the files."""
    for family in FAMILIES:
        for name in _NAME.findall(file(family).read_text(encoding="utf-8")):
            yield Loop(family, name, _SCALARS.get(name, {}))


def arguments(loop: Loop, signature: Signature, n: int) -> dict[str, Array]:
    """All inputs of a run over `n` iterations or elements."""
    given = {**({"n": n} if signature.argument("n") is not None else {}), **loop.scalars}
    sizes, scalars = read_values(signature, given)
    made = complete_inputs(signature, sizes, scalars)
    if loop.name in _ENDED:
        for name, array in made.items():
            if array.ndim:
                made[name] = _zero_terminated(array)
    if loop.name == "mismatch":
        # Equal strings: the loop runs to their end.
        made["t"] = made["s"].copy()
    return made


def _zero_terminated(array: Array) -> Array:
    """No element is zero but the last."""
    # No zero before the last element: the loop runs its full length.
    found = np.where(array == 0, array.dtype.type(1), array)
    found[-1:] = 0
    return found
