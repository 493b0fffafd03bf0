# SPDX-License-Identifier: Apache-2.0
"""Iteration domains: what is known of loops and parameters where a node of a nest is executed, and which loops so run
at least once (sets of integers in isl; Verdoolaege 2010).
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Final

from polyloom.ir.nest import Loop, Nest
from polyloom.sets import Affine, Condition, Polyhedron
from polyloom.sets.isl import is_empty, to_set
from polyloom.sets.normal_form import conjunction

# Unions multiply with each condition around a node; without the newest ones, the domain is larger and still right.
_MOST: Final = 64
"""Pieces of a domain, beyond which nothing more is noted."""


class Domain:
    """Domain of the current node (mutable). Variables that are data may change: nothing is known of them."""

    def __init__(self, nest: Nest) -> None:
        self.parameters = nest.parameters
        extents = [extent for storage in nest.storage for extent in storage.shape]
        self.condition = conjunction(nest.assumptions, Condition((Polyhedron(tuple(extents)),)))
        self.loops: tuple[str, ...] = ()

    def is_entered(self, loop: Loop) -> bool:
        """Whether the loop runs at least once wherever it is reached: no point of the domain makes it empty."""
        distances = [high - low for low in loop.lower for high in loop.upper]
        if not self.knows(*distances):
            return False
        if all(distance.is_constant for distance in distances):
            return all(distance.constant > 0 for distance in distances)
        # With several bounds, one crossing pair of a lower and an upper one empties the loop.
        empty = Condition(tuple([Polyhedron((-distance,)) for distance in distances]))
        return is_empty(to_set(conjunction(self.condition, empty), self.loops, self.parameters))

    @contextmanager
    def within(self, loop: Loop) -> Generator[None]:
        """Domain inside of the body of a loop."""
        before = self.loops, self.condition
        self.loops = (*self.loops, loop.name)
        symbol = Affine.symbol(loop.name)
        bounds = [*(symbol - low for low in loop.lower), *(high - symbol - 1 for high in loop.upper)]
        self._add(Condition((Polyhedron(tuple(filter(self.knows, bounds))),)))
        yield
        self.loops, self.condition = before

    @contextmanager
    def where(self, condition: Condition) -> Generator[None]:
        """Domain of the nodes that are executed where a condition holds."""
        before = self.condition
        pieces = [Polyhedron(tuple(filter(self.knows, piece.constraints))) for piece in condition.pieces]
        self._add(Condition(tuple(pieces)))
        yield
        self.condition = before

    def _add(self, condition: Condition) -> None:
        if len(condition.pieces) * len(self.condition.pieces) <= _MOST:
            self.condition = conjunction(self.condition, condition)

    def knows(self, *forms: Affine) -> bool:
        """Whether the forms have no symbol that is data."""
        return all(form.symbols <= {*self.loops, *self.parameters} for form in forms)
