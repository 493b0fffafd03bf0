# SPDX-License-Identifier: Apache-2.0
"""Prefetching of a product's operands into the L2 of each shire that uses them (programmer's reference manual, chapter
8, prefetch_va), by second harts, step by step along the depth.

A load engine takes 46 cycles and up to 49 a line for what comes from DRAM, and 10 a line for what is in L2. Each second
hart asks for its share of the tiles, step by step; first harts multiply meanwhile, and a line that is still under way
is waited for by whoever loads it. This is for short products: all that a shire needs is at most half of its L2.

Registers of hart 1: s2, s3 the first row and column of the patch, s4 the share, t0 to t6.
"""

from __future__ import annotations

from typing import Final

from polyloom.targets.minion.machine import MINIONS_PER_SHIRE
from polyloom.targets.minion.map.cache_operations import MOST, prefetch_word
from polyloom.targets.minion.map.frame import Team
from polyloom.targets.minion.map.product.loop import Problem, block_extent, divide_index
from polyloom.targets.minion.map.product.staging.loads import patch_start
from polyloom.targets.minion.map.product.tensor_assembly import PREFETCHED, add_scaled, li, wait
from polyloom.targets.minion.memory_map import DRAM, LINE
from polyloom.targets.minion.words.tensor_words import load_second_word
from polyloom.targets.minion.words.tiles import ROWS, TILE, Grid, Tiles

_PARTS: Final = {"interleave16": 2, "transpose16": 2, "interleave8": 4, "transpose8": 4}
"""Of a tile: requests of 16 rows of the source, of which these loads take more (manual, chapter 9)."""
PACE: Final = "csrw tensor_wait, t1"
"""The one wait that is not needed for results."""
_ASKED: Final = 4
"""The event of a prefetch with id 0."""
_UNDER_WAY: Final = 320, 800
"""Lines under way to a shire and from DRAM: 50 and 127 bytes a cycle, for 400 cycles."""
_SPLITS: Final = (1, 2, 4, 8, 16)
"""Requests that 16 rows are split into, so that more harts ask."""


