# SPDX-License-Identifier: Apache-2.0
"""Programs of the three threads for phases of vector code, statement by statement.

T0 unpacks the operands of a strip side by side into a half of Dst, each from the datum that the first lane needs, so
that the lanes begin where the line of 16 bytes of the result does; T1 computes, with what is the same for all lanes in
constant registers; T0 unpacks what the first and the last line of the result held beside it; T2 packs whole lines. Dst
is buffered twice: T0 completes the lines of a strip behind the operands of the next one.

Semaphores: halves that are free (for T0, and for T1 where it reads results as scalars), filled, computed, complete.
A barrier takes both halves: everything is in L1 then. Source: ISA documentation, pages of `UNPACR`, `PACR`, `SEMWAIT`,
`STALLWAIT`; an unpacker's address counts datums from the first of a row on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from polyloom.ir.pla import Reference
from polyloom.targets.tensix.map.loops.product_pack import packer_configuration, row_bytes
from polyloom.targets.tensix.map.loops.thread import (
    CONFIG,
    IS_EMPTY,
    MISC,
    PACK,
    PACKERS_BUSY,
    SCALAR_BUSY,
    SYNC,
    UNPACK,
    UNPACKER_BUSY,
    VECTOR,
    VECTOR_BUSY,
    Lines,
    Part,
    Parts,
    await_idle,
    encode_word,
    inline_words,
    push_register,
    setc16_fields,
    shared_configuration,
    thread_configuration,
)
from polyloom.targets.tensix.map.loops.vector import ADVANCES
from polyloom.targets.tensix.map.phases.linear_layout import Layout
from polyloom.targets.tensix.map.phases.scalar_code import LANES, Evaluate, Thread, scalar_code
from polyloom.targets.tensix.map.phases.vector_nest import Strip, VectorNest
from polyloom.targets.tensix.words.arrays.formats import INT32
from polyloom.targets.tensix.words.arrays.tiles import FACE

HALF: Final = 256
"""Rows of half of a Dst of 32 bits."""
_FREE, _FILLED, _COMPUTED, _COMPLETE, _PACKED = 1, 2, 4, 8, 16
"""`_PACKED` are free halves as T1 counts them."""
_ROW: Final = 64
"""Datums that a step of an unpacker's Y counter goes on."""
_ADDRESS: Final = 4
"""General register of a packer's address."""


@dataclass(frozen=True, slots=True)
class Phases:
    """Phases as the threads see them: `kernels` by statement; operands are `slot` rows of Dst apart; `code` of datums;
    `reads_results`: scalars are elements that statements compute.
    """

    vectors: VectorNest
    layout: Layout
    kernels: Sequence[tuple[int, ...]]
    slot: int
    lanes: int
    code: int
    reads_results: bool


def threads(p: Phases) -> Parts:
    """Programs of T0, T1 and T2. Raises `Unlike` for deep nests."""
    return _unpack(p), _compute(p), _pack(p)


def _wait(semaphore: int, holds: int) -> list[int]:
    """Words that wait for a semaphore and take one."""
    return [
        encode_word("SEMWAIT", stall_res=holds | SYNC, sem_sel=semaphore, wait_sem_cond=IS_EMPTY),
        encode_word("SEMGET", sem_sel=semaphore),
    ]


def _begin(strip: Strip, p: Phases, evaluate: Evaluate) -> Lines:
    """Lanes in a5, the address of the result in a7, and in a6 how many datums of its line are before it."""
    lanes = f"mv a5, {LANES}" if strip.lane else "li a5, 1"
    return [lanes, *evaluate(p.layout.address(strip.target), "a7"), "andi a6, a7, 3"]


def _push_sum(base: int, register: str) -> Lines:
    """Push of a word with a field that a register holds."""
    return [f"li t6, {base:#x}", f"add t6, t6, {register}", *push_register("t6")]


