# SPDX-License-Identifier: Apache-2.0
"""Error bounds of C's library functions on the tile against the program's, whose own is `ir.library.ULP`.

Both operands are within d of the exact one x, so the functions of them differ by what one changes within d: of exp by
e^x (e^d - 1), of exp2 by 2^x (2^d - 1), of log by -log(1 - d / x), of the others by d at most (mean value theorem).
What a function itself misses is measured over all numbers by a stride (tests/targets/tensix/loops/test_functions.py).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, cast

import numpy as np

from polyloom.ir.library import ULP
from polyloom.ir.operations import ElementType
from polyloom.targets.tensix.map.loops.half.functions import HALF
from polyloom.transform.stages.integers.ranges import CARRIED

Error = tuple[Any, Any]
"""A value, and by how much it may be missed."""
MISSED: Final = {
    "exp": 1.5, "exp2": 1.75, "log": 1.0, "sin": 1.25, "cos": 1.25, "tanh": 1.5, "sqrt": 1.0,
    "exp_half": 1060, "exp2_half": 1060, "sqrt_half": 400,
}  # fmt: skip
"""Of the tile's functions (functions.py, half/functions.py), in units of 2**-23 of the result."""
REDUCED: Final = {"sin": 2.0**-33, "cos": 2.0**-33}
"""What the reduction of the argument adds, wherever the result is."""
LEAST: Final = 2.0**-126
"""Smaller results are 0 on the tile."""
QUOTIENT_MISSED, HALF_QUOTIENT_MISSED = 1.5, 830
_UNIT: Final = 2.0**-23
_ROUNDED: Final = 0.5
"""What the program's root and quotient miss, which are rounded correctly."""
_LARGEST: Final = float(np.finfo(np.float32).max)
_EXACT: Final[dict[str, Callable[[Any], Any]]] = {
    "exp": np.exp, "exp2": np.exp2, "log": np.log, "sin": np.sin, "cos": np.cos, "tanh": np.tanh, "sqrt": np.sqrt,
}  # fmt: skip


def function_error(name: str, x: Any, of_x: Any) -> Error:
    """Function of numbers that are missed by `of_x`, with its error. An infinite error allows everything."""
    missed, name = MISSED[name], name.removesuffix(HALF)
    value = _EXACT[name](x)
    change = _propagated_change(name, x, value, of_x)
    size = np.abs(value) + change
    error = change + size * (missed + ULP.get(name, _ROUNDED)) * _UNIT + REDUCED.get(name, 0.0) + 2 * LEAST
    # Where only one of the two results may be beyond the largest number, it is infinite; or no number, of a logarithm.
    splits = (np.abs(value) - error <= _LARGEST) & (size + error > _LARGEST)
    splits |= (name == "log") & (np.abs(x) <= of_x)
    splits |= (name == "sqrt") & (x < of_x)
    return value, np.where(splits, np.inf, error)


def quotient_error(a: Error, b: Error, *, is_half: bool = False) -> Error:
    """Quotient with its error: infinite where the divisor may be 0, or the quotient beyond the largest number, which
    that of results of 16 bits multiplies by up to 4.5 in between.
    """
    missed, largest = (HALF_QUOTIENT_MISSED, _LARGEST / 8) if is_half else (QUOTIENT_MISSED, _LARGEST / 2)
    (x, of_x), (y, of_y) = a, b
    value, least = x / y, np.abs(y) - of_y
    change = (of_x + np.abs(value) * of_y) / least
    size = np.abs(value) + change
    error = change + size * (missed + _ROUNDED) * _UNIT + 2 * LEAST
    return value, np.where((least > LEAST) & (size + error <= largest), error, np.inf)


def rounding_error(name: str, x: Any, of_x: Any) -> Error:
    """Rounding to an integer, with its error: what that may change between both ends, for rounding is monotonic and
    exact. `name` is `rint`, or has the type behind `round` or `truncate`, whose ends bound any error.
    """
    how, _, kind = name.partition("_")

    def round_values(values: Any) -> Any:
        near = np.clip(values, *CARRIED[cast("ElementType", kind)]) if kind else values
        found = np.rint(near) if how in ("rint", "round") else np.trunc(near)
        return np.where(np.isnan(found), 0.0, found) if kind else found

    value = round_values(x)
    ends = [round_values(x + side) for side in (-of_x, of_x)]
    # Equal infinities have no distance, and subtracting them would give none.
    error = np.maximum(*(np.where(end == value, 0.0, np.abs(end - value)) for end in ends))
    if kind:
        # Of a NaN, or where any number is allowed, the result is any of the type.
        low, high = CARRIED[cast("ElementType", kind)]
        any_error = np.maximum(value - low, high - value)
        return value, np.where(np.isnan(x) | ~np.isfinite(of_x), any_error, error)
    return value, np.where(np.isfinite(of_x), error, np.inf)


def _propagated_change(name: str, x: Any, value: Any, of_x: Any) -> Any:
    if name in ("exp", "exp2"):
        scaled: Any = of_x if name == "exp" else of_x * np.log(2.0)
        wide = _EXACT[name](x + of_x)
        # For large changes the function of the upper end bounds the change; the product may be 0 times infinity there.
        return np.where(np.asarray(scaled < 1), np.asarray(value * np.expm1(scaled)), np.asarray(wide))
    if name == "sqrt":
        return np.sqrt(np.abs(x) + of_x) - np.sqrt(np.maximum(np.abs(x) - of_x, 0))
    return -np.log1p(-of_x / x) if name == "log" else of_x
