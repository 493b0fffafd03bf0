# SPDX-License-Identifier: Apache-2.0
"""Producer-consumer staging: the second harts of a shire bring a product's operands into its scratchpad, some steps
ahead of the first harts.

Along the depth, chunks of steps go through a ring of slots. A slot holds, for each row and column of the shire's patch
of blocks, the tiles of its steps. The second harts take tiles, or parts of them, in turns, each with two loads under
way, and the last one that has loaded what it has of a chunk gives a credit to each first hart; those free the slot
before in the same way when they have used a chunk: then the FMA that may still read lies in that chunk. A hart is never
a whole ring ahead of another one of its shire, so that as many FLBs as counters of chunks modulo `_NUMBERS` keep
arrivals apart.

Registers of hart 0: as in loop.py, but a2, a7 are groups that load together, a5 counts slots, a6 FLBs, gp chunks; tp
tells whether there is a block, t5 and ra are the words of loads to which the slot's offset is added. Of hart 1: s4, s5
the first row and column of the patch, s6 the word, s9, s10 strides, a0 the load within the chunk, a3 its id, a4 the
chunks that are loaded, a5, a6, gp as above, tp credits that need not be taken yet. Operations: the programmer's
reference manual, chapters 9 to 11.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from polyloom.targets.minion.machine import MINIONS_PER_SHIRE
from polyloom.targets.minion.map.frame import CREDITS
from polyloom.targets.minion.map.product.accumulator_start import load_block
from polyloom.targets.minion.map.product.cooperative_loads import coop_groups
from polyloom.targets.minion.map.product.loop import (
    Problem,
    block_extent,
    divide_index,
    grid_position,
    multiply_step,
    shorten_step,
    store_word,
)
from polyloom.targets.minion.map.product.operand import INT8
from polyloom.targets.minion.map.product.quant import prepare_quant
from polyloom.targets.minion.map.product.tensor_assembly import (
    COLUMN_FIELD,
    FIRST,
    LAST,
    MULTIPLIED,
    ROW_FIELD,
    TURN_FMA,
    TURN_LOAD,
    add_scaled,
    li,
    wait,
)
from polyloom.targets.minion.memory_map import LINE, SCRATCHPAD
from polyloom.targets.minion.words.tensor_words import TRANSFORMS, encode, load_second_word
from polyloom.targets.minion.words.tiles import ROWS, TILE, Grid, Tiles

_OWN: Final = SCRATCHPAD + (0x7F << 23)
"""The scratchpad of whichever shire asks."""
_CREDITS: Final = CREDITS + (0xFF << 22)
_NUMBERS: Final = 15
_LOADED, _FREED = 0, _NUMBERS
"""First FLBs of what second harts have loaded, and of what first harts have used."""
# A hart joins two chunks behind the one whose loads it issues, first harts free a slot one chunk later, and FLB numbers
# keep arrivals of fewer chunks than there are numbers apart.
_SLOTS: Final = (_NUMBERS - 1, 6)
"""At most, and at least."""
_FIRST_ID: Final = 2
"""The event of a load into the scratchpad with id 0."""
_QUANT: Final = "s2"
"""Of hart 0, the register of the block's TensorQuant: its first row of blocks is needed once only."""
_PIECES: Final = (8, 16)
_LONG: Final = 128
"""Lines of a load of few steps and of many, and what many are: lines of DRAM come the slower the more of them a load
asks for, and a hart has two loads under way.
"""


