# SPDX-License-Identifier: Apache-2.0
"""What kernels mean: conditions and their frames, comparisons, contraction, lanes without a value, scalar code, tiles
side by side."""

from dataclasses import replace
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.targets.tensix.sfpi.form.lanes import LANES, RAW, Words, floats, ints, kernel, known, ran, row, started
from tests.targets.tensix.sfpi.kernels import ARGUMENTS, kernels, state
from tests.targets.tensix.sfpi.kernels import kernel as random_kernel
from tests.targets.tensix.vector.words import patterns

from polyloom.diagnostics import PolyloomError
from polyloom.ir.ssa import Access, Constant, Edge, Instruction
from polyloom.ir.ssa_types import I32, PTR
from polyloom.targets.tensix.source.build import Builder, constant
from polyloom.targets.tensix.source.operations import VECTOR
from polyloom.targets.tensix.source.oracle.contract import contract_products
from polyloom.targets.tensix.source.oracle.interpret import State, interpret, prepare
from polyloom.targets.tensix.source.oracle.meaning import lane_seeds
from polyloom.targets.tensix.source.oracle.multiply import multiply_add

LT, LE, EQ, NE, GE, GT = range(6)
ONE, ZERO = floats(1), floats(0)


def chain(b: Builder) -> None:
    """1 below 8, 2 below 16, 3 below 24 in the lanes' numbers, 4 from there; 5 over it where they are odd."""
    x = b.call("load", RAW, 3, 0)
    y = b.call("undefined")
    for bound in (8, 16, 24):
        b.effect("push" if bound == 8 else "else_")
        b.effect("cond", b.call("cmp_i", LT, x, b.call("splat", bound)))
        y = b.call("assign", y, b.call("splat", bound // 8))
    b.effect("else_")
    y = b.call("assign", y, b.call("splat", 4))
    b.effect("pop")
    b.effect("push")
    b.effect("and_", b.call("mask_of", b.call("sfpand", x, b.call("splat", 1))))
    y = b.call("assign", y, b.call("splat", 5))
    b.effect("pop")
    b.effect("store", y, RAW, 3, 2)


def test_chains_of_conditions_take_each_lane_once() -> None:
    found = ran(chain, LANES)
    assert row(found, 1).tolist() == [5 if k % 2 else k // 8 + 1 for k in range(32)]
    assert known(found, 1).all()


def test_else_takes_what_the_condition_left_before_it_narrowed() -> None:
    def body(b: Builder) -> None:
        x, y = b.call("load", RAW, 3, 0), b.call("splat", 0)
        b.effect("push")
        b.effect("cond", b.call("cmp_i", LT, x, b.call("splat", 16)))
        b.effect("and_", b.call("cmp_i", LT, x, b.call("splat", 4)))
        y = b.call("assign", y, b.call("splat", 1))
        b.effect("else_")
        y = b.call("assign", y, b.call("splat", 2))
        b.effect("pop")
        b.effect("store", y, RAW, 3, 2)

    assert row(ran(body, LANES), 1).tolist() == [1] * 4 + [0] * 12 + [2] * 16


def test_an_expression_computes_all_lanes_and_a_definition_takes_them() -> None:
    def body(b: Builder) -> None:
        b.effect("push")
        b.effect("cond", b.call("cmp_i", LT, b.call("load", RAW, 3, 0), b.call("splat", 4)))
        y = b.call("sfpiadd_i", b.call("load", RAW, 3, 0), 1, 5)
        b.effect("pop")
        b.effect("store", y, RAW, 3, 2)

    assert (row(ran(body, LANES), 1) == LANES + 1).all()


def masks(name: str, a: Words, b: Words) -> list[list[bool]]:
    """By condition."""

    def body(made: Builder) -> None:
        x, y = made.call("load", RAW, 3, 0), made.call("load", RAW, 3, 2)
        for k in range(6):
            made.effect("store", made.call("int_of", made.call(name, k, x, y)), RAW, 3, 4 + 2 * k)

    found = ran(body, a, b)
    return [(row(found, 2 + k) != 0).tolist() for k in range(6)]


def test_floats_compare_by_the_difference_and_unsigned_integers_exactly() -> None:
    random = np.random.default_rng(7)
    a, b = patterns(random, (32,)), patterns(random, (32,))
    a[:4] = b[:4]
    # By the vendor's compiler infinity is below itself: the difference is a NaN with the sign of b's product.
    a[4] = b[4] = 0x7F800000
    d = multiply_add(b, np.full_like(b, 0xBF800000), a, False)
    less, equal = d >> 31 != 0, d == 0
    wanted = [less, less | equal, equal, ~equal, ~less, ~(less | equal)]
    assert masks("cmp_f", a, b) == [w.tolist() for w in wanted]
    wrapping = (a - b).astype(np.uint32)
    assert masks("cmp_i", a, b)[LT] == (wrapping >> 31 != 0).tolist()
    pairs = [(int(x), int(y)) for x, y in zip(a, b, strict=True)]
    wanted_u = [[x < y for x, y in pairs], [x <= y for x, y in pairs], [x == y for x, y in pairs]]
    assert masks("cmp_u", a, b)[:3] == wanted_u
    assert masks("cmp_u", a, b)[3:] == [[not t for t in wanted_u[k]] for k in (2, 0, 1)]


def test_with_the_literal_zero_the_raw_bits_decide() -> None:
    values = floats(-0.0, 0.0, 1.0, -1.0, np.nan)
    values[5:7] = 1, 0x80000001  # denormals
    values[7] = 0xFFC00000

    def body(b: Builder) -> None:
        x, zero = b.call("load", RAW, 3, 0), b.call("splat", 0)
        b.effect("store", b.call("int_of", b.call("cmp_f", LT, x, zero)), RAW, 3, 2)
        b.effect("store", b.call("int_of", b.call("cmp_f", NE, x, zero)), RAW, 3, 4)
        b.effect("store", b.call("int_of", b.call("cmp_f", LT, zero, x)), RAW, 3, 6)
        b.effect("store", b.call("int_of", b.call("cmp_f", EQ, x, b.call("config_read", 9))), RAW, 3, 8)

    found = ran(body, values)
    assert row(found, 1)[:8].tolist() == [1, 0, 0, 1, 0, 0, 1, 1]
    assert row(found, 2)[:8].tolist() == [1, 0, 1, 1, 1, 1, 1, 1]
    assert row(found, 3)[:8].tolist() == [0, 0, 1, 0, 1, 1, 0, 0]
    assert row(found, 4)[:8].tolist() == [1, 1, 0, 0, 0, 1, 1, 0], "a constant register is no literal: it is subtracted"


A, B, C = floats(1.1, 3.7, -2.3), floats(0.3, -7.9), floats(1e-8, 5.5, -0.77)


def mad(a: Words, b: Words, c: Words) -> Words:
    return multiply_add(a, b, c, False)


def negative(a: Words) -> Words:
    return a ^ np.uint32(0x80000000)


def total(kind: str, *rows: Words, contract: bool = True) -> Words:
    """Of p = a·b and c: p+c, c+p, p-c, c-p, -p, c-(-p), twice (p+p), shared (p+c with p stored)."""

    def body(b: Builder) -> None:
        x, y, z = (b.call("load", RAW, 3, 2 * k) for k in range(3))
        p = b.call("sfpmul", x, y, 0)
        made = {
            "p+c": lambda: b.call("sfpadd", p, z, 0),
            "c+p": lambda: b.call("sfpadd", z, p, 0),
            "p-c": lambda: b.call("sfpsub", p, z),
            "c-p": lambda: b.call("sfpsub", z, p),
            "-p": lambda: b.call("sfpmov", p, 1),
            "c-(-p)": lambda: b.call("sfpsub", z, b.call("sfpmov", p, 1)),
            "p+p": lambda: b.call("sfpadd", p, p, 0),
            "p+q": lambda: b.call("sfpadd", p, b.call("sfpmul", z, z, 0), 0),
            "shared": lambda: b.call("sfpadd", p, z, 0),
        }[kind]()
        b.effect("store", made, RAW, 3, 6)
        if kind == "shared":
            b.effect("store", p, RAW, 3, 8)

    return row(ran(body, *rows, contract=contract), 3)


P = mad(A, B, ZERO)
CONTRACTED = {
    "p+c": mad(A, B, C),
    "c+p": mad(A, B, C),
    "p-c": mad(A, B, negative(C)),
    "c-p": mad(negative(A), B, C),
    "-p": mad(negative(A), B, ZERO),
    "c-(-p)": mad(A, B, C),
    "p+p": mad(P, ONE, P),
    "p+q": mad(A, B, mad(C, C, ZERO)),
    "shared": mad(P, ONE, C),
}


@pytest.mark.parametrize("kind", CONTRACTED)
def test_contraction(kind: str) -> None:
    assert (total(kind, A, B, C) == CONTRACTED[kind]).all()


def test_without_contraction_a_sum_adds_the_rounded_product() -> None:
    assert (total("p+c", A, B, C, contract=False) == mad(P, ONE, C)).all()
    assert (total("p+c", A, B, C, contract=False) != CONTRACTED["p+c"]).any()
    assert (total("c-p", A, B, C, contract=False) == mad(P, floats(-1), C)).all()
    assert (total("-p", ZERO, B, C, contract=False) != total("-p", ZERO, B, C)).any(), "of a zero the sign differs"


def mads(body: object) -> int:
    made = contract_products(kernel(body))  # pyright: ignore[reportArgumentType]: a function of a builder
    return sum("sfpmad" in i.called for block in made.blocks for i in block.instructions)


def test_contraction_stops_at_regions_and_loops() -> None:
    def outward(b: Builder) -> None:
        x = b.call("load", RAW, 3, 0)
        b.effect("push")
        b.effect("cond", b.call("mask_of", x))
        p = b.call("sfpmul", x, x, 0)
        b.effect("pop")
        b.effect("store", b.call("sfpadd", p, x, 0), RAW, 3, 2)

    def inward(b: Builder) -> None:
        x = b.call("load", RAW, 3, 0)
        p = b.call("sfpmul", x, x, 0)
        b.effect("push")
        b.effect("cond", b.call("mask_of", x))
        b.effect("store", b.call("sfpadd", p, x, 0), RAW, 3, 2)
        b.effect("pop")

    def beside(b: Builder) -> None:
        x = b.call("load", RAW, 3, 0)
        b.effect("push")
        b.effect("cond", b.call("mask_of", x))
        p = b.call("sfpmul", x, x, 0)
        b.effect("else_")
        b.effect("store", b.call("sfpadd", p, x, 0), RAW, 3, 2)
        b.effect("pop")

    def around(b: Builder) -> None:
        x = b.call("load", RAW, 3, 0)
        p = b.call("sfpmul", x, x, 0)
        b.jump("head", constant(0))
        i = b.fresh(I32)
        b.block("head", [i])
        b.effect("store", b.call("sfpadd", p, x, 0), RAW, 3, 2)
        b.branch(b.scalar("slt", i, 3), Edge("head", (b.scalar("add", i, 1),)), Edge("after"))
        b.block("after")

    assert [mads(body) for body in (outward, inward, beside, around)] == [0, 1, 0, 0]


def test_lanes_without_a_value_are_known_and_hold_zero() -> None:
    def body(b: Builder) -> None:
        x, y = b.call("load", RAW, 3, 0), b.call("undefined")
        b.effect("push")
        b.effect("cond", b.call("cmp_i", LT, x, b.call("splat", 8)))
        y = b.call("assign", y, x)
        b.effect("pop")
        b.effect("store", b.call("sfpiadd_i", y, 1, 5), RAW, 3, 2)

    found = ran(body, LANES)
    assert known(found, 1).tolist() == [True] * 8 + [False] * 24
    assert row(found, 1).tolist() == [*range(1, 9), *[0] * 24]


def test_scalar_code_decides_at_run_time() -> None:
    def body(b: Builder) -> None:
        n = b.entry[0]
        b.branch(b.scalar("slt", n, 0), Edge("then"), Edge("else"))
        b.block("then")
        x = b.call("splat", n)
        b.jump("after", x)
        b.block("else")
        y = b.call("load", RAW, 3, b.scalar("shl", n, 1))
        b.jump("after", y)
        z = b.fresh(VECTOR)
        b.block("after", [z])
        b.effect("store", z, RAW, 3, 6)

    rows = [ints(10), ints(11), ints(12)]
    assert (row(ran(body, *rows, arguments=[2], names=["n"]), 3) == 12).all()
    assert (row(ran(body, *rows, arguments=[-7], names=["n"]), 3) == np.uint32(-7 & 0xFFFFFFFF)).all()


def test_the_counter_of_dst_moves_loads_and_stores() -> None:
    def body(b: Builder) -> None:
        b.effect("word", 0x38000000 | 2 << 14)
        b.effect("store", b.call("load", RAW, 3, 0), RAW, 3, 4)

    assert (row(ran(body, ints(5), ints(6)), 3) == 6).all()


def test_constants_take_the_first_row_of_lanes_and_registers_stay_only_if_written() -> None:
    def body(b: Builder) -> None:
        b.effect("config_write", 12, b.call("load", RAW, 3, 0))
        b.effect("lreg_write", 3, b.call("config_read", 12))

    found = ran(body, LANES)
    assert found.registers[3].bits.reshape(-1).tolist() == [k % 8 for k in range(32)]
    assert [found.registers[k].known is None for k in range(8)] == [k == 3 for k in range(8)]


@settings(max_examples=20)
@given(kernels(), st.integers(0, 99))
def test_tiles_side_by_side_are_tiles_one_by_one(function: object, seed: int) -> None:
    made = prepare(function)  # pyright: ignore[reportArgumentType]: a function
    together = state(seed, tiles=3)
    alone = [state(seed, tiles=3) for _ in range(3)]
    for k, one in enumerate(alone):
        one.dst.bits[:] = one.dst.bits[k]
        one.random[:] = one.random[k]
        for r in range(8):
            one.registers[r] = type(one.registers[r])(one.registers[r].bits[k])
        interpret(made, ARGUMENTS, one)
    interpret(made, ARGUMENTS, together)
    for k, one in enumerate(alone):
        assert (together.dst.known[k] == one.dst.known[0]).all()
        assert (together.dst.bits[k] == one.dst.bits[0])[one.dst.known[0]].all()


def test_stores_to_registers_of_the_tile_act_on_the_state() -> None:
    nop = kernel(lambda b: b.effect("word", 0x8F000000))

    def stored(address: int) -> State:
        store = Instruction("store", (constant(5), Constant(PTR, address)), access=Access(4, True))
        block = nop.blocks[0]
        return interpret(replace(nop, blocks=(replace(block, instructions=(store, *block.instructions)),)))

    assert (stored(0xFFEF0290).random[0] == lane_seeds(5)).all()
    with pytest.raises(PolyloomError, match="0xffef0000"):
        stored(0xFFEF0000)
    with pytest.raises(PolyloomError, match="0x00000005"):
        stored(0xFFE40000)


def test_what_is_not_modelled_is_refused_by_name() -> None:
    with pytest.raises(PolyloomError, match="TTATGETM"):
        ran(lambda b: b.effect("word", 0xA0000000))


def test_random_kernels_use_every_operation() -> None:
    """The library of other tests keeps its word."""
    found: set[str] = set()
    for seed in range(150):
        for member in ("wormhole", "blackhole"):
            made = random_kernel(Random(seed), member)
            found |= {i.called for block in made.blocks for i in block.instructions}
    assert {name for name in found if name} >= {
        f"__sfpi_{name}" for name in ("sfptransp", "sfpswap", "sfplutfp32_6r", "rand", "sfpmul24", "and_", "lreg_write")
    }
    assert started().dst.bits.shape == (1, 1024, 16)
