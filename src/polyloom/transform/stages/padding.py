# SPDX-License-Identifier: Apache-2.0
"""Values of formulas in the padding of tiles, where arrays are 0: what is not 0 there would count in sums of products
(abstract interpretation; Cousot and Cousot 1977).
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from math import exp, isnan, nan, sqrt
from typing import Any, Final

from polyloom.ir.formula import Apply, Leaf, Number, Term, leaves
from polyloom.transform.stages.integers.ranges import CARRIED

_KEEPS_ZERO: Final = frozenset(
    (
        *("move", "add", "sub", "neg", "abs", "min", "max", "and", "or", "xor", "tanh", "sin", "sqrt"),
        *("rint", "to_f32", *(f"to_{kind}" for kind in CARRIED)),
    )
)
"""Operations that give 0 where all operands are 0."""


def _quotient(a: float, b: float) -> float | None:
    return a / b if b else None


def _root(a: float) -> float | None:
    return sqrt(a) if a >= 0 else None


def _power(a: float) -> float | None:
    # A larger one is none of FP32.
    return exp(a) if a < _LARGEST else None


_LARGEST: Final = 80.0
_NUMBERS: Final[Mapping[str, Callable[..., Any]]] = {
    "add": operator.add,
    "sub": operator.sub,
    "neg": operator.neg,
    "mul": operator.mul,
    "div": _quotient,
    "sqrt": _root,
    "exp": _power,
}
"""Operations on numbers that are known, of which only what is 0 or not counts (constant folding)."""
_COMPARISONS: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    name: getattr(operator, name) for name in ("lt", "le", "gt", "ge", "eq", "ne")
}


def padding_value(term: Term, is_clean: Mapping[str, bool]) -> float | None:
    """Value of a formula in padding, which is computed along with the elements, where arrays are 0 that are `is_clean`
    or given (constant propagation; Wegman and Zadeck 1991). NaN: a factor that is the same for elements and padding,
    and where it is 0, no quotient is a number; None: any.
    """
    if isinstance(term, Number):
        return float(term.value)
    if not any(leaf.index for leaf in leaves(term)):
        return nan
    if isinstance(term, Leaf):
        return 0.0 if is_clean.get(term.array, True) else None
    assert isinstance(term, Apply), "stages are without sums"
    found = [padding_value(operand, is_clean) for operand in term.operands]
    known = [value for value in found if value is not None and not isnan(value)]
    if term.operation in _NUMBERS and len(known) == len(found):
        return _NUMBERS[term.operation](*known)
    match term.operation:
        case "mul" | "and" if 0 in found:
            return 0.0
        # A scalar times a number that is not 0 is 0 where the scalar is.
        case "mul" if None not in found:
            return nan
        case "madd" if 0 in found[:2] and found[2] == 0:
            return 0.0
        # The padding of a divisor that is an array is 0: there a quotient would be no number.
        case "div" if found[0] == 0 and found[1] not in (None, 0):
            return 0.0
        case "select":
            is_known = found[0] is not None and not isnan(found[0])
            first, second = (found[1] if found[0] else found[2],) * 2 if is_known else found[1:]
            return first if first == second else None
        case operation if operation in _COMPARISONS:
            first, second = found
            is_known = not (first is None or second is None or isnan(first) or isnan(second))
            return float(_COMPARISONS[operation](first, second)) if is_known else None
        case operation:
            return 0.0 if operation in _KEEPS_ZERO and all(value == 0 for value in found) else None
