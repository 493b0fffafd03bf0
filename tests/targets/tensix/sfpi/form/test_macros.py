# SPDX-License-Identifier: Apache-2.0
"""What SFPLOADMACRO schedules, in the interpreter and in the native model, a word per cycle: both by the pages of the
instruction set, and neither from the other."""

import numpy as np
import pytest
from tests.targets.tensix.sfpi.form.test_meaning import MEMBERS, filled, same, twin
from tests.targets.tensix.vector.words import (
    ABS,
    ADDI,
    AND,
    CAST,
    CONFIG,
    DIVP2,
    EXEXP,
    IADD,
    LOAD,
    LOADI,
    LOADMACRO,
    LZ,
    MAD,
    MOV,
    MULI,
    NOP,
    NOT,
    SETCC,
    SETEXP,
    SETMAN,
    SETSGN,
    SHFT,
    SHFT2,
    STOCHRND,
    STORE,
    SWAP,
    XOR,
    immediate,
    load,
    mad,
    simple,
)

from polyloom._native import tensix
from polyloom.diagnostics import PolyloomError
from polyloom.targets.tensix.source.oracle.issue import execute
from polyloom.targets.tensix.source.oracle.macros import is_pending, settle
from polyloom.targets.tensix.source.oracle.state import State, Vector
from polyloom.targets.tensix.words.isa import Member

SLEEP = simple(NOP)


def macro(number: int, vd: int, mode: int, address: int) -> int:
    return load(LOADMACRO, number << 2 | vd & 3, mode, address & 0x3FE | vd >> 2)


def template(random: np.random.Generator) -> int:
    """A word of any sub-unit but load and store; registers as they come."""
    a, b, c, d = (int(k) for k in random.integers(0, 12, 4))
    imm, mode = int(random.integers(0, 1 << 12)), int(random.integers(0, 2))
    made = [
        mad(MAD, a, b, c, d), mad(MAD, a, b, c, d), immediate(MULI, 0x4000 | imm, d), immediate(ADDI, 0xC000 | imm, d),
        mad(STOCHRND, mode << 5 | a, b, c, d, int(random.choice([0, 1, 4, 5, 6, 7, 12, 14]))),
        mad(SHFT2, imm >> 4, b, c, d, int(random.choice([3, 4, 5, 6]))),
        simple(SWAP, c, d, int(random.choice([0, 1, 2, 3, 9]))),
        simple(int(random.choice([AND, XOR, NOT])), c, d, 0),
        simple(int(random.choice([ABS, CAST, SETEXP, SETMAN, SETSGN, SHFT, IADD, DIVP2])), c, d, mode, imm & 255),
        simple(IADD, c, d, int(random.choice([2, 4, 6, 8, 10])), imm), simple(EXEXP, c, d, int(random.choice([2, 10]))),
        simple(LZ, c, d, 2), simple(SETCC, c, d, int(random.choice([0, 2, 4, 6]))), simple(MOV, c, d, mode * 2),
    ]  # fmt: skip
    return made[int(random.integers(len(made)))]


def sequence(random: np.random.Generator) -> int:
    """Bits of each sub-unit; the store sub-unit stores, or does nothing."""
    bits = 0
    for unit in range(3):
        if random.integers(3):
            bits |= (int(random.integers(2, 8)) | int(random.integers(0, 32)) << 3) << 8 * unit
    stores = int(random.integers(0, 32)) << 3 | 3 if random.integers(2) else 0
    return bits | stores << 24


def issued(random: np.random.Generator) -> list[int]:
    """A macro, mostly; else a word whose result is there in the next cycle, as the interpreter has it."""
    c, d, at = int(random.integers(0, 8)), int(random.integers(0, 8)), 2 * int(random.integers(0, 16))
    mode = int(random.choice([2, 3, 4, 6]))
    others = [
        [SLEEP], [SLEEP, SLEEP], [0], [load(LOAD, d, mode, at)], [load(STORE, d, mode, at)],
        [load(LOADI, d, 2, at)], [simple(NOT, c, d)], [mad(SHFT2, 0, c, c, d, 5)], [simple(IADD, c, d, 5, 3)],
    ]  # fmt: skip
    if random.integers(2):
        return [macro(int(random.integers(4)), d, mode, at), *[SLEEP] * int(random.integers(0, 3))]
    return others[int(random.integers(len(others)))]