def _unpack(p: Phases) -> Part:
    width, code = 4, p.code
    descriptor = code | 1 << 4 | _ROW << 16 | 1 << 32 | 1 << 48 | 1 << 64
    values = shared_configuration(
        THCON_SEC0_REG0_TileDescriptor=descriptor,
        THCON_SEC0_REG2_Out_data_format=code,
        THCON_SEC0_REG2_Throttle_mode=2,
        THCON_SEC0_REG3_Base_address=p.layout.base // 16 - 1,  # where a header would be
    )
    values |= shared_configuration(UNP0_ADDR_BASE_REG_1_Base=4 * FACE * width, UNP0_ADDR_CTRL_XY_REG_1_Ystride=width)
    values[60] = values.get(60, 0) | 1 << 11  # THCON_SEC0_REG2_Unpack_If_Sel: into Dst
    set_up = [
        encode_word("SEMINIT", max_value=2, init_value=2, sem_sel=_FREE | _PACKED),
        encode_word("SEMINIT", max_value=2, sem_sel=_FILLED | _COMPUTED | _COMPLETE),
    ]
    both = [*_wait(_FREE, UNPACK), *_wait(_FREE, UNPACK)]
    given_back = [encode_word("SEMPOST", sem_sel=_FREE)] * 2
    barrier = ["jal ra, complete", *inline_words(*both, *given_back)]
    body = scalar_code(p.vectors, Thread(lambda s, e: _unpack_strip(s, p, e), barrier), p.lanes)
    lines = [*inline_words(*set_up), "li s8, 0", "li a4, 0", *body, "jal ra, complete", "j done"]
    return Part(values, {}, UNPACK | MISC | SYNC, [*lines, *_unpack_datums(), *_complete_lines(), "done:"])


def _unpack_strip(strip: Strip, p: Phases, evaluate: Evaluate) -> Lines:
    # The core computes addresses while the unpacker still waits for its half.
    lines = [*_begin(strip, p, evaluate), *inline_words(*_wait(_FREE, UNPACK))]
    for number, read in enumerate(strip.vectors):
        lines += _unpack_operand(read, strip, p, evaluate, number)
    lines += inline_words(
        encode_word("STALLWAIT", stall_res=SYNC, wait_res=UNPACKER_BUSY), encode_word("SEMPOST", sem_sel=_FILLED)
    )
    # The strip before is completed now: line, datums before and up to the end, and half of Dst.
    lines += ["jal ra, complete", "sub a1, a7, a6", "mv a2, a6", "mv a3, s8", "add a4, a5, a6"]
    return [*lines, f"li t2, {HALF * FACE}", "xor s8, s8, t2"]


def _unpack_operand(read: Reference, strip: Strip, p: Phases, evaluate: Evaluate, number: int) -> Lines:
    """Operand into its slot: a run of neighbours, or one element after another."""
    address = p.layout.address(read)
    stride = address.coefficient(strip.lane) if strip.lane else 1
    lines = [*evaluate(address, "t2"), f"li t5, {p.slot * FACE * number}", "add t5, t5, s8"]
    # Vectors have all of four rows, each of which has to be defined.
    whole = ["sub t2, t2, a6", "add t3, a5, a6", f"addi t3, t3, {_ROW - 1}", f"andi t3, t3, {-_ROW}", "jal t0, unpack"]
    if stride == 1:
        return [*lines, *whole]
    # A counter steps by at most three, so that each element has an address of its own.
    label = f"gather{strip.number}.{number}"
    each = ["li t3, 1", "jal t0, unpack", f"li t6, {stride}", "add t2, t2, t6", "addi t5, t5, 1", "addi t1, t1, -1"]
    lines += ["mv t1, t2", *whole, "mv t2, t1", "add t5, t5, a6", "mv t1, a5"]
    return [*lines, f"{label}:", *each, f"bnez t1, {label}"]


