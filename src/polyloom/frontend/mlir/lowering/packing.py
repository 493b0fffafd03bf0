# SPDX-License-Identifier: Apache-2.0
"""Packed layouts as loops over tiles, and softmax as its three loops (MLIR language reference, linalg.pack,
linalg.unpack and linalg.softmax).
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from math import inf
from typing import Any

from xdsl.ir import Operation

from polyloom.frontend.loops import make
from polyloom.frontend.loops.tree import Node
from polyloom.frontend.loops.types import CTYPE
from polyloom.frontend.mlir.lowering.iteration_space import Structured
from polyloom.frontend.mlir.lowering.values import (
    Number,
    View,
    combine,
    element_node,
    extreme,
    integer,
    integer_constant,
)
from polyloom.ir.operations import FLOATS


class Packing(Structured):
    """Operations of linalg that are no `linalg.generic`."""

    def pack(self, operation: Any) -> None:
        """linalg.pack: the padding everywhere, then each element of the source in its place of its tile."""
        source, at = self.view(operation.source), self.span(operation)
        tiles = self.mixed_integers(operation, "static_inner_tiles", operation.inner_tiles)
        sides = zip(operation.inner_dims_pos.get_values(), tiles, strict=True)
        is_full = all(divides(tile, source.shape[int(axis)]) for axis, tile in sides)
        # Without a padding value, what the source does not reach keeps its elements.
        keeps = operation.padding_value is None and not is_full
        made = self.destination(operation.dest, operation, keeps=keeps)
        self.flush(frozenset({made.identity}), operation)
        if operation.padding_value is not None:
            value = self.data(operation.padding_value, operation)[0]
            with self.loop_nest(made.shape, at) as indices:
                self.assign(element_node(made, indices, at), value, at)
        with self.tile_loops(operation, source, made) as (flat, tiled):
            self.assign(element_node(made, tiled, at), element_node(source, flat, at), at)
        self.give(operation, made)

    def unpack(self, operation: Any) -> None:
        """linalg.unpack: each element of a tile in its place; padding is left out."""
        source, at = self.view(operation.source), self.span(operation)
        made = self.destination(operation.dest, operation, keeps=False)
        self.flush(frozenset({made.identity}), operation)
        with self.tile_loops(operation, made, source) as (flat, tiled):
            self.assign(element_node(made, flat, at), element_node(source, tiled, at), at)
        self.give(operation, made)

    @contextmanager
    def tile_loops(self, operation: Any, flat: View, tiled: View) -> Generator[tuple[list[Node], list[Node]]]:
        """Loops over tiles and over what is in them: indices of the flat array, and of the packed one."""
        positions = [int(n) for n in operation.inner_dims_pos.get_values()]
        order = tile_order(operation, flat.rank)
        at, outer = self.span(operation), tiled.shape[: flat.rank]
        tiles = self.mixed_integers(operation, "static_inner_tiles", operation.inner_tiles)
        for axis, tile in zip(positions, tiles, strict=True):
            self.assume_tiles(flat.shape[axis], outer[order.index(axis)], tile)
        with self.loop_nest(outer, at) as counters:
            # Axis n of the packed array counts the tiles of axis order[n].
            index: list[Node] = [counters[order.index(n)] for n in range(flat.rank)]
            with self.inner_loops(flat, positions, tiles, index, at) as inner:
                yield index, [*counters, *inner]

    def assume_tiles(self, extent: Node, count: Node, tile: Node) -> None:
        """Tiles are as many as hold an axis: none begins behind its end (linalg.pack, static and dynamic shapes)."""
        size, whole, outer = integer_constant(tile), self.extent_form(extent), self.extent_form(count)
        if size is None or whole is None or outer is None or (whole.is_constant and outer.is_constant):
            return
        spare = outer * size - whole
        self.assumed += [spare, -spare + (size - 1)]

    @contextmanager
    def inner_loops(
        self, flat: View, positions: Sequence[int], tiles: Sequence[Node], index: list[Node], at: Any
    ) -> Generator[list[Node]]:
        """Loops over a tile, up to the end of the flat array; `index` counts elements afterwards."""
        if not positions:
            yield []
            return
        axis, tile = positions[0], tiles[0]
        begin = combine("*", index[axis], tile, at)
        # Only a last tile that is not full needs the bound, which would make loops of other shapes.
        is_full = divides(tile, flat.shape[axis])
        upper = tile if is_full else extreme("min", [tile, combine("-", flat.shape[axis], begin, at)], at)
        with self.loop("t", integer(0, at), upper, 1, at) as counter:
            index[axis] = combine("+", begin, counter, at)
            with self.inner_loops(flat, positions[1:], tiles[1:], index, at) as rest:
                yield [counter, *rest]

    def give(self, operation: Operation, made: View) -> None:
        """The array that an operation has written is its result, where it has one."""
        for result in operation.results:
            self.frame.values[result] = made

    def softmax(self, operation: Any) -> None:
        """linalg.softmax: the greatest element, then exponentials and their sum, then quotients."""
        source, at = self.view(operation.input), self.span(operation)
        axis, kind = int(operation.dimension.value.data), str(operation.input.type.element_type)
        if source.dtype not in FLOATS and source.dtype != "f16":
            raise self.refuse("PL0172", f"softmax of {kind}", operation, "convert the elements to f32")
        made = self.destination(operation.output, operation, keeps=False)
        self.flush(frozenset({made.identity}), operation)
        kept = [extent for n, extent in enumerate(source.shape) if n != axis]
        most, total = (self.local_array(name, source.dtype, kept, operation) for name in ("most", "total"))

        def element(view: View, indices: Sequence[Node]) -> Number:
            return Number(view.dtype, element_node(view, indices, at), reads=frozenset({view.identity}))

        def store(view: View, indices: Sequence[Node], name: str, *operands: Number) -> None:
            found = self.data_arithmetic(name, list(operands), operation, kind)
            self.assign(element_node(view, indices, at), self.number_data(found, operation, kind)[0], at)

        with self.loop_nest(kept, at) as outer:
            for view, value in ((most, -inf), (total, 0.0)):
                self.assign(element_node(view, outer, at), make.constant(value, CTYPE[view.dtype], at), at)

            @contextmanager
            def axis_loop() -> Generator[list[Node]]:
                with self.loop("d", integer(0, at), source.shape[axis], 1, at) as counter:
                    yield [*outer[:axis], counter, *outer[axis:]]

            with axis_loop() as place:
                store(most, outer, "arith.maximumf", element(most, outer), element(source, place))
            with axis_loop() as place:
                shifted = self.data_arithmetic(
                    "arith.subf", [element(source, place), element(most, outer)], operation, kind
                )
                store(made, place, "math.exp", shifted)
                store(total, outer, "arith.addf", element(total, outer), element(made, place))
            with axis_loop() as place:
                store(made, place, "arith.divf", element(made, place), element(total, outer))
        self.give(operation, made)


def divides(tile: Node, extent: Node) -> bool:
    """Whether an axis is known to have whole tiles alone."""
    size, whole = integer_constant(tile), integer_constant(extent)
    return size is not None and size > 0 and whole is not None and whole % size == 0


def tile_order(operation: Any, rank: int) -> list[int]:
    """The axes of the flat array in the order of the packed one."""
    order = operation.outer_dims_perm
    found = [int(n) for n in order.get_values()] if order is not None else []
    return found or list(range(rank))
