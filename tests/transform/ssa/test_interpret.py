# SPDX-License-Identifier: Apache-2.0
"""What is undefined is a fault that says why; what only could be used is none."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tests.conftest import Golden

from polyloom.diagnostics import PolyloomError
from polyloom.ir.ssa_interpret import interpret
from polyloom.ir.ssa_intrinsics import apply_intrinsic
from polyloom.ir.ssa_read import read
from polyloom.ir.ssa_types import F32, F64, Type
from polyloom.ir.ssa_verify import verify

FAULTS = {
    "outside": ("%x: i32 = load %p align 4 !3", 1, 4),
    "before": ("%q: ptr = offset %p, -4:i64\n%x: i32 = load %q align 4 !3", 1, 0),
    "misaligned": ("%y: i16 = load %p align 2 !3\n%x: i32 = sext %y", 0, 1),
    "division": ("%x: i32 = sdiv 7:i32, %n !3", 0, 0),
    "least": ("%x: i32 = sdiv -2147483648:i32, %n !3", -1, 0),
    "shift": ("%x: i32 = shl 1:i32, %n !3", 32, 0),
    "overflow": ("%x: i32 = add nsw %n, 1:i32 !3", 2**31 - 1, 0),
    "inexact": ("%x: i32 = lshr exact %n, 1:i32 !3", 3, 0),
    "conversion": ("%f: f64 = fdiv 1e30:f64, 3.0:f64\n%x: i32 = fptosi %f !3", 0, 0),
    "never-set": ("%s: ptr = alloca 4:i64 align 4\n%x: i32 = load %s align 4 !3", 0, 0),
    "undefined": ("%x: i32 = copy undef:i32 !3", 0, 0),
    "kept": ("store undef:i32, %p align 4 !3\n%x: i32 = copy 1:i32", 0, 0),
    "constant": ("store %n, @g align 4 !3\n%x: i32 = copy 1:i32", 0, 0),
    "overlap": (
        "call memcpy %p, %p, 0:i64\n%q: ptr = offset @g, 1:i64\ncall memmove %p, %q, 4:i64 !3\n%x: i32 = copy 1:i32",
        0,
        0,
    ),
}


def run(body: str, n: int, offset: int) -> object:
    lines = "\n    ".join(["%p: ptr = offset %a, %k", *body.split("\n")])
    text = (
        f"data @g align 4 constant 01020304\nfunction f(%a: ptr, %k: i64, %n: i32) -> i32 {{\nentry:\n    {lines}\n"
        f"    return %x !4\n}}\n"
    )
    return interpret(verify(read(text)), [np.array([5], np.int32), offset, n])


def test_faults(golden: Golden) -> None:
    texts: list[str] = []
    for name, (body, n, offset) in FAULTS.items():
        with pytest.raises(PolyloomError) as caught:
            run(body, n, offset)
        texts.append(f"{name}\n{caught.value.diagnostics[0].message}")
    golden("faults", "\n".join(texts))


def test_what_is_not_used_is_no_fault() -> None:
    assert run("%y: i32 = shl 1:i32, %n\n%c: i1 = eq %n, 0:i32\n%x: i32 = select %c, %y, 9:i32", 40, 0) == 9


@pytest.mark.parametrize(
    ("body", "expected"), [("%x: i32 = call fshl %n, %n, 8:i32", 0x00030200), ("%x: i32 = call bswap %n", 0x02030000)]
)
def test_intrinsics(body: str, expected: int) -> None:
    assert run(body, 0x00000302, 0) == expected


TINY = 1 + 2.0**-52
FUSED = [
    (F32, 1 + 2.0**-12, 1 + 2.0**-12, -1.0, 2.0**-11 + 2.0**-24),
    (
        F32,
        1 + 2.0**-12,
        1 + 2.0**-12,
        2.0**-80,
        1 + 2.0**-11 + 2.0**-23,
    ),  # just above half a unit: rounded twice it would be 1 + 2^-11
    (F32, 1 + 2.0**-12, 1 + 2.0**-12, -(2.0**-80), 1 + 2.0**-11),
    (F64, TINY, TINY, -1 - 2.0**-51, 2.0**-104),
    (F64, 1e308, 10.0, -math.inf, -math.inf),
    (F64, 1e308, 10.0, 0.0, math.inf),
    (F64, 0.0, -1.0, -0.0, -0.0),
    (F64, 1.0, -1.0, 1.0, 0.0),
    (F64, 0.0, math.inf, 1.0, math.nan),
]


@pytest.mark.parametrize(("type", "a", "b", "c", "expected"), FUSED)
def test_a_fused_sum_is_rounded_once(type: Type, a: float, b: float, c: float, expected: float) -> None:
    found = apply_intrinsic("fma", type, (a, b, c))
    assert repr(float(found)) == repr(expected)


def test_arguments_and_steps() -> None:
    loop = read("function f(%n: i32) {\nentry:\n    jump b\nb:\n    jump b\n}\n")
    with pytest.raises(PolyloomError, match="PL0974"):
        interpret(loop, [1], 100)
    for given in ([], [1.5], [np.zeros(2)]):
        with pytest.raises(PolyloomError, match="PL0973"):
            interpret(loop, given)
