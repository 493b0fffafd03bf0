# SPDX-License-Identifier: Apache-2.0
"""Terms as expressions in the user's names, and where two terms differ."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from polyloom.ir.operations import BY_NAME
from polyloom.ir.terms import Input, Operated, Terms, Value

Names = Sequence[tuple[str, tuple[int, ...]]]
"""By number of an input: its name and shape."""
DEPTH: Final = 4
"""Operations inside one another that are shown."""


def print_term(number: int, terms: Terms, names: Names, depth: int = DEPTH) -> str:
    """`a[1, 2] * b[2] + 7`; what stands deeper than `depth` is `...`."""
    text = _text(number, terms, names, depth)
    return text[1:-1] if _is_infix(number, terms) and text != "..." else text


def _text(number: int, terms: Terms, names: Names, depth: int) -> str:
    match terms[number]:
        case None:
            return "nothing"
        case Value(value=value, dtype="f32"):
            return str(float(str(np.float32(value))))
        case Value(value=value):
            return str(value)
        case Input(array=array, index=index):
            return _element(*names[array], index)
        case Operated() if depth == 0:
            return "..."
        case Operated(operation=operation, dtype=dtype, operands=operands):
            inside = [_text(o, terms, names, depth - 1) for o in operands]
            symbol = BY_NAME[operation].symbol
            if symbol is not None and len(inside) == 2:
                return f"({inside[0]} {symbol} {inside[1]})"
            if operation == "neg":
                return f"-{inside[0]}"
            # A conversion is nothing without the type that it begins with.
            named = f"{operation}.{dtype}" if operation.startswith("to_") else operation
            return f"{named}({', '.join(inside)})"


def _is_infix(number: int, terms: Terms) -> bool:
    part = terms[number]
    return isinstance(part, Operated) and len(part.operands) == 2 and BY_NAME[part.operation].symbol is not None


def _element(name: str, shape: tuple[int, ...], index: int) -> str:
    place = list[int]()
    for extent in reversed(shape):
        place.insert(0, index % extent)
        index //= extent
    return f"{name}[{', '.join(map(str, place))}]" if place else name


def difference(one: int, other: int, terms: Terms) -> tuple[int, int]:
    """The first parts of two terms that differ by their own operation, constant or input, not by parts of theirs;
    constants with the operation that they stand in."""
    around = one, other
    while True:
        a, b = terms[one], terms[other]
        if isinstance(a, Value) and isinstance(b, Value):
            return around
        if not isinstance(a, Operated) or not isinstance(b, Operated):
            return one, other
        pairs = [(x, y) for x, y in zip(a.operands, b.operands, strict=False) if x != y]
        if (a.operation, a.dtype) != (b.operation, b.dtype) or not pairs:
            return one, other
        around = one, other
        one, other = pairs[0]
