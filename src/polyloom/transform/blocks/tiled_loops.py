# SPDX-License-Identifier: Apache-2.0
"""Loops of steps of the user's own (`pl.steps`), as blocks: a loop over the tiles of an inner one is undone (the
inverse of strip-mining; Wolfe, "High Performance Compilers for Parallel Computing", 1996, section 9.8), and its size is
that of the inner loop's blocks. Any other loop has blocks of one iteration.

    for i' (steps): for j' (steps): for i = 32 i' .. min(32 i' + 32, N): for j = 8 j' .. min(8 j' + 8, M): S
    becomes   for i = 0 .. N: for j = 0 .. M: S   in blocks of i=32, j=8

Blocks run in the order of the inner loops, so tile loops must have the same order and nothing else in them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from polyloom.ir.nest import If, Loop, Nest, Node, loop_nodes
from polyloom.ir.nest_rewrite import mentioned_symbols
from polyloom.sets import Affine, Condition, Polyhedron
from polyloom.sets.isl import is_empty, to_set


def read_tiled_loops(nest: Nest) -> tuple[Nest, dict[str, int]]:
    """The nest without loops over tiles, and the sizes of blocks by loop; none where no loop is one of steps."""
    found = list(_tilings(nest))
    body, order = nest.body, [loop.name for loop in loop_nodes(nest.body)]
    places = [order.index(of.name) for _, of in found]
    for tile, of in found:
        body = _undo_tile(body, tile, of)
    # Tiles in another order than their loops would execute blocks in an order that the nest does not have.
    if places != sorted(places) or any(tile.name in mentioned_symbols(body) for tile, _ in found):
        found, body = [], nest.body
    sizes = {of.name: of.lower[0].coefficient(tile.name) for tile, of in found}
    return replace(nest, body=body), sizes | {loop.name: 1 for loop in loop_nodes(body) if loop.stepped}


def _tilings(nest: Nest) -> Iterator[tuple[Loop, Loop]]:
    """Loops of steps that are outermost, each the only node in the one around it, with the loops whose tiles they go
    over, as far as there are such.
    """
    body: Sequence[Node] = nest.body
    while (tile := _single_loop(body)) is not None and tile.stepped:
        of = _tiled_loop(nest, tile)
        if of is None:
            return
        yield tile, of
        body = tile.body


def _single_loop(body: Sequence[Node]) -> Loop | None:
    """The loop that a body consists of, perhaps under conditions."""
    while len(body) == 1 and isinstance(body[0], If) and not body[0].orelse:
        body = body[0].body
    return body[0] if len(body) == 1 and isinstance(body[0], Loop) else None


def _tiled_loop(nest: Nest, tile: Loop) -> Loop | None:
    """The loop over a tile: from its first iteration on, as many as a tile has, and all tiles cover the whole loop."""
    using = [loop for loop in loop_nodes(tile.body) if tile.name in mentioned_symbols((replace(loop, body=()),))]
    if tile.step != 1 or tile.lower != (Affine(),) or len(using) != 1:
        return None
    # With two loops over one tile, blocks of the one would be in step with blocks of the other.
    (loop,) = using
    size = loop.lower[0].coefficient(tile.name)
    rest = tuple(high for high in loop.upper if tile.name not in high.symbols)
    whole = loop.lower[0] + size in loop.upper and len(rest) == len(loop.upper) - 1
    if loop.step != 1 or len(loop.lower) != 1 or size < 1 or not whole:
        return None
    first = loop.lower[0].substitute({tile.name: Affine()})
    ends = [high * size + first for high in tile.upper]
    covers = (
        all(any(_is_infeasible(nest, (), high - end - 1) for high in rest) for end in ends) if rest else len(ends) == 1
    )
    # Conditions on the number of a tile say that it has iterations, and nothing else.
    number, iteration = Affine.symbol(tile.name), Affine.symbol(loop.name)
    inside = [number, iteration - loop.lower[0], *(high - iteration - 1 for high in loop.upper)]
    implied = all(len(node.condition.pieces) == 1 and not node.orelse for node in _conditions(tile.body)) and all(
        tile.name not in c.symbols or _is_infeasible(nest, (tile.name, loop.name), *inside, -c - 1)
        for node in _conditions(tile.body)
        for c in node.condition.pieces[0].constraints
    )
    return loop if covers and implied else None


def _conditions(body: Sequence[Node]) -> Iterator[If]:
    """Conditions around the loops that are the only node in each other."""
    while len(body) == 1 and isinstance(node := body[0], Loop | If):
        if isinstance(node, If):
            yield node
        body = node.body


def _is_infeasible(nest: Nest, dims: tuple[str, ...], *constraints: Affine) -> bool:
    """Whether constraints hold together for no sizes, and no values of `dims`."""
    if not frozenset[str]().union(*(c.symbols for c in constraints)) <= {*nest.parameters, *dims}:
        return False
    pieces = tuple(Polyhedron((*p.constraints, *constraints)) for p in nest.assumptions.pieces)
    return is_empty(to_set(Condition(pieces), dims, nest.parameters))


def _undo_tile(body: tuple[Node, ...], tile: Loop, of: Loop) -> tuple[Node, ...]:
    """The nest with one loop in the place of the two."""

    def rewrite(nodes: tuple[Node, ...]) -> tuple[Node, ...]:
        return tuple([each for node in nodes for each in rewrite_node(node)])

    def rewrite_node(node: Node) -> tuple[Node, ...]:
        if isinstance(node, If):
            if tile.name in mentioned_symbols((replace(node, body=(), orelse=()),)):
                return rewrite(node.body)
            return (replace(node, body=rewrite(node.body), orelse=rewrite(node.orelse)),)
        if not isinstance(node, Loop):
            return (node,)
        # The loop over tiles goes; what is in it stays.
        if node.name == tile.name:
            return rewrite(node.body)
        made = replace(node, body=rewrite(node.body))
        if node.name != of.name:
            return (made,)
        size, rest = of.lower[0].coefficient(tile.name), [h for h in of.upper if tile.name not in h.symbols]
        first = of.lower[0].substitute({tile.name: Affine()})
        end = tuple(rest) or (tile.upper[0] * size + first,)
        return (replace(made, lower=(first,), upper=end),)

    return rewrite(body)