def configured(random: np.random.Generator, bench: tensix.VectorBench) -> State:
    """The same macros on both sides."""
    member: Member = "wormhole"
    # Half of all macros count cycles.
    misc = int(random.integers(1 << 12)) & (0xFFF if random.integers(2) else 0xFF)
    misc = misc & ~0xF | int(random.choice([2, 3, 4, 6]))
    bench.templates[:] = [template(random) for _ in range(4)]
    bench.sequences[:] = [sequence(random) for _ in range(4)]
    bench.run(np.array([immediate(CONFIG, misc, 8, 1)], np.uint32), timed=True)
    made = twin(bench, member)
    made.macros.templates, made.macros.sequences = bench.templates.tolist(), bench.sequences.tolist()
    made.macros.miscellaneous = misc
    return made


def test_random_macros_do_in_both_what_they_schedule() -> None:
    """Programs of 24 steps, beside one another: any sub-unit, any delay, cycles and instructions, L16, collisions."""
    random, compared, scheduled = np.random.default_rng(33), 0, 0
    for number in range(400):
        bench = filled(random, "wormhole")
        bench.flags = bench.flags if random.integers(4) == 0 else (0xFFFFFFFF, 0xFFFFFFFF)
        # SFPCONFIG takes all columns only where all lanes execute.
        flags, bench.flags = bench.flags, (0xFFFFFFFF, 0xFFFFFFFF)
        made = configured(random, bench)
        bench.flags = flags
        made.enabled, made.used = twin(bench, "wormhole").enabled, twin(bench, "wormhole").used
        words = [word for _ in range(24) for word in issued(random)] + [SLEEP] * 10
        try:
            bench.run(np.array(words, np.uint32), timed=True)
        except ValueError as error:
            assert "reserved" in str(error)
            continue
        try:
            for word in words:
                step(made, word)
                scheduled += len(made.macros.waiting)
            settle(made)
        except PolyloomError as error:
            assert "as a template" in str(error), error
            continue
        assert same(bench, made), f"program {number}"
        compared += 1
    assert compared > 300
    assert scheduled > 10_000


def step(state: State, word: int) -> None:
    """A word, or a cycle without one."""
    execute(state, word if word else 0x02000000)


@pytest.mark.parametrize("member", MEMBERS)
def test_a_swap_of_a_macro_clamps(member: Member) -> None:
    """The template names a constant as D; the macro's register is C and D, and has the greater of both afterwards."""
    bench = tensix.VectorBench(member == "blackhole")
    bench.registers[14] = np.float32(-1).view(np.uint32)
    rows = np.linspace(-4, 4, 32, dtype=np.float32)
    bench.registers[1] = rows.view(np.uint32)
    bench.templates[0], bench.sequences[0] = simple(SWAP, 0, 14, 1), 4 | (3 | 2 << 3) << 24
    bench.run(np.array([load(STORE, 1, 3, 0)], np.uint32))
    made = twin(bench, member)
    made.macros.templates, made.macros.sequences = bench.templates.tolist(), bench.sequences.tolist()
    words = [macro(0, 0, 3, 0), *[SLEEP] * 4]
    made.macros.miscellaneous = 3
    bench.run(np.array([immediate(CONFIG, 3, 8, 1), *words], np.uint32), timed=True)
    for word in words:
        execute(made, word)
    assert same(bench, made)
    assert (made.registers[0].bits.view(np.float32) == np.maximum(rows, -1)).all()


def test_what_waits_for_instructions_waits_on() -> None:
    """A delay of three instructions: time alone does not end it."""
    state = State()
    state.macros.templates[0], state.macros.sequences[0] = simple(IADD, 0, 0, 5, 1), 4 | 3 << 3
    state.macros.miscellaneous = 1 << 8
    state.dst.bits[:] = 0
    execute(state, macro(0, 0, 6, 0))
    settle(state)
    assert is_pending(state)
    for _ in range(3):
        execute(state, SLEEP)
    settle(state)
    assert not is_pending(state)
    assert (state.registers[0].bits == 1).all()


def test_configuration_comes_from_the_first_register() -> None:
    state = State()
    state.registers[0] = Vector(np.full(32, 0x1234, np.uint32))
    for target in (0, 4, 8):
        execute(state, immediate(CONFIG, 0, target))
    assert (state.macros.templates[0], state.macros.sequences[0]) == (0x1234, 0x1234)
    assert state.macros.miscellaneous == 0x234
    execute(state, immediate(CONFIG, 0x00F, 8, 7))
    assert state.macros.miscellaneous == 0x23B
    execute(state, simple(MOV, 4, 1, 8))
    assert (state.registers[1].bits == 0x1234).all()
    state.registers[0] = Vector(np.arange(32, dtype=np.uint32))
    with pytest.raises(PolyloomError, match="lanes differently"):
        execute(state, immediate(CONFIG, 0, 5))


def test_a_word_from_register_12_on_becomes_a_template() -> None:
    state = State()
    execute(state, mad(MAD, 12, 0, 13, 13))
    assert state.macros.templates[1] == mad(MAD, 12, 0, 13, 13)
