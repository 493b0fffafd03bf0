# SPDX-License-Identifier: Apache-2.0
"""Refusals of blocks: located errors of loops that cannot be cut as asked."""

from __future__ import annotations

from polyloom.diagnostics import PolyloomError, input_error
from polyloom.ir.nest import Assign, Loop


def bounds_error(loop: Loop) -> PolyloomError:
    """PL0265 of a loop with several bounds."""
    return input_error(
        "PL0265",
        f"the loop `{loop.name}` has several bounds, and is cut into blocks or lies around blocks",
        span=loop.span,
        help="give it one lower and one upper bound, and put the rest into an `if` in the loop",
    )


def order_error(earlier: Assign, later: Assign, array: str, names: str) -> PolyloomError:
    """PL0266 of a dependence that blocks would turn around."""
    what = f"`{array}` of {earlier.name} and {later.name}" if earlier.name != later.name else f"`{array}`"
    return input_error(
        "PL0266",
        f"blocks of {names} would change the order of accesses to {what}",
        span=later.span,
        help="skew a loop so that no dependence points backwards (write `j - i` for `j` and let the new j run from i "
        "on), or leave the loop out that carries it backwards",
    )


def crossing_error(name: str, later: Assign) -> PolyloomError:
    """PL0267 of a local whose value an iteration of other loops reads in another block."""
    return input_error(
        "PL0267",
        f"the value of `{name}` passes from one block to another, between different iterations",
        span=later.span,
        help=f"make `{name}` an array with an element for each iteration, or leave the loop out that carries it",
    )
