# SPDX-License-Identifier: Apache-2.0
"""Array recovery (Franke and O'Boyle 2003): pointers that walk over an array become the array and a counter; `*p++ = x`
is `p[at] = x; at++`.

A pointer has one array (see `pointers`). A pointer that is given another array, or whose address or value goes
elsewhere, stays what it is, and is refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from polyloom.frontend.c.canonical.pointers.sources import (
    Source,
    is_pointer,
    list_assignments,
    roots,
    source,
    stepped_identity,
    variable_identity,
)
from polyloom.frontend.loops import make
from polyloom.frontend.loops.substatements import Statements, map_statements
from polyloom.frontend.loops.tree import Node, strip_casts

_COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")


@dataclass(frozen=True, slots=True)
class _Walk:
    """Walk of a pointer: `counters` are the declarations of what counts, the subscripts of outer dimensions first;
    `array` is a reference to what is walked over."""

    pointer: Node
    counters: tuple[Node, ...]
    array: Node


def recover_arrays(body: Node, parameters: tuple[Node, ...]) -> Node:
    """Array recovery in a body: counters instead of pointers that move."""
    declared = (*parameters, *body)
    pointers = {n.symbol: n for n in declared if n.kind in ("parameter", "variable") and is_pointer(n)}
    changing = {name for node in body if (name := stepped_identity(node)) in pointers}
    changing |= {name for name, _ in list_assignments(body) if name in pointers and pointers[name].kind == "parameter"}
    local = {name for name, n in pointers.items() if n.kind == "variable"}
    walked = {name: pointers[name] for name in changing | local}
    # Without alias analysis: a pointer whose value is used elsewhere may be another name of any array.
    before = -1
    found = dict[str, tuple[Node, int]]()
    while len(walked) != before:
        before = len(walked)
        found = {
            name: root
            for name, root in roots(body, walked).items()
            # A parameter that moves is the array, and the counter of its own walk.
            if root[0].symbol not in walked or walked[root[0].symbol].kind == "parameter"
        }
        elsewhere = set(_escaping_pointers(body, found))
        walked = {name: n for name, n in walked.items() if name in found and name not in elsewhere}
    walks = {name: _pointer_walk(pointers[name], *found[name]) for name in sorted(walked)}
    if body.kind != "block":
        return body
    # A parameter points to the beginning of its array: its counter starts at 0 before the body.
    first = [
        _declare_counter(w.counters[0], make.number(0, body), body)
        for w in walks.values()
        if w.pointer.kind == "parameter"
    ]
    body = map_statements(body, lambda node: _rewrite_statement(node, walks))
    body = make.replace_nodes(body, lambda node: _rewrite_access(node, walks))
    return replace(body, inner=(*first, *body.inner))


def _escaping_pointers(body: Node, found: Mapping[str, tuple[Node, int]]) -> Iterator[str]:
    """The variables that are used otherwise than to access elements, to move, to compare, and to start others."""
    known = {id(strip_casts(n.inner[0])) for n in body if n.kind == "element" or n.opcode == "*" or stepped_identity(n)}
    # `*(p + 1)` and `(p + 1)[k]`, too.
    accesses = (n for n in body if n.kind == "element" or (n.kind == "unary" and n.opcode == "*"))
    known |= {id(begin.base) for n in accesses if (begin := source(n.inner[0])) is not None}
    for node in body:
        sides = node.inner if node.kind == "binary" and node.opcode == "=" else ()
        if sides and variable_identity(sides[0]) in found and (begin := source(sides[1])) is not None:
            known |= {id(strip_casts(sides[0])), id(begin.base)}
        elif node.kind == "variable" and node.initial and node.symbol in found:
            begin = source(node.inner[-1])
            known |= {id(begin.base)} if begin is not None else set()
        elif _compares(node):
            # Pointers into one array have an order, and a distance (C17, section 6.5.8).
            begins = [begin for side in node.inner if (begin := source(side)) is not None]
            if len(begins) == 2 and len({_root(begin, found) for begin in begins}) == 1:
                known |= {id(begin.base) for begin in begins}
    return (n.symbol for n in body if n.kind == "name" and id(n) not in known)


def _compares(node: Node) -> bool:
    return (
        node.kind == "binary"
        and (node.opcode in _COMPARISONS or (node.opcode == "-" and "*" not in node.ctype))
        and all("*" in strip_casts(side).ctype or "[" in strip_casts(side).ctype for side in node.inner)
    )


def _root(begin: Source, found: Mapping[str, tuple[Node, int]]) -> tuple[str, int]:
    base, depth = found.get(begin.base.symbol, (begin.base, 0))
    return base.symbol, depth + len(begin.leads)


def _pointer_walk(pointer: Node, array: Node, depth: int) -> _Walk:
    counters = [
        Node(
            "variable",
            pointer.span,
            "int",
            name=f"{pointer.name}_{word}",
            symbol=f"{pointer.symbol}@{word}",
            macro=pointer.macro,
        )
        for word in (*(f"row{n}" for n in range(depth)), "at")
    ]
    return _Walk(pointer, tuple(counters), array)


def _declare_counter(counter: Node, value: Node | None, at: Node) -> Node:
    return make.declare_variable(counter.name, "int", counter.symbol, at, value)


def _places(begin: Source, walks: Mapping[str, _Walk], at: Node) -> list[Node]:
    """The subscripts of a place in its array, outermost first."""
    inner = [make.replace_nodes(lead, lambda part: _rewrite_access(part, walks)) for lead in begin.leads]
    offset = (
        make.replace_nodes(begin.offset, lambda part: _rewrite_access(part, walks))
        if begin.offset is not None
        else None
    )
    walk = walks.get(begin.base.symbol)
    if walk is None:
        return [*inner, offset or make.number(0, at)]
    *rows, last = [make.variable_reference(counter, at) for counter in walk.counters]
    # A row of what a pointer to rows points to begins at the pointer's own place.
    if inner:
        return [*rows, make.binary("+", last, inner[0], "int", at), *inner[1:], offset or make.number(0, at)]
    return [*rows, last if offset is None else make.binary("+", last, offset, "int", at)]


def _rewrite_statement(node: Node, walks: Mapping[str, _Walk]) -> Statements:
    if node.kind == "declare" and any(d.symbol in walks for d in node.inner):
        return tuple([s for d in node.inner for s in _declare_array(d, node, walks)])
    if (
        node.kind == "binary"
        and node.opcode == "="
        and (walk := walks.get(variable_identity(node.inner[0]))) is not None
    ):
        return tuple(
            [
                make.assignment(make.variable_reference(counter, node), place, node)
                for counter, place in zip(walk.counters, _begin(node.inner[1], walks, node), strict=True)
            ]
        )
    return (map_statements(node, lambda child: _rewrite_statement(child, walks)),)


def _declare_array(declaration: Node, node: Node, walks: Mapping[str, _Walk]) -> Iterator[Node]:
    walk = walks.get(declaration.symbol)
    if walk is None:
        yield replace(node, inner=(declaration,))
    elif not declaration.initial:
        yield from (_declare_counter(counter, None, declaration) for counter in walk.counters)
    else:
        places = _begin(declaration.inner[-1], walks, declaration)
        yield from (_declare_counter(c, place, declaration) for c, place in zip(walk.counters, places, strict=True))


def _begin(value: Node, walks: Mapping[str, _Walk], at: Node) -> list[Node]:
    begin = source(value)
    assert begin is not None
    return _places(begin, walks, at)


def _rewrite_access(node: Node, walks: Mapping[str, _Walk]) -> Node | None:
    """`*p` and `p[e]` as elements of the array, movements as those of the counter, comparisons as those of places."""
    if (name := stepped_identity(node)) in walks:
        # A pointer's step has no type of its own: counters count in `int`, the type of subscripts here.
        types = ("int", "int") if node.types else ()
        rest = [make.replace_nodes(child, lambda part: _rewrite_access(part, walks)) for child in node.inner[1:]]
        return replace(
            node, ctype="int", types=types, inner=(make.variable_reference(walks[name].counters[-1], node), *rest)
        )
    if _compares(node) and any((begin := source(side)) and begin.base.symbol in walks for side in node.inner):
        # In one array: rows outside of it are never compared.
        places = [_begin(side, walks, node)[-1] for side in node.inner]
        return replace(node, ctype="int", inner=tuple(places))
    if node.kind == "unary" and node.opcode == "*" and (begin := source(node.inner[0])) is not None:
        return _element(begin, node, walks)
    if node.kind == "element" and (begin := source(node.inner[0])) is not None and begin.base.symbol in walks:
        return _element(begin.plus("+", node.inner[1], node), node, walks)
    return None


def _element(begin: Source, node: Node, walks: Mapping[str, _Walk]) -> Node | None:
    """An access by a walking pointer as one of its array."""
    walk = walks.get(begin.base.symbol)
    # `*(A + i)` of an array is `A[i]`; `*p` alone may be a scalar's.
    if walk is None and begin.offset is None and not begin.leads:
        return None
    found = begin.base if walk is None else walk.array
    for place in _places(begin, walks, node):
        found = make.element(found, place, node)
    return found
