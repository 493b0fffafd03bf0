# SPDX-License-Identifier: Apache-2.0
"""Code generation of a product for given sizes: where its tiles are, what has to be packed first, which minion computes
what, and the code (blocking and packing as in Goto and van de Geijn 2008).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from polyloom.diagnostics import input_error
from polyloom.ir.ssa import Place
from polyloom.targets.minion.map.frame import Part, Team, barrier
from polyloom.targets.minion.map.phase_work import Made, Multiplied, Setting
from polyloom.targets.minion.map.product.accumulator_start import Begin
from polyloom.targets.minion.map.product.cooperative_loads import can_share
from polyloom.targets.minion.map.product.loop import Problem, product_loop
from polyloom.targets.minion.map.product.operand import INT8, lhs_tiles, packed_tiles, rhs_tiles
from polyloom.targets.minion.map.product.pack_tiles import Packing, packing_loop
from polyloom.targets.minion.map.product.patch_prefetch import patch_blocks, prefetch_patch, prefetch_waits
from polyloom.targets.minion.map.product.predict import resident_cycles
from polyloom.targets.minion.map.product.quant import build_quant
from polyloom.targets.minion.map.product.staging.operand_staging import staged_loop
from polyloom.targets.minion.map.product.staging.ring import Stage
from polyloom.targets.minion.map.product.tensor_assembly import COMBINED, MULTIPLIED, STORED, refresh_registers, wait
from polyloom.targets.minion.map.product.tile_selection import (
    fit_blocks,
    has_own_rows,
    total_cycles,
    uses_staging,
)
from polyloom.targets.minion.words.resident import Home, Resident
from polyloom.targets.minion.words.tiles import ROWS, TILE, WORD, Grid, Tiles
from polyloom.targets.target import Json

PACKED: Final = 30
"""The FLB that tells that all tiles are packed."""
_PATCH_PACKED: Final = 29
"""The FLB that tells first harts that the tiles of a shire are packed. Second harts, which may be phases ahead, would
arrive at that of all harts meanwhile; products that are staged, whose chunks have this one, begin and end at barriers.
"""
_AHEAD: Final = "brings operands nearer before they are needed"
PACKS: Final = "packs a factor into the order of the tensor unit"


def product_code(m: Multiplied, setting: Setting) -> Made:
    """Code of a product. Errors: PL1331 for --split-k that does not fit, PL1332 for a sum of floats whose order it
    would change, PL1333 for --broadcast where nothing is split.
    """
    p, source = build_problem(m, setting)
    p, g = fit_blocks(m, p, source, setting)
    stages = setting.team.harts == 2 and not setting.options.resident and uses_staging(p, g, setting)
    # Cooperation needs the final grid, which the choice of the height may change.
    p = replace(p, shares=_loads_cooperatively(p, g, stages))
    if setting.options.resident:
        return _resident_product(m, p, g, setting)
    if p.near:
        return _prefetched_product(m, p, g, source, setting)
    # The ring depends on the final grid, too.
    stage = Stage(p, g, setting.team.shire_minions, setting.scratchpad)
    packs = stages and stage.packs
    # The loop packs what it stages.
    source = None if packs else source
    made, scratch = packing_parts(p, source, m.place, setting)
    if stages:
        made.append(Part((*staged_loop(stage, setting.prefix), *phase_end_waits(setting, streams=True)), m.place))
    else:
        lines = (
            *product_loop(p, g, setting.prefix),
            *phase_end_waits(setting, splits=g.parts > 1, streams=is_factor_overwritten(setting, m.found.right.array)),
        )
        made.append(on_first_harts(Part(lines, m.place), setting, "skip"))
    predicted = total_cycles(p, source, g, setting)
    facts: dict[str, Json] = {"split_k": g.parts, "broadcast": p.broadcast, "predicted_cycles": predicted}
    return Made(
        tuple(made), facts, useful_macs(m, setting), m.kind.peak, scratch, staged=stages, buffer=0 if stages else None
    )


def predicted_cycles(m: Multiplied, setting: Setting) -> int:
    """Predicted cycles of a product for a team, before its code is made. Errors: as `product_code`."""
    p, source = build_problem(m, setting)
    p, g = fit_blocks(m, p, source, setting)
    return total_cycles(p, source, g, setting)


def _prefetched_product(m: Multiplied, p: Problem, g: Grid, source: Tiles | None, setting: Setting) -> Made:
    """Product whose operands second harts bring into L2: shires do not wait for one another."""
    team, prefix = setting.team, setting.prefix
    made = [Part(("andi t0, s1, 1", f"bnez t0, {prefix}.skip"), m.place)]
    if source is not None:
        # First harts alone: second ones wait for nothing that is packed.
        own = Team(team.shire_minions)
        packing = Packing(source, p.right.address, patch_blocks(p, g)[1], p.steps, own.minions, g, p.block_columns)
        made += [Part(tuple(packing_loop(packing, prefix)), replace(m.place, reason=PACKS))]
        made += [barrier(own, f"{prefix}.all", _PATCH_PACKED)]
    # A later phase may pack where the last multiplication has streamed packed tiles.
    streams = source is not None or is_factor_overwritten(setting, m.found.right.array)
    made += [Part((*product_loop(p, g, prefix), *leading_hart_waits(setting, streams=streams)), m.place)]
    ahead = prefetch_patch(p, source, g, team, f"{prefix}.near")
    factors = {setting.arrays[matrix.array].name for matrix in (m.found.left, m.found.right)}
    # A later phase may read lines, for which the hart that has asked for them waits.
    ahead += prefetch_waits(p, g) if factors & setting.later.touched else []
    made += [Part((f"j {prefix}.over", f"{prefix}.skip:", *ahead, f"{prefix}.over:"), replace(m.place, reason=_AHEAD))]
    predicted = total_cycles(p, source, g, setting)
    facts: dict[str, Json] = {"split_k": 1, "broadcast": False, "predicted_cycles": predicted}
    return Made(tuple(made), facts, useful_macs(m, setting), m.kind.peak, buffer=None if source is None else 0)


def useful_macs(m: Multiplied, setting: Setting) -> int:
    """Useful multiply-adds."""
    left, right = (setting.view(each) for each in (m.found.left, m.found.right))
    return left.rows * left.columns * right.columns


def packing_parts(p: Problem, source: Tiles | None, place: Place, setting: Setting) -> tuple[list[Part], int]:
    """Packing of the right factor's tiles into the order of TenB, and the bytes that they take."""
    if source is None:
        return [], 0
    packing = Packing(source, setting.scratch, p.block_columns, p.steps, setting.team.minions)
    lines = packing_loop(packing, setting.prefix)
    packs = replace(place, reason=PACKS)
    parts = [on_first_harts(Part(tuple(lines), packs), setting, "unpacked")]
    # All minions pack, and any of them may read any tile.
    return [*parts, barrier(setting.team, f"{setting.prefix}.all", PACKED)], p.block_columns * p.steps * TILE


