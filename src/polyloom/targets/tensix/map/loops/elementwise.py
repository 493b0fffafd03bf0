# SPDX-License-Identifier: Apache-2.0
"""Code generation for an element-wise stage: T0 unpacks a tile of every input into half of Dst, T1 runs the vector
kernel over its 32 vectors, T2 packs.

Double buffering of Dst: halves go around; semaphore 0 counts those that are free, 1 those that wait for T1, 2 those
that wait for T2. T1 records the kernel in the replay buffer where it fits, and its MOP replays it; else the core hands
its words over. Scalars are words in L1, which T1's core puts into the constant registers L12 to L14. Synchronization:
ISA documentation, page of `SEMWAIT` and page of `STALLWAIT`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from polyloom.targets.tensix.map.loops.half.tile_kernel import TileKernel
from polyloom.targets.tensix.map.loops.product_pack import packer_configuration, row_bytes, set_register
from polyloom.targets.tensix.map.loops.product_unpack import unpacker_configuration
from polyloom.targets.tensix.map.loops.shape import NOP
from polyloom.targets.tensix.map.loops.thread import (
    CONFIG,
    IS_EMPTY,
    MISC,
    PACK,
    PACKERS_BUSY,
    SYNC,
    UNPACK,
    UNPACKER_BUSY,
    VECTOR,
    VECTOR_BUSY,
    Lines,
    Part,
    Parts,
    configure_mop,
    counted_loop,
    encode_word,
    inline_words,
    push_register,
    setc16_fields,
    shared_configuration,
    thread_configuration,
)
from polyloom.targets.tensix.map.loops.vector import ADVANCES, SLOT
from polyloom.targets.tensix.source.allocate.replay import SLOTS
from polyloom.targets.tensix.source.lower.literals import literal_loads
from polyloom.targets.tensix.words.arrays import tiles

_BYTES: Final = 1024
"""In half of a column of Dst, which has 512 rows of 32 bits, or 1024 of 16."""
# After a reset lane flags are off and zero; SFPENCC 3,10 enables and sets them (page of `SFPENCC`).
ENABLED: Final = encode_word("SFPENCC", imm12_math=3, instr_mod1=10)
_FREE, _FILLED, _DONE = 1, 2, 4


@dataclass(frozen=True, slots=True)
class Elementwise:
    """An element-wise stage as its threads see it. `kernel` are the words of a vector; `format` is the code of datums
    in L1 and Dst, of `width` bytes; `inputs` are addresses, `scalars` that of the first scalar's word. Of the inputs
    in `columns`, each column of `rows` tiles of the result takes the same column.
    """

    tiles: int
    inputs: tuple[int, ...]
    result: int
    scalars: int
    scalar_count: int
    kernel: TileKernel
    format: int
    width: int
    rows: int = 0
    columns: frozenset[int] = frozenset()

    @property
    def half(self) -> int:
        """Rows of half of Dst."""
        return _BYTES // self.width

    @property
    def pairs(self) -> int:
        """Slots that a step of the unpacker's counter W goes on: it ends at 7, and Dst has 16 slots of 16 bits."""
        return 4 // self.width


def threads(p: Elementwise) -> Parts | None:
    """Programs of T0, T1 and T2; None where there is nothing to do."""
    return (_unpack(p), _compute(p), _pack(p)) if p.tiles else None


