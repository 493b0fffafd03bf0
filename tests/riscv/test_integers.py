# SPDX-License-Identifier: Apache-2.0
"""Every integer instruction on the interpreter does what integers.py says, on edges and on random values."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.riscv import integers
from tests.riscv.harts import BASE, NARROW, SCRATCH, WIDE, Bench, bench, machine

from polyloom.riscv.isa import base_mnemonics, find_row
from polyloom.riscv.names import Isa

ISAS = pytest.mark.parametrize("isa", [WIDE, NARROW], ids=str)
EDGES = [
    0,
    1,
    2,
    31,
    32,
    63,
    127,
    128,
    255,
    0x7FFF,
    0x8000,
    2**31 - 1,
    2**31,
    2**32 - 1,
    2**32,
    2**63 - 1,
    2**63,
    2**64 - 2,
    2**64 - 1,
]
VALUES = st.sampled_from(EDGES) | st.integers(0, 2**64 - 1)
IMMEDIATE = [-2048, -1, 0, 1, 5, 31, 63, 2047]


def in_isa(names: dict[str, integers.Meaning], isa: Isa) -> list[str]:
    return [name for name in names if find_row(name, isa) is not None]


@cache
def binary(isa: Isa) -> Bench:
    return bench(
        [f"{name} a2, a0, a1" for name in in_isa(integers.REGISTERS, isa)]
        + [f"{name} a2, a0" for name in in_isa(integers.UNARY, isa)],
        isa,
    )


@ISAS
@given(a=VALUES, b=VALUES)
@example(2**63, 2**64 - 1)
@example(2**31, 2**32 - 1)
@example(5, 0)
def test_registers(isa: Isa, a: int, b: int) -> None:
    on, size = binary(isa), 1 << isa.xlen
    a, b = a % size, b % size
    on.machine.set_x(10, a)
    on.machine.set_x(11, b)
    for name in in_isa(integers.REGISTERS, isa):
        on.step(f"{name} a2, a0, a1")
        assert (name, on.machine.x[12]) == (name, integers.REGISTERS[name](a, b, isa.xlen) % size)
    for name in in_isa(integers.UNARY, isa):
        on.step(f"{name} a2, a0")
        assert (name, on.machine.x[12]) == (name, integers.UNARY[name](a, 0, isa.xlen) % size)


@cache
def constants(isa: Isa) -> tuple[Bench, dict[str, tuple[str, int]]]:
    """A bench of instructions with immediates, and what each line is."""
    lines: dict[str, tuple[str, int]] = {}
    for name in in_isa(integers.IMMEDIATES, isa):
        row = find_row(name, isa)
        assert row is not None
        lines |= {f"{name} a2, a0, {n}": (name, n) for n in IMMEDIATE if n in row.fields[2].range}
    return bench(list(lines), isa), lines


@ISAS
@given(a=VALUES)
def test_immediates(isa: Isa, a: int) -> None:
    (on, lines), size = constants(isa), 1 << isa.xlen
    on.machine.set_x(10, a)
    for line, (name, n) in lines.items():
        on.step(line)
        assert (line, on.machine.x[12]) == (line, integers.IMMEDIATES[name](a % size, n, isa.xlen) % size)


@ISAS
@given(a=VALUES, b=VALUES)
@example(7, 7)
def test_branches(isa: Isa, a: int, b: int) -> None:
    on = bench([f"{name} a0, a1, 1024" for name in integers.BRANCHES], isa)
    on.machine.set_x(10, a)
    on.machine.set_x(11, b)
    for line, place in on.places.items():
        taken = integers.BRANCHES[line.split()[0]](a % (1 << isa.xlen), b % (1 << isa.xlen), isa.xlen)
        assert on.machine.run(place, stop=place + (1024 if taken else 4)).instructions == 1


@ISAS
@given(data=st.binary(min_size=8, max_size=8), value=VALUES)
def test_memory(isa: Isa, data: bytes, value: int) -> None:
    sizes = {"b": 1, "h": 2, "w": 4, "d": 8}
    loads = [name for name in ("lb", "lbu", "lh", "lhu", "lw", "lwu", "ld") if find_row(name, isa) is not None]
    stores = [name for name in ("sb", "sh", "sw", "sd") if find_row(name, isa) is not None]
    on = bench([f"{name} a2, -8(a0)" for name in loads] + [f"{name} a1, 8(a0)" for name in stores], isa)
    on.machine.set_x(10, SCRATCH + 8)
    on.machine.set_x(11, value)
    on.machine.write(SCRATCH, data)
    for name in loads:
        on.step(f"{name} a2, -8(a0)")
        read = int.from_bytes(data[: sizes[name[1]]], "little", signed=not name.endswith("u"))
        assert (name, on.machine.x[12]) == (name, read % (1 << isa.xlen))
    for name in stores:
        on.machine.write(SCRATCH + 8, bytes(16))
        on.step(f"{name} a1, 8(a0)")
        assert on.machine.read(SCRATCH + 8, 16) == bytes(8) + (value % (1 << 8 * sizes[name[1]])).to_bytes(8, "little")


@ISAS
@given(a=VALUES, b=VALUES)
def test_atomics(isa: Isa, a: int, b: int) -> None:
    widths = {"w": 32, "d": 64} if isa.xlen == 64 else {"w": 32}
    on = bench([f"{name}.{letter} a2, a1, (a0)" for name in integers.ATOMICS for letter in widths], isa)
    on.machine.set_x(10, SCRATCH)
    on.machine.set_x(11, b)
    for line in on.places:
        name, letter = line.split()[0].split(".")
        bits = widths[letter]
        old, other = a % (1 << bits), b % (1 << bits)
        on.machine.write(SCRATCH, old.to_bytes(8, "little"))
        on.step(line)
        assert (line, on.machine.x[12]) == (line, integers.signed(old, bits) % (1 << isa.xlen))
        assert on.machine.read(SCRATCH, 8) == (integers.ATOMICS[name](old, other, bits) % (1 << bits)).to_bytes(
            8, "little"
        )


@ISAS
def test_upper_immediates_and_jumps(isa: Isa) -> None:
    on = machine(
        "lui a0, 0xfffff\nauipc a1, 0x80000\njal a2, 8\nebreak\nauipc a3, 0\njalr a4, 13(a3)\nebreak\nli a7, 93\nli "
        "a0, 3\necall",
        isa,
    )
    assert on.run().exit_code == 3
    size = 1 << isa.xlen
    assert on.x[11] == (BASE + 4 - 2**31) % size
    assert on.x[12] == BASE + 12
    assert on.x[14] == BASE + 24


@ISAS
def test_zero_stays_zero(isa: Isa) -> None:
    on = machine(
        "li a0, 5\nadd zero, a0, a0\nlw zero, 0(sp)\njal zero, 4\namoadd.w zero, a0, (sp)\nc.mv a1, a0\nadd a1, zero, "
        "zero",
        isa,
    )
    on.run(stop=BASE + 26)
    assert (on.x[0], on.x[11]) == (0, 0)


def test_load_reserved_and_store_conditional() -> None:
    text = "lr.w a2, (a0)\nsc.w a3, a1, (a0)\nsc.w a4, a1, (a0)\nlr.w a5, (a0)\naddi a0, a0, 4\nsc.w a6, a1, (a0)"
    on = machine(text)
    on.write(SCRATCH, b"\xff" * 8)
    on.set_x(10, SCRATCH)
    on.set_x(11, 7)
    on.run(stop=BASE + 24)
    assert on.x[12:17] == [2**64 - 1, 0, 1, 7, 1], (
        "the value, success, failure without a reservation, the value, failure elsewhere"
    )
    assert on.read(SCRATCH, 8) == b"\7\0\0\0\xff\xff\xff\xff"


def test_every_integer_instruction_is_tested() -> None:
    """What is left is in the tests above by name, or in test_floats.py."""
    stated = {
        *integers.REGISTERS,
        *integers.IMMEDIATES,
        *integers.UNARY,
        *integers.BRANCHES,
        *(f"{n}.{w}" for n in integers.ATOMICS for w in "wd"),
    }
    by_name = {
        "lui",
        "auipc",
        "jal",
        "jalr",
        "lb",
        "lbu",
        "lh",
        "lhu",
        "lw",
        "lwu",
        "ld",
        "sb",
        "sh",
        "sw",
        "sd",
        "lr.w",
        "sc.w",
        "lr.d",
        "sc.d",
    }
    environment = {
        "fence",
        "fence.tso",
        "fence.i",
        "ecall",
        "ebreak",
        "csrrw",
        "csrrs",
        "csrrc",
        "csrrwi",
        "csrrsi",
        "csrrci",
    }
    assert {
        name for name in base_mnemonics() if name[0] != "f" or name.startswith("fence")
    } == stated | by_name | environment
