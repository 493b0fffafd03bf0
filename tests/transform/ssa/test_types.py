# SPDX-License-Identifier: Apache-2.0
"""Types are made once, print and read back, survive copies and pickles, and nothing is made that is none."""

from __future__ import annotations

import copy
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from polyloom.ir.ssa_types import (
    ADDRESSES,
    F32,
    I1,
    I8,
    I32,
    I64,
    PTR,
    SCALARS,
    SIZE,
    WIDTH,
    Element,
    Type,
    memory_size,
)

ELEMENTS: tuple[Element, ...] = ("i8", "i16", "i32", "i64", "f32", "f64")
LANES = st.one_of(st.integers(1, 64), st.sampled_from(("N", "belt", "lanes_2")))


@st.composite
def types(draw: st.DrawFn) -> Type:
    lanes = draw(st.one_of(st.just(0), LANES))
    match draw(st.sampled_from(("element", "ptr", "mask"))):
        case "element":
            return Type(draw(st.sampled_from(ELEMENTS)), lanes)
        case "ptr":
            return Type("ptr", lanes, space=draw(st.integers(0, 9)))
        case _:
            return I1.with_lanes(lanes)


@given(types())
def test_a_type_reads_back_as_the_same_object(type: Type) -> None:
    assert Type.read(str(type)) is type
    assert pickle.loads(pickle.dumps(type)) is type
    assert copy.deepcopy(type) is type
    assert type.scalar.with_lanes(type.lanes) is type


def test_scalars_print_as_ever() -> None:
    assert " ".join(map(str, SCALARS)) == "i1 i8 i16 i32 i64 f32 f64 ptr"
    assert [
        str(t)
        for t in (
            I32.with_lanes(8),
            F32.with_lanes("N"),
            I1.with_lanes(4),
            Type("ptr", space=3),
            Type("ptr", 2, space=3),
        )
    ] == [
        "i32x8",
        "f32xN",
        "maskx4",
        "ptr.3",
        "ptr.3x2",
    ]
    assert (WIDTH[PTR], SIZE[I1], WIDTH[F32], ADDRESSES[32], ADDRESSES[64]) == (64, 1, 32, I32, I64)


@pytest.mark.parametrize(
    "text",
    [
        "i33",
        "i32x0",
        "i32x",
        "mask",
        "i1x8",
        "maskx0",
        "f32.1",
        "ptr.0",
        "mask.2x8",
        "i8x99999",
        "",
        "x8",
        "i32x8x8",
        "I32",
    ],
)
def test_what_is_no_type_is_none(text: str) -> None:
    assert Type.read(text) is None


def test_wrong_types_are_not_made() -> None:
    with pytest.raises(ValueError, match="mask"):
        Type("i1", 8)
    with pytest.raises(ValueError, match="mask"):
        Type("i8", 8, mask=True)
    with pytest.raises(ValueError, match="address space"):
        Type("i8", space=2)
    with pytest.raises(ValueError, match="more than"):
        Type("i8", 1 << 20)


def test_sizes_follow_the_width_of_pointers_and_named_lanes() -> None:
    assert [memory_size(PTR, width) for width in (32, 64)] == [4, 8]
    assert memory_size(PTR.with_lanes(4), 32) == 16
    assert memory_size(I8.with_lanes("N"), 64, 12) == 12
    assert memory_size(I1, 64) == 1
