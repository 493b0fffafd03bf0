# SPDX-License-Identifier: Apache-2.0
"""Arrays that `--in` and `--out` name: NumPy files, outputs of a program."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from polyloom import npy
from polyloom.diagnostics import input_error, nearest
from polyloom.ir.signature import Signature


def read_arrays(inputs: Mapping[str, str]) -> dict[str, npt.NDArray[np.generic]]:
    """The arrays of `--in`."""
    return {name: npy.read(path) for name, path in inputs.items()}


def check_names(outputs: Mapping[str, str], signature: Signature) -> None:
    """PL0811 for a name of `--out` that is no output; where there may be others, the target knows their names."""
    known = [a.name for a in signature.outputs]
    for name in outputs:
        if name not in known and not signature.is_open:
            raise input_error("PL0811", f"the program has no output '{name}'", help=nearest(name, known, "output"))