@dataclass(frozen=True, slots=True)
class Stage:
    """Staged product: the grid, minions in a shire that take part, and bytes of its scratchpad."""

    p: Problem
    g: Grid
    minions: int
    room: int

    @property
    def length(self) -> int:
        """Steps of a chunk: few, so that the first one is there early; an FLB serves all harts within their time."""
        return 2 if self.p.kind is INT8 else 1

    @property
    def slots(self) -> int:
        """Slots of the ring."""
        return min(_SLOTS[0], self.room // self.slot)

    @property
    def fits(self) -> bool:
        return self.slots >= _SLOTS[1]

    @property
    def tiles(self) -> int:
        """Tiles of a step: one for each row and each column of the patch."""
        return self.g.rows + self.g.columns

    @property
    def piece(self) -> int:
        """Lines of a load: few, so that the first chunk is there early, or many, so that many are under way."""
        rows, columns = self.rounds
        return _PIECES[0] if rows * columns * self.p.steps < _LONG else _PIECES[1]

    @property
    def parts(self) -> int:
        """Loads of a tile."""
        return ROWS // self.piece

    @property
    def loads(self) -> int:
        """Loads of a chunk."""
        return self.tiles * self.length * self.parts

    @property
    def slot(self) -> int:
        """Bytes."""
        return self.tiles * self.length * TILE

    @property
    def chunks(self) -> int:
        return -(-self.p.steps // self.length)

    @property
    def may_idle(self) -> bool:
        """Whether a hart may have nothing to load in a whole ring: the patch lies in part behind the last blocks, or
        low blocks leave parts of tiles out, and the ring comes round within a block.
        """
        below, right = self.p.block_rows % self.g.total_rows, self.p.block_columns % self.g.total_columns
        return (below > 0 or right > 0 or self.p.height <= ROWS - self.piece) and self.chunks >= self.slots

    @property
    def is_uneven(self) -> bool:
        """Whether a minion that has had blocks may have none in a later round."""
        (rows, columns), g = self.rounds, self.g
        below = rows > 1 and self.p.block_rows % g.total_rows > 0
        return below or (columns > 1 and self.p.block_columns % g.total_columns > 0)

    @property
    def rounds(self) -> tuple[int, int]:
        """Blocks of the busiest minion, by rows and columns."""
        return -(-self.p.block_rows // self.g.total_rows), -(-self.p.block_columns // self.g.total_columns)


def staged_loop(stage: Stage, prefix: str) -> list[str]:
    """Code of both harts; stores may still run behind it."""
    first = _block_loop(stage, prefix, _block_code(stage, prefix))
    second = _block_loop(stage, f"{prefix}.stage", _load_chunks(stage, f"{prefix}.stage"))
    lines = [f"{prefix}.product:", "andi t0, s1, 1", f"bnez t0, {prefix}.stage", *_hart0_setup(stage), *first]
    lines += [
        f"j {prefix}.stored",
        f"{prefix}.stage:",
        *_hart1_setup(stage),
        *second,
        *_drain_credits(stage, prefix),
    ]
    return [*lines, f"{prefix}.stored:"]


def _block_loop(stage: Stage, prefix: str, body: list[str]) -> list[str]:
    """Loop over rounds of blocks, as often on every minion of the chip, whether it has a block or not: s4 and s5 begin
    at s2 and s3. All harts must arrive at each FLB.
    """
    rows, columns = stage.rounds
    g = stage.g
    lines = ["mv s4, s2", f"{prefix}.row:", "mv s5, s3", f"{prefix}.column:", *body]
    lines += [f"addi s5, s5, {g.total_columns}", li("t0", columns * g.total_columns), f"bltu s5, t0, {prefix}.column"]
    return [*lines, f"addi s4, s4, {g.total_rows}", li("t0", rows * g.total_rows), f"bltu s4, t0, {prefix}.row"]


def _hart0_setup(stage: Stage) -> list[str]:
    """Loop invariants of hart 0."""
    p, g = stage.p, stage.g
    left = encode("tensor_load", transform=TRANSFORMS.index(p.left.transform), coop=p.shares).value + _OWN
    right = encode("tensor_load_b", rows=ROWS, coop=p.shares).value + _OWN + g.rows * stage.length * TILE
    lines = [*_patch_position(g), li("a0", left), *add_scaled("t1", "t3", stage.length * TILE, "a0")]
    lines += [li("ra", right), *add_scaled("t1", "t2", stage.length * TILE, "ra"), *grid_position(g), "mv sp, a0"]
    lines += [li("s9", LINE), li("s10", load_second_word(LINE, 1)), li("s11", p.result.stride)]
    lines += coop_groups(g, "a2", "a7") if p.shares else []
    return [*lines, li("a3", TURN_LOAD), li("a4", TURN_FMA), li("s6", 0), li("s8", 0), li("a5", 0), li("a6", 0)]


def _patch_position(g: Grid) -> list[str]:
    """t3, t2: row and column of the minion in its patch."""
    inner = g.rows * g.columns
    return ["mv t2, s0", *divide_index("t3", "t2", inner), *divide_index("t3", "t2", g.columns)]


def _block_code(stage: Stage, prefix: str) -> list[str]:
    """Code of a block of hart 0, if it has one, and its chunks."""
    p = stage.p
    fma = encode("tensor_fma", type=p.kind.number, words=ROWS, tenb=1, first=p.begins is None, rows=1, columns=4)
    signs = encode("tensor_fma", a_unsigned=p.unsigned[0], b_unsigned=p.unsigned[1]).value
    lines = [li("t0", p.block_rows), "sltu tp, s4, t0", li("t0", p.block_columns), "sltu t1, s5, t0", "and tp, tp, t1"]
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
    # Also a minion without a block takes and gives the credits of each chunk: counts are those of all minions.
    lines += [*idle, li("gp", stage.chunks), f"{prefix}.chunk:", "csrw fcc, zero", f"beqz tp, {prefix}.used"]
    lines += [
        *_chunk_code(stage, prefix),
        f"{prefix}.used:",
        *_signal_credits(stage, _FREED, 16, f"{prefix}.freed"),
        *_advance_slot(stage),
    ]
    lines += ["addi gp, gp, -1", f"bnez gp, {prefix}.chunk", f"beqz tp, {prefix}.other"]
    quant = [f"csrw tensor_quant, {_QUANT}"] if p.quant else []
    return [*lines, *quant, "mv t6, s11", "csrw tensor_store, a1", f"{prefix}.other:"]


def _chunk_code(stage: Stage, prefix: str) -> list[str]:
    """Steps of a chunk; the last one of the depth may be shorter, and ends the sum."""
    p = stage.p
    lines = [li("t4", stage.slot), "mul t4, t4, a5", "and s6, s6, a3", "add s6, s6, t5", "add s6, s6, t4"]
    lines += ["add s7, ra, t4", li("a0", stage.length), li("t0", 1), f"bne gp, t0, {prefix}.step"]
    whole, rest = (p.steps - 1) % stage.length, (p.words - 1) % ROWS + 1
    lines += [li("a0", whole), f"beqz a0, {prefix}.last"]
    lines += [
        f"{prefix}.step:",
        *multiply_step(("a2", "a7") if p.shares else None),
        f"addi s6, s6, {TILE}",
        "xor s6, s6, a3",
        f"addi s7, s7, {TILE}",
    ]
    lines += [f"andi s8, s8, {~FIRST}", "xor s8, s8, a4", "addi a0, a0, -1", f"bnez a0, {prefix}.step"]
    lines += [li("t0", 1), f"bne gp, t0, {prefix}.used", f"{prefix}.last:"]
    lines += [*shorten_step(ROWS - rest), *([li("t0", LAST), "or s8, s8, t0"] if p.kind.name == "int8" else [])]
    return [*lines, *multiply_step(("a2", "a7") if p.shares else None), "xor s6, s6, a3", "xor s8, s8, a4"]


def _signal_credits(stage: Stage, number: int, counter: int, label: str) -> list[str]:
    """Signal to the shire: the last of its harts to arrive at an FLB gives a credit to each of the others (manual,
    chapters 10 and 11).
    """
    mask = (1 << stage.minions) - 1
    lines = [li("t0", stage.minions - 1 << 5 | number), "add t0, t0, a6", "csrrw t1, flb, t0", f"beqz t1, {label}"]
    lines += [li("t0", _CREDITS + counter), li("t1", mask), "sd t1, 0(t0)", f"{label}:"]
    return [*lines, *_increment_modulo("a6", _NUMBERS)]


def _advance_slot(stage: Stage) -> list[str]:
    """Next slot in a5, modulo their number without a branch."""
    return _increment_modulo("a5", stage.slots)


def _increment_modulo(register: str, count: int) -> list[str]:
    """Next number modulo `count`, without a branch."""
    lines = [f"addi {register}, {register}, 1", f"addi t0, {register}, {-count}", "snez t0, t0", "neg t0, t0"]
    return [*lines, f"and {register}, {register}, t0"]


def _hart1_setup(stage: Stage) -> list[str]:
    """Loop invariants of hart 1: where its patch begins, strides."""
    p, g = stage.p, stage.g
    lines = [
        *patch_start(g),
        li("s9", p.left.stride),
        li("s10", load_second_word(p.right.stride)),
        li("a5", 0),
        li("a6", 0),
    ]
    own = "mv a0, s0" if g.shire_rows * g.shire_columns == 1 else f"andi a0, s0, {MINIONS_PER_SHIRE - 1}"
    return [*lines, li("tp", stage.slots - 1), li("a3", 0), own]


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


def _load_chunks(stage: Stage, prefix: str) -> list[str]:
    """Loads of all chunks of the patch's blocks of a round, by hart 1."""
    p, g = stage.p, stage.g
    lines = [li("gp", 0), li("a4", 0), f"{prefix}.chunk:", li("t0", stage.chunks), f"bgeu gp, t0, {prefix}.issued"]
    # The ring is empty at first: so many chunks are loaded without a credit for a freed slot.
    lines += [f"beqz tp, {prefix}.take", "addi tp, tp, -1", f"j {prefix}.tile"]
    lines += [f"{prefix}.take:", *(_tell_idle_ring(stage, prefix) if stage.may_idle else []), "csrw fcc, zero"]
    lines += [f"{prefix}.tile:", li("t0", stage.loads), f"bgeu a0, t0, {prefix}.loaded"]
    # Counted from the right: part of a tile, step, row or column of the patch.
    lines += [f"andi t4, a0, {stage.parts - 1}", f"srli t1, a0, {stage.parts.bit_length() - 1}"]
    shift = stage.length.bit_length() - 1
    lines += [f"andi t2, t1, {stage.length - 1}", f"srli t1, t1, {shift}", f"slli t0, gp, {shift}", "add t2, t2, t0"]
    lines += [li("t0", p.steps), f"bgeu t2, t0, {prefix}.next", li("t0", g.rows), f"bgeu t1, t0, {prefix}.right"]
    below = -(-p.height // stage.piece)
    lines += [li("t0", below), f"bgeu t4, t0, {prefix}.next"] if below < stage.parts else []
    lines += ["add t1, t1, s4", li("t0", p.block_rows), f"bgeu t1, t0, {prefix}.next", "mv t6, s9"]
    lines += [*_piece_word(stage, p.left), f"j {prefix}.load"]
    lines += [f"{prefix}.right:", "sub t1, t1, t0", "add t1, t1, s5", li("t0", p.block_columns)]
    lines += [f"bgeu t1, t0, {prefix}.next", "mv t6, s10", *_piece_word(stage, p.right)]
    # A tile is 16 lines, and the field at bit 48 holds a line's number divided by 4.
    lines += [f"{prefix}.load:", li("t0", stage.loads), "mul t0, t0, a5", "add t0, t0, a0"]
    lines += [f"slli t0, t0, {48 + (stage.piece // 4).bit_length() - 1}"]
    lines += ["add s6, s6, t0", "or t6, t6, a3", "csrw tensor_load_l2, s6"]
    # With two loads under way, the older one is waited for: all of its chunks before this one are loaded then.
    lines += ["xori a3, a3, 1", "mv t0, a3", *_tell_loaded(stage, "gp", f"{prefix}.told")]
    lines += [f"{prefix}.next:", f"addi a0, a0, {stage.minions}", f"j {prefix}.tile"]
    # The next chunk's tiles go to the harts behind those that had this one's.
    lines += [f"{prefix}.loaded:", f"addi a0, a0, {-stage.loads}", "addi gp, gp, 1", *_advance_slot(stage)]
    lines += [f"j {prefix}.chunk", f"{prefix}.issued:", "xori t0, a3, 1"]
    return [*lines, *_tell_loaded(stage, "gp", f"{prefix}.last")]


def _piece_word(stage: Stage, tiles: Tiles) -> list[str]:
    """Word of the load of part t4 of the tile of block t1 and step t2, in s6."""
    lines = [li("s6", encode("tensor_load_l2", rows=stage.piece, address=tiles.address).value)]
    lines += [*add_scaled("t3", "t1", tiles.block_step, "s6"), *add_scaled("t3", "t2", tiles.depth_step, "s6")]
    return [*lines, *add_scaled("t3", "t4", stage.piece * tiles.stride, "s6")]


def _tell_loaded(stage: Stage, until: str, label: str) -> list[str]:
    """Arrivals of the chunks from a4 to `until`, once the loads with the id in t0 are there."""
    lines = ["addi t0, t0, 2", "csrw tensor_wait, t0", f"{label}:", f"bgeu a4, {until}, {label}.all", "addi a4, a4, 1"]
    return [*lines, *_signal_credits(stage, _LOADED, 0, f"{label}.given"), f"j {label}", f"{label}.all:"]


def _tell_idle_ring(stage: Stage, prefix: str) -> list[str]:
    """Arrivals of a hart that has had nothing to load in a whole ring: first harts free a slot when they have used what
    all second harts have told them of, so that it would wait for itself.
    """
    lines = [f"addi t0, gp, {2 - stage.slots}", f"bgeu a4, t0, {prefix}.behind", f"csrwi tensor_wait, {_FIRST_ID}"]
    return [*lines, "li t0, 1", *_tell_loaded(stage, "gp", f"{prefix}.idle"), f"{prefix}.behind:"]


def _drain_credits(stage: Stage, prefix: str) -> list[str]:
    """Takes the credits that no chunk needs, so that the next phase finds none."""
    lines = [f"li t0, {stage.slots - 1}", "sub t0, t0, tp", f"beqz t0, {prefix}.drained", f"{prefix}.drain:"]
    return [*lines, "csrw fcc, zero", "addi t0, t0, -1", f"bnez t0, {prefix}.drain", f"{prefix}.drained:"]
