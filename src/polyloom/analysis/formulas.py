# SPDX-License-Identifier: Apache-2.0
"""A program as arrays that are each one formula, over arguments and over other such arrays.

`formulas_system` makes them of a loop nest, `formulas_program` of equations. Sizes are taken to be at least 1; who runs
this refuses others.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from polyloom.analysis.dataflow import Term
from polyloom.diagnostics import Span
from polyloom.ir.operations import ElementType
from polyloom.sets import Affine


@dataclass(frozen=True, slots=True)
class Definition:
    """An array of which each element is `term`, over its `dims`. `extents` are those of all dimensions, summed ones
    included; `label` is what the source calls it."""

    name: str
    label: str
    dims: tuple[str, ...]
    extents: Mapping[str, Affine]
    term: Term
    dtype: ElementType
    span: Span | None = None

    @property
    def shape(self) -> tuple[Affine, ...]:
        return tuple(self.extents[d] for d in self.dims)


@dataclass(frozen=True, slots=True)
class Output:
    """`array` is all of a definition, or a part of it: of each of the definition's dimensions, which one of the array's
    it is, or where it is fixed."""

    array: str
    definition: str
    at: tuple[int | Affine, ...]


@dataclass(frozen=True, slots=True)
class Formulas:
    """Definitions, each behind those that it reads."""

    definitions: tuple[Definition, ...]
    outputs: tuple[Output, ...]
    types: Mapping[str, ElementType]
    shapes: Mapping[str, tuple[Affine, ...]]
    """Of the arguments, both."""
