# SPDX-License-Identifier: Apache-2.0
"""Producer of a staged product: second harts of a shire load tiles of both factors into its scratchpad
(tensor_load_l2; manual, chapter 9), some chunks ahead of the first harts.

They take loads of 8 lines in turns, each with two under way. The last one that has what it took of a chunk gives a
credit to each first hart.

Registers: s4, s5 the first row and column of the patch, s6 the word, s9, s10 strides, a0 the load within the chunk, a3
its id, a4 the chunks that are loaded, a5 the slot, a6 the FLB, gp the chunk, tp credits that need not be taken yet, s11
chunks of the first round whose left tiles are loaded in order, a1 the load's place in the slot.
"""

from __future__ import annotations

from polyloom.targets.minion.machine import MINIONS_PER_SHIRE
from polyloom.targets.minion.map.cache_operations import L2_LEVEL
from polyloom.targets.minion.map.product.loop import divide_index
from polyloom.targets.minion.map.product.staging.ring import (
    LOADED,
    PARTS,
    PIECE,
    Stage,
    increment_modulo,
    reduce_modulo,
    signal_credits,
)
from polyloom.targets.minion.map.product.tensor_assembly import PREFETCHED, add_scaled, li, wait
from polyloom.targets.minion.memory_map import DRAM, LINE
from polyloom.targets.minion.words.tensor_words import encode, load_second_word
from polyloom.targets.minion.words.tiles import ROWS, Grid, Tiles


def loader_setup(stage: Stage, prefix: str) -> list[str]:
    """Loop invariants: where the patch begins, strides, the hart's first prefetch."""
    g, (_, right) = stage.g, sources(stage)
    own = "mv a0, s0" if g.shire_rows * g.shire_columns == 1 else f"andi a0, s0, {MINIONS_PER_SHIRE - 1}"
    lines = [
        *patch_start(g),
        own,
        li("s9", stage.p.left.stride),
        li("s10", load_second_word(right.stride)),
        li("a5", 0),
    ]
    lines += [li("a6", 0), li("tp", stage.lookahead - 1), li("a3", 0), li("s11", int(stage.is_direct))]
    return [*lines, *(_prefetch_tiles(stage, prefix) if stage.is_direct else [])]


def sources(stage: Stage) -> tuple[Tiles, Tiles]:
    """Where tiles of both factors lie, which loads copy as they are."""
    raw = stage.p.raw
    return stage.p.left, stage.p.right if not stage.packs or raw is None else raw


def patch_start(g: Grid) -> list[str]:
    """s2, s3: row and column of the shire's patch in the first round."""
    lines = ["mv t2, s0", *divide_index("t3", "t2", g.rows * g.columns), *divide_index("t4", "t3", g.shire_columns)]
    return [
        *lines,
        li("s2", 0),
        li("s3", 0),
        *add_scaled("t1", "t4", g.rows, "s2"),
        *add_scaled("t1", "t3", g.columns, "s3"),
    ]


def _prefetch_tiles(stage: Stage, prefix: str) -> list[str]:
    """Prefetches of the first chunk into L2 (manual, chapter 8: prefetch_va), by a hart for each tile."""
    g, (left, right) = stage.g, sources(stage)
    # What lies in scratchpads is near already, and no cache has it.
    near = left.address < DRAM, right.address < DRAM
    lines = [li("t2", g.rows), f"bltu a0, t2, {prefix}.{'prefetched' if near[0] else 'first'}"]
    if stage.packs or near[1]:
        lines += [f"j {prefix}.prefetched"]
    else:
        lines += ["sub t2, a0, t2", li("t3", g.columns), f"bgeu t2, t3, {prefix}.prefetched"]
        lines += [li("t0", L2_LEVEL + right.address + ROWS - 1), li("t6", right.stride)]
        lines += [*add_scaled("t1", "s3", right.block_step, "t0"), *add_scaled("t1", "t2", right.block_step, "t0")]
        lines += [f"j {prefix}.prefetch"]
    if near[0] and near[1]:
        return []
    lines += [f"{prefix}.first:", "add t2, a0, s2", li("t6", left.stride)]
    lines += [li("t0", L2_LEVEL + left.address + left_lines(stage) - 1), *add_scaled("t1", "t2", left.block_step, "t0")]
    return [*lines, f"{prefix}.prefetch:", "csrw prefetch_va, t0", f"{prefix}.prefetched:"]


