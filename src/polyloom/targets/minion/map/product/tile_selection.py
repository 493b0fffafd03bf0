# SPDX-License-Identifier: Apache-2.0
"""Selection by predicted cycles: how many rows a block has, over how many minions a sum is split, in which grid minions
lie, and whether second harts stage operands (docs/targets/minion.md, "Time").
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from polyloom.diagnostics import input_error
from polyloom.targets.minion.map.phase_work import Multiplied, Setting
from polyloom.targets.minion.map.product.cooperative_loads import can_share
from polyloom.targets.minion.map.product.grid import candidate_grids, grid
from polyloom.targets.minion.map.product.loop import Problem
from polyloom.targets.minion.map.product.operand import INT8, packed_tiles
from polyloom.targets.minion.map.product.patch_prefetch import fits_cache
from polyloom.targets.minion.map.product.predict import (
    START,
    cycles,
    fma_cycles,
    hides_loads,
    packing_cycles,
    resident_cycles,
)
from polyloom.targets.minion.map.product.predict_prefetched import prefetched_cycles
from polyloom.targets.minion.map.product.staging.ring import PIECE, Stage
from polyloom.targets.minion.memory_map import OWN_SCRATCHPAD
from polyloom.targets.minion.words.layout import align_rows
from polyloom.targets.minion.words.tiles import ROWS, WORD, Grid, Tiles

_FEW: Final = 8
_LONG: Final = 8
"""Minions of a shire, and steps of a minion, from which on staging is worth while."""
_LOWEST, _LOWEST_NEAR = 8, 4
"""Rows of a block, at least: below four, a step of a multiplication waits for the unit's seven stages."""
_SHORT: Final = 320
"""Rows, columns or depth, at most, of products whose operands are brought into L2."""
_NARROWEST: Final = 4
"""Columns of blocks of a shire, at least, where operands are brought into L2."""
_DOUBT: Final = 1.05
"""By how much predictions may be off."""


def uses_staging(p: Problem, g: Grid, setting: Setting) -> bool:
    """Whether second harts stage operands: minions of a shire share tiles for long enough."""
    if p.near:
        return False
    stage = Stage(p, g, setting.team.shire_minions, setting.scratchpad)
    rows, columns = stage.rounds
    fits = stage.fits and g.parts == 1
    # tensor_load_l2 copies lines as they are; of the transposing loads only that of words finds its lines in a copied
    # tile.
    lies_well = p.left.transform in ("plain", "transpose32")
    return fits and lies_well and setting.team.shire_minions >= _FEW and rows * columns * p.steps >= _LONG


def total_cycles(p: Problem, source: Tiles | None, g: Grid, setting: Setting) -> int:
    """Predicted cycles of a product as it was chosen, with its packing from `source`."""
    if setting.options.resident:
        return resident_cycles(p, g)
    if p.near:
        return prefetched_cycles(p, g, fma_cycles(p), (source or p.right).stride, setting.team.shire_minions)
    stages = uses_staging(p, g, setting)
    # What the loop packs takes no time in front of it.
    packs = stages and Stage(p, g, setting.team.shire_minions, setting.scratchpad).packs
    packing = 0 if source is None or packs else packing_cycles(p, setting.team)
    # Harts start once, in front of packing; staging begins anew behind it.
    return cycles(p, g, stages, packs=packs) + packing - (START if packing and not stages else 0)


def fit_blocks(m: Multiplied, p: Problem, source: Tiles | None, setting: Setting) -> tuple[Problem, Grid]:
    """Blocks, and where operands come from, with the fewest predicted cycles: short products have them in L2. Where
    shires own rows, blocks of those, if there are any.
    """
    if setting.shire_rows and (owned := list(_owner_blocks(p, source, setting))):
        return min(owned, key=lambda each: total_cycles(each[0], source, each[1], setting))
    usual = fit_block_height(m, p, setting)
    if setting.options.resident or p.broadcast or (setting.options.split_k or 1) > 1:
        return usual
    found = [usual, *prefetched_problems(p, source, setting)]
    return min(found, key=lambda each: total_cycles(each[0], source, each[1], setting))


def has_own_rows(p: Problem, g: Grid, shire_rows: int) -> bool:
    """Whether the rows of a shire's blocks are those that it owns."""
    return g.shire_columns * g.parts == 1 and g.rows * p.height == shire_rows and g.total_rows >= p.block_rows


def _owner_blocks(p: Problem, source: Tiles | None, setting: Setting) -> Iterator[tuple[Problem, Grid]]:
    """Candidates in which each shire computes the rows that it owns (owner-computes rule)."""
    for g in candidate_grids(setting.team, 1):
        height = setting.shire_rows // g.rows
        # Loads of staging are of whole pieces: they would read rows of the next shire.
        if height in (PIECE, ROWS) and (height == ROWS or _may_be_lower(p, height)):
            q = p if height == ROWS else lower_blocks(p, height)
            if has_own_rows(q, g, setting.shire_rows):
                yield q, g
    for q, g in prefetched_problems(p, source, setting):
        if has_own_rows(q, g, setting.shire_rows):
            yield q, g