def _unpack_datums() -> Lines:
    """Routine: t3 datums from t2 on to the datum t5 of Dst. It keeps all but t4 and t6."""
    x = encode_word("SETADCXX", CntSetMask=1)
    y, out = (encode_word("SETADC", CntSetMask=1, ChannelIndex=n, DimensionIndex=1) for n in range(2))
    return [
        "unpack:",
        f"andi t4, t2, {_ROW - 1}",
        "add t6, t4, t3",
        "addi t6, t6, -1",
        "slli t6, t6, 10",
        "add t4, t4, t6",
        *_push_sum(x, "t4"),
        f"srli t4, t2, {_ROW.bit_length() - 1}",
        *_push_sum(y, "t4"),
        *_push_sum(out, "t5"),
        *inline_words(encode_word("UNPACR", Last=1)),
        "jalr zero, 0(t0)",
    ]


def _complete_lines() -> Lines:
    """Routine: the datums that the first and the last line of the strip before held, and have to hold again."""
    return [
        "complete:",
        "beqz a4, complete.return",
        *inline_words(*_wait(_COMPUTED, UNPACK)),
        "beqz a2, complete.end",
        *("mv t2, a1", "mv t3, a2", "mv t5, a3", "jal t0, unpack"),
        "complete.end:",
        "sub t3, zero, a4",
        "andi t3, t3, 3",
        "beqz t3, complete.told",
        *("add t2, a1, a4", "add t5, a3, a4", "jal t0, unpack"),
        "complete.told:",
        *inline_words(
            encode_word("STALLWAIT", stall_res=SYNC, wait_res=UNPACKER_BUSY), encode_word("SEMPOST", sem_sel=_COMPLETE)
        ),
        "li a4, 0",
        "complete.return:",
        "ret",
    ]


def _compute(p: Phases) -> Part:
    # Behind each store the counter goes on to the other columns, then to the next four rows.
    advances = thread_configuration(**{f"ADDR_MOD_DST_SEC{ADVANCES}_DestIncr": 2})
    first, second = (setc16_fields(DEST_TARGET_REG_CFG_MATH_Offset=HALF * half)[0] for half in range(2))
    set_up = [*inline_words(encode_word("SFPENCC", imm12_math=3, instr_mod1=10)), f"li s8, {first:#x}"]
    set_up += [f"li a4, {first ^ second:#x}"]
    both = [*_wait(_PACKED, VECTOR), *_wait(_PACKED, VECTOR)]
    given_back = [encode_word("SEMPOST", sem_sel=_PACKED)] * 2
    # A load behind the wait gets what T2 has packed.
    waits = await_idle("t2", "t2")
    barrier = [*inline_words(*both, *given_back), *waits] if p.reads_results else []
    body = scalar_code(p.vectors, Thread(lambda s, e: _compute_strip(s, p, e), barrier), p.lanes)
    return Part({}, advances, VECTOR, [*set_up, *body])


def _compute_strip(strip: Strip, p: Phases, evaluate: Evaluate) -> Lines:
    lines: Lines = []
    for number, read in enumerate(strip.scalars):
        lines += _constant_register(read, number, p, evaluate)
    lines += [*_begin(strip, p, evaluate), "add a5, a5, a6"]
    # Two vectors have the even and the odd columns of four rows, 64 datums.
    lines += ["addi a5, a5, 63", "srli a5, a5, 6", *push_register("s8"), "xor s8, s8, a4"]
    # Kernels of several statements would overwrite each other in the replay buffer.
    kernel = inline_words(*p.kernels[strip.number])
    label, end = f"vectors{strip.number}", f"vectors{strip.number}.end"
    return [
        *lines,
        *inline_words(
            encode_word("SETRWC", BitMask=15),
            *(_wait(_PACKED, VECTOR) if p.reads_results else []),
            encode_word("SEMWAIT", stall_res=VECTOR, sem_sel=_FILLED, wait_sem_cond=IS_EMPTY),
        ),
        f"{label}:",
        *kernel,
        *kernel,
        "addi a5, a5, -1",
        f"beqz a5, {end}",
        f"j {label}",
        f"{end}:",
        *inline_words(
            encode_word("STALLWAIT", stall_res=SYNC, wait_res=VECTOR_BUSY),
            encode_word("SEMGET", sem_sel=_FILLED),
            encode_word("SEMPOST", sem_sel=_COMPUTED),
        ),
    ]


