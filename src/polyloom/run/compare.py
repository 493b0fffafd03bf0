# SPDX-License-Identifier: Apache-2.0
"""Comparison of outputs with an oracle's: the first element that differs, in bits or by too much, and the greatest
error."""

from __future__ import annotations

import hashlib
from math import isfinite
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from polyloom.diagnostics import MISMATCH, Diagnostic
from polyloom.frontend.source import Arrays
from polyloom.run.verdict import Compared
from polyloom.targets.subject import Oracle
from polyloom.targets.target import Json

Array = npt.NDArray[Any]


def compare(expected: Arrays, got: Arrays, oracle: Oracle, allowed: Arrays | None = None) -> Compared:
    """Compare outputs with those of an oracle. They have the same bits, but for NaNs, which are alike; or each element
    is missed by no more than is `allowed`: NaN allows everything. Shapes and types are not alike. A difference has the
    exit code 4."""
    bounds = {} if allowed is None else flatten_fields(allowed)
    found = flatten_fields(got)
    # The oracle's outputs decide what is compared: a program may give more.
    pairs = [(name, want, found.get(name), bounds.get(name)) for name, want in flatten_fields(expected).items()]
    difference = next((d for d in (_locate_difference(*pair, oracle) for pair in pairs) if d is not None), None)
    # An oracle that does not judge only measures: its differences are errors, never a verdict.
    if difference is not None and oracle.judges:
        return Compared(
            oracle.name, oracle.what, "differs", difference=difference, outputs={} if oracle.apart else None
        )
    if difference is None and allowed is None:
        return Compared(oracle.name, oracle.what, "equal bits")
    meant = [
        _constrained_elements(want, found[name], bounds.get(name, np.full(want.shape, np.inf)))
        for name, want, _, _ in pairs
    ]
    equal = not any(np.any(_unequal(want, have)) for want, have, _ in meant)
    errors = [_greatest(_errors(want, have)) for want, have, _ in meant]
    limits = [_greatest(by) for _, _, by in meant]
    # Over all outputs: a verdict has one error and one bound.
    error, bound = max(errors, default=0.0), _finite(max(limits, default=0.0))
    each = zip(pairs, errors, limits, strict=True)
    outputs = {name: (far, _finite(limit)) for (name, *_), far, limit in each} if oracle.apart else None
    return Compared(oracle.name, oracle.what, "equal bits" if equal else "within", error, bound, outputs=outputs)


def _finite(bound: float) -> float | None:
    return bound if isfinite(bound) else None


def _constrained_elements(want: Array, have: Array, allowed: Array) -> tuple[Array, Array, Array]:
    """Elements of which something is expected."""
    is_meant = ~np.isnan(allowed)
    return want[is_meant], have[is_meant], allowed[is_meant]


def flatten_fields(arrays: Arrays) -> dict[str, Array]:
    """Fields of structures one by one: the bytes between them are nobody's."""
    found: dict[str, Array] = {}
    for name, array in arrays.items():
        if array.dtype.fields is None:
            found[name] = array
        else:
            records = cast(Any, array)
            found |= flatten_fields({f"{name}.{field}": records[field] for field in array.dtype.fields})
    return found


def _locate_difference(
    name: str, want: Array, have: Array | None, allowed: Array | None, oracle: Oracle
) -> Diagnostic | None:
    """First element that differs, as a diagnostic of exit code 4; None where all agree."""
    if have is None or (have.shape, _native_type(have)) != (want.shape, _native_type(want)):
        message = (
            f"{name} differs from {oracle.what}: expected {_form(want)}, "
            f"got {'nothing' if have is None else _form(have)}"
        )
        return Diagnostic(oracle.code, message, MISMATCH)
    wrong = np.argwhere(_unequal(want, have) if allowed is None else _exceeds_bound(want, have, allowed))
    if not len(wrong):
        return None
    index = tuple(int(n) for n in wrong[0])
    element = f"{name}[{', '.join(map(str, index))}]" if index else name
    message = f"{element} differs from {oracle.what}: expected {want[index]}, got {have[index]}"
    count = f"{len(wrong)} of {want.size} elements of {name}"
    notes = (
        (f"{count} differ",)
        if allowed is None
        else (f"the bound is {allowed[index]:.3g}", f"{count} are beyond their bounds")
    )
    return Diagnostic(oracle.code, message, MISMATCH, notes=notes, help=oracle.help)


def _native_type(array: Array) -> np.dtype[Any]:
    """Element type without its byte order."""
    return array.dtype.newbyteorder("=")


def _form(array: Array) -> str:
    return f"{array.dtype} of the shape {array.shape}" if array.shape else f"one {array.dtype}"


def _unequal(want: Array, have: Array) -> npt.NDArray[np.bool_]:
    # By bits, since -0.0 == 0.0 and NaN != NaN (IEEE 754).
    return _comparable_bits(want) != _comparable_bits(have)


def _exceeds_bound(want: Array, have: Array, allowed: Array) -> npt.NDArray[np.bool_]:
    """Elements that are neither equal nor near. A bound of 0 asks for the same value, not for the same zero."""
    near = (allowed > 0) & (_errors(want, have) <= allowed)
    return _unequal(want, have) & (want != have) & ~near & ~np.isnan(allowed)


def _errors(want: Array, have: Array) -> Array:
    """Absolute errors: how far apart elements are, 0 where they are equal or both NaN; NaN where one alone is a
    number."""
    if want.dtype.kind not in "fiu":
        return np.zeros(want.shape)
    # Infinity minus infinity is a NaN here, and no fault: equal bits are sorted out below.
    with np.errstate(all="ignore"):
        apart = np.abs(have.astype(np.float64) - want.astype(np.float64))
    return np.where(_unequal(want, have), apart, 0.0)


def _greatest(values: Array) -> float:
    # A NaN in one place alone is farther off than any number.
    return float(np.nan_to_num(values, nan=np.inf, posinf=np.inf).max(initial=0.0))


def _comparable_bits(array: npt.NDArray[np.generic]) -> npt.NDArray[np.int64]:
    """Integers that are equal exactly for equal bits, and for any two NaNs (IEEE 754 leaves their payloads open)."""
    if array.dtype.kind != "f":
        return array.astype(np.int64)
    values = np.ascontiguousarray(array).astype(array.dtype.newbyteorder("="))
    return np.where(np.isnan(values), -1, values.view(f"u{array.dtype.itemsize}").astype(np.int64))


def describe_array(array: npt.NDArray[np.generic]) -> dict[str, Json]:
    """Fingerprint of an array: shape, dtype, and the SHA-256 of the elements in row-major order, little-endian."""
    data = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<")).tobytes()
    return {"shape": list(array.shape), "dtype": str(array.dtype), "sha256": hashlib.sha256(data).hexdigest()}
