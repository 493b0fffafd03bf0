# SPDX-License-Identifier: Apache-2.0
"""Oracle of NumPy: a kernel of whole arrays is the function itself, which NumPy executes in another order of rounding;
results are within the bounds that running error analysis derives (Higham 2002, section 3.3).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from polyloom.frontend.python.arrays.reference import ArrayReference
from polyloom.frontend.source import Arrays, Reference
from polyloom.targets.subject import Oracle


def numpy_oracles(reference: Reference, nearest: Oracle | None) -> tuple[Oracle, ...]:
    """Oracle of NumPy for a kernel of whole arrays, none for others. `nearest` compares with the ordered meaning: where
    a machine rounds otherwise, its bounds come on top, and where they are not known, it contracts products and sums.
    """
    if not isinstance(reference, ArrayReference) or nearest is None:
        return ()
    bounds = _Bounds(reference, nearest)
    help = "report it with the kernel: it is read as something else than what NumPy executes"
    return (Oracle("numpy", "NumPy", reference.run_numpy, bounds, help=help, common=True, apart=True),)


@dataclass(frozen=True, slots=True)
class _Bounds:
    """Bounds of the distance of a machine's outputs from NumPy's."""

    reference: ArrayReference
    nearest: Oracle

    def __call__(self, values: Mapping[str, int], inputs: Arrays, expected: Arrays) -> Arrays:
        del expected
        machine, judges = self.nearest.bounds, self.nearest.judges
        found = self.reference.bounds(values, inputs, contracts=not judges)
        if machine is None:
            return found
        own = machine(values, inputs, self.reference(values, inputs))
        return {name: np.add(bound, own[name]) for name, bound in found.items()}
