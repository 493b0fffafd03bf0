# SPDX-License-Identifier: Apache-2.0
"""Whether a run gave what it had to: the first element that differs, in bits or by too much."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from polyloom.diagnostics import MISMATCH, Diagnostic
from polyloom.frontend.source import Arrays
from polyloom.targets.subject import ErrorBound
from polyloom.targets.target import Json

Array = npt.NDArray[Any]


def compare(
    expected: Arrays, got: Arrays, what: str = "the reference", bound: ErrorBound | None = None
) -> Diagnostic | None:
    """The first difference, as PL0812 (exit 4): in bits, or where `bound` is exceeded. NaNs are alike, shapes and types
    are not. `what` says where the expected values come from."""

    def differs(want: Array, have: Array) -> npt.NDArray[np.bool_]:
        return _unequal(want, have) if bound is None else _far(want, have, bound(want))

    flat, found = flattened(expected), flattened(got)
    every = (_difference(name, want, found.get(name), differs, what) for name, want in flat.items())
    return next((d for d in every if d is not None), None)


def flattened(arrays: Arrays) -> dict[str, Array]:
    """The fields of structures one by one: the bytes between them are nobody's."""
    found: dict[str, Array] = {}
    for name, array in arrays.items():
        if array.dtype.fields is None:
            found[name] = array
        else:
            records = cast(Any, array)
            found |= flattened({f"{name}.{field}": records[field] for field in array.dtype.fields})
    return found


Differs = Callable[[Array, Array], npt.NDArray[np.bool_]]


def _difference(name: str, want: Array, have: Array | None, differs: Differs, what: str) -> Diagnostic | None:
    if have is None or (have.shape, _type(have)) != (want.shape, _type(want)):
        message = (
            f"{name} differs from {what}: expected {_form(want)}, got {'nothing' if have is None else _form(have)}"
        )
        return Diagnostic("PL0812", message, MISMATCH)
    wrong = np.argwhere(differs(want, have))
    if not len(wrong):
        return None
    index = tuple(int(n) for n in wrong[0])
    element = f"{name}[{', '.join(map(str, index))}]" if index else name
    message = f"{element} differs from {what}: expected {want[index]}, got {have[index]}"
    return Diagnostic("PL0812", message, MISMATCH, notes=(f"{len(wrong)} of {want.size} elements of {name} differ",))


def _type(array: Array) -> np.dtype[Any]:
    """The order of bytes is no part of it."""
    return array.dtype.newbyteorder("=")


def _form(array: Array) -> str:
    return f"{array.dtype} of the shape {array.shape}" if array.shape else f"one {array.dtype}"


def _unequal(want: Array, have: Array) -> npt.NDArray[np.bool_]:
    return _bits(want) != _bits(have)


def _far(want: Array, have: Array, by: Array) -> npt.NDArray[np.bool_]:
    """Where floats are missed by more than `by`; what is not finite has to be equal, and so have integers, but where
    `by` is infinite: there nothing is expected."""
    if want.dtype.kind != "f":
        return _unequal(want, have) & np.isfinite(by)
    expected, found = want.astype(np.float64), have.astype(np.float64)
    with np.errstate(invalid="ignore"):
        near = np.abs(found - expected) <= by
    return ~np.where(
        np.isfinite(expected) & np.isfinite(found), near, (expected == found) | (np.isnan(expected) & np.isnan(found))
    )


def _bits(array: npt.NDArray[np.generic]) -> npt.NDArray[np.int64]:
    """Integers that are equal exactly for equal bits, and for any two NaNs."""
    if array.dtype.kind != "f":
        return array.astype(np.int64)
    values = np.ascontiguousarray(array).astype(array.dtype.newbyteorder("="))
    return np.where(np.isnan(values), -1, values.view(f"u{array.dtype.itemsize}").astype(np.int64))


def describe_array(array: npt.NDArray[np.generic]) -> dict[str, Json]:
    """Shape, dtype, and the SHA-256 of the elements in row-major order, little-endian."""
    data = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<")).tobytes()
    return {"shape": list(array.shape), "dtype": str(array.dtype), "sha256": hashlib.sha256(data).hexdigest()}