def _constant_register(read: Reference, number: int, p: Phases, evaluate: Evaluate) -> Lines:
    """Element of L1 into a constant register, by way of L0 (ISA documentation, page of `SFPCONFIG`)."""
    low, high = (encode_word("SFPLOADI", instr_mod0=mode) for mode in (10, 8))
    lines = [*evaluate(p.layout.address(read), "t2"), "slli t2, t2, 2", f"li t3, {p.layout.base}", "add t2, t2, t3"]
    lines += ["lw t2, 0(t2)"]
    if p.code == INT32:  # sign and magnitude to two's complement
        lines += ["srai t3, t2, 31", "slli t2, t2, 1", "srli t2, t2, 1", "xor t2, t2, t3", "sub t2, t2, t3"]
    lines += ["slli t3, t2, 16", "srli t3, t3, 16", *_push_sum(low, "t3"), "srli t3, t2, 16", *_push_sum(high, "t3")]
    return [*lines, *inline_words(encode_word("SFPCONFIG", config_dest=12 + number), encode_word("SFPNOP"))]


def _pack(p: Phases) -> Part:
    values = packer_configuration(p.code, 4, HALF * row_bytes(4))
    alu = shared_configuration(ALU_FORMAT_SPEC_REG2_Dstacc=p.code)
    halves = [encode_word("SETADCZW", CntSetMask=4, Ch0_Y=half, BitMask=2) for half in range(2)]
    set_up = [f"li s8, {halves[0]:#x}", f"li a4, {halves[0] ^ halves[1]:#x}"]
    body = scalar_code(p.vectors, Thread(lambda s, e: _pack_strip(s, p, e), []), p.lanes)
    return Part(values | alu, {}, PACK | CONFIG, [*set_up, *body])


def _pack_strip(strip: Strip, p: Phases, evaluate: Evaluate) -> Lines:
    """Lines of the result into L1; lanes behind the last one are those of its line."""
    # An address of L1 in lines has 17 bits, a half of a register 16.
    registers = [encode_word("SETDMAREG", RegIndex16b=2 * _ADDRESS + part) for part in range(2)]
    x = encode_word("SETADCXX", CntSetMask=4)
    lines = [*_begin(strip, p, evaluate), "srli a7, a7, 2", f"li t2, {p.layout.base // 16 - 1}", "add a7, a7, t2"]
    lines += ["slli t2, a7, 16", "srli t2, t2, 8", *_push_sum(registers[0], "t2")]
    lines += ["srli t2, a7, 16", "slli t2, t2, 8", *_push_sum(registers[1], "t2")]
    lines += ["add a5, a5, a6", "addi a5, a5, 3", "andi a5, a5, -4", "addi a5, a5, -1", "slli a5, a5, 10"]
    lines += [*_push_sum(x, "a5"), *push_register("s8"), "xor s8, s8, a4"]
    words: Sequence[int] = [
        encode_word("STALLWAIT", stall_res=CONFIG, wait_res=SCALAR_BUSY),
        encode_word("WRCFG", GprAddress=_ADDRESS, CfgReg=57),
        encode_word("SEMWAIT", stall_res=PACK, sem_sel=_COMPLETE, wait_sem_cond=IS_EMPTY),
        encode_word("PACR", PackSel=1, Last=1),
        encode_word("STALLWAIT", stall_res=SYNC | CONFIG, wait_res=PACKERS_BUSY),
        encode_word("SEMGET", sem_sel=_COMPLETE),
        encode_word("SEMPOST", sem_sel=_FREE | (_PACKED if p.reads_results else 0)),
    ]
    return [*lines, *inline_words(*words)]
