# SPDX-License-Identifier: Apache-2.0
"""Address computation: where the elements of arrays and of locals in memory are, as affine forms of the loops, in
bytes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from polyloom.ir.nest import Nest
from polyloom.ir.numbers import NUMPY
from polyloom.ir.operations import ElementType
from polyloom.ir.pla import Reference
from polyloom.sets import Affine
from polyloom.targets.minion.words.layout import Placed


@dataclass(frozen=True, slots=True)
class Memory:
    """Placed arrays by name; `scratch` is where harts have 448 bytes each, one behind the other."""

    placed: Mapping[str, Placed]
    types: Mapping[str, ElementType]
    scratch: int

    def address(self, reference: Reference) -> Affine:
        """Address of an element in bytes, an affine form of the loops."""
        placed = self.placed[reference.name]
        form = Affine((), placed.address)
        for index, step in zip(reference.index, placed.steps(), strict=True):
            form = form + index * step
        return form


def place_locals(nest: Nest, arguments: Mapping[str, Placed], base: int) -> Memory:
    """Placement of locals from `base` on, then of the scratch of all harts; `arguments` have the nest's names, of which
    one that nothing accesses may be missing.
    """
    placed, at = {s.name: arguments[s.name] for s in nest.storage if s.name in arguments}, base
    for storage in nest.storage:
        if storage.role == "local":
            shape = tuple(extent.constant for extent in storage.shape)
            made = Placed(storage.name, NUMPY[storage.dtype], shape, at)
            placed[storage.name] = made
            at += made.size
    return Memory(placed, {s.name: s.dtype for s in nest.storage}, -(-at // 4096) * 4096)