def left_lines(stage: Stage) -> int:
    """Lines of a tile of the left factor where it lies."""
    return stage.p.height if stage.p.left.transform == "plain" else ROWS


def load_chunks(stage: Stage, prefix: str) -> list[str]:
    """Loads of all chunks of the patch's blocks of a round."""
    p, left = stage.p, stage.left_tiles * PARTS
    shift = stage.length.bit_length() - 1
    # Loads ahead begin before the first chunk.
    lines = [f"li gp, {-stage.skew}", f"li a4, {-stage.pack_distance}", f"addi a5, a5, {stage.slots - stage.skew}"]
    lines += [*reduce_modulo("a5", stage.slots)]
    lines += [f"{prefix}.chunk:", li("t0", stage.chunks), f"bge gp, t0, {prefix}.issued"]
    # The ring is empty at first: so many chunks are loaded without a credit for a freed slot.
    lines += [f"bltz gp, {prefix}.tile", f"beqz tp, {prefix}.take", "addi tp, tp, -1", f"j {prefix}.tile"]
    # Who would wait says first what it has loaded: others may wait for that.
    lines += [f"{prefix}.take:", "csrr t0, fccnb", "slli t0, t0, 48", f"bnez t0, {prefix}.given"]
    lines += [wait("load_l2_0"), wait("load_l2_1"), *_tell_chunks(stage, f"{prefix}.before"), f"{prefix}.given:"]
    lines += ["csrw fcc, zero", f"{prefix}.tile:", li("t0", stage.loads)]
    lines += [f"bgeu a0, t0, {prefix}.loaded", "mv t5, a5", li("t0", left), f"bgeu a0, t0, {prefix}.right"]
    lines += [f"andi t4, a0, {PARTS - 1}", f"srli t1, a0, {PARTS.bit_length() - 1}"]
    lines += [f"andi t2, t1, {stage.length - 1}", f"srli t1, t1, {stage.length.bit_length() - 1}"]
    lines += [f"slli t3, t1, {PARTS.bit_length() - 1}", "add t3, t3, t4"]
    lines += [f"srli t3, t3, {stage.left_shift}", "add t5, t5, t3"]
    lines += [*reduce_modulo("t5", stage.slots), "add t3, t3, gp"]
    lines += [f"blt t3, s11, {prefix}.next"] if stage.is_direct else []
    below = -(-p.height // PIECE)
    lines += [li("t0", below), f"bgeu t4, t0, {prefix}.next"] if below < PARTS else []
    lines += [f"slli t3, t3, {shift}", "add t2, t2, t3", li("t0", p.steps), f"bgeu t2, t0, {prefix}.next"]
    lines += ["add t1, t1, s4", li("t0", p.block_rows), f"bgeu t1, t0, {prefix}.next", "mv t6, s9"]
    lines += [*_piece_word(p.left, "t1", "t2"), f"j {prefix}.load", f"{prefix}.right:"]
    lines += _raw_piece(stage, prefix) if stage.packs else _load_piece(stage, prefix)
    # A piece is 8 lines, and the field at bit 48 holds a line's number divided by 4.
    lines += [f"{prefix}.load:", li("t0", stage.slot // (PIECE * LINE)), "mul t0, t0, t5", "add t0, t0, a0"]
    lines += [li("t1", encode("tensor_load_l2", rows=PIECE).value), "add s6, s6, t1"]
    lines += [f"slli t0, t0, {48 + (PIECE // 4).bit_length() - 1}", "add s6, s6, t0", "or t6, t6, a3"]
    # With two loads under way, the older one is waited for: all of its chunks before this one are loaded then.
    lines += ["csrw tensor_load_l2, s6", "xori a3, a3, 1", "mv t0, a3", *_tell_loaded(stage, f"{prefix}.told")]
    lines += [f"{prefix}.next:", f"addi a0, a0, {stage.minions}", f"j {prefix}.tile"]
    # The next chunk's tiles go to the harts behind those that had this one's.
    lines += [f"{prefix}.loaded:", f"addi a0, a0, {-stage.loads}", "addi gp, gp, 1"]
    lines += [*increment_modulo("a5", stage.slots), f"j {prefix}.chunk", f"{prefix}.issued:", "xori t0, a3, 1"]
    # Rounds behind load what was prefetched for the first.
    asked = [wait(PREFETCHED), li("s11", 0)] if stage.is_direct else []
    return [*lines, *_tell_loaded(stage, f"{prefix}.last"), *asked]


def _piece_word(tiles: Tiles, block: str, step: str) -> list[str]:
    """Address of part t4 of the tile of a block and a step, in s6."""
    lines = [li("s6", tiles.address), *add_scaled("t3", block, tiles.block_step, "s6")]
    return [
        *lines,
        *add_scaled("t3", step, tiles.depth_step, "s6"),
        *add_scaled("t3", "t4", PIECE * tiles.stride, "s6"),
    ]


def _load_piece(stage: Stage, prefix: str) -> list[str]:
    """Load of a part of a tile of the right factor."""
    p, shift = stage.p, stage.length.bit_length() - 1
    lines = [f"bltz gp, {prefix}.next", "slti t0, gp, 1", "and t0, t0, s11", f"bnez t0, {prefix}.next"]
    lines = lines if stage.is_direct else lines[:1]
    lines += [f"addi t2, a0, {-stage.left_tiles * PARTS}", f"andi t4, t2, {PARTS - 1}"]
    lines += [f"srli t1, t2, {PARTS.bit_length() - 1}", f"andi t2, t1, {stage.length - 1}"]
    lines += [f"srli t1, t1, {shift}", f"slli t3, gp, {shift}", "add t2, t2, t3", li("t0", p.steps)]
    lines += [f"bgeu t2, t0, {prefix}.next", "add t1, t1, s5", li("t0", p.block_columns), f"bgeu t1, t0, {prefix}.next"]
    return [*lines, "mv t6, s10", *_piece_word(p.right, "t1", "t2")]


def _raw_piece(stage: Stage, prefix: str) -> list[str]:
    """Load of lines of the right factor before it is packed: rows of a column of lines."""
    (_, right), each = sources(stage), PARTS * stage.ways
    lines = [
        f"addi t3, gp, {stage.pack_distance}",
        f"addi t5, t5, {stage.pack_distance}",
        *reduce_modulo("t5", stage.slots),
    ]
    lines += [li("t0", stage.p.steps), f"bgeu t3, t0, {prefix}.next"]
    lines += [f"addi t2, a0, {-stage.left_tiles * PARTS}", f"andi t4, t2, {each - 1}"]
    lines += [f"srli t2, t2, {each.bit_length() - 1}"]
    lines += [li("s6", right.address), *add_scaled("t1", "t3", right.depth_step, "s6")]
    lines += [*add_scaled("t1", "s5", right.block_step, "s6"), *add_scaled("t1", "t2", LINE, "s6")]
    return [*lines, *add_scaled("t1", "t4", PIECE * right.stride, "s6"), "mv t6, s10"]


def _tell_loaded(stage: Stage, label: str) -> list[str]:
    """Arrivals of the chunks from a4 to gp, once the loads with the id in t0 are there."""
    return ["addi t0, t0, 2", "csrw tensor_wait, t0", *_tell_chunks(stage, label)]


def _tell_chunks(stage: Stage, label: str) -> list[str]:
    """Arrivals of the chunks from a4 to gp."""
    lines = [f"{label}:", f"bge a4, gp, {label}.all", "addi a4, a4, 1"]
    lines += [*signal_credits(stage, LOADED, 0, f"{label}.given"), *increment_modulo("a6", stage.numbers)]
    return [*lines, f"j {label}", f"{label}.all:"]


def drain_credits(stage: Stage, prefix: str) -> list[str]:
    """Takes the credits that no chunk needs, so that the next phase finds none."""
    lines = [f"li t0, {stage.lookahead - 1}", "sub t0, t0, tp", f"beqz t0, {prefix}.drained", f"{prefix}.drain:"]
    return [*lines, "csrw fcc, zero", "addi t0, t0, -1", f"bnez t0, {prefix}.drain", f"{prefix}.drained:"]
