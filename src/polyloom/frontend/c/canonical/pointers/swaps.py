# SPDX-License-Identifier: Apache-2.0
"""Double buffering: a loop that exchanges two pointers at the end of each turn has two kinds of turns; `phase` counts
them, and its remainder by 2 says which array is which (loop unrolling by two: Wolfe 1996, once strips make it affine).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import count

from polyloom.frontend.c.canonical.pointers.sources import (
    is_pointer,
    list_assignments,
    source,
    stepped_identity,
    variable_identity,
)
from polyloom.frontend.loops import make
from polyloom.frontend.loops.substatements import Statements, block, child_statements, flatten_blocks
from polyloom.frontend.loops.tree import Node

_LOOPS = ("for", "while", "do")


def eliminate_swaps(body: Node, parameters: tuple[Node, ...]) -> Node:
    """Rewriting of pointers that a loop exchanges into the two arrays that they start with."""
    if body.kind != "block":
        return body
    pointers = {n.symbol: n for n in (*parameters, *body) if n.kind in ("parameter", "variable") and is_pointer(n)}
    numbers = count(1)
    return replace(body, inner=tuple(_statements(flatten_blocks(body), pointers, body, numbers)))


def _statements(
    statements: Statements, pointers: Mapping[str, Node], whole: Node, numbers: Iterator[int]
) -> Statements:
    for n, node in enumerate(statements):
        found = _exchange(node, pointers) if node.kind in _LOOPS else None
        arrays = None if found is None else [_array(name, pointers, whole) for name in found]
        if found is None or arrays is None or None in arrays:
            continue
        first, second = (array for array in arrays if array is not None)
        phase = make.declare_variable("phase", "int", f"phase@{next(numbers)}", node, make.number(0, node))
        turn = make.variable_reference(phase.inner[0], node)
        odd = make.binary(
            "!=", make.binary("%", turn, make.number(2, node), "int", node), make.number(0, node), "int", node
        )
        names = dict(zip(found, (first, second), strict=True)), dict(zip(found, (second, first), strict=True))
        own = flatten_blocks(child_statements(node)[0])[:-3]
        # Both kinds of a turn, then both kinds of what follows the last one.
        turns = (_select_turn(odd, own, names, node), _step(turn, node))
        loop = _with_body(node, block(turns, node))
        rest = _statements(statements[n + 1 :], pointers, whole, numbers)
        uses = any(part.kind == "name" and part.symbol in found for s in rest for part in s)
        behind = (_select_turn(odd, rest, names, node),) if uses and rest else rest
        kept = [s for s in statements[:n] if not (s.kind == "declare" and any(d.symbol in found for d in s.inner))]
        dropped = [s for s in statements[:n] if s not in kept]
        others = [replace(s, inner=(d,)) for s in dropped for d in s.inner if d.symbol not in found]
        return (*(_rename_arrays(s, names[0]) for s in (*kept, *others)), phase, loop, *behind)
    return statements


def _exchange(loop: Node, pointers: Mapping[str, Node]) -> tuple[str, str] | None:
    """The two pointers that `swap = p; p = q; q = swap;` at the end of a loop's body exchanges."""
    inside = flatten_blocks(child_statements(loop)[0])
    pairs = [_copied_variables(node) for node in inside[-3:]]
    if len(pairs) < 3 or None in pairs:
        return None
    (kept, p), (to, q), (last, again) = (pair for pair in pairs if pair is not None)
    fits = p == to and q == last and again == kept and len({kept, p, q}) == 3
    return (p, q) if fits and {p, q} <= pointers.keys() else None


def _copied_variables(node: Node) -> tuple[str, str] | None:
    """A variable and the one that it becomes a copy of."""
    if node.kind == "declare" and len(node.inner) == 1 and node.inner[0].initial:
        return node.inner[0].symbol, variable_identity(node.inner[0].inner[-1])
    if node.kind != "binary" or node.opcode != "=":
        return None
    return variable_identity(node.inner[0]), variable_identity(node.inner[-1])


def _array(name: str, pointers: Mapping[str, Node], body: Node) -> Node | None:
    """The array that an exchanged pointer starts with; None for one that moves or is assigned elsewhere."""
    declaration = pointers[name]
    values = [value for other, value in list_assignments(body) if other == name]
    if any(stepped_identity(node) == name for node in body):
        return None
    if declaration.kind == "parameter":
        return make.variable_reference(declaration, declaration) if len(values) == 1 else None
    begin = source(declaration.inner[-1]) if declaration.initial and len(values) == 2 else None
    return begin.base if begin is not None and begin.offset is None and not begin.leads else None


def _select_turn(
    odd: Node, statements: Statements, names: tuple[Mapping[str, Node], Mapping[str, Node]], at: Node
) -> Node:
    even, other = (block([_rename_arrays(s, each) for s in statements], at) for each in names)
    return Node("if", at.span, inner=(odd, other, even))


def _rename_arrays(node: Node, names: Mapping[str, Node]) -> Node:
    def name(part: Node) -> Node | None:
        found = names.get(part.symbol) if part.kind == "name" else None
        return None if found is None else make.variable_reference(found, part)

    return make.replace_nodes(node, name)


def _step(turn: Node, at: Node) -> Node:
    return Node("unary", at.span, "int", (turn,), "++", postfix=True)


def _with_body(loop: Node, body: Node) -> Node:
    inner = list(loop.inner)
    inner[0 if loop.kind == "do" else len(inner) - 1] = body
    return replace(loop, inner=tuple(inner))
