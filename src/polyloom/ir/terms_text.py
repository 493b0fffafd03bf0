# SPDX-License-Identifier: Apache-2.0
"""Printer of terms as expressions in the user's names, and where two terms differ."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Sequence
from typing import Final

import numpy as np

from polyloom.ir.operations import BY_NAME
from polyloom.ir.terms import Input, Operated, Terms, Value

Names = Sequence[tuple[str, tuple[int, ...]]]
"""By number of an input: its name and shape."""
DEPTH: Final = 4
"""Operations inside one another that are shown."""
_PAIRS: Final = 4096
"""Parts that are looked at."""
_SUM: Final = "sum"
_SIGNS: Final = {"add": (1, 1), "sub": (1, -1), "neg": (-1,)}
_FREE: Final = frozenset({_SUM, "mul", "min", "max", "and", "or", "xor"})
"""Operations of integers whose operands have no order."""
_TURNED: Final = {"gt": ("lt", True), "ge": ("le", True)}


def print_term(number: int, terms: Terms, names: Names, depth: int = DEPTH) -> str:
    """`a[1, 2] * b[2] + 7`; what stands deeper than `depth` is `...`."""
    text = _print_nested(number, terms, names, depth)
    return text[1:-1] if _is_infix(number, terms) and text != "..." else text


def _print_nested(number: int, terms: Terms, names: Names, depth: int) -> str:
    match terms[number]:
        case None:
            return "nothing"
        case Value(value=value, dtype="f32"):
            return str(float(str(np.float32(value))))
        case Value(value=value):
            return str(value)
        case Input(array=array, index=index):
            return _print_element(*names[array], index)
        case Operated() if depth == 0:
            return "..."
        case Operated(operation=operation, dtype=dtype, operands=operands):
            inside = [_print_nested(o, terms, names, depth - 1) for o in operands]
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


def _print_element(name: str, shape: tuple[int, ...], index: int) -> str:
    place = list[int]()
    for extent in reversed(shape):
        place.insert(0, index % extent)
        index //= extent
    return f"{name}[{', '.join(map(str, place))}]" if place else name


def find_difference(one: int, other: int, terms: Terms) -> tuple[int, int]:
    """Difference of two terms: the smallest parts that differ by their own operation, constant or input, not by parts
    of theirs; constants with the operation that they stand in. Members of a sum, a product and the like are compared
    whatever their order, comparisons in either direction.
    """
    first = (one, other)
    waiting, seen = deque([(first, first)]), {first}
    found: list[tuple[int, int]] = []
    # Breadth first and bounded: terms share parts, and their trees may be exponentially larger than their tables.
    while waiting and len(seen) < _PAIRS:
        pair, around = waiting.popleft()
        a, b = (terms[number] for number in pair)
        if isinstance(a, Value) and isinstance(b, Value):
            found.append(around)
            continue
        inner = _differing_parts(pair, terms) if isinstance(a, Operated) and isinstance(b, Operated) else []
        if not inner:
            found.append(pair)
        waiting += [(p, pair) for p in inner if p not in seen]
        seen |= {*inner}
    return min(found, key=lambda pair: sum(_term_size(number, terms) for number in pair), default=first)


def _differing_parts(pair: tuple[int, int], terms: Terms) -> list[tuple[int, int]]:
    """The parts of two operations of one kind that are not the same; nothing where other parts have no counterpart."""
    (kind, mine), (other, theirs) = (_operation_members(number, terms) for number in pair)
    if kind != other:
        return []
    if kind[0] in _FREE:
        left, right = Counter(mine), Counter(theirs)
        mine, theirs = [*(left - right).elements()], [*(right - left).elements()]
        # Those of one operation belong together.
        mine, theirs = (sorted(side, key=lambda m: (m[0], _term_kind(m[1], terms))) for side in (mine, theirs))
    if [sign for sign, _ in mine] != [sign for sign, _ in theirs]:
        return []
    return [(m, t) for (_, m), (_, t) in zip(mine, theirs, strict=True) if m != t]


def _operation_members(number: int, terms: Terms) -> tuple[tuple[str, str], list[tuple[int, int]]]:
    """An operation and its type, and its parts with their signs: the members of a whole sum of integers."""
    top = terms[number]
    assert isinstance(top, Operated)
    name, turned = _TURNED.get(top.operation, (top.operation, False))
    # Integer sums have no order: terms are compared as multisets with signs; sums of floats keep theirs.
    kind = (_SUM if name in _SIGNS and top.dtype[0] != "f" else name), top.dtype
    if kind[0] not in _FREE or top.dtype[0] == "f":
        parts = [(1, o) for o in top.operands]
        return kind, parts[::-1] if turned else parts
    found: list[tuple[int, int]] = []
    waiting = [(1, number)]
    while waiting and len(found) + len(waiting) < _PAIRS:
        sign, member = waiting.pop()
        part = terms[member]
        own = part.operation if isinstance(part, Operated) and part.dtype == top.dtype else ""
        if isinstance(part, Operated) and (own == kind[0] or (kind[0] == _SUM and own in _SIGNS)):
            signs = _SIGNS.get(own, (1, 1))
            waiting += [(sign * s, o) for s, o in zip(signs, part.operands, strict=True)]
        else:
            found.append((sign, member))
    return kind, [*found, *waiting]


def _term_kind(number: int, terms: Terms) -> str:
    part = terms[number]
    return part.operation if isinstance(part, Operated) else type(part).__name__


def _term_size(number: int, terms: Terms) -> int:
    """The operations of a term, up to a limit."""
    size, waiting = 0, [number]
    while waiting and size < _PAIRS:
        part = terms[waiting.pop()]
        size += 1
        waiting += part.operands if isinstance(part, Operated) else ()
    return size
