# SPDX-License-Identifier: Apache-2.0
"""The meaning of every operation against the native model, a word at a time, on special and random operands."""

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.targets.tensix.vector.words import SPECIAL, patterns

from polyloom._native import tensix
from polyloom.diagnostics import PolyloomError
from polyloom.targets.tensix.source.operations import CONDITIONS, operations
from polyloom.targets.tensix.source.oracle.issue import execute
from polyloom.targets.tensix.source.oracle.state import Mask, State, Vector
from polyloom.targets.tensix.words.isa import Instruction, Member, table

MEMBERS: tuple[Member, ...] = ("wormhole", "blackhole")
APART = frozenset({"SFPLE", "SFPGT"})
"""Of Blackhole's words, two that no kernel's operation becomes."""
ROWS = [(member, row) for member in MEMBERS for row in table(member).values() if row.unit == "vector"]


def truths(bits: int) -> Mask:
    return Mask(np.array([bits >> k & 1 != 0 for k in range(32)]))


def number(mask: Mask) -> int:
    return sum(int(b) << k for k, b in enumerate(np.broadcast_to(mask.truth, (1, 32))[0]))


def twin(bench: tensix.VectorBench, member: Member) -> State:
    """The interpreter's state, with the bench's contents."""
    made = State(member)
    made.enabled, made.used = truths(bench.flags[0]), truths(bench.flags[1])
    made.random = bench.random.copy()[None]
    made.registers = [Vector(bench.registers[k].copy()) for k in range(17)]
    made.dst.bits[0] = bench.dst
    return made


def filled(random: np.random.Generator, member: Member) -> tensix.VectorBench:
    bench = tensix.VectorBench(member == "blackhole")
    bench.registers[:8] = patterns(random, (8, 32))
    bench.registers[12:15] = patterns(random, (3, 32))
    bench.dst[:] = random.integers(0, 1 << 16, (1024, 16), np.uint16)
    bench.seed(int(random.integers(1, 1 << 32)))
    used = 0xFFFFFFFF if random.integers(2) else int(random.integers(1 << 32))
    bench.flags = int(random.integers(1 << 32)), used
    return bench


def same(bench: tensix.VectorBench, made: State) -> bool:
    registers = all((made.registers[k].bits == bench.registers[k]).all() for k in range(17))
    flags = (number(made.enabled), number(made.used)) == tuple(bench.flags)
    return registers and flags and bool((made.dst.bits[0] == bench.dst).all() and (made.random == bench.random).all())


def accepted(bench: tensix.VectorBench, *words: int) -> bool:
    """Whether the model knows them; then it has run them."""
    try:
        bench.run(np.array(words, np.uint32))
    except ValueError:
        return False
    return True


@pytest.mark.parametrize(("member", "row"), ROWS, ids=lambda v: v if isinstance(v, str) else v.name)
def test_words_on_random_operands(member: Member, row: Instruction) -> None:
    if row.name in APART:
        with pytest.raises(PolyloomError, match="PL1244"):
            execute(State(member), row.opcode << 24)
        return
    random, compared = np.random.default_rng(row.opcode), 0
    for _ in range(60):
        bench = filled(random, member)
        word = row.opcode << 24 | int(random.integers(1 << 24)) & row.mask
        word &= ~1 if row.name in ("SFPLOAD", "SFPSTORE") else ~0
        if row.name == "SFPLOADMACRO":
            continue  # in time: test_macros.py
        word = word & ~0xF0E | 0x900 if row.name == "SFPMUL24" else word  # without an addend
        made = twin(bench, member)
        if not accepted(bench, word):
            continue
        try:
            execute(made, word)
        except PolyloomError as error:  # special registers, configuration of macros and of lanes
            assert row.name in ("SFPMOV", "SFPCONFIG", "SFPARECIP"), error
            continue
        assert same(bench, made), f"{row.name} {word:#010x}"
        compared += 1
    assert compared > 5 or row.name == "SFPLOADMACRO"


@pytest.mark.parametrize("member", MEMBERS)
def test_all_pairs_of_special_operands_multiply_and_add(member: Member) -> None:
    x, y, z = (v.reshape(-1) for v in np.meshgrid(SPECIAL, SPECIAL, SPECIAL, indexing="ij"))
    size = len(x) // 32 * 32
    rows = [v[:size].reshape(-1, 32) for v in (x, y, z)]
    made = State(member, len(rows[0]))
    made.registers[:3] = [Vector(row) for row in rows]
    execute(made, 0x84000000 | 0 << 16 | 1 << 12 | 2 << 8 | 3 << 4)
    wanted = np.empty(size, np.uint32)
    x, y, z = (v.reshape(-1).copy() for v in rows)
    tensix.multiply_add(member == "blackhole", x, y, z, wanted)
    assert (made.registers[3].bits.reshape(-1) == wanted).all()


def test_the_table_is_whole() -> None:
    rows = operations()
    assert len(rows) > 60
    assert all(row.external.effects == ("ordered",) for row in rows.values())
    assert {row.builtin for row in rows.values()} >= {"__builtin_rvtt_sfpmad", "__builtin_rvtt_sfpsetexp_v"}
    assert len(CONDITIONS) == 6


def after(word: int, *words: int) -> NDArray[np.uint32]:
    """L2 behind two words on L0 and L1 = 3 in all lanes."""
    made = State()
    made.registers[0] = made.registers[1] = Vector(np.full(32, 3, np.uint32))
    for each in (word, *words):
        execute(made, each)
    return np.broadcast_to(made.registers[2].bits, (1, 32))[0]


def test_a_recording_runs_again() -> None:
    record, play, add = 0x04000000 | 1 << 4 | 3, 0x04000000 | 1 << 4, 0x79000000 | 1 << 8 | 2 << 4 | 4
    assert (after(record, add, play) == 6).all()
    assert (after(record & ~2, add, play) == 3).all()
