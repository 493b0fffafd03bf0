# SPDX-License-Identifier: Apache-2.0
"""Producer-consumer staging: the second harts of a shire bring a product's operands into its scratchpad, some steps
ahead of the first harts.

Along the depth, chunks of steps go through a ring of slots. First harts take a credit for each chunk, and free the
slots of chunks that they have used. A hart is never a whole ring ahead of another one of its shire, so that as many
FLBs as counters of chunks keep arrivals apart.

Where the loop packs the right factor, each minion of a column loads its share of the lines of each tile, interleaved,
into lines 32 to 47 of L1Scp, and stores it to the slot, a chunk ahead: between two multiplications a store takes a
cycle or two for each line.

Registers: as in loop.py, but a2, a7 are groups that load together, a5 counts slots, a6 FLBs, gp chunks; tp tells
whether there is a block, t5 and ra are the words of loads to which the slot's offset is added; s10 tells whether the
next chunk comes from memory; s9, s11 the words that load and store what is packed. Operations: the programmer's
reference manual, chapters 9 to 11.
"""

from __future__ import annotations

from typing import Final

from polyloom.targets.minion.map.product.accumulator_start import load_block
from polyloom.targets.minion.map.product.cooperative_loads import coop_groups
from polyloom.targets.minion.map.product.loop import (
    block_extent,
    divide_index,
    grid_position,
    shorten_step,
    store_word,
)
from polyloom.targets.minion.map.product.quant import prepare_quant
from polyloom.targets.minion.map.product.staging.loads import drain_credits, load_chunks, loader_setup
from polyloom.targets.minion.map.product.staging.ring import (
    FREED,
    OWN,
    PACKED,
    Stage,
    increment_modulo,
    reduce_modulo,
    signal_credits,
)
from polyloom.targets.minion.map.product.tensor_assembly import (
    COLUMN_FIELD,
    FIRST,
    LAST,
    LOADED,
    MULTIPLIED,
    ROW_FIELD,
    STORED,
    TURN_FMA,
    TURN_LOAD,
    add_scaled,
    li,
    wait,
)
from polyloom.targets.minion.memory_map import LINE
from polyloom.targets.minion.words.tensor_words import TRANSFORMS, encode, load_second_word
from polyloom.targets.minion.words.tiles import ROWS, TILE, Grid

_QUANT: Final = "s2"
"""Of hart 0, the register of the block's TensorQuant: its first row of blocks is needed once only."""
_SPARE: Final = 32
"""First line of L1Scp that tiles of the left factor leave."""


def staged_loop(stage: Stage, prefix: str) -> list[str]:
    """Code of both harts; stores may still run behind it."""
    first = _block_loop(stage, prefix, _block_code(stage, prefix))
    second = _block_loop(stage, f"{prefix}.stage", load_chunks(stage, f"{prefix}.stage"))
    lines = [f"{prefix}.product:", "andi t0, s1, 1", f"bnez t0, {prefix}.stage", *_setup(stage), *first]
    lines += [f"j {prefix}.stored", f"{prefix}.stage:", *loader_setup(stage, f"{prefix}.stage"), *second]
    return [*lines, *drain_credits(stage, prefix), f"{prefix}.stored:"]


def _block_loop(stage: Stage, prefix: str, body: list[str]) -> list[str]:
    """Loop over rounds of blocks, as often on every minion of the chip, whether it has a block or not: s4 and s5 begin
    at s2 and s3. All harts must arrive at each FLB.
    """
    rows, columns = stage.rounds
    g = stage.g
    lines = ["mv s4, s2", f"{prefix}.row:", "mv s5, s3", f"{prefix}.column:", *body]
    lines += [f"addi s5, s5, {g.total_columns}", li("t0", columns * g.total_columns), f"bltu s5, t0, {prefix}.column"]
    return [*lines, f"addi s4, s4, {g.total_rows}", li("t0", rows * g.total_rows), f"bltu s4, t0, {prefix}.row"]


