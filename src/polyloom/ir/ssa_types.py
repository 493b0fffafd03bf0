# SPDX-License-Identifier: Apache-2.0
"""Types of the values of `ir.ssa`: scalars, vectors of them, masks, and pointers into address spaces.

    i1 i8 i16 i32 i64 f32 f64 ptr      scalars; ptr.3 points into address space 3
    i32x8, f32xN, ptrx4, ptr.3xN       vectors of 8 lanes, of as many as the target's N has, ...
    maskx8, maskxN                     a bit for each lane, which comparisons give and selects, loads and stores obey

A type is made once (hash consing: Ershov 1958): two that are equal are the same object, so that comparing and hashing
them costs no call of Python.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal, Self, cast

Element = Literal["i1", "i8", "i16", "i32", "i64", "f32", "f64", "ptr"]
Lanes = int | str
"""A number from 1 on, or the name of one that the target knows."""
_BITS: Final[dict[Element, int]] = {"i1": 1, "i8": 8, "i16": 16, "i32": 32, "i64": 64, "f32": 32, "f64": 64, "ptr": 64}
_TEXT = re.compile(
    r"(?P<element>i1|i8|i16|i32|i64|f32|f64|ptr|mask)(?:\.(?P<space>[1-9]\d*))?"
    r"(?:x(?P<lanes>[1-9]\d*|[A-Za-z_]\w*))?"  # behind an address space, if there is one
)
_MOST: Final = 1 << 16
"""As many lanes has no machine; the interpreter computes them one by one."""
_MADE: dict[tuple[Element, Lanes, bool, int], Type] = {}


@dataclass(frozen=True, slots=True, eq=False, init=False, repr=False)
class Type:
    """`lanes` is 0 for a scalar; the element of a mask is i1; `space` is the address space of pointers.

    A vector of i1 is a mask, and nothing else is one.
    """

    element: Element
    lanes: Lanes
    mask: bool
    space: int

    def __new__(cls, element: Element, lanes: Lanes = 0, mask: bool = False, space: int = 0) -> Self:
        key = (element, lanes, mask, space)
        if (known := _MADE.get(key)) is None:
            if reason := _invalid_reason(*key):
                raise ValueError(reason)
            known = object.__new__(cls)
            for name, value in zip(("element", "lanes", "mask", "space"), key, strict=True):
                object.__setattr__(known, name, value)
            _MADE[key] = known
        return cast("Self", known)

    def __reduce__(self) -> tuple[type[Type], tuple[Element, Lanes, bool, int]]:
        """Copies and pickles are the same object again."""
        return Type, (self.element, self.lanes, self.mask, self.space)

    def __str__(self) -> str:
        space, lanes = f".{self.space}" if self.space else "", f"x{self.lanes}" if self.lanes else ""
        return f"{'mask' if self.mask else self.element}{space}{lanes}"

    def __repr__(self) -> str:
        return f"Type({self})"

    @classmethod
    def read(cls, text: str) -> Type | None:
        """The type of a text, None where there is none such."""
        match = _TEXT.fullmatch(text)
        if match is None:
            return None
        mask, lanes = match["element"] == "mask", match["lanes"] or "0"
        element = cast("Element", "i1" if mask else match["element"])
        key = (element, int(lanes) if lanes.isdecimal() else lanes, mask, int(match["space"] or 0))
        return None if _invalid_reason(*key) else cls(*key)

    @property
    def scalar(self) -> Type:
        """The type of a lane; a scalar's own."""
        return Type(self.element, space=self.space) if self.lanes else self

    @property
    def bits(self) -> int:
        """Width of a lane in bits; of a pointer where it is as wide as possible (`Function.pointers` has its width)."""
        return _BITS[self.element]

    def with_lanes(self, lanes: Lanes) -> Type:
        """The vector of such scalars, a mask where they are i1; with 0 lanes the scalar itself."""
        return Type(self.element, lanes, self.element == "i1" and lanes != 0, self.space)


def _invalid_reason(element: Element, lanes: Lanes, mask: bool, space: int) -> str:
    """Why there is no such type, or nothing."""
    if mask != (element == "i1" and lanes != 0):
        return "a vector of i1 is a mask, and each mask is one"
    if space and element != "ptr":
        return f"only pointers have an address space, not {element}"
    return "" if isinstance(lanes, str) or lanes <= _MOST else f"{lanes} lanes are more than {_MOST}"


I1: Final = Type("i1")
I8: Final = Type("i8")
I16: Final = Type("i16")
I32: Final = Type("i32")
I64: Final = Type("i64")
F32: Final = Type("f32")
F64: Final = Type("f64")
PTR: Final = Type("ptr")
SCALARS: Final = (I1, I8, I16, I32, I64, F32, F64, PTR)
"""Those that every target knows, in the order of messages."""
WIDTH: Final[dict[Type, int]] = {type: type.bits for type in SCALARS}
SIZE: Final[dict[Type, int]] = {type: (width + 7) // 8 for type, width in WIDTH.items()}
INTEGERS: Final = (I1, I8, I16, I32, I64)
FLOATS: Final = (F32, F64)
ADDRESSES: Final[dict[int, Type]] = {32: I32, 64: I64}
"""By the width of pointers: the integers that are as wide, of which distances and sizes are."""


def memory_size(type: Type, pointers: int, lanes: int = 1) -> int:
    """Memory size of a type in bytes; `lanes` is what a named number of lanes is."""
    one = pointers // 8 if type.element == "ptr" else (type.bits + 7) // 8
    return one * (type.lanes or 1) if isinstance(type.lanes, int) else one * lanes
