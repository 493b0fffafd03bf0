# SPDX-License-Identifier: Apache-2.0
"""Loops whose counter may be negative, counted from 0 instead: counters of steps are parameters, which never are."""

from __future__ import annotations

from dataclasses import replace

from polyloom.ir.nest import Loop, Nest
from polyloom.ir.nest_rewrite import substitute_symbols
from polyloom.transform.space import Space


def shift_to_zero(loop: Loop, nest: Nest) -> Loop:
    """Loop normalization (Allen, Kennedy 2001, section 4.3) where needed: `loop`, with other values of its counter if
    some may be negative; `nest` says what is known around it.
    """
    space = Space((loop.name,), nest.parameters, nest.assumptions)
    (here,) = space.point_symbols
    values = space.solutions(*(here - low for low in loop.lower), *(high - here - 1 for high in loop.upper))
    if values.intersect(space.solutions(-here - 1)).is_empty():
        return loop
    # Any lower bound will do: no value of the counter is below it.
    first, moved = loop.lower[0], {loop.name: here + loop.lower[0]}
    return replace(
        loop,
        lower=tuple(low - first for low in loop.lower),
        upper=tuple(high - first for high in loop.upper),
        body=substitute_symbols(loop.body, moved),
    )
