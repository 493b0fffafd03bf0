# SPDX-License-Identifier: Apache-2.0
"""Overlaps: memory that two given arrays share, of which a program writes one.

Programs are compiled for arrays that are apart, as C's `restrict` says (C17, section 6.7.3.1); what could give another
result than C does is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, cast

import numpy as np
import numpy.typing as npt

from polyloom.diagnostics import input_error
from polyloom.ir.signature import Signature

InPlace = Callable[[str, str], bool]
"""Whether a result may have the whole memory of an array that is read."""

_MOST: Final = 10_000
"""Candidates for a common element that are looked at."""


def check_overlaps(signature: Signature, given: Mapping[str, Any], in_place: InPlace | None) -> None:
    """No array that is written shares memory with another one, unless it is that array, and may be. Errors: PL0234."""
    written = [a.name for a in signature.outputs]
    # Other names are refused later, as inputs that there are none of.
    known = {a.name for a in (*signature.inputs, *signature.outputs)}
    arrays: dict[str, npt.NDArray[Any]] = {
        n: a for n, a in given.items() if n in known and isinstance(a, np.ndarray) and a.size
    }
    for name in (name for name in written if name in arrays):
        for other in arrays:
            # Of two that are written each pair is looked at once.
            if other == name or (other in written and written.index(other) < written.index(name)):
                continue
            if not _overlap(arrays[name], arrays[other]):
                continue
            is_same = _is_exact_alias(arrays[name], arrays[other]) and other not in written
            if is_same and in_place is not None and in_place(name, other):
                continue
            reason = (
                f"`{other}` is read behind writes of `{name}`"
                if is_same and in_place is not None
                else "a program is compiled for arrays that are apart"
            )
            message = f"the arrays `{name}`, which `{signature.name}` writes, and `{other}` share memory, and {reason}"
            raise input_error("PL0234", message, help=f"give a copy: `{other}={other}.copy()`")


def _overlap(a: npt.NDArray[Any], b: npt.NDArray[Any]) -> bool:
    if not np.may_share_memory(a, b):
        return False
    try:
        # Interleaved views do not; the exact answer may take exponential time, and is then not waited for.
        return np.shares_memory(a, b, max_work=cast("Any", _MOST))
    except np.exceptions.TooHardError:
        return True


def _is_exact_alias(a: npt.NDArray[Any], b: npt.NDArray[Any]) -> bool:
    """Whether two arrays are one, element by element."""
    places = [array.__array_interface__["data"][0] for array in (a, b)]
    return places[0] == places[1] and (a.shape, a.strides, a.dtype) == (b.shape, b.strides, b.dtype)
