# SPDX-License-Identifier: Apache-2.0
"""When results are there, and what SFPLOADMACRO schedules: words that execute one a cycle."""

import numpy as np
import pytest
from tests.targets.tensix.vector.words import (
    ADD,
    ADDI,
    CONFIG,
    IADD,
    LOAD,
    LOADI,
    LOADMACRO,
    LUT,
    LUTFP32,
    MAD,
    MOV,
    MUL,
    MULI,
    NOP,
    NOT,
    SETCC,
    SETSGN,
    SHFT2,
    STOCHRND,
    STORE,
    SWAP,
    TRANSP,
    immediate,
    load,
    mad,
    simple,
)  # fmt: skip

from polyloom._native import tensix

ONE, TWO, THREE = (int(np.float32(v).view(np.uint32)) for v in (1, 2, 3))
SLEEP = simple(NOP)
IDLE = 0  # a cycle without an instruction


def run(made: tensix.VectorBench, *words: int) -> list[str]:
    return [kind for kind, _, _ in made.run(np.array(words, np.uint32), timed=True)]


@pytest.mark.parametrize(
    ("word", "latency"),
    [
        (mad(MAD, 1, 1, 1, 0), 2), (mad(ADD, 10, 1, 1, 0), 2), (mad(MUL, 1, 1, 9, 0), 2),
        (immediate(MULI, 0x4000, 0), 2), (immediate(ADDI, 0x4000, 0), 2), (load(LUT, 0, 0, 0), 2),
        (simple(LUTFP32, 0, 0), 2), (simple(SWAP, 1, 0), 2),
        (mad(SHFT2, 0, 0, 1, 0, 3), 2), (simple(NOT, 1, 0), 1), (simple(IADD, 1, 0, 5, 3), 1), (load(LOAD, 0, 2, 0), 1),
        (load(LOADI, 0, 2, 3), 1), (mad(SHFT2, 0, 1, 10, 0, 5), 1), (mad(STOCHRND, 0, 0, 1, 0, 1), 1),
    ],
)  # fmt: skip
def test_a_result_is_there_after_its_latency_and_not_before(word: int, latency: int) -> None:
    for distance in (1, 2, 3):
        made = tensix.VectorBench()
        made.registers[:8] = np.uint32(TWO)
        made.registers[0], made.registers[1] = np.uint32(ONE), np.uint32(THREE)
        made.dst[:] = 0x1234
        assert made.timing(word)[1] == latency
        run(made, word, *[SLEEP] * (distance - 1), simple(MOV, 0, 6))
        assert (made.registers[6] == (ONE if distance < latency else made.registers[0])).all()
        assert int(made.registers[0][0]) != ONE


def test_a_later_write_wins_over_an_earlier_one_that_is_not_yet_there() -> None:
    made = tensix.VectorBench()
    run(made, mad(ADD, 10, 10, 10, 0), load(LOADI, 0, 2, 7), SLEEP, SLEEP)
    assert (made.registers[0] == 7).all()


def test_timing_names_registers_and_blocks_of_dst() -> None:
    made = tensix.VectorBench()
    busy, latency, reads, writes, dst_reads, dst_writes, interlocked, shuffles = made.timing(mad(MAD, 0, 1, 2, 3))
    assert (busy, latency, reads & 0xFFFF, writes) == (1, 2, 0b111, 0b1000)
    assert (dst_reads[1], dst_writes[1], interlocked, shuffles) == (0, 0, False, False)
    assert made.timing(load(LOAD, 1, 2, 20))[4] == (16, 8)
    assert made.timing(load(STORE, 1, 3, 20))[5] == (32, 16)
    assert made.timing(simple(SWAP, 1, 2, 1))[0] == 2
    assert made.timing(simple(SWAP, 1, 2, 1))[6]
    assert made.timing(mad(SHFT2, 0, 0, 1, 2, 3))[7]
    assert made.timing(simple(TRANSP))[3] & 0xFF == 0xFF
    made.registers[7] = np.uint32(5)
    assert made.timing(mad(MAD, 0, 1, 2, 3, 8))[3] == 1 << 5
    assert tensix.VectorBench(True).timing(mad(MAD, 0, 1, 2, 3))[6]


def prepared(sequence: int, *templates: int, miscellaneous: int = 0) -> tensix.VectorBench:
    made = tensix.VectorBench()
    made.templates[: len(templates)] = templates
    made.sequences[0] = sequence
    run(made, immediate(CONFIG, miscellaneous, 8, 1))
    made.dst[:] = (np.arange(1024 * 16) & 0x7FFF).reshape(1024, 16).astype(np.uint16)
    return made


def macro(vd: int, mode: int, address: int) -> int:
    return load(LOADMACRO, vd & 3, mode, address & 0x3FE | vd >> 2)


def test_a_macro_loads_and_executes_a_template_of_each_sub_unit() -> None:
    """Simple: L0 = L0 + 1 in the next cycle; store of L0 in the one after, where it was loaded from."""
    simple_bits, store_bits = 4, (3 | 1 << 3) << 24
    made = prepared(simple_bits | store_bits, simple(IADD, 0, 0, 5, 1), miscellaneous=1 << 4)
    before = made.dst.copy()
    assert run(made, macro(0, 6, 8), SLEEP, SLEEP, SLEEP) == []
    changed = before.copy()
    changed[8:12, ::2] += 1
    assert (made.dst == changed).all()


