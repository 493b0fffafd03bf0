# SPDX-License-Identifier: Apache-2.0
"""A product for sizes: where its tiles are, what has to be packed first, which minion computes what, and the code."""

from __future__ import annotations

from typing import Final

from polyloom.analysis.contraction import Contraction
from polyloom.diagnostics import input_error
from polyloom.targets.minion.loops.product.grid import grid
from polyloom.targets.minion.loops.product.loop import Problem, loop
from polyloom.targets.minion.loops.product.operand import (
    LINE,
    ROWS,
    TILE,
    WORD,
    Kind,
    Tiles,
    left_tiles,
    packed,
    right_tiles,
)
from polyloom.targets.minion.loops.product.pack import pack
from polyloom.targets.minion.loops.product.view import view
from polyloom.targets.minion.loops.program import Part, barrier
from polyloom.targets.minion.loops.work import Made, Setting

_PACKED: Final = 30
"""The FLB that tells that all tiles are packed."""


def code(found: Contraction, kind: Kind, fp: str, place: tuple[str, int] | None, setting: Setting) -> Made:
    """Errors: PL1331 for --split-k that does not fit, PL1332 for a sum of floats whose order it would change."""
    views = [view(m, setting.arrays[m.array]) for m in (found.left, found.right, found.result)]
    left, right, result = views
    assert left is not None and right is not None and result is not None, "the form was checked"
    unsigned = tuple(setting.arrays[m.array].dtype.kind == "u" for m in (found.left, found.right))
    words = -(-left.columns * kind.bytes // WORD)
    source = right_tiles(right, kind)
    tiles = source if source.transform == "plain" else packed(setting.scratch, -(-words // ROWS))
    stored = Tiles(result.address, ROWS * result.row_step, LINE, result.row_step)
    p = Problem(
        kind, left.rows, right.columns, words, left_tiles(left, kind), tiles, stored, (unsigned[0], unsigned[1])
    )
    parts = _parts(left.columns, p, setting, fp)
    g = grid(setting.team, p.block_rows, p.block_columns, parts)
    made, scratch = list[Part](), 0
    if tiles is not source:
        scratch = p.block_columns * p.steps * TILE
        made += [
            Part(tuple(pack(source, setting.scratch, p.block_columns, p.steps, setting.team, setting.prefix)), place)
        ]
        made += [barrier(setting.team, f"{setting.prefix}.all", _PACKED)]
    made += [Part(tuple(loop(p, g, setting.prefix)), place)]
    macs = left.rows * left.columns * right.columns
    return Made(tuple(_by_first(made, setting)), {"split_k": parts}, macs, kind.peak, scratch)


def _by_first(parts: list[Part], setting: Setting) -> list[Part]:
    """Hart 1 of each minion, where it takes part in other phases, has nothing to do in this one but barriers."""
    if setting.team.harts == 1:
        return parts
    made = list[Part]()
    for n, part in enumerate(parts):
        if part.place is None and n == 1:
            made.append(part)
        else:
            skip = f"{setting.prefix}.skip{n}"
            made.append(Part(("andi t0, s1, 1", f"bnez t0, {skip}", *part.lines, f"{skip}:"), part.place))
    return made


def _parts(depth: int, p: Problem, setting: Setting, fp: str) -> int:
    """How many minions share a block."""
    asked = setting.options.split_k or 1
    if asked == 1:
        return 1
    if fp != "reassociate" and p.kind.name != "int8":
        message = "--split-k adds parts of sums, and floats keep the order of their sums"
        help = "write --reassociate, which allows another order, or leave --split-k out"
        raise input_error("PL1332", message, help=help)
    if asked > min(depth, setting.team.minions) or setting.team.minions % asked:
        message = f"--split-k is {asked}, for {depth} terms on {setting.team.minions} minions"
        help = "give a power of two that divides the number of minions, at most the number of terms"
        raise input_error("PL1331", message, help=help)
    return asked