def _alternate_halves(p: Elementwise, half: list[Lines]) -> Lines:
    """Loop over pairs of tiles, one per half of Dst; an odd tile follows in the first half."""
    return [*counted_loop("tiles", "s1", p.tiles // 2, [*half[0], *half[1]]), *(half[0] if p.tiles % 2 else [])]


def _unpack(p: Elementwise) -> Part:
    """T0: tiles of all inputs are at multiples of their pitch from the first one, so their numbers are values of the Y
    counter (ISA documentation, page of `UNPACR`).
    """
    row, first = 16 * p.width, min(p.inputs, default=0)
    values = unpacker_configuration(0, p.format, p.format, p.width, first)
    # The descriptor's words may hold the bits of other fields already, so that this one is joined by or.
    values[60] |= 1 << 11  # THCON_SEC0_REG2_Unpack_If_Sel: into Dst
    values |= shared_configuration(
        UNP0_ADDR_BASE_REG_1_Base=4 * row,
        UNP0_ADDR_CTRL_ZW_REG_1_Zstride=SLOT * row if p.pairs > 1 else 0,
        UNP0_ADDR_CTRL_ZW_REG_1_Wstride=p.pairs * SLOT * row,
    )
    base = encode_word("SETADC", CntSetMask=1, DimensionIndex=1)
    counters = [f"a{n}" for n in range(len(p.inputs))]
    halves = [
        [
            # Sync is held back, too: SEMGET must not overtake the wait.
            *inline_words(encode_word("SEMWAIT", stall_res=UNPACK | SYNC, sem_sel=_FREE, wait_sem_cond=IS_EMPTY)),
            *inline_words(encode_word("SEMGET", sem_sel=_FREE)),
            *(line for n, at in enumerate(counters) for line in _unpack_tile(p, at, n + p.half // SLOT * half)),
            *_begin_columns(p, counters),
            *inline_words(
                encode_word("STALLWAIT", stall_res=SYNC, wait_res=UNPACKER_BUSY),
                encode_word("SEMPOST", sem_sel=_FILLED),
            ),
        ]
        for half in range(2)
    ]
    set_up = [
        # X counts the datums of a whole tile, so one UNPACR brings all four faces.
        encode_word("SETADCXX", CntSetMask=1, x_end2=tiles.DATUMS - 1),
        encode_word("SEMINIT", max_value=2, init_value=2, sem_sel=_FREE),
        encode_word("SEMINIT", max_value=2, sem_sel=_FILLED | _DONE),
    ]
    away = [divmod(at - first, tiles.tile_pitch(p.width)) for at in p.inputs]
    assert not any(rest for _, rest in away), "arrays of one width lie among each other"
    numbers = [f"li {at}, {base + number:#x}" for at, (number, _) in zip(counters, away, strict=True)]
    numbers += [f"li s8, {p.rows}"] if p.columns else []
    return Part(values, {}, UNPACK | MISC, [*inline_words(*set_up), *numbers, *_alternate_halves(p, halves)])


def _begin_columns(p: Elementwise, counters: Sequence[str]) -> Lines:
    """Step back of the counters of single columns, behind the last tile of a column of the result; s8 counts what is
    left of it. Without branches: the loops around repeat this.
    """
    if not p.columns:
        return []
    back = [f"sub {counters[n]}, {counters[n]}, t1" for n in sorted(p.columns)]
    return [
        "addi s8, s8, -1", "sltiu t1, s8, 1", "sub t1, zero, t1", f"li t0, {p.rows}", "and t1, t1, t0",
        "add s8, s8, t1", *back,
    ]  # fmt: skip


def _unpack_tile(p: Elementwise, counter: str, slot: int) -> Lines:
    """Tile into its slot of Dst, which the counters W and Z choose; the counter of tiles goes on to the next one."""
    w, z = divmod(slot, p.pairs)
    return [
        *push_register(counter),
        *inline_words(
            encode_word("SETADCZW", CntSetMask=1, Ch1_Y=w, Ch1_X=z, BitMask=12), encode_word("UNPACR", Last=1)
        ),
        f"addi {counter}, {counter}, 1",
    ]


def _compute(p: Elementwise) -> Part:
    """T1: the expander's configuration, scalars, flags enabled for all lanes, and the kernel per vector."""
    expander, program = _replay_kernel(p) if fits_replay(p.kernel) else ([], _push_kernel(p))
    registers = load_registers(p.scalars, p.scalar_count, p.kernel)
    return Part({}, vector_steps(p.kernel), VECTOR, [*expander, *registers, *inline_words(ENABLED), *program])


def fits_replay(kernel: TileKernel) -> bool:
    """Whether the replay buffer holds a kernel that runs several times for a tile."""
    return len(kernel.words) <= SLOTS and kernel.walk.runs > 1


def _replay_kernel(p: Elementwise) -> tuple[Lines, Lines]:
    """Kernel by replay: what sets the MOP expander up, and the rest; one MOP replays the recorded words for
    all vectors of a tile."""
    halves = [
        [*inline_words(_offset(p, half)), *_process_tile(inline_words(encode_word("MOP", mop_type=1)))]
        for half in range(2)
    ]
    expander, recorded = record_kernel(p.kernel)
    return expander, [*recorded, *_alternate_halves(p, halves)]


def record_kernel(kernel: TileKernel) -> tuple[Lines, Lines]:
    """Configuration of the MOP expander, which replays a kernel for all vectors of a tile, and its recording."""
    words = kernel.bare_words
    replay = encode_word("REPLAY", len=len(words))
    # Recorded without being executed: Dst holds no input yet.
    recorded = inline_words(encode_word("REPLAY", len=len(words), load_mode=1), *words)
    return configure_mop([1, kernel.walk.runs, NOP, NOP, NOP, replay, NOP, replay, replay]), recorded


def _push_kernel(p: Elementwise) -> Lines:
    """Kernel by pushing: its words stand in the program once; s6 is the SETC16 word of Dst's offset and changes from
    tile to tile.
    """
    vectors = counted_loop("vectors", "s2", p.kernel.walk.runs, inline_words(*p.kernel.bare_words))
    # XOR with the difference of both words toggles between the halves.
    body = [*push_register("s6"), "xor s6, s6, s7", *_process_tile(vectors)]
    # Both words are SETC16 of one register and differ in the offset alone.
    first, second = (_offset(p, half) for half in range(2))
    return [f"li s6, {first:#x}", f"li s7, {first ^ second:#x}", *counted_loop("tiles", "s1", p.tiles, body)]


def _offset(p: Elementwise, half: int) -> int:
    (found,) = setc16_fields(DEST_TARGET_REG_CFG_MATH_Offset=p.half * half)
    return found


def _process_tile(vectors: Lines) -> Lines:
    return [
        *inline_words(
            encode_word("SETRWC", BitMask=15),
            encode_word("SEMWAIT", stall_res=VECTOR, sem_sel=_FILLED, wait_sem_cond=IS_EMPTY),
        ),
        *vectors,
        *inline_words(
            # T2 may pack only what the vector unit has stored; the semaphore must not run ahead of it.
            encode_word("STALLWAIT", stall_res=SYNC, wait_res=VECTOR_BUSY),
            encode_word("SEMGET", sem_sel=_FILLED),
            encode_word("SEMPOST", sem_sel=_DONE),
        ),
    ]


def vector_steps(kernel: TileKernel) -> dict[int, int]:
    """Configuration of the address mode behind whose stores the counter of Dst goes on to the next vectors."""
    return thread_configuration(**{f"ADDR_MOD_DST_SEC{ADVANCES}_DestIncr": kernel.walk.advance})


def load_registers(address: int, count: int, kernel: TileKernel) -> Lines:
    """Constant registers: scalars from L1, and behind them what the kernel wants."""
    words = list[int]()
    for number, bits in enumerate(kernel.constants, count):
        loads = (encode_word("SFPLOADI", instr_mod0=mode, imm16=half) for mode, half in literal_loads(bits))
        words += [*loads, encode_word("SFPCONFIG", config_dest=12 + number), encode_word("SFPNOP")]
    return [*load_scalars(address, count), *inline_words(*words)]


def load_scalars(address: int, count: int) -> Lines:
    """Scalars: each word into L0, low half and high half, and on into its constant register (ISA documentation, page of
    `SFPCONFIG`).
    """
    lines: Lines = [f"li s2, {address:#x}"] if count else []
    for number in range(count):
        low, high = (encode_word("SFPLOADI", instr_mod0=mode) for mode in (10, 8))
        lines += [f"lw s3, {4 * number}(s2)", "slli s4, s3, 16", "srli s4, s4, 16", f"li s5, {low:#x}"]
        lines += [
            "or s4, s4, s5",
            *push_register("s4"),
            "srli s4, s3, 16",
            f"li s5, {high:#x}",
            "or s4, s4, s5",
            *push_register("s4"),
        ]
        # SFPCONFIG may take two cycles (page of `SFPCONFIG`): the NOP keeps L0 from the next word until then.
        lines += inline_words(encode_word("SFPCONFIG", config_dest=12 + number), encode_word("SFPNOP"))
    return lines


def _pack(p: Elementwise) -> Part:
    """T2: packs each half that is done, and frees it."""
    address, pitch = 4, 5
    values = packer_configuration(p.format, p.width, p.half * row_bytes(p.width))
    set_up = [
        *set_register(address, p.result // 16 | 1 << 31),
        *set_register(pitch, tiles.tile_pitch(p.width) // 16),
        encode_word("SETADCXX", CntSetMask=4, x_end2=tiles.FACE * tiles.FACE - 1),
    ]
    halves = [
        inline_words(
            encode_word("WRCFG", GprAddress=address, CfgReg=57),
            encode_word("SETADCZW", CntSetMask=4, Ch0_Y=number, BitMask=2),
            encode_word("SEMWAIT", stall_res=PACK, sem_sel=_DONE, wait_sem_cond=IS_EMPTY),
            encode_word("PACR", PackSel=15, Last=1),
            # The scalar unit computes the next address while the packers work.
            encode_word("ADDDMAREG", ResultRegIndex=address, OpBRegIndex=pitch, OpARegIndex=address),
            encode_word("STALLWAIT", stall_res=SYNC | CONFIG, wait_res=PACKERS_BUSY),
            encode_word("SEMGET", sem_sel=_DONE),
            encode_word("SEMPOST", sem_sel=_FREE),
        )
        for number in range(2)
    ]
    alu = shared_configuration(ALU_FORMAT_SPEC_REG2_Dstacc=p.format)
    return Part(values | alu, {}, PACK | CONFIG, [*inline_words(*set_up), *_alternate_halves(p, halves)])
