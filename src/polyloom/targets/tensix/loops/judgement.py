# SPDX-License-Identifier: Apache-2.0
"""How far a result is from the program's: the figures of `run --json`, and PL1235 where an error is above its bound."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from polyloom.diagnostics import MISMATCH, Diagnostic
from polyloom.targets.tensix.loops.bound import distance
from polyloom.targets.tensix.loops.formats import Result

Array = NDArray[Any]
_HELP = "choose a format or a fidelity that holds these values, or leave them out: --format tf32 --fidelity 4"


def judged(
    name: str, want: Array, have: Array, allowed: Array, result: Result, help: str = _HELP
) -> tuple[Diagnostic | None, dict[str, Any]]:
    """`allowed` is the bound of every element of the result."""
    with np.errstate(invalid="ignore", over="ignore"):
        errors = np.abs(have.astype(np.float64) - want.astype(np.float64))
        wrong = np.argwhere(~((errors <= allowed) | (have == want)))
    figures: dict[str, Any] = {
        "max_error": _finite(errors),
        "max_ulp": int(distance(want, have, result).max(initial=0)),
        "bound": _finite(allowed),
    }
    if not len(wrong):
        return None, figures
    index = tuple(int(n) for n in wrong[0])
    element = f"{name}[{', '.join(map(str, index))}]" if index else name
    message = f"{element} is {have[index]}, and the program gives {want[index]}: the bound is {allowed[index]:.3g}"
    notes = (f"{len(wrong)} of {want.size} elements of {name} are beyond their bounds",)
    return Diagnostic("PL1235", message, MISMATCH, notes=notes, help=help), figures


def _finite(values: Array) -> float | str:
    """JSON has no infinity."""
    largest = float(values.max(initial=0.0))
    return largest if np.isfinite(largest) else str(largest)
