# SPDX-License-Identifier: Apache-2.0
"""Whether a run gave what it had to: the first element that differs, in bits or, where an order was changed, by too much."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from polyloom.diagnostics import MISMATCH, Diagnostic
from polyloom.targets.registry import Arrays, Json

CLOSE = 1e-5
"""Where the order of an f32 reduction was changed, outputs may differ from the source's by this part of the array's largest magnitude (at least 1)."""


def compare(expected: Arrays, got: Arrays, what: str = "the reference") -> Diagnostic | None:
    """The first difference in bits, as PL0812 (exit 4); NaNs are alike, shapes and types are not. `what` says where the expected values come from."""
    return _first(expected, got, _unequal, what)


def compare_roughly(expected: Arrays, got: Arrays, what: str) -> Diagnostic | None:
    """Like `compare`, for f32 up to `CLOSE`."""
    return _first(expected, got, _far, what)


Array = npt.NDArray[Any]


def _first(expected: Arrays, got: Arrays, differs: Callable[[Array, Array], npt.NDArray[np.bool_]], what: str) -> Diagnostic | None:
    return next((d for name, want in expected.items() if (d := _difference(name, want, got.get(name), differs, what)) is not None), None)


def _difference(name: str, want: Array, have: Array | None, differs: Callable[[Array, Array], npt.NDArray[np.bool_]], what: str) -> Diagnostic | None:
    if have is None or (have.shape, _type(have)) != (want.shape, _type(want)):
        message = f"{name} differs from {what}: expected {_form(want)}, got {'nothing' if have is None else _form(have)}"
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


def _far(want: Array, have: Array) -> npt.NDArray[np.bool_]:
    if want.dtype != np.float32:
        return _bits(want) != _bits(have)
    finite = np.abs(want[np.isfinite(want)].astype(np.float64))
    return ~np.isclose(have.astype(np.float64), want.astype(np.float64), rtol=0, atol=CLOSE * max(1.0, float(finite.max(initial=0))), equal_nan=True)


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
