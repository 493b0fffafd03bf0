# SPDX-License-Identifier: Apache-2.0
"""Conditions: which words flags take. Listings are golden; each kernel agrees with the interpreter, with the pass on
and off."""

from collections.abc import Callable

import pytest
from tests.targets.tensix.sfpi.passes.bench import agree, kernel, listing, plain, run

from polyloom.diagnostics import PolyloomError
from polyloom.targets.tensix.source.lower.compile import Options, lower

HEAD = """%a: i32x32 = call @load 0:i32, 3:i32, 0:i32
%b: i32x32 = call @load 0:i32, 3:i32, 2:i32
%z: i32x32 = call @splat 0:i32
%one: i32x32 = call @splat 1065353216:i32
%two: i32x32 = call @splat 1073741824:i32
%below: maskx32 = call @cmp_f 0:i32, %a, %z
%positive: maskx32 = call @cmp_f 5:i32, %a, %z
%equal: maskx32 = call @cmp_f 2:i32, %a, %b
%large: maskx32 = call @cmp_f 4:i32, %b, %two
"""
STORE = "call @store %c, 0:i32, 3:i32, 0:i32\n"
IF = "call @push\ncall @cond %{mask}\n%c: i32x32 = call @assign %a, %one\ncall @pop\n" + STORE
MASKS = {
    "or": "%m: maskx32 = call @mask_or %below, %large\n",
    "and": "%m: maskx32 = call @mask_and %positive, %large\n",
    "not-and": "%n: maskx32 = call @mask_and %positive, %large\n%m: maskx32 = call @mask_not %n\n",
    "or-of-ands": """%n: maskx32 = call @mask_and %positive, %large
%k: maskx32 = call @mask_and %below, %equal
%m: maskx32 = call @mask_or %n, %k
""",
    "and-of-ors": """%n: maskx32 = call @mask_or %positive, %large
%k: maskx32 = call @mask_or %below, %equal
%m: maskx32 = call @mask_and %n, %k
""",
}
CHAIN = """call @push
call @cond %below
%t: i32x32 = call @assign %a, %one
call @else_
call @cond %large
%u: i32x32 = call @assign %t, %two
call @else_
%c: i32x32 = call @assign %u, %z
call @pop
"""
NESTED = """call @push
call @cond %below
call @push
call @cond %m
%t: i32x32 = call @assign %a, %one
call @else_
%u: i32x32 = call @assign %t, %two
call @pop
call @else_
%c: i32x32 = call @assign %u, %b
call @pop
"""
NARROWED = """call @push
call @cond %below
%t: i32x32 = call @assign %a, %one
call @and_ %large
%u: i32x32 = call @assign %t, %two
call @else_
%c: i32x32 = call @assign %u, %b
call @pop
"""
KERNELS = {
    **{f"if-{name}": HEAD + mask + IF.replace("{mask}", "m") for name, mask in MASKS.items()},
    "chain": HEAD + CHAIN + STORE,
    **{f"nested-{name}": HEAD + mask + NESTED + STORE for name, mask in MASKS.items()},
    "narrowed": HEAD + NARROWED + STORE,
    "integer": HEAD + "%c: i32x32 = call @int_of %below\n" + STORE,
}


@pytest.mark.parametrize("name", KERNELS)
def test_conditions(name: str, golden: Callable[[str, str], None]) -> None:
    function = kernel(KERNELS[name])
    ran = run(function, plain(3))
    agree(ran)
    agree(run(function, plain(4), options=Options(without=frozenset({"flags"}))))
    golden(name, listing(ran))


WIDE = """%a: i32x32 = call @load 0:i32, 3:i32, 0:i32
%z: i32x32 = call @splat 0:i32
%m: maskx32 = call @cmp_f 0:i32, %a, %z
call @push
call @cond %m
%b: i32x32 = call @sfpabs %a, 1:i32
%k: i32x32 = call @int_of %m
call @pop
call @store %b, 0:i32, 3:i32, 0:i32
call @store %k, 4:i32, 3:i32, 64:i32
"""


def test_values_needed_in_more_lanes_than_are_enabled(golden: Callable[[str, str], None]) -> None:
    """A definition under a condition computes all lanes: it is needed behind the region."""
    ran = run(kernel(WIDE), plain(5))
    agree(ran)
    golden("wide", listing(ran))


def test_conditions_nested_too_deeply(golden: Callable[[str, str], None]) -> None:
    """Each frame has an else, so that none is left to the one around it."""
    values = ["a", *(f"c{k}" for k in range(10))]
    inner = "".join("call @push\ncall @cond %below\n" for _ in range(10))
    ends = "".join(f"call @else_\n%c{k}: i32x32 = call @assign %{values[k]}, %two\ncall @pop\n" for k in range(10))
    with pytest.raises(PolyloomError) as raised:
        lower(kernel(HEAD + inner + ends + STORE.replace("%c", "%c9")))
    golden("too-deep", f"{raised.value}\n")
