# SPDX-License-Identifier: Apache-2.0
"""Copies that differ in registers alone get those of the first, where the values allow it."""

import pytest
from tests.targets.tensix.sfpi.passes.bench import agree, kernel, plain, run

from polyloom.targets.tensix.source.allocate.code import Op
from polyloom.targets.tensix.source.allocate.match_copies import is_equivalent
from polyloom.targets.tensix.source.lower.shapes import shape_table

STEP = """%x{n}: i32x32 = call @load 0:i32, 3:i32, 0:i32
%y{n}: i32x32 = call @sfpmul %x{n}, %x{n}, 0:i32
%z{n}: i32x32 = call @sfpmul %y{n}, %x{n}, 0:i32
call @store %z{n}, 0:i32, 3:i32, 0:i32
call @word 939556864:i32
"""
HELD = "%p: i32x32 = call @load 0:i32, 3:i32, 12:i32\n"
GIVEN_BACK = "call @store %p, 0:i32, 3:i32, 14:i32\n"


def steps(first: int, last: int) -> str:
    return "".join(STEP.replace("{n}", str(n)) for n in range(first, last))


def test_a_value_that_lives_through_some_copies_does_not_keep_them_apart() -> None:
    """The first two copies run while a register is taken; all four are one recording."""
    ran = run(kernel(HELD + steps(0, 2) + GIVEN_BACK + steps(2, 4)), plain())
    agree(ran)
    recordings = [word for word in ran.words if word >> 24 == 0x04 and word & 1]
    playbacks = [word for word in ran.words if word >> 24 == 0x04 and not word & 1]
    assert (len(recordings), len(playbacks)) == (1, 3)


def multiplied(result: int, a: int, b: int, kept: tuple[int, ...] = ()) -> Op:
    return Op(shape_table()["SFPMUL"], (result,), (a, b), (), kept)


@pytest.mark.parametrize(
    ("new", "alive", "expected"),
    [
        ((multiplied(2, 0, 0), multiplied(3, 2, 0)), 1 << 3, True),
        ((multiplied(2, 0, 0), multiplied(3, 2, 0)), 1 << 3 | 1 << 1, False),  # L1 is read later
        ((multiplied(0, 0, 0), multiplied(3, 0, 0)), 1 << 3, False),  # L0 is gone
        ((multiplied(2, 0, 0), multiplied(3, 1, 0)), 1 << 3, False),  # another value
        ((multiplied(2, 0, 0), multiplied(4, 2, 0)), 1 << 3, False),  # the result elsewhere
        ((multiplied(2, 0, 0), multiplied(3, 2, 0)), 1 << 3 | 1 << 2, False),  # L2 lives through it
    ],
)
def test_only_what_computes_the_same_is_the_same(new: tuple[Op, Op], alive: int, expected: bool) -> None:
    old = (multiplied(1, 0, 0), multiplied(3, 1, 0))
    assert is_equivalent(old, new, alive) is expected


def test_disabled_lanes_are_kept_from_the_same_register() -> None:
    assert is_equivalent([multiplied(1, 0, 0, (1,))], [multiplied(1, 0, 0, (1,))], 1 << 1)
    assert not is_equivalent([multiplied(1, 0, 0, (1,))], [multiplied(2, 0, 0, (2,))], 1 << 1)