def _setup(stage: Stage) -> list[str]:
    """Loop invariants of hart 0."""
    p, g = stage.p, stage.g
    left = encode("tensor_load", transform=TRANSFORMS.index(p.left.transform), coop=p.shares).value + OWN
    right = encode("tensor_load_b", rows=ROWS, coop=p.shares).value + OWN + stage.packed
    lines = [*_patch_position(g), li("sp", left), *add_scaled("t1", "t3", stage.length * TILE, "sp")]
    lines += [li("ra", right), *add_scaled("t1", "t2", stage.length * TILE, "ra")]
    lines += _packing_words(stage) if stage.packs else []
    lines += [*grid_position(g), *(coop_groups(g, "a2", "a7") if p.shares else [])]
    lines += [li("a3", TURN_LOAD), li("a4", TURN_FMA), li("s6", 0), li("s8", 0), li("a5", 0), li("a6", 0)]
    return [*lines, li("a0", 0), li("s10", 1 if stage.is_direct else 0)]


def _patch_position(g: Grid) -> list[str]:
    """t3, t2: row and column of the minion in its patch."""
    inner = g.rows * g.columns
    return ["mv t2, s0", *divide_index("t3", "t2", inner), *divide_index("t3", "t2", g.columns)]


def _packing_words(stage: Stage) -> list[str]:
    """Words, less the slot's offset, that load and store the minion's share of the tile of its column: s9 and s11."""
    # Lines of each packed tile that a minion of its column packs.
    rows, ways = ROWS // stage.g.rows, stage.ways
    load = encode("tensor_load", transform=TRANSFORMS.index(stage.p.kind.interleave), start=_SPARE, rows=rows)
    lines = [li("s9", load.value + OWN + stage.left_tiles * TILE)]
    lines += [f"andi t4, t2, {ways - 1}", *add_scaled("t1", "t4", LINE // ways, "s9"), "sub t4, t2, t4"]
    lines += [*add_scaled("t1", "t4", TILE, "s9"), *add_scaled("t1", "t3", rows * ways * LINE, "s9")]
    lines += [li("s11", encode("tensor_store_scp", rows=rows, start=_SPARE).value + OWN + stage.packed)]
    return [*lines, *add_scaled("t1", "t2", TILE, "s11"), *add_scaled("t1", "t3", rows * LINE, "s11")]


def _block_code(stage: Stage, prefix: str) -> list[str]:
    """Code of a block of hart 0, if it has one, and its chunks."""
    p = stage.p
    fma = encode("tensor_fma", type=p.kind.number, words=ROWS, tenb=1, first=p.begins is None, rows=1, columns=4)
    signs = encode("tensor_fma", a_unsigned=p.unsigned[0], b_unsigned=p.unsigned[1]).value
    lines = [
        *(_pack_prologue(stage, prefix) if stage.packs else []),
        li("t0", p.block_rows),
        "sltu tp, s4, t0",
        li("t0", p.block_columns),
        "sltu t1, s5, t0",
        "and tp, tp, t1",
    ]
    lines += [
        *block_extent(p.rows, "s4", "t3", f"{prefix}.height", p.height),
        *block_extent(p.columns, "s5", "t4", f"{prefix}.width"),
    ]
    lines += ["add t5, sp, t3", "srli t4, t4, 2", f"slli t3, t3, {ROW_FIELD}", f"slli t4, t4, {COLUMN_FIELD}"]
    lines += ["and s8, s8, a4", li("t0", fma.value | signs), "or s8, s8, t0", "or s8, s8, t3", "or s8, s8, t4"]
    lines += [li("a1", store_word(p)), "add a1, a1, t3"]
    before = [
        *(prepare_quant(p.quant, _QUANT) if p.quant else []),
        *(load_block(p.begins, "s4", "s5") if p.begins else []),
    ]
    lines += [f"beqz tp, {prefix}.plain", *before, f"{prefix}.plain:"] if before else []
    lines += [*add_scaled("t1", "s4", p.result.block_step, "a1"), *add_scaled("t1", "s5", p.result.depth_step, "a1")]
    # Who has no block says that its slots are free before another multiplication would prove it.
    idle = [f"bnez tp, {prefix}.busy", wait(MULTIPLIED), f"{prefix}.busy:"] if stage.is_uneven else []
    lines += [*idle, li("gp", stage.chunks), f"{prefix}.chunk:"]
    # Also a minion without a block takes and gives the credits of each chunk: counts are those of all minions.
    if stage.is_direct:
        lines += [f"beqz s10, {prefix}.staged", *_chunk_code(stage, prefix, is_direct=True), li("s10", 0)]
        lines += [] if stage.packs else ["csrw fcc, zero"]
        lines += [f"j {prefix}.used", f"{prefix}.staged:"]
    lines += [*_chunk_code(stage, prefix), f"{prefix}.used:", *increment_modulo("a5", stage.slots)]
    lines += ["addi gp, gp, -1", f"bnez gp, {prefix}.chunk", f"beqz tp, {prefix}.other"]
    quant = [f"csrw tensor_quant, {_QUANT}"] if p.quant else []
    return [*lines, *quant, li("t6", p.result.stride), "csrw tensor_store, a1", f"{prefix}.other:"]


def _chunk_code(stage: Stage, prefix: str, *, is_direct: bool = False) -> list[str]:
    """Steps of a chunk, the first of which loads its left tile before anything else."""
    p, label = stage.p, f"{prefix}.direct" if is_direct else f"{prefix}.ring"
    lines = [] if is_direct else ["csrw fcc, zero", li("t4", stage.slot), "mul t4, t4, a5"]
    lines += [] if is_direct else [f"beqz tp, {label}.absent"]
    pack = _pack_tile(stage, label) if stage.packs else []
    free = [*signal_credits(stage, FREED, 16, f"{label}.freed"), *increment_modulo("a6", stage.numbers)]
    # What is packed next has to be in the slot; nothing else of the first chunk comes from there.
    if is_direct:
        lines += [*_load_left(stage, is_direct=True), *free, *(["csrw fcc, zero"] if stage.packs else [])]
    else:
        lines += [*_load_left(stage), f"{label}.absent:", *free, f"beqz tp, {prefix}.used"]
    lines += pack
    lines += [li("t0", 1), "csrw fcc, t0"] if stage.packs else []
    lines += _stream_word(stage, is_direct=is_direct)
    if stage.length == 1:
        return [*lines, *_finish_words(stage, f"{label}.whole"), *_multiply(stage, label, is_direct=is_direct)]
    rest = (p.steps - 1) % stage.length + 1
    lines += [
        li("a0", stage.length),
        *([li("t0", 1), f"bne gp, t0, {label}.step", li("a0", rest)] if rest < stage.length else []),
    ]
    lines += [f"{label}.step:", *_finish_words(stage, f"{label}.whole", is_last_step=True), *_multiply(stage, label)]
    lines += ["addi a0, a0, -1", f"beqz a0, {prefix}.used", f"addi s6, s6, {TILE}", f"addi s7, s7, {TILE}"]
    return [*lines, *_issue_left(stage, LINE), f"j {label}.step"]


def _load_left(stage: Stage, *, is_direct: bool = False) -> list[str]:
    """Load of the left tile of the chunk's first step."""
    left = stage.p.left
    if not is_direct:
        return ["and s6, s6, a3", "add s6, s6, t5", "add s6, s6, t4", *_issue_left(stage, LINE)]
    word = encode("tensor_load", transform=TRANSFORMS.index(left.transform), address=left.address, coop=stage.p.shares)
    # The field of rows is what distinguishes t5 from sp.
    lines = ["and s6, s6, a3", li("t0", word.value), "add s6, s6, t0", "sub t0, t5, sp", "add s6, s6, t0"]
    return [*lines, *add_scaled("t1", "s4", left.block_step, "s6"), *_issue_left(stage, left.stride)]


def _issue_left(stage: Stage, stride: int) -> list[str]:
    """The write that loads a left tile."""
    return [*(["csrw tensor_coop, a2"] if stage.p.shares else []), li("t6", stride), "csrw tensor_load, s6"]


def _stream_word(stage: Stage, *, is_direct: bool) -> list[str]:
    """Word of the chunk's first right tile, in s7; what was packed is in the slot."""
    right = stage.p.right
    if is_direct and not stage.packs:
        word = encode("tensor_load_b", rows=ROWS, address=right.address, coop=stage.p.shares)
        return [li("s7", word.value), *add_scaled("t1", "s5", right.block_step, "s7")]
    return [li("t4", stage.slot), "mul t4, t4, a5", "add s7, ra, t4"]


def _finish_words(stage: Stage, label: str, *, is_last_step: bool = False) -> list[str]:
    """Words of the last step of the depth, which may be shorter, and ends the sum."""
    rest = (stage.p.words - 1) % ROWS + 1
    done = [li("t0", LAST), "or s8, s8, t0"] if stage.p.kind.name == "int8" else []
    lines = [*shorten_step(ROWS - rest), *done]
    if not lines:
        return []
    step = [f"bne a0, t0, {label}"] if is_last_step else []
    return [li("t0", 1), f"bne gp, t0, {label}", *step, *lines, f"{label}:"]


def _multiply(stage: Stage, label: str, *, is_direct: bool = False) -> list[str]:
    """Rest of a step: the right tile streams, the left one is there."""
    stride = stage.p.right.stride if is_direct and not stage.packs else LINE
    lines = ["csrw tensor_coop, a7"] if stage.p.shares else []
    lines += [li("t6", load_second_word(stride, 1)), "csrw tensor_load, s7"]
    if stage.packs:
        lines += [f"beqz t3, {label}.stored", *_store_packed(), f"{label}.stored:"]
    lines += [wait(LOADED), "csrw tensor_fma, s8"]
    if stage.packs:
        lines += [f"beqz t3, {label}.silent", *_tell_packed(stage, label), f"{label}.silent:"]
    return [*lines, "xor s6, s6, a3", f"andi s8, s8, {~FIRST}", "xor s8, s8, a4"]


def _pack_prologue(stage: Stage, prefix: str) -> list[str]:
    """Packing of the block's first right tile."""
    return ["csrw fcc, zero", "mv t4, a5", *_pack(stage), *_store_packed(), *_tell_packed(stage, f"{prefix}.packed")]


def _pack_tile(stage: Stage, label: str) -> list[str]:
    """Packing of the next chunk's right tile, where there is one."""
    lines = [
        li("t0", 1),
        "mv t3, zero",
        f"beq gp, t0, {label}.nothing",
        "addi t4, a5, 1",
        *reduce_modulo("t4", stage.slots),
    ]
    return [*lines, *_pack(stage), f"{label}.nothing:"]


def _pack(stage: Stage) -> list[str]:
    """Load of the minion's share of the right tile of slot t4, and the word of its store, in t3."""
    lines = [li("t3", stage.slot), "mul t3, t3, t4", "add t4, s9, t3", li("t6", load_second_word(LINE, 1))]
    return [*lines, "csrw tensor_load, t4", "add t3, t3, s11", wait("load1")]


def _store_packed() -> list[str]:
    """Store of what was packed, by the word in t3. Multiplications and the store both read L1Scp (manual,
    "TensorWait"), so that none runs meanwhile.
    """
    return [wait(MULTIPLIED), li("t6", LINE), "csrw tensor_store, t3", wait(STORED)]


def _tell_packed(stage: Stage, label: str) -> list[str]:
    """Signal that the minion's share of a tile is in the slot."""
    return [*signal_credits(stage, PACKED, 8, f"{label}.told", "a0"), *increment_modulo("a0", stage.numbers)]
