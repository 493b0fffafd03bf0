# SPDX-License-Identifier: Apache-2.0
"""Loop idiom expansion, the inverse of LLVM's pass `loop-idiom`: `memset` and `memcpy` (C17, sections 7.24.2.1 and
7.24.6.1) of whole elements become loops over these.

A size in bytes is divided by that of an element where it is a multiple of it for all values: sums, and products with a
constant or `sizeof`. Calls of other sizes stay, and are refused where they are lowered.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection
from dataclasses import replace
from typing import Final

from polyloom.frontend.c.canonical.byte_sizes import element_bytes, element_count, named_factor, without_factor
from polyloom.frontend.c.canonical.inlining import has_effect, shifted_element
from polyloom.frontend.c.wide.words import WIDE
from polyloom.frontend.loops import make
from polyloom.frontend.loops.affine import callee_name
from polyloom.frontend.loops.substatements import Statements, block, map_statements
from polyloom.frontend.loops.tree import CASTS, Node, strip_casts

_FUNCTIONS: Final = ("memset", "memcpy")
_PARTS: Final = {
    "char": 1,
    "signed char": 1,
    "unsigned char": 1,
    "short": 2,
    "unsigned short": 2,
    "int": 4,
    "unsigned int": 4,
}
_UNSIGNED: Final = {1: "unsigned char", 2: "unsigned short"}


def expand_memory_calls(body: Node, defined: Collection[str]) -> Node:
    """Expansion of the calls that are statements of their own; `defined` are the names of the file's functions, which
    hide C's.
    """
    return map_statements(body, lambda node: _rewrite_statement(node, defined))


def _rewrite_statement(node: Node, defined: Collection[str]) -> Statements:
    call = node
    while call.kind in ("parentheses", *CASTS):
        call = call.inner[0]
    name = callee_name(call) if call.kind == "call" else ""
    is_known = name.removeprefix("__builtin_") in _FUNCTIONS and name not in defined and len(call.inner) == 4
    if is_known and not any(map(has_effect, call.inner)):
        return (_expand_call(name.removeprefix("__builtin_"), call) or node,)
    return (map_statements(node, lambda child: _rewrite_statement(child, defined)),)


def _expand_call(name: str, call: Node) -> Node | None:
    """Loops of a call; None where its size is no number of elements, or a value has another type than its place."""
    to, given = _pointer(call.inner[1]), call.inner[2]
    element, extents = _pointee(to)
    width = element_bytes(element)
    if width is None:
        return None
    source = _pointer(given) if name == "memcpy" else None
    if source is not None and not _is_same_bits((element, extents), _pointee(source)):
        return _copy_parts(to, source, call)
    count = element_count(call.inner[3], width * math.prod(int(e) for e in extents if e.isdigit()))
    inner = [make.number(int(e), call) if e.isdigit() else named_factor(call.inner[3], e) for e in extents]
    for extent in (e for e in extents if not e.isdigit()):
        count = None if count is None else without_factor(count, extent)
    if count is None:
        return None
    value = _byte_pattern(given, element, width, call) if source is None else None
    if source is None and value is None:
        return None
    is_single = count.kind == "integer" and int(str(count.value)) == 1 and not extents
    depths = range(0 if is_single else 1 + len(extents))
    counters = [_counter(depth, "int" if depth else count.ctype, call) for depth in depths]
    indices = tuple([make.variable_reference(c.inner[0], call) for c in counters])
    target = _element(to, indices, call)
    found = value if source is None else _element(source, indices, call)
    if target is None or found is None:
        return None
    bounds = (count, *(each for each in inner if each is not None))[: len(depths)]
    body = make.assignment(target, _converted(found, element, call), call)
    for counter, index, bound in reversed(tuple(zip(counters, indices, bounds, strict=True))):
        body = _loop(counter, index, bound, body, call)
    return body


def _pointer(node: Node) -> Node:
    """A pointer without its conversion to `void *`, and the address of an array as the array."""
    while node.kind == "parentheses" or (node.kind in CASTS and node.opcode in ("BitCast", "NoOp")):
        node = node.inner[0]
    node = strip_casts(node)
    is_array = node.kind == "unary" and node.opcode == "&" and "[" in strip_casts(node.inner[0]).ctype
    return strip_casts(node.inner[0]) if is_array else node


def _pointee(node: Node) -> tuple[str, tuple[str, ...]]:
    """Element type of what an expression points to, and the extents of its rows."""
    ctype = node.ctype
    base = re.split(r"[\[(*]", ctype)[0].strip()
    extents = tuple(re.findall(r"\[([^\]]*)\]", ctype))
    return base, extents if "*" in ctype else extents[1:]


def _is_same_bits(a: tuple[str, tuple[str, ...]], b: tuple[str, tuple[str, ...]]) -> bool:
    """Whether an assignment copies the bits: types are equal, but for their sign (C17, section 6.3.1.3)."""
    plain = [each[0].removeprefix("unsigned ").removeprefix("signed ") for each in (a, b)]
    return plain[0] == plain[1] and a[1] == b[1]


def _copy_parts(to: Node, source: Node, call: Node) -> Node | None:
    """Copy of one integer from or to the narrower ones that it consists of, the low one first, as on hosts and machines
    here; None for others.
    """
    (wide, outer), (narrow, inner) = _pointee(to), _pointee(source)
    sizes = [_PARTS.get(each, 0) for each in (wide, narrow)]
    whole = max(sizes)
    if (
        outer
        or inner
        or not all(sizes)
        or sizes[0] == sizes[1]
        or (count := element_count(call.inner[3], whole)) is None
    ):
        return None
    if count.kind != "integer" or int(str(count.value)) != 1:
        return None
    width = min(sizes)
    parts, single = (source, to) if sizes[0] == whole else (to, source)
    elements = [_element(parts, (make.number(n, call),), call) for n in range(whole // width)]
    other = _element(single, (), call)
    found = [each for each in elements if each is not None]
    if other is None or len(found) < len(elements):
        return None
    shifts = [make.number(8 * width * n, call) for n in range(len(found))]
    if parts is to:
        values = [make.binary(">>", _converted(other, "unsigned int", call), s, "unsigned int", call) for s in shifts]
        each = [make.assignment(e, _converted(v, wide, call), call) for e, v in zip(found, values, strict=True)]
        return block(each, call)
    bits = [_converted(_converted(e, _UNSIGNED[width], call), "unsigned int", call) for e in found]
    value = bits[0]
    for part, shift in zip(bits[1:], shifts[1:], strict=True):
        high = make.binary("<<", part, shift, "unsigned int", call)
        value = make.binary("|", value, high, "unsigned int", call)
    return make.assignment(other, _converted(value, wide, call), call)


def _byte_pattern(value: Node, element: str, width: int, at: Node) -> Node | None:
    """Element of which every byte is the `value`: of one byte any, of more a constant; of numbers with an exponent
    zero.
    """
    while value.kind in ("parentheses", "constant") or (value.kind in CASTS and value.opcode == "IntegralCast"):
        value = value.inner[0]
    sign = -1 if value.kind == "unary" and value.opcode == "-" else 1
    literal = strip_casts(value.inner[0]) if sign < 0 else value
    if literal.kind != "integer":
        return value if width == 1 and element != "_Bool" else None
    byte = sign * int(str(literal.value)) & 0xFF
    if byte == 0:
        return make.zero_value(element, at)
    if element in ("float", "double", "_Float16", "_Bool", *WIDE):
        return None
    whole = int.from_bytes(bytes([byte] * width), "little")
    least = 1 << (8 * width - 1)
    return make.number((whole ^ least) - least, at)


def _converted(value: Node, element: str, at: Node) -> Node:
    if value.ctype == element:
        return value
    return replace(make.cast(value, element, at.span), opcode="IntegralCast", macro=at.macro)


def _is_scalar(pointer: Node) -> bool:
    pointer = strip_casts(pointer)
    return (
        pointer.kind == "unary" and pointer.opcode == "&" and strip_casts(pointer.inner[0]).kind in ("name", "member")
    )


def _element(pointer: Node, indices: tuple[Node, ...], at: Node) -> Node | None:
    if _is_scalar(pointer):
        return None if indices else strip_casts(pointer).inner[0]
    first, *others = indices or (make.number(0, at),)
    found = shifted_element(pointer, first, at)
    for index in others:
        found = None if found is None else make.element(found, index, at)
    return found


def _counter(depth: int, ctype: str, at: Node) -> Node:
    zero = make.number(0, at)
    symbol = f"{at.span.source.name}:{at.span.start}-{at.span.end}@memory{depth}"
    return make.declare_variable("k", ctype, symbol, at, zero)


def _loop(counter: Node, index: Node, bound: Node, body: Node, at: Node) -> Node:
    test = make.binary("<", index, bound, "int", at)
    step = replace(index, kind="unary", opcode="++", inner=(index,), name="", symbol="", postfix=True)
    absent = Node("", at.span)
    inside = replace(block((body,), at), macro=at.macro)
    return replace(at, kind="for", ctype="", inner=(counter, absent, test, step, inside), name="", symbol="")