def _may_be_lower(p: Problem, height: int) -> bool:
    """Whether blocks may have so many rows: transposing loads begin only where whole blocks of 16 rows do, vectors of
    TensorQuant are lines of 16 elements, and rows of the last block, with which sums begin, are loaded whole.
    """
    fits = p.begins is None or -(-p.rows // height) * height <= align_rows(p.rows)
    return p.left.transform == "plain" and p.quant is None and fits


def prefetched_problems(p: Problem, source: Tiles | None, setting: Setting) -> Iterator[tuple[Problem, Grid]]:
    """Candidates whose operands are brought into L2, by the height of blocks. Their prediction was fitted to short
    products.
    """
    if max(setting.shire_rows or p.rows, p.columns, p.words * WORD // p.kind.bytes) > _SHORT:
        return
    right = p.right if source is None else packed_tiles(OWN_SCRATCHPAD, p.steps)
    p = replace(p, near=True, packs_near=source is not None, right=right)
    heights = [ROWS]
    if p.left.transform == "plain" and p.quant is None:
        counts = range(p.block_rows, -(-p.rows // _LOWEST_NEAR) + 1)
        heights = list(dict.fromkeys([ROWS, *(-(-p.rows // n) for n in counts)]))
    room = setting.scratchpad if source is not None else 1 << 63
    for height in heights:
        q = p if height >= ROWS else lower_blocks(p, height)
        # Rows of the last block, with which sums begin, are loaded whole.
        if q.begins is not None and q.block_rows * height > align_rows(p.rows):
            continue
        for g in candidate_grids(setting.team, 1):
            if _reads_all_banks(g, setting.team.shire_minions) and fits_cache(q, g, room):
                yield replace(q, shares=can_share(g, q.block_rows, q.block_columns)), g


def _reads_all_banks(g: Grid, minions: int) -> bool:
    """Whether a patch has several columns and rows: a line of blocks would read lines of few banks."""
    return g.columns >= min(_NARROWEST, minions) and g.rows >= min(2, -(-minions // _NARROWEST))


def fit_block_height(m: Multiplied, p: Problem, setting: Setting) -> tuple[Problem, Grid]:
    """Height of blocks with the fewest predicted cycles: whole ones may leave minions idle. Gives the problem and its
    grid.
    """
    whole = p, choose_grid(m, p, setting)
    # Transposing loads begin only where whole blocks of 16 rows do; vectors of TensorQuant are lines of 16 elements,
    # and resident tiles have 16 rows.
    if p.left.transform != "plain" or p.quant is not None or setting.options.resident:
        return whole
    counts = range(p.block_rows, -(-p.rows // _LOWEST) + 1)
    lower = [lower_blocks(p, h) for h in dict.fromkeys(-(-p.rows // n) for n in counts) if h < ROWS]
    found = [
        (q, g)
        for q in lower
        if uses_staging(q, g := choose_grid(m, q, setting), setting) and hides_loads(q, g, setting.team)
    ]
    best = min([whole, *found], key=lambda each: cycles(*each, uses_staging(*each, setting)))
    # Low blocks repeat the loads of right tiles, so that a small predicted gain is not worth its risk.
    least, most = (cycles(*each, uses_staging(*each, setting)) for each in (best, whole))
    return best if least * _DOUBT <= most else whole


def lower_blocks(p: Problem, height: int) -> Problem:
    """Problem with blocks of fewer rows than 16."""

    def lower(tiles: Tiles) -> Tiles:
        return replace(tiles, block_step=tiles.block_step // ROWS * height)

    begins = None if p.begins is None else replace(p.begins, tiles=lower(p.begins.tiles), rows=height)
    return replace(p, height=height, left=lower(p.left), result=lower(p.result), begins=begins)


def choose_grid(m: Multiplied, p: Problem, setting: Setting) -> Grid:
    """Grid with as many parts of the sum as asked for, or else as predicted to be fastest. Errors: PL1333."""
    grids = [grid(setting.team, p.block_rows, p.block_columns, parts) for parts in split_counts(m, setting)]
    if p.broadcast:
        grids = [g for g in grids if g.parts > 1]
    if not grids:
        message = "--broadcast gives the result of a split sum to all who share it, and no sum is split"
        help = "write --split-k P, and --reassociate for floats; or leave --broadcast out"
        raise input_error("PL1333", message, help=help)
    return min(grids, key=lambda g: (cycles(p, g, uses_staging(p, g, setting)), g.parts))


def split_counts(m: Multiplied, setting: Setting) -> list[int]:
    """Candidates for split-K: numbers of minions that may share a sum. Errors: PL1331, PL1332."""
    depth, minions, asked = setting.view(m.found.left).columns, setting.team.minions, setting.options.split_k
    reorders = m.fp == "reassociate" or m.kind is INT8
    if asked is not None:
        _check_parts(asked, depth, minions, reorders)
        return [asked]
    most = min(depth, minions) if reorders and not setting.options.resident else 1
    # A tree over neighbouring minions needs powers of two (manual, chapter 9, HEIGHT).
    return [1 << n for n in range(most.bit_length()) if minions % (1 << n) == 0]


def _check_parts(asked: int, depth: int, minions: int, reorders: bool) -> None:
    """Errors: PL1331, PL1332."""
    if asked > 1 and not reorders:
        message = "--split-k adds parts of sums, and floats keep the order of their sums"
        help = "write --reassociate, which allows another order, or leave --split-k out"
        raise input_error("PL1332", message, help=help)
    if asked > min(depth, minions) or minions % asked:
        message = f"--split-k is {asked}, for {depth} terms on {minions} minions"
        help = "give a power of two that divides the number of minions, at most the number of terms"
        raise input_error("PL1331", message, help=help)
