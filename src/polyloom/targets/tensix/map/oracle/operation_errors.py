# SPDX-License-Identifier: Apache-2.0
"""Errors of sums and products on the tile, about the program's own result.

The program rounds each product and each sum to nearest, or both together, so that its result is known from its
operands. The tile's operands are within e of these, and it rounds the result of a product and sum once, to nearest:
rounding is monotonic, so that its result lies between those of the ends (Higham 2002, section 2.8). A product within a
sum keeps 27 bits on the tile (ISA documentation, page of `SFPMAD`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from polyloom.ir.fused_multiply_add import sum_rounded_to_odd

Error = tuple[Any, Any]
"""The program's value, and by how much the tile's may miss it."""
LEAST: Final = 2.0**-126
"""Smaller numbers are 0 on the tile."""
_KEPT: Final = 2.0**-26


def operation_error(name: str, operands: Sequence[Error], *, is_fused: bool = False) -> Error:
    """Sum, difference, product (`sfpadd`, `sfpsub`, `sfpmul`), or product and sum (`sfpmad`), with its error; fused,
    where the program rounds these two once.
    """
    wide = [(np.asarray(value, np.float64), _read_error(value, error)) for value, error in operands]
    (a, of_a), (b, of_b) = wide[:2]
    if name in ("sfpadd", "sfpsub"):
        exact = a + b if name == "sfpadd" else a - b
        program, missed = _round_to_single(exact), of_a + of_b
    else:
        product, missed = a * b, np.abs(a) * of_b + np.abs(b) * of_a + of_a * of_b
        exact, program = product, _round_to_single(product)
        if name == "sfpmad":
            c, of_c = wide[2]
            exact = product + c
            program = _round_to_single(sum_rounded_to_odd(product, c) if is_fused else program + c)
            # One bit of the product is lost where it is cut, one where it or the sum is aligned.
            missed = missed + of_c + np.maximum(np.abs(product), np.abs(c)) * 2 * _KEPT
    ends = (np.abs(_round_to_single(exact + side * missed) - program) for side in (-1, 1))
    error = np.maximum(*ends) + np.where(np.abs(exact) - missed < 2 * LEAST, LEAST, 0)
    # Beyond the largest number anything may be; two NaNs are alike. What an infinity is added to does not matter.
    is_exact = (name in ("sfpadd", "sfpsub")) & (np.isinf(a) | np.isinf(b)) & np.isfinite(of_a + of_b)
    return program, np.where(np.isinf(program), np.where(is_exact, 0.0, np.inf), error)


def _read_error(value: Any, error: Any) -> Any:
    """Error of an operand, which is 0 on the tile where it is a denormal."""
    size = np.abs(value)
    return error + np.where((size > 0) & (size < LEAST), LEAST, 0.0)


def _round_to_single(values: Any) -> Any:
    return np.asarray(values, np.float32).astype(np.float64)