def phase_end_waits(setting: Setting, *, splits: bool = False, streams: bool = False) -> list[str]:
    """Waits at the end of a phase: what other phases read is in memory, and their hart 0 may read registers and load
    lines of L1Scp (manual, "TensorWait").

    Behind the last phase, the machine itself drains stores. Where sums are split, some minions store nothing.
    `is_factor_overwritten`: the next phase may overwrite what the last multiplication has streamed, as second harts do
    that stage tiles.
    """
    if setting.is_last:
        return []
    skip = f"{setting.prefix}.settled"
    waits = leading_hart_waits(setting, splits=splits, streams=streams)
    return ["andi t0, s1, 1", f"bnez t0, {skip}", *waits, f"{skip}:"] if setting.team.harts == 2 else waits


def leading_hart_waits(setting: Setting, *, splits: bool = False, streams: bool = False) -> list[str]:
    """Waits of hart 0 at the end of a phase."""
    if setting.is_last:
        return []
    fresh = refresh_registers() if setting.options.errata else []
    before = [*([wait(COMBINED)] if splits else []), *([wait(MULTIPLIED)] if streams else [])]
    return [*before, wait(STORED), *fresh]


def _resident_product(m: Multiplied, p: Problem, g: Grid, setting: Setting) -> Made:
    """Product with packed operands in the scratchpads. Errors: PL1338, PL1339."""
    if g.parts > 1:
        message = "--resident gives each block to one minion, and --split-k to several"
        raise input_error("PL1339", message, help="leave one of them out")
    if p.begins is not None:
        message = f"--resident starts with packed operands, and sums begin with what is in `{m.found.begins}`"
        raise input_error("PL1339", message, help="leave --resident out")
    r = Resident(g, p.kind.bytes, p.rows, p.columns, p.words)
    r.check(setting.scratchpad)
    left, right, result = r.tiles()
    # The same loop serves, with blocks counted in the shire instead of in the whole.
    local = replace(p, left=left, right=right, result=result, is_local=True)
    part = on_first_harts(
        Part((*product_loop(local, g, setting.prefix), *phase_end_waits(setting)), m.place), setting, "skip"
    )
    home = Home(r, (m.found.left, m.found.right, m.found.result))
    facts: dict[str, Json] = {"split_k": 1, "predicted_cycles": resident_cycles(p, g)}
    return Made((part,), facts, useful_macs(m, setting), p.kind.peak, 0, home)


