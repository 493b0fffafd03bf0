# SPDX-License-Identifier: Apache-2.0
"""How far NumPy's result is from the ordered meaning, beside the bound that follows from rounding."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from polyloom.diagnostics import MISMATCH, Diagnostic, PolyloomError


@dataclass(frozen=True, slots=True)
class Agreement:
    """The greatest `difference` of an element, and the greatest finite `bound` of one."""

    difference: float
    bound: float


def agreement(name: str, ordered: Any, numpy: Any, bound: Any) -> Agreement:
    """Of one result; raises PL0812 where an element is further than its bound."""
    found = np.asarray(numpy).reshape(ordered.shape)
    with np.errstate(all="ignore"):
        distance = np.abs(ordered.astype(np.float64) - found.astype(np.float64))
    same = (ordered == found) | (np.isnan(ordered) & np.isnan(found))
    distance = np.where(same, 0.0, distance)
    wrong = (distance > bound) & np.isfinite(bound)
    if np.any(wrong):
        at = tuple(int(n) for n in np.argwhere(wrong)[0])
        message = f"{name}{list(at)} is {found[at]} by NumPy and {ordered[at]} in index order, further than rounding"
        help = "report it with the kernel: the function is read as something else than what NumPy executes"
        raise PolyloomError(Diagnostic("PL0812", message, MISMATCH, help=help))
    finite = bound[np.isfinite(bound)]
    return Agreement(float(np.max(distance, initial=0.0)), float(np.max(finite, initial=0.0)))
