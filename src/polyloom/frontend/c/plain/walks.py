# SPDX-License-Identifier: Apache-2.0
"""Array recovery (Franke and O'Boyle 2003): pointers that walk over an array become the array and a counter; `*p++ = x`
is `p[at] = x; at++`.

A pointer has one array: the parameter that it is, or the one that it is initialized with. A pointer that is given
another array, or whose address or value goes elsewhere, stays what it is, and is refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from polyloom.frontend.loops import make
from polyloom.frontend.loops.shape import Statements, with_statements
from polyloom.frontend.loops.tree import Node, strip


@dataclass(frozen=True, slots=True)
class _Walk:
    """Walk of a pointer: `counter` is the declaration of what counts, `array` a reference to what is walked over."""

    pointer: Node
    counter: Node
    array: Node


def counted(body: Node, parameters: tuple[Node, ...]) -> Node:
    """Array recovery in a body: counters instead of pointers that move."""
    pointers = {n.symbol: n for n in (*parameters, *body) if n.kind in ("parameter", "variable") and _is_pointer(n)}
    moving = {name for node in body if (name := _moved(node)) in pointers}
    local = {n.symbol for n in body if n.kind == "variable" and n.symbol in pointers and n.initial}
    # Without alias analysis: a pointer whose value is used elsewhere may be another name of any array.
    found = (moving | local) - set(_elsewhere(body))
    walks = {name: walk for name in sorted(found) if (walk := _walk(pointers[name], moving | local)) is not None}
    if not walks or body.kind != "block":
        return body
    # A parameter points to the beginning of its array: its counter starts at 0 before the body.
    first = [_counter(w, make.number(0, body), body) for w in walks.values() if w.pointer.kind == "parameter"]
    body = with_statements(body, lambda node: _statements(node, walks))
    body = make.changed(body, lambda node: _replaced(node, walks))
    return replace(body, inner=(*first, *body.inner))


def _is_pointer(declaration: Node) -> bool:
    return declaration.ctype.endswith("*")


def _moved(node: Node) -> str:
    """The identity of the pointer that an expression moves, or ""."""
    moves = node.opcode in ("++", "--") or (node.kind == "update" and node.opcode in ("+=", "-="))
    left = strip(node.inner[0]) if moves and node.inner else None
    return left.symbol if left is not None and left.kind == "name" else ""


def _elsewhere(body: Node) -> Iterator[str]:
    """The variables that are used otherwise than to access elements and to move."""
    known = {id(strip(n.inner[0])) for n in body if n.kind == "element" or n.opcode == "*" or _moved(n)}
    return (n.symbol for n in body if n.kind == "name" and id(n) not in known)


def _walk(pointer: Node, moving: set[str]) -> _Walk | None:
    identity, name = f"{pointer.symbol}@", f"{pointer.name}_at"
    counter = Node("variable", pointer.span, "int", name=name, symbol=identity, macro=pointer.macro)
    if pointer.kind == "parameter":
        return _Walk(pointer, counter, make.named(pointer, pointer))
    base = _base(pointer.inner[-1])
    # An array that itself moves has no fixed origin to count from.
    return None if base is None or base.symbol in moving else _Walk(pointer, counter, base)


def _base(node: Node) -> Node | None:
    """The array that `A`, `A + e` and `&A[e]` point into."""
    node = strip(node)
    if node.kind == "unary" and node.opcode == "&" and strip(node.inner[0]).kind == "element":
        return _base(strip(node.inner[0]).inner[0])
    if node.kind == "binary" and node.opcode == "+":
        return _base(node.inner[0])
    return node if node.kind == "name" else None


def _offset(node: Node, at: Node) -> Node:
    """Initial offset of a pointer in its array, in elements."""
    node = strip(node)
    if node.kind == "unary" and node.opcode == "&":
        return strip(node.inner[0]).inner[1]
    if node.kind == "binary":
        inner = strip(node.inner[0])
        if inner.kind == "name":
            return node.inner[1]
        return make.binary("+", _offset(inner, at), node.inner[1], "int", at)
    return make.number(0, at)


def _counter(walk: _Walk, value: Node, at: Node) -> Node:
    return make.variable(walk.counter.name, "int", walk.counter.symbol, at, value)


def _statements(node: Node, walks: Mapping[str, _Walk]) -> Statements:
    if node.kind == "declare" and any(d.symbol in walks for d in node.inner):
        return tuple(
            [
                _counter(walks[d.symbol], _offset(d.inner[-1], d), d)
                if d.symbol in walks
                else replace(node, inner=(d,))
                for d in node.inner
            ]
        )
    return (with_statements(node, lambda child: _statements(child, walks)),)


def _replaced(node: Node, walks: Mapping[str, _Walk]) -> Node | None:
    """`*p` and `p[e]` as elements of the array, movements as those of the counter."""
    if (name := _moved(node)) in walks:
        # A pointer's step has no type of its own: counters count in `int`, the type of subscripts here.
        types = ("int", "int") if node.types else ()
        rest = [make.changed(child, lambda part: _replaced(part, walks)) for child in node.inner[1:]]
        return replace(node, ctype="int", types=types, inner=(make.named(walks[name].counter, node), *rest))
    if node.kind == "unary" and node.opcode == "*" and (walk := _walking(node.inner[0], walks)) is not None:
        return make.element(walk.array, make.named(walk.counter, node), node)
    if node.kind == "element" and (walk := _walking(node.inner[0], walks)) is not None:
        index = make.changed(node.inner[1], lambda part: _replaced(part, walks))
        whole = make.binary("+", make.named(walk.counter, node), index, "int", node)
        return make.element(walk.array, whole, node)
    return None


def _walking(node: Node, walks: Mapping[str, _Walk]) -> _Walk | None:
    node = strip(node)
    return walks.get(node.symbol) if node.kind == "name" else None