def owner_arrays(m: Multiplied, setting: Setting) -> frozenset[str]:
    """Arrays of the program of which each shire accesses its own rows only: the result, what sums begin with, and the
    left factor, where blocks are those of the shire's rows.
    """
    p, source = build_problem(m, setting)
    p, g = fit_blocks(m, p, source, setting)
    if not has_own_rows(p, g, setting.shire_rows):
        return frozenset()
    found = m.found
    matrices = (found.left, found.result, *([replace(found.result, array=found.begins)] if found.begins else []))
    others = {found.right.array, *(step.array for step in found.steps)}
    own = {x.array for x in matrices if x.rows == (0,) and len(setting.arrays[x.array].shape) > 1} - others
    return frozenset(setting.arrays[name].name for name in own)


def has_helpers(m: Multiplied, setting: Setting) -> bool:
    """Whether second harts stage the operands, or bring them near."""
    p, source = build_problem(m, setting)
    p, g = fit_blocks(m, p, source, setting)
    return not setting.options.resident and (p.near or uses_staging(p, g, setting))


def _loads_cooperatively(p: Problem, g: Grid, stages: bool) -> bool:
    """Whether minions load common tiles together, where the shire's port would be the bound: bytes are multiplied
    faster than each minion's own loads pass it, and staging takes a third of what loads of singles leave.
    """
    return (stages or p.near or p.kind is INT8) and can_share(g, p.block_rows, p.block_columns)


def build_problem(m: Multiplied, setting: Setting) -> tuple[Problem, Tiles | None]:
    """Addresses and shapes of a product, and where tiles of the right factor are that have to be packed."""
    found, kind = m.found, m.kind
    left, right, result = (setting.view(m) for m in (found.left, found.right, found.result))
    unsigned = tuple(setting.arrays[m.array].dtype.kind == "u" for m in (found.left, found.right))
    # The depth is counted in words of 32 bits; padding zeros fill the last one and add nothing.
    words = -(-left.columns * kind.bytes // WORD)
    source = rhs_tiles(right, kind)
    # Packed tiles lie where this phase's scratch begins; the code that packs them is made by the caller.
    tiles = source if source.transform == "plain" else packed_tiles(setting.scratch, -(-words // ROWS))
    stored = Tiles(result.address, ROWS * result.row_step, ROWS * result.bytes, result.row_step)
    signs = (unsigned[0], unsigned[1])
    p = Problem(
        kind,
        left.rows,
        right.columns,
        words,
        lhs_tiles(left, kind),
        tiles,
        stored,
        unsigned=signs,
        quant=build_quant(found.steps, kind, setting.arrays),
        broadcast=setting.options.broadcast,
        begins=_start_block(m, setting),
        raw=None if tiles is source else source,
    )
    return p, None if tiles is source else source


def _start_block(m: Multiplied, setting: Setting) -> Begin | None:
    """Blocks of the array with which sums begin, None for none."""
    if not m.found.begins:
        return None
    found = setting.view(replace(m.found.result, array=m.found.begins))
    tiles = Tiles(found.address, ROWS * found.row_step, ROWS * found.bytes, found.row_step)
    return Begin(tiles, must_evict(m.found.begins, m.found.result.array, setting))


def must_evict(begins: str, result: str, setting: Setting) -> bool:
    """Whether somebody reads the array with which sums begin after it was changed, by this phase or a later one."""
    name, later = setting.arrays[begins].name, setting.later
    return name in later.again or (name == setting.arrays[result].name and name in later.touched)


def is_factor_overwritten(setting: Setting, factor: str) -> bool:
    """Whether a phase behind writes lines that the last multiplication has streamed."""
    return setting.arrays[factor].name in setting.later.written


def on_first_harts(part: Part, setting: Setting, name: str) -> Part:
    """A part for hart 0 of each minion: hart 1, where it takes part in other phases, has nothing to do in this one but
    barriers.
    """
    if setting.team.harts == 1:
        return part
    skip = f"{setting.prefix}.{name}"
    return Part(("andi t0, s1, 1", f"bnez t0, {skip}", *part.lines, f"{skip}:"), part.place)