def patch_blocks(p: Problem, g: Grid) -> tuple[int, int]:
    """Rows and columns of blocks of a shire's patch, over all rounds: no more than there are in all."""
    rows, columns = -(-p.block_rows // g.total_rows) * g.rows, -(-p.block_columns // g.total_columns) * g.columns
    return min(rows, p.block_rows), min(columns, p.block_columns)


def fits_cache(p: Problem, g: Grid, packed: int) -> bool:
    """Whether what a shire needs of both factors is at most half of its L2, and tiles that it packs in the `packed`
    bytes of its scratchpad that are free.
    """
    rows, columns = patch_blocks(p, g)
    return (rows * p.height * LINE + columns * TILE) * p.steps <= MOST and columns * p.steps * TILE <= packed


def prefetch_patch(p: Problem, source: Tiles | None, g: Grid, team: Team, prefix: str) -> list[str]:
    """Code of hart 1: both factors step by step, or, where tiles of the right one are packed from `source`, that one
    first.
    """
    own = ["mv s4, s0"] if team.shires == 1 else [f"andi s4, s0, {MINIONS_PER_SHIRE - 1}"]
    if source is None:
        lines = [*own, *_prefetch_tiles(p, p.left, p.right, g, team, prefix)]
    else:
        lines = [*own, *_prefetch_tiles(p, None, source, g, team, f"{prefix}.right")]
        lines += [*own, *_prefetch_tiles(p, p.left, None, g, team, prefix)]
    return [*patch_start(g), *lines]


def _prefetch_tiles(p: Problem, left: Tiles | None, right: Tiles | None, g: Grid, team: Team, prefix: str) -> list[str]:
    """Loop over the requests of one step of the given factors, each of which is repeated for all steps. Arrays that lie
    in scratchpads are near already.
    """
    rows, columns = patch_blocks(p, g)
    parts = [0 if tiles is None else _PARTS.get(tiles.transform, 1) for tiles in (left, right)]
    tiles = [
        0 if each is None or each.address < DRAM else count * part
        for each, count, part in zip((left, right), (rows, columns), parts, strict=True)
    ]
    if not sum(tiles):
        return []
    # All harts ask for the same step, so that it comes before the next one.
    split = max(n for n in _SPLITS if n == 1 or n * sum(tiles) <= team.shire_minions)
    each = sum(tiles) * split
    lines = [f"{prefix}.request:", li("t0", each), f"bgeu s4, t0, {prefix}.asked", "mv t2, s4"]
    if left is not None and tiles[0]:
        lines += [li("t0", tiles[0] * split), f"bgeu t2, t0, {prefix}.aside"]
        lines += divide_index("t5", "t2", parts[0] * split)
        lines += block_number("t5", "s2", g.rows, g.total_rows, p.block_rows)
        lines += [li("t0", p.block_rows), f"bgeu t5, t0, {prefix}.beyond", *_left_rows(p, ROWS // split, prefix)]
        lines += [*_request(left, ROWS // split), f"j {prefix}.ask", f"{prefix}.aside:", "sub t2, t2, t0"]
    if right is not None and tiles[1]:
        lines += divide_index("t5", "t2", parts[1] * split)
        lines += block_number("t5", "s3", g.columns, g.total_columns, p.block_columns)
        lines += [li("t0", p.block_columns), f"bgeu t5, t0, {prefix}.beyond", *_skip_same_lines(right, g, prefix)]
        lines += [li("t3", ROWS // split - 1), *_request(right, ROWS // split)]
    lines += [f"{prefix}.ask:", "add t0, t0, t3", li("t4", p.steps), f"{prefix}.step:", "csrw prefetch_va, t0"]
    # Packing begins with tiles of all steps.
    lines += [
        "add t0, t0, t5",
        "addi t4, t4, -1",
        f"beqz t4, {prefix}.beyond",
        *(_window(p, g, prefix) if left is not None else [f"j {prefix}.step"]),
    ]
    lines += [f"{prefix}.beyond:", f"addi s4, s4, {team.shire_minions}"]
    return [*lines, f"j {prefix}.request", f"{prefix}.asked:"]


def prefetch_waits(p: Problem, g: Grid) -> list[str]:
    """Waits for all requests, before the hart reads lines that it has asked for."""
    return [wait(PREFETCHED), *([wait("prefetch1")] if PACE in _window(p, g, "") else [])]


def _window(p: Problem, g: Grid, prefix: str) -> list[str]:
    """Window of requests: as many steps are under way as DRAM and the mesh need to be busy, and no more, else a hart
    that comes late would wait for all steps of the others.
    """
    rows, columns = patch_blocks(p, g)
    shire, chip = rows * p.height + columns * ROWS, p.rows + p.block_columns * ROWS
    steps = min(-(-_UNDER_WAY[0] // shire), -(-_UNDER_WAY[1] // chip))
    # A wait for the other id than that of the last requests, which change it together.
    group = 1 << (-(-steps // 2) - 1).bit_length()
    if group >= p.steps:
        return [f"j {prefix}.step"]
    lines = [f"andi t1, t4, {group - 1}", f"bnez t1, {prefix}.step"] if group > 1 else []
    lines += ["xori t6, t6, 1", "andi t1, t6, 1", f"addi t1, t1, {_ASKED}", PACE]
    return [*lines, f"j {prefix}.step"]


def _left_rows(p: Problem, rows: int, prefix: str) -> list[str]:
    """Rows of part t2 of the left factor's block t5, less 1, in t3: lines behind the last row may be another array's,
    which somebody changes.
    """
    if p.left.transform != "plain":
        return [li("t3", rows - 1)]
    lines = [*block_extent(p.rows, "t5", "t3", f"{prefix}.low", p.height), li("t0", rows), "mul t0, t0, t2"]
    lines += ["sub t3, t3, t0", f"bltz t3, {prefix}.beyond", li("t0", rows - 1), f"bleu t3, t0, {prefix}.few"]
    return [*lines, "mv t3, t0", f"{prefix}.few:"]


def block_number(register: str, start: str, each: int, total: int, blocks: int) -> list[str]:
    """Number of a block among all, from its number in the patch: `each` in a round, the next round `total` further."""
    if blocks <= total:
        return [f"add {register}, {register}, {start}"]
    lines = [f"mv t6, {register}", *divide_index(register, "t6", each), f"add t6, t6, {start}"]
    return [*lines, li("t1", total), f"mul {register}, {register}, t1", f"add {register}, {register}, t6"]


def _skip_same_lines(tiles: Tiles, g: Grid, prefix: str) -> list[str]:
    """Skips a block whose lines are those of the block before: blocks of small elements share lines."""
    shared = LINE // tiles.block_step if tiles.block_step < LINE else 1
    return [f"andi t0, t5, {shared - 1}", f"bnez t0, {prefix}.beyond"] if shared > 1 and g.columns % shared == 0 else []


def _request(tiles: Tiles, rows: int) -> list[str]:
    """Word of a request in t0, but for its number of lines, its stride in t6, and how far the next step is in t5: part
    t2 of the tile of block t5.
    """
    lines = [li("t0", prefetch_word(tiles.address)), *add_scaled("t1", "t5", tiles.block_step, "t0")]
    lines += add_scaled("t1", "t2", rows * tiles.stride, "t0")
    # Columns of a block begin within a line where elements are small; requests are of whole lines.
    return [*lines, f"andi t0, t0, {-LINE}", li("t6", load_second_word(tiles.stride)), li("t5", tiles.depth_step)]
