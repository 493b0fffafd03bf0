# SPDX-License-Identifier: Apache-2.0
"""Column blocks of products whose right factor is an argument that L1 does not hold in one piece: several stages, each
of which computes some columns of the result from these columns of the factor (strip mining; Allen and Kennedy 2001,
section 5.5). Each element is the same sum in the same order, so that the bits are those of one stage.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import Final

from polyloom.analysis.contraction import Matrix
from polyloom.targets.tensix.map.loops.dram.page_areas import Paged, page_areas
from polyloom.targets.tensix.map.loops.fused.plan import ColumnBlock, Stage
from polyloom.targets.tensix.words.arrays.tiles import SIDE, tile_count
from polyloom.transform.stages.layout_assignment import Multiplied

_PARTS: Final = (2, 4, 8)
"""Numbers of blocks of the largest factor that are tried, one after another."""


def page_stages(stages: Sequence[Stage], outputs: Collection[str], first: int) -> tuple[list[Stage], Paged] | None:
    """Stages with the places of their areas, as `page_areas` has them, of column blocks where L1 has no room for whole
    factors; None where it has not for blocks either.
    """
    found: tuple[list[Stage], Paged] | None = None
    for parts in (1, *_PARTS) if any(_has_blocks(stage, stages) for stage in stages) else (1,):
        made = split_products(stages, parts)
        paged = page_areas(made, outputs, first)
        # Arguments that come while the stage before computes are worth more than larger blocks.
        if paged is not None and (found is None or paged.ahead > 0):
            found = made, paged
        if paged is not None and paged.ahead > 0:
            break
    return found


def _has_blocks(stage: Stage, stages: Sequence[Stage]) -> bool:
    """Whether a stage is a product of an argument whose columns of tiles lie one after another; its formula, if any,
    reads arrays that have the columns of the result.
    """
    if not isinstance(stage.arranged, Multiplied) or stage.arranged.turned or stage.scalars:
        return False
    if any(area.placed.extents != stage.result.placed.extents for area in stage.reads[2:]):
        return False
    right = stage.reads[1]
    return right.key not in {each.result.key for each in stages} and tile_count(right.placed.extents[1]) > 1


def split_products(stages: Sequence[Stage], parts: int = _PARTS[-1]) -> list[Stage]:
    """Stages with those in blocks whose right factors have more bytes than the largest of `parts` has."""
    sizes = {n: stage.reads[1].placed.size for n, stage in enumerate(stages) if _has_blocks(stage, stages)}
    limit = max(sizes.values(), default=0) // parts
    made = list[Stage]()
    for number, stage in enumerate(stages):
        made += _blocks(stage, number, limit) if sizes.get(number, 0) > limit else [stage]
    return made


def _blocks(stage: Stage, number: int, limit: int) -> Iterator[Stage]:
    """Blocks of a stage. Each has an area of its own, also of a factor that several stages read: it comes again."""
    left, right, *others = stage.reads
    depth, columns = right.placed.extents
    count = tile_count(columns)
    width = -(-count // -(-right.placed.size // limit))
    # A NoC moves to addresses that are those of DRAM modulo 32: every second tile's (page_areas.py).
    width += width * tile_count(depth) % 2
    for first in range(0, count, width):
        datums = min(columns, (first + width) * SIDE) - first * SIDE
        matrix = Matrix(f"{right.placed.matrix.array}.{number}.{first}", (0,), (1,))
        own = replace(right, placed=replace(right.placed, matrix=matrix, shape=(depth, datums)), axes=(0, 1))
        yield replace(stage, reads=(left, own, *others), block=ColumnBlock(first, min(width, count - first), right))
