# SPDX-License-Identifier: Apache-2.0
"""Loop idiom recognition of leading zeros (LLVM's pass `loop-idiom`, from shift-until-bit-test to `ctlz`): the plain C
of that instruction moves a bit down until it meets one of a word.

`m = 0x80000000; while ((x & m) == 0) { n += 1; m >>= 1; }` turns as often as x has leading zeros. Where x is 0, it has
no end, and what is computed instead plays no part.
"""

from __future__ import annotations

from dataclasses import replace

from polyloom.frontend.c.canonical.inlining import has_effect
from polyloom.frontend.c.wide.words import WORD, cast, op
from polyloom.frontend.loops import make
from polyloom.frontend.loops.counters import assigned_symbol, count_uses
from polyloom.frontend.loops.substatements import Statements, flatten_blocks, map_statements
from polyloom.frontend.loops.tree import Node, strip_casts
from polyloom.frontend.loops.types import integer_constant

_TOP = 1 << 31


def count_leading_zeros(body: Node) -> Node:
    """A body with an expression in the place of each such loop."""
    if body.kind != "block":
        return map_statements(body, lambda node: (count_leading_zeros(node),))
    made, top = list[Node](), ""
    for node in body.inner:
        found = _replace_idiom(node, top) if node.kind == "while" and top else None
        made.extend((count_leading_zeros(node),) if found is None else found)
        # What the bit starts with is set in the same block, and by nothing behind that.
        set_here = _top_bit(node)
        top = set_here or (top if not any(assigned_symbol(part) == top for part in node) else "")
    return replace(body, inner=tuple(made))


def _top_bit(node: Node) -> str:
    """The variable that a statement sets to the highest bit of a word, or ""."""
    given = [(d, d.inner[-1]) for d in node.inner if d.initial] if node.kind == "declare" else []
    if node.kind == "binary" and node.opcode == "=":
        given = [(node.inner[0], node.inner[1])]
    return next((to.symbol for to, value in given if to.ctype == WORD and integer_constant(value) == _TOP), "")


def _replace_idiom(loop: Node, top: str) -> Statements | None:
    """What a loop computes: its number of turns, and what these add; None for other loops."""
    word = _tested_word(loop.inner[0], top)
    steps = [strip_casts(node) for node in flatten_blocks(loop.inner[1])]
    if (
        word is None
        or has_effect(word)
        or any(n.kind == "call" for n in word)
        or {n.symbol for n in word if n.symbol} & {assigned_symbol(s) for s in steps}
    ):
        return None
    # Each step is the shift of the bit or a count of turns; anything else would see the bit on its way.
    bit = [node for node in steps if assigned_symbol(node) == top and _is_shift(node)]
    counters = [node for node in steps if assigned_symbol(node) and _is_increment(node)]
    names = [assigned_symbol(node) for node in steps]
    if len(bit) != 1 or len(bit) + len(counters) != len(steps) or len(set(names)) != len(names):
        return None
    # A word of 0 has no end in C: any number of turns is right.
    turns = _leading_zeros(word, loop)
    name = make.variable_reference(turns[-1].inner[0], loop)
    sums = [
        make.assignment(node.inner[0], cast(op("+", node.inner[0], name), node.inner[0].ctype), node)
        for node in counters
    ]
    place = bit[0].inner[0]
    return (*turns, *sums, make.assignment(place, op(">>", place, name), loop))


def _tested_word(test: Node, top: str) -> Node | None:
    """The x of `(x & m) == 0` and `!(x & m)`."""
    test = strip_casts(test)
    if (test.opcode == "==" and integer_constant(test.inner[1]) == 0) or test.opcode == "!":
        test = strip_casts(test.inner[0])
    else:
        return None
    if test.opcode != "&" or test.ctype != WORD:
        return None
    sides = [strip_casts(side) for side in test.inner]
    others = [side for side in sides if side.symbol != top]
    return others[0] if len(others) == 1 and not count_uses(others)[top] else None


def _is_shift(node: Node) -> bool:
    """Whether a statement is `m >>= 1` or `m = m >> 1`."""
    if node.kind == "update":
        return node.opcode == ">>=" and integer_constant(node.inner[1]) == 1
    value = strip_casts(node.inner[-1])
    return (
        value.opcode == ">>"
        and strip_casts(value.inner[0]).symbol == assigned_symbol(node)
        and (integer_constant(value.inner[1]) == 1)
    )


def _is_increment(node: Node) -> bool:
    """Whether a statement adds 1 to an integer of 32 bits, which wraps as the sum of all does."""
    if node.inner[0].ctype not in ("int", WORD):
        return False
    if node.kind == "update":
        return node.opcode == "+=" and integer_constant(node.inner[1]) == 1
    if node.kind == "unary":
        return node.opcode == "++"
    value = strip_casts(node.inner[-1])
    return (
        value.opcode == "+"
        and strip_casts(value.inner[0]).symbol == assigned_symbol(node)
        and (integer_constant(value.inner[1]) == 1)
    )


def _leading_zeros(value: Node, at: Node) -> Statements:
    """The variable of the leading zeros: zeros of the word in which all bits below the first one are set (Hacker's
    Delight, section 5-3).
    """
    made = list[Node]()
    for by in (1, 2, 4, 8, 16):
        smeared = op("|", value, op(">>", value, by))
        made.append(make.declare_variable("below", WORD, f"{at.span.start}@below{by}", at, smeared))
        value = make.variable_reference(made[-1].inner[0], at)
    count = cast(make.operation_node("popcount", "u32", (op("^", value, -1),), at), WORD)
    return (*made, make.declare_variable("turns", WORD, f"{at.span.start}@turns", at, count))
