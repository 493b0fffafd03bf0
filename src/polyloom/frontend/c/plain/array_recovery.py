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
from polyloom.frontend.loops.substatements import Statements, map_statements
from polyloom.frontend.loops.tree import Node, strip_casts


@dataclass(frozen=True, slots=True)
class _Walk:
    """Walk of a pointer: `counter` is the declaration of what counts, `array` a reference to what is walked over."""

    pointer: Node
    counter: Node
    array: Node


def recover_arrays(body: Node, parameters: tuple[Node, ...]) -> Node:
    """Array recovery in a body: counters instead of pointers that move."""
    pointers = {n.symbol: n for n in (*parameters, *body) if n.kind in ("parameter", "variable") and _is_pointer(n)}
    moving = {name for node in body if (name := _moved_pointer(node)) in pointers}
    local = {n.symbol for n in body if n.kind == "variable" and n.symbol in pointers and n.initial}
    # Without alias analysis: a pointer whose value is used elsewhere may be another name of any array.
    found = (moving | local) - set(_escaping_pointers(body))
    walks = {
        name: walk for name in sorted(found) if (walk := _pointer_walk(pointers[name], moving | local)) is not None
    }
    if not walks or body.kind != "block":
        return body
    # A parameter points to the beginning of its array: its counter starts at 0 before the body.
    first = [_declare_counter(w, make.number(0, body), body) for w in walks.values() if w.pointer.kind == "parameter"]
    body = map_statements(body, lambda node: _rewrite_statement(node, walks))
    body = make.replace_nodes(body, lambda node: _rewrite_access(node, walks))
    return replace(body, inner=(*first, *body.inner))


def _is_pointer(declaration: Node) -> bool:
    return declaration.ctype.endswith("*")


def _moved_pointer(node: Node) -> str:
    """The identity of the pointer that an expression moves, or ""."""
    moves = node.opcode in ("++", "--") or (node.kind == "update" and node.opcode in ("+=", "-="))
    left = strip_casts(node.inner[0]) if moves and node.inner else None
    return left.symbol if left is not None and left.kind == "name" else ""


def _escaping_pointers(body: Node) -> Iterator[str]:
    """The variables that are used otherwise than to access elements and to move."""
    known = {id(strip_casts(n.inner[0])) for n in body if n.kind == "element" or n.opcode == "*" or _moved_pointer(n)}
    return (n.symbol for n in body if n.kind == "name" and id(n) not in known)


def _pointer_walk(pointer: Node, moving: set[str]) -> _Walk | None:
    identity, name = f"{pointer.symbol}@", f"{pointer.name}_at"
    counter = Node("variable", pointer.span, "int", name=name, symbol=identity, macro=pointer.macro)
    if pointer.kind == "parameter":
        return _Walk(pointer, counter, make.variable_reference(pointer, pointer))
    base = _base_array(pointer.inner[-1])
    # An array that itself moves has no fixed origin to count from.
    return None if base is None or base.symbol in moving else _Walk(pointer, counter, base)


def _base_array(node: Node) -> Node | None:
    """The array that `A`, `A + e` and `&A[e]` point into."""
    node = strip_casts(node)
    if node.kind == "unary" and node.opcode == "&" and strip_casts(node.inner[0]).kind == "element":
        return _base_array(strip_casts(node.inner[0]).inner[0])
    if node.kind == "binary" and node.opcode == "+":
        return _base_array(node.inner[0])
    return node if node.kind == "name" else None


def _initial_offset(node: Node, at: Node) -> Node:
    """Initial offset of a pointer in its array, in elements."""
    node = strip_casts(node)
    if node.kind == "unary" and node.opcode == "&":
        return strip_casts(node.inner[0]).inner[1]
    if node.kind == "binary":
        inner = strip_casts(node.inner[0])
        if inner.kind == "name":
            return node.inner[1]
        return make.binary("+", _initial_offset(inner, at), node.inner[1], "int", at)
    return make.number(0, at)


def _declare_counter(walk: _Walk, value: Node, at: Node) -> Node:
    return make.declare_variable(walk.counter.name, "int", walk.counter.symbol, at, value)


def _rewrite_statement(node: Node, walks: Mapping[str, _Walk]) -> Statements:
    if node.kind == "declare" and any(d.symbol in walks for d in node.inner):
        return tuple(
            [
                _declare_counter(walks[d.symbol], _initial_offset(d.inner[-1], d), d)
                if d.symbol in walks
                else replace(node, inner=(d,))
                for d in node.inner
            ]
        )
    return (map_statements(node, lambda child: _rewrite_statement(child, walks)),)


def _rewrite_access(node: Node, walks: Mapping[str, _Walk]) -> Node | None:
    """`*p` and `p[e]` as elements of the array, movements as those of the counter."""
    if (name := _moved_pointer(node)) in walks:
        # A pointer's step has no type of its own: counters count in `int`, the type of subscripts here.
        types = ("int", "int") if node.types else ()
        rest = [make.replace_nodes(child, lambda part: _rewrite_access(part, walks)) for child in node.inner[1:]]
        return replace(
            node, ctype="int", types=types, inner=(make.variable_reference(walks[name].counter, node), *rest)
        )
    if node.kind == "unary" and node.opcode == "*" and (walk := _walk_at_node(node.inner[0], walks)) is not None:
        return make.element(walk.array, make.variable_reference(walk.counter, node), node)
    if node.kind == "element" and (walk := _walk_at_node(node.inner[0], walks)) is not None:
        index = make.replace_nodes(node.inner[1], lambda part: _rewrite_access(part, walks))
        whole = make.binary("+", make.variable_reference(walk.counter, node), index, "int", node)
        return make.element(walk.array, whole, node)
    return None


def _walk_at_node(node: Node, walks: Mapping[str, _Walk]) -> _Walk | None:
    node = strip_casts(node)
    return walks.get(node.symbol) if node.kind == "name" else None
