# SPDX-License-Identifier: Apache-2.0
"""Vector lanes for the interpreter of `ir.ssa`: tuples of lanes, each a number or a `Poison` of its own; a mask has 0
and 1.

What computes on scalars computes on vectors lane by lane. A lane without a value makes only that lane of a result one
without.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

from polyloom.ir.ssa import ARITHMETIC, REDUCTIONS
from polyloom.ir.ssa_intrinsics import apply_intrinsic
from polyloom.ir.ssa_semantics import Number, Poison, arithmetic, float_arithmetic
from polyloom.ir.ssa_types import Type

Lane = Number | Poison
Vector = tuple[Lane, ...]


class Opaque:
    """Opaque vector, whose lanes are a machine's affair: external functions make it and get it, the interpreter passes
    it on and looks at no lane.
    """

    __slots__ = ()


Result = Lane | Vector | Opaque


def map_lanes(compute: Callable[..., Lane], operands: Sequence[Any], count: int) -> Vector:
    """The function of each lane's operands, which knows what it makes of poison; `count` is the number of lanes."""
    return tuple(compute(*(operand[k] for operand in operands)) for k in range(count))


def select_lanes(condition: Result, then: Result, orelse: Result) -> Result:
    """Selection by an i1 as a whole, by a mask lane by lane; where the condition has no value, neither has
    the result.
    """
    if not isinstance(condition, tuple):
        return condition if isinstance(condition, Poison) else then if condition else orelse
    rows: list[tuple[Lane, Lane, Lane]] = list(
        zip(condition, cast("Vector", then), cast("Vector", orelse), strict=True)
    )
    return tuple([c if isinstance(c, Poison) else a if c else b for c, a, b in rows])


def extract_lane(vector: Vector, index: Lane) -> Lane:
    place = _lane_index(vector, index)
    return place if isinstance(place, Poison) else vector[place]


def insert_lane(vector: Vector, lane: Lane, index: Lane) -> Vector:
    place = _lane_index(vector, index)
    # An index without a value may stand for any lane: none has a value then.
    return (place,) * len(vector) if isinstance(place, Poison) else (*vector[:place], lane, *vector[place + 1 :])


def smear_mask(mask: Vector, inclusive: bool) -> Vector:
    """Smear of a mask: the lanes behind the first one that is set, with that one or without; behind a lane without a
    value, none has one.
    """
    found: list[Lane] = []
    before: Lane = 0
    for lane in mask:
        # Once set, or unknown, it stays so for all lanes behind.
        here = before if isinstance(before, Poison) or before else lane
        found.append(here if inclusive else before)
        before = here
    return tuple(found)


def _lane_index(vector: Vector, index: Lane) -> int | Poison:
    if isinstance(index, Poison):
        return index
    return int(index) if 0 <= index < len(vector) else Poison(f"lane {index} of a vector of {len(vector)}")


def reduce_lanes(callee: str, type: Type, vector: Vector) -> Lane:
    """Reduction of a vector, a call of `ssa.REDUCTIONS`: lane 0 first, then one lane after the other."""
    name = REDUCTIONS[callee][0]
    total = vector[0]
    for lane in vector[1:]:
        if isinstance(total, Poison):
            break
        total = lane if isinstance(lane, Poison) else _combine_lanes(name, type, total, lane)
    return total


def _combine_lanes(name: str, type: Type, a: Any, b: Any) -> Number:
    if name in ARITHMETIC:
        return arithmetic(name, type, a, b)
    return float_arithmetic(name, type, a, b) if name in ("fadd", "fmul") else apply_intrinsic(name, type, (a, b))
