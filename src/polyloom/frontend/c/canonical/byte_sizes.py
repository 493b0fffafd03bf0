# SPDX-License-Identifier: Apache-2.0
"""Sizes in bytes as numbers of elements: quotients of sums and products by the size of a type (C17, section
6.5.3.4).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import replace

from polyloom.frontend.c.wide.words import WIDE
from polyloom.frontend.loops import make
from polyloom.frontend.loops.tree import CASTS, Node, strip_casts
from polyloom.frontend.loops.types import TYPES
from polyloom.ir.numbers import NUMPY


def element_bytes(ctype: str) -> int | None:
    """Size of an element type in bytes; None for other types."""
    if ctype in WIDE:
        return 8
    return NUMPY[TYPES[ctype]].itemsize if ctype in TYPES else None


def element_count(size: Node, width: int) -> Node | None:
    """A size divided by `width` bytes; None where nothing shows that it is a multiple."""
    node = strip_casts(size)
    if width == 1 and not _has_sizeof(node):
        return node
    if node.kind in CASTS and node.opcode == "IntegralCast" and node.ctype in ("int", "unsigned int", *WIDE):
        return element_count(node.inner[0], width)
    if node.kind == "binary" and node.opcode in ("+", "-"):
        sides = [element_count(side, width) for side in node.inner]
        found = [side for side in sides if side is not None]
        return None if len(found) < 2 else replace(node, inner=tuple(found))
    factors = tuple(_factors(node))
    known = math.prod(f for f in factors if isinstance(f, int))
    if known % width:
        return None
    found = make.number(known // width, node)
    for other in (f for f in factors if not isinstance(f, int)):
        ctype = "unsigned long" if found.ctype in WIDE or other.ctype in WIDE else other.ctype
        is_one = found.kind == "integer" and found.value == 1
        found = other if is_one else make.binary("*", found, other, ctype, node)
    return found


def _has_sizeof(node: Node) -> bool:
    return any(n.kind == "sizeof" for n in node)


def _factors(node: Node) -> Iterator[int | Node]:
    """Factors of a product: numbers and expressions."""
    node = strip_casts(node)
    while node.kind in CASTS and node.opcode == "IntegralCast" and node.ctype in ("int", "unsigned int", *WIDE):
        node = strip_casts(node.inner[0])
    if node.kind == "integer":
        yield int(str(node.value))
    elif node.kind == "sizeof" and (size := _type_bytes(node)) is not None:
        yield size
    elif node.kind == "binary" and node.opcode == "*":
        for side in node.inner:
            yield from _factors(side)
    elif node.kind == "binary" and node.opcode == "<<" and strip_casts(node.inner[1]).kind == "integer":
        yield 1 << int(str(strip_casts(node.inner[1]).value))
        yield from _factors(node.inner[0])
    else:
        yield node


def _type_bytes(node: Node) -> int | None:
    """Value of `sizeof` of an element type, or of an array of constant extents (C17, section 6.5.3.4)."""
    ctype = (node.types or tuple(strip_casts(n).ctype for n in node.inner) or ("",))[0]
    found = re.fullmatch(r"([^*\[]*?) ?((?:\[\d+\])*)", ctype)
    width = None if found is None else element_bytes(found[1])
    if found is None or width is None or node.name != "sizeof":
        return None
    return width * math.prod(map(int, re.findall(r"\d+", found[2])))


def named_factor(size: Node, name: str) -> Node | None:
    """Variable of a name in a size."""
    return next((n for n in size if n.kind == "name" and n.name == name), None)


def without_factor(count: Node, name: str) -> Node | None:
    """Quotient of a product by the variable of a name."""
    if strip_casts(count).name == name:
        return make.number(1, count)
    if count.kind != "binary" or count.opcode != "*":
        return None
    left, right = count.inner
    if (found := without_factor(right, name)) is not None:
        return left if found.value == 1 else replace(count, inner=(left, found))
    found = without_factor(left, name)
    return None if found is None else right if found.value == 1 else replace(count, inner=(found, right))