def test_a_pipeline_of_macros_keeps_one_element_a_cycle() -> None:
    """x + 2 through L16: the sum is stored three cycles after its load; three macros follow one another."""
    mad_bits, store_bits = (4 | 0x40) << 8, (3 | 2 << 3 | 0x40) << 24
    made = prepared(mad_bits | store_bits, mad(MAD, 6, 10, 0, 0), miscellaneous=3)
    values = np.arange(96, dtype=np.float32).reshape(3, 32)
    for k in range(3):
        made.registers[7] = values[k].view(np.uint32)
        run(made, load(STORE, 7, 3, 4 * k))
    made.registers[6] = np.uint32(TWO)
    assert run(made, *(macro(k, 3, 4 * k) for k in range(3)), *[SLEEP] * 4) == []
    for k in range(3):
        run(made, load(LOAD, 7, 3, 4 * k))
        assert (made.registers[7].view(np.float32) == values[k] + 2).all()
        assert (made.registers[k].view(np.float32) == values[k]).all()


def test_what_a_macro_scheduled_takes_the_sub_unit_and_says_so() -> None:
    made = prepared(4, simple(IADD, 0, 0, 5, 1))
    assert run(made, macro(0, 6, 8), simple(NOT, 3, 4), SLEEP) == ["lost-collision"]
    assert not made.registers[4].any()
    assert int(made.registers[0][0]) == int(made.dst[8, 0]) + 1
    made = prepared(4 | 1 << 3, simple(IADD, 0, 0, 5, 1))
    assert run(made, macro(0, 6, 8), simple(NOT, 3, 4), SLEEP, SLEEP) == []
    assert (made.registers[4] == 0xFFFFFFFF).all()


@pytest.mark.parametrize(("kind", "sum_"), [(0, 1), (1 << 8, 0)])
def test_a_delay_counts_cycles_or_instructions(kind: int, sum_: int) -> None:
    """IADD with a delay of three: in the cycle after four; or after three more instructions, which do not come."""
    made = prepared(4 | 3 << 3, simple(IADD, 0, 0, 5, 1), miscellaneous=kind)
    run(made, macro(0, 6, 8), *[IDLE] * 4, simple(MOV, 0, 1))
    assert int(made.registers[1][0]) == int(made.dst[8, 0]) + sum_
    assert int(made.registers[0][0]) == int(made.dst[8, 0]) + 1


def test_a_scheduled_instruction_reads_what_was_there_before_its_cycle() -> None:
    """What executes in the same cycle, in another sub-unit, neither sees nor shows its result before the next."""
    made = prepared(4 | 0x40, simple(SETSGN, 0, 0, 1, 1))
    run(made, macro(0, 6, 8), load(LOADI, 0, 2, 9), SLEEP)
    assert int(made.registers[16][0]) == 0x80000000 | int(made.dst[8, 0])
    assert int(made.registers[0][0]) == 9
    made = prepared(4, simple(IADD, 0, 0, 5, 1))
    run(made, macro(0, 6, 8), mad(STOCHRND, 0, 0, 0, 1, 12), SLEEP)
    assert int(made.registers[1][0]) == min(int(made.dst[8, 0]), 255)


def test_flags_that_a_macro_sets_count_from_the_next_cycle() -> None:
    made = prepared(4 | 0x40, simple(SETCC, 0, 0, 0))
    made.flags = 0xFFFFFFFF, 0xFFFFFFFF
    run(made, macro(0, 6, 8), load(LOADI, 1, 2, 9), load(LOADI, 2, 2, 9))
    assert made.flags == (0, 0xFFFFFFFF)
    assert (made.registers[1] == 9).all()
    assert not made.registers[2].any()


def test_a_store_sub_unit_needs_a_store() -> None:
    made = prepared(2 << 24)
    with pytest.raises(ValueError, match="macro-store"):
        run(made, macro(0, 6, 8))
    made = prepared(1)
    with pytest.raises(ValueError, match="reserved-mode"):
        run(made, macro(0, 6, 8))


def test_results_of_one_register_come_one_after_the_other() -> None:
    """A reader between two sums into one register sees the first."""
    made = tensix.VectorBench()
    run(made, mad(ADD, 10, 10, 9, 0), mad(ADD, 10, 10, 10, 0), simple(MOV, 0, 1), simple(MOV, 0, 2))
    assert (made.registers[1] == ONE).all()
    assert (made.registers[2] == TWO).all()


def test_a_tile_reads_the_old_value_too_early_though_the_reader_writes_it() -> None:
    tile = tensix.Tile(False, 1)
    tile.push(1, np.array([mad(ADD, 10, 10, 10, 0), mad(ADD, 10, 0, 10, 0), SLEEP, SLEEP], np.uint32))
    assert tile.run(1000) == 0
    assert [finding[0] for finding in tile.findings] == ["read-too-early"]
    assert (tile.view("lregs")[0] == ONE).all()
