# SPDX-License-Identifier: Apache-2.0
"""Blocks as nests of their own: loops count from the block's first iteration, and of each array they see a window.

    for i = max(0, i') .. min(N, i' + 32): A[i] = ...     becomes   for i = 0 .. n: A[i] = ...
                                                                    with n = min(32, N - i'), A at [i']

Nothing in such a nest depends on which block it is, unless bounds, conditions or data do: so one configuration serves
all blocks of one size (array contraction to the footprint of a tile; Wolfe 1987). A subscript that begins elsewhere in
each iteration of the block keeps its whole dimension.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from polyloom.ir.nest import Loop, Nest, Node, accesses, assignments, cell, loop_nodes
from polyloom.ir.nest_rewrite import Rewriter, substitute_symbols
from polyloom.ir.pla import Reference
from polyloom.names import fresh_name
from polyloom.sets import Affine, extreme
from polyloom.transform.blocks.cut import Block, Strip, strip_loop

Origin = tuple[Affine, ...]


@dataclass
class BlockNest:
    """The nest of a block. Mutable while it is made: `arguments` are what its parameters of its own are the least of,
    `windows` the array outside and the first element, by array of the nest.
    """

    nodes: tuple[Node, ...]
    arguments: dict[str, tuple[Affine, ...]] = field(default_factory=dict[str, "tuple[Affine, ...]"])
    windows: dict[str, tuple[str, Origin, Origin]] = field(default_factory=dict[str, "tuple[str, Origin, Origin]"])
    """Array outside, first element, extents."""


def block_nest(nest: Nest, block: Block, counters: frozenset[str], taken: set[str]) -> BlockNest:
    """Nest of a block of `nest`, within loops of steps of these counters."""
    made = BlockNest(())
    strips = (*block.strips, *([block.peeled] if block.peeled is not None else []))
    variables = frozenset(strip.loop.name for strip in strips)
    nodes = block.nodes
    if block.peeled is not None:
        nodes = (*nodes[:-1], *_count_from_zero(block.peeled, block.peeled.loop.body, variables, made, taken))
    for strip in reversed(block.strips):
        nodes = _count_from_zero(strip, nodes, variables, made, taken)
    made.nodes = nodes
    _open_windows(nest, made, counters, taken)
    return made


def _count_from_zero(
    strip: Strip, body: tuple[Node, ...], variables: frozenset[str], made: BlockNest, taken: set[str]
) -> tuple[Node, ...]:
    """The loop of a strip, counted from its first iteration (loop normalization), or its only iteration."""
    if strip.size is None:
        return (strip_loop(strip, body),)
    loop, first, size = strip.loop, strip.first, Affine((), strip.size)
    # Blocks begin at the loop's lower bound, wherever that is the same in all iterations around.
    lower = [low - first for low in loop.lower if low.symbols & variables]
    upper = [high - first for high in loop.upper]
    fixed = tuple(high for high in upper if not high.symbols & variables)
    varying = tuple(high for high in upper if high.symbols & variables)
    # The counter is the loop's own.
    if strip.size == 1 and not lower and not varying:
        return substitute_symbols(body, {loop.name: first})
    end = size
    if fixed:
        name = fresh_name(f"{loop.name}_size", taken)
        made.arguments[name], end = (size, *fixed), Affine.symbol(name)
    moved = substitute_symbols(body, {loop.name: Affine.symbol(loop.name) + first})
    return (replace(loop, lower=(Affine((), 0), *lower), upper=(end, *varying), body=moved),)


@dataclass(frozen=True, slots=True)
class _Footprint:
    """Elements that one subscript may be, within a block: from `origin` on, which counters may move, `extent`."""

    origin: Affine
    extent: Affine


def _open_windows(nest: Nest, made: BlockNest, counters: frozenset[str], taken: set[str]) -> None:
    """Windows of all arrays, and references that count from their first elements."""
    loops = list(loop_nodes(made.nodes))
    most = {name: bounds[0] for name, bounds in made.arguments.items()}
    found = dict.fromkeys(cell(r) for a in assignments(made.nodes) for r in (a.target, *accesses(a.value)))
    groups: dict[str, dict[Origin, list[Origin]]] = {}
    for name, index in found:
        if index:
            groups.setdefault(name, {}).setdefault(_moving_parts(index, counters), []).append(index)
    written = {a.target.name for a in assignments(made.nodes)}
    places: dict[tuple[str, Origin], tuple[str, Origin]] = {}
    for name, by_parts in groups.items():
        merged = [i for indices in by_parts.values() for i in indices]
        # Windows of one array that overlap would be several copies of what is written.
        several = len(by_parts) > 1 and name in written
        for number, (parts, indices) in enumerate(by_parts.items()):
            prints = _footprints(nest, name, merged if several else indices, loops, counters, most)
            origin, extents = tuple(p.origin for p in prints), tuple(p.extent for p in prints)
            own = name if several or not number else fresh_name(name, taken)
            places[name, parts] = own, origin
            if extents != nest[name].shape or own != name or any(first != Affine((), 0) for first in origin):
                made.windows[own] = name, origin, extents
    made.nodes = _WindowReferences(counters, places).nodes(made.nodes)


def _moving_parts(index: Sequence[Affine], counters: frozenset[str]) -> Origin:
    """What of each subscript depends on which block it is."""
    return tuple(Affine.from_terms({n: c for n, c in form.terms if n in counters}, 0) for form in index)


def _footprints(
    nest: Nest,
    name: str,
    indices: Sequence[Origin],
    loops: Sequence[Loop],
    counters: frozenset[str],
    most: Mapping[str, Affine],
) -> list[_Footprint]:
    """Footprint of subscripts in each dimension, the whole extent where they have none in common."""
    whole = nest[name].shape
    return [
        _footprint([index[n] for index in indices], loops, counters, most) or _Footprint(Affine((), 0), whole[n])
        for n in range(len(whole))
    ]


def _footprint(
    forms: Sequence[Affine], loops: Sequence[Loop], counters: frozenset[str], most: Mapping[str, Affine]
) -> _Footprint | None:
    """Footprint of subscripts that move alike; None where it has a first or last element that is not affine, or that
    moves otherwise. It begins where that of a whole block does, whose sizes are `most`.
    """
    moving = {_moving_parts((form,), counters)[0] for form in forms}
    if len(moving) != 1:
        return None
    (part,) = moving
    variables = frozenset(loop.name for loop in loops)
    ranges = [_loop_range(loop, variables) for loop in loops]
    lows = [extreme(form - part, ranges, -1) for form in forms]
    highs = [extreme(form - part, ranges, 1) for form in forms]
    low, high = _minimum(lows, 1), _minimum(highs, -1)
    if low is None or high is None or (low.symbols | high.symbols) & counters:
        return None
    low = low.substitute(most)
    return _Footprint(part + low, high - low + 1)


def _loop_range(loop: Loop, variables: frozenset[str]) -> tuple[str, Affine | None, Affine | None]:
    """Least and greatest value of a loop; None where several bounds depend on other loops."""

    def leading_bound(bounds: Sequence[Affine]) -> Affine | None:
        # The first bound of a strip is that of the block: it holds for all of its iterations.
        return None if len(bounds) > 1 and bounds[0].symbols & variables else bounds[0]

    end = leading_bound(loop.upper)
    return loop.name, leading_bound(loop.lower), None if end is None else end - 1


def _minimum(forms: Sequence[Affine | None], sign: int) -> Affine | None:
    """The least form (with `sign` -1 the greatest) of those that differ by constants; None for others."""
    first = forms[0]
    differences = [None if form is None or first is None else form - first for form in forms]
    if first is None or not all(d is not None and d.is_constant for d in differences):
        return None
    return first + sign * min(sign * d.constant for d in differences if d is not None)


class _WindowReferences(Rewriter):
    """References by their windows: array and subscripts from the first element on."""

    def __init__(self, counters: frozenset[str], places: Mapping[tuple[str, Origin], tuple[str, Origin]]) -> None:
        self.counters, self.places = counters, places

    def reference(self, reference: Reference) -> Reference:
        if not reference.index:
            return reference
        own, origin = self.places[reference.name, _moving_parts(reference.index, self.counters)]
        index = tuple(form - first for form, first in zip(reference.index, origin, strict=True))
        return replace(reference, name=own, index=index)
