# SPDX-License-Identifier: Apache-2.0
"""Fusion decision for a product and the one behind it that reads its result: whether one loop over both is predicted to
take fewer cycles than the two with a barrier between them, over how many minions its first sum is split, and its code.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from polyloom.analysis.contraction import Matrix
from polyloom.targets.minion.map.frame import Part
from polyloom.targets.minion.map.phase_work import Made, Multiplied, Setting
from polyloom.targets.minion.map.product import product_chain
from polyloom.targets.minion.map.product.compile import (
    build_problem,
    is_factor_overwritten,
    on_first_harts,
    packing_parts,
    phase_end_waits,
    useful_macs,
)
from polyloom.targets.minion.map.product.operand import FP32
from polyloom.targets.minion.map.product.product_chain import Chain, chain_code
from polyloom.targets.minion.map.product.tile_selection import choose_grid, split_counts, uses_staging

_DOUBT: Final = 100
"""Cycles that the predictions of the two may be off."""


def chain_products(works: Sequence[Multiplied | None], settings: Sequence[Setting], *, kept: bool) -> Made | None:
    """Code of two products as a chain; None where these are no two such products, or are faster one after the other.
    `kept`: others read the first result, too.
    """
    first, second = works
    if first is None or second is None or settings[0].options.resident or second.kind is not FP32:
        return None
    result = settings[0].arrays[first.found.result.array].name
    names = [settings[1].arrays[m.array].name for m in (second.found.left, second.found.right)]
    # The second result may not overwrite what other groups still read: between the two there is no barrier.
    if names.count(result) != 1 or settings[1].arrays[second.found.result.array].name in _read_arrays(
        first, settings[0]
    ):
        return None
    on_right = names[1] == result
    if not _has_same_axes(first.found.result, second.found.right if on_right else second.found.left):
        return None
    best = _best_chain(first, second, settings, on_right=on_right, kept=kept)
    return None if best is None else _chain_parts(best, (first, second), settings)


def _read_arrays(m: Multiplied, setting: Setting) -> frozenset[str]:
    """Arrays that other groups may still read when one writes the second result."""
    names = (m.found.left.array, m.found.right.array, *([m.found.begins] if m.found.begins else []))
    return frozenset(setting.arrays[name].name for name in names)


def _has_same_axes(one: Matrix, other: Matrix) -> bool:
    return (one.rows, one.columns) == (other.rows, other.columns)


def _best_chain(
    first: Multiplied, second: Multiplied, settings: Sequence[Setting], *, on_right: bool, kept: bool
) -> Chain | None:
    """Chain with the fewest predicted cycles; None where they are more than those of both products one after the
    other.
    """
    team, asked = settings[0].team, settings[0].options.broadcast
    plain = [replace(s, options=replace(s.options, broadcast=False)) for s in settings]
    one, two = (build_problem(m, s)[0] for m, s in zip((first, second), plain, strict=True))
    chains = [Chain(one, two, parts, team.minions, on_right, kept) for parts in split_counts(first, settings[0])]
    chains = [c for c in chains if product_chain.fits(c, settings[0].scratchpad) and (c.parts > 1 or not asked)]
    best = min(chains, key=lambda c: (product_chain.chain_cycles(c), c.parts), default=None)
    if best is None or asked:
        return best
    grids = [choose_grid(m, p, s) for m, p, s in zip((first, second), (one, two), plain, strict=True)]
    stages = [uses_staging(p, g, s) for p, g, s in zip((one, two), grids, plain, strict=True)]
    # A chain neither stages nor splits the second product; where that is chosen for it alone, it is faster so.
    if stages[1] or grids[1].parts > 1:
        return None
    return (
        best
        if product_chain.chain_cycles(best) + _DOUBT
        < product_chain.separate_cycles(best, team, (grids[0], stages[0]), grids[1])
        else None
    )


def _chain_parts(c: Chain, works: tuple[Multiplied, Multiplied], settings: Sequence[Setting]) -> Made:
    """Parts of a chain: packing of right factors, then one loop over both products."""
    first, last = settings
    _, source = build_problem(works[0], first)
    before, taken = packing_parts(c.first, source, works[0].place, first)
    last = replace(last, scratch=first.scratch + taken)
    second, source = build_problem(works[1], last)
    # The first result is stored as tiles in the right order, so it needs no packing.
    if c.on_right:
        source = None
    more, also = packing_parts(second, source, works[1].place, last)
    lines = (
        *chain_code(replace(c, second=second), first.prefix),
        # A later phase may store where the last multiplication has streamed copies.
        *phase_end_waits(last, streams=c.on_right or is_factor_overwritten(last, works[1].found.right.array)),
    )
    facts = {"split_k": c.parts, "broadcast": c.parts > 1, "predicted_cycles": product_chain.chain_cycles(c)}
    each = sum(useful_macs(m, s) for m, s in zip(works, settings, strict=True))
    parts = (*before, *more, on_first_harts(Part(lines, works[1].place), first, "skip"))
    return Made(parts, facts, each, FP32.peak, taken + also, phases=2, buffer=c.room)
