# SPDX-License-Identifier: Apache-2.0
"""Switch lowering: `switch` as comparisons that jump to labels in its body, and `break` as a jump behind it (C17,
section 6.8.4.2); the elimination of jumps makes branches of these.

A `case` within another statement of the body (Duff's device) has no such form: the `switch` stays.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import count

from polyloom.frontend.loops import make
from polyloom.frontend.loops.substatements import Statements, block, flatten_blocks, map_statements
from polyloom.frontend.loops.tree import Node, strip_casts

_CASES = ("case", "default")
_OWN_BREAK = ("for", "while", "do", "switch")


def eliminate_switches(body: Node) -> Node:
    """Lowering of the `switch` statements of a function's body."""
    numbers = count()
    return map_statements(body, lambda node: _rewrite_statement(node, numbers))


def _rewrite_statement(node: Node, numbers: Iterator[int]) -> Statements:
    if node.kind != "switch":
        return (map_statements(node, lambda child: _rewrite_statement(child, numbers)),)
    # Inner ones first: a `break` that is left is this one's.
    (inside,) = map_statements(node, lambda child: _rewrite_statement(child, numbers)).inner[-1:]
    # A macro may have several at one place: the number tells their labels apart.
    own = f"switch@{next(numbers)}"
    items = list(_items(inside))
    nested = any(part.kind in _CASES for item in items if item.kind not in _CASES for part in item)
    ranges = any(item.kind == "case" and len(item.inner) != 1 for item in items)
    if nested or ranges or node.inner[0].kind == "declare":
        return (node,)
    end = _label(own, "end", node)
    items = [_replace_breaks(item, end.symbol) if item.kind not in _CASES else item for item in items]
    declared, selector = _selector(node, own)
    return (block((*declared, *_dispatch_jumps(own, selector, items, end)), node),)


def _items(node: Node) -> Iterator[Node]:
    """The statements of a body, with a `case` as one of its own before what it labels."""
    for child in flatten_blocks(node):
        while child.kind in _CASES:
            # A range of GNU C has a second value.
            yield replace(child, inner=child.inner[:-1])
            child = child.inner[-1]
        yield child


def _selector(node: Node, own: str) -> tuple[Statements, Node]:
    """The value that is compared: a variable that the body does not assign, or a copy."""
    value = node.inner[0]
    names = [part for part in value if part.kind == "name"]
    others = [part for part in value if part.kind not in ("name", "convert", "cast", "parentheses")]
    assigned = {
        strip_casts(part.inner[0]).symbol
        for part in node.inner[-1]
        if part.inner and (part.opcode in ("=", "++", "--") or part.kind == "update")
    }
    if not others and not any(name.symbol in assigned for name in names):
        return (), value
    declared = make.declare_variable("selector", value.ctype, f"selector@{own}", node, value)
    return (declared,), make.variable_reference(declared.inner[0], node)


def _label(own: str, name: str, at: Node) -> Node:
    return Node("label", at.span, name=name, symbol=f"{own}@{name}", macro=at.macro)


def _dispatch_jumps(own: str, selector: Node, items: list[Node], end: Node) -> Iterator[Node]:
    tests, labels, default = list[Node](), dict[int, Node](), end
    waiting = list[Node]()
    for n, item in enumerate(items):
        if item.kind not in _CASES:
            continue
        label = labels[n] = labels.get(n - 1) or _label(own, str(n), item)
        if item.kind == "default":
            default = label
            continue
        waiting.append(make.binary("==", selector, item.inner[0], "int", item))
        # Several cases of one place are one test.
        if n + 1 == len(items) or items[n + 1].kind != "case":
            test = waiting[0]
            for other in waiting[1:]:
                test = make.binary("||", test, other, "int", item)
            tests.append(replace(item, kind="if", ctype="", inner=(test, _goto(label, item))))
            waiting = []
    yield from tests
    yield _goto(default, end)
    for n, item in enumerate(items):
        if n not in labels:
            yield item
        elif labels[n] is not labels.get(n - 1):
            yield replace(labels[n], inner=(replace(item, kind="nothing", inner=()),))
    yield replace(end, inner=(Node("nothing", end.span),))


def _goto(label: Node, at: Node) -> Node:
    return Node("goto", at.span, name=label.name, symbol=label.symbol, macro=at.macro)


def _replace_breaks(node: Node, end: str) -> Node:
    """A statement with jumps to `end` for the `break`s that are the switch's."""
    if node.kind == "break":
        return replace(node, kind="goto", symbol=end)
    return node if node.kind in _OWN_BREAK else map_statements(node, lambda child: (_replace_breaks(child, end),))
