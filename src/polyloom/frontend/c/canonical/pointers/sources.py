# SPDX-License-Identifier: Apache-2.0
"""Sources of pointers: the array that an expression points into, and where (C17, section 6.5.6).

A pointer has one array if all that it is initialized with and assigned leads to that array, by whatever pointers; one
that has two, or whose value goes elsewhere, may be another name of anything.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from polyloom.frontend.loops import make
from polyloom.frontend.loops.tree import Node, strip_casts

_Place = tuple[Node, int]
"""An array, as a reference, and how many dimensions the rows of a pointer have around them."""


@dataclass(frozen=True, slots=True)
class Source:
    """Place in an array, or in what a pointer points to: a reference to that `base`, the subscripts of outer dimensions
    and the offset in the inner one."""

    base: Node
    leads: tuple[Node, ...] = ()
    offset: Node | None = None

    def plus(self, opcode: str, by: Node, at: Node) -> Source:
        if self.offset is None and opcode == "+":
            return replace(self, offset=by)
        return replace(self, offset=make.binary(opcode, self.offset or make.number(0, at), by, "int", at))


def source(node: Node) -> Source | None:
    """Source of a pointer expression: `A`, `A + e`, `&A[e]`, and rows `A[i]` of arrays of arrays; None for others."""
    node = strip_casts(node)
    if node.kind == "name":
        return Source(node)
    if node.kind == "unary" and node.opcode == "&" and strip_casts(node.inner[0]).kind == "element":
        element = strip_casts(node.inner[0])
        found = source(element.inner[0])
        return None if found is None else found.plus("+", element.inner[1], node)
    if node.kind == "element":
        found = source(node.inner[0])
        if found is None:
            return None
        # A row: what was an offset so far is the subscript of a dimension.
        lead = found.plus("+", node.inner[1], node).offset
        return None if lead is None else Source(found.base, (*found.leads, lead))
    if node.kind == "binary" and node.opcode in ("+", "-"):
        left, right = node.inner
        if node.opcode == "+" and not _is_address(left):
            left, right = right, left
        found = source(left) if _is_address(left) and not _is_address(right) else None
        return None if found is None else found.plus(node.opcode, right, node)
    return None


def _is_address(node: Node) -> bool:
    ctype = strip_casts(node).ctype
    return "*" in ctype or "[" in ctype


def is_pointer(declaration: Node) -> bool:
    """Whether a variable is a pointer: to numbers, or to rows of an array."""
    return "*" in declaration.ctype and "(*)(" not in declaration.ctype


def list_assignments(body: Node) -> Iterator[tuple[str, Node]]:
    """Variables with what they are initialized with or assigned."""
    for node in body:
        if node.kind == "variable" and node.initial:
            yield node.symbol, node.inner[-1]
        elif node.kind == "binary" and node.opcode == "=" and (name := variable_identity(node.inner[0])):
            yield name, node.inner[1]


def variable_identity(node: Node) -> str:
    """The identity of a variable, of other expressions none."""
    node = strip_casts(node)
    return node.symbol if node.kind == "name" else ""


def stepped_identity(node: Node) -> str:
    """The identity of the variable that an expression moves by steps, or ""."""
    moves = node.opcode in ("++", "--") or (node.kind == "update" and node.opcode in ("+=", "-="))
    return variable_identity(node.inner[0]) if moves and node.inner else ""


def roots(body: Node, pointers: Mapping[str, Node]) -> dict[str, _Place]:
    """Points-to sets of one element (Andersen 1994, without memory): for each pointer its array, as a reference, and
    how many dimensions its rows have around them. `pointers` are declarations by identity.
    """
    sources = dict[str, list[Source | None]]()
    for name, value in list_assignments(body):
        if name in pointers:
            sources.setdefault(name, []).append(source(value))
    found = dict[str, _Place]()
    before = -1
    while len(found) > before:
        before = len(found)
        for name, declaration in pointers.items():
            own = [(make.variable_reference(declaration, declaration), 0)] if declaration.kind == "parameter" else []
            # Optimistic: what leads to pointers that are not known yet is looked at below.
            places = [*own, *(p for each in sources.get(name, []) if (p := _root(each, found, pointers)) is not None)]
            if name not in found and places:
                found[name] = places[0]
    while wrong := [name for name in found if not _agrees(name, sources.get(name, []), found, pointers)]:
        found = {name: place for name, place in found.items() if name not in wrong}
    return found


def _root(each: Source | None, found: Mapping[str, _Place], pointers: Mapping[str, Node]) -> _Place | None:
    """Root of a source, where that is known."""
    if each is None:
        return None
    if each.base.symbol not in pointers:
        return each.base, len(each.leads)
    place = found.get(each.base.symbol)
    return None if place is None else (place[0], place[1] + len(each.leads))


def _agrees(name: str, sources: list[Source | None], found: Mapping[str, _Place], pointers: Mapping[str, Node]) -> bool:
    """Whether all that a pointer is given leads to its array."""
    base, depth = found[name]
    if pointers[name].kind == "parameter" and (base.symbol, depth) != (name, 0):
        return False
    places = [_root(each, found, pointers) for each in sources]
    return all(place is not None and (place[0].symbol, place[1]) == (base.symbol, depth) for place in places)
