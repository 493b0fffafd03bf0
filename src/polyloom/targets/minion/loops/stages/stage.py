# SPDX-License-Identifier: Apache-2.0
"""What formulas are cut into: products, and element-wise formulas in front of them and behind, each with an array of
its own as its result."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from polyloom.analysis.contraction import Contraction
from polyloom.analysis.dataflow import Apply, Leaf, Term
from polyloom.diagnostics import Span
from polyloom.ir.operations import ElementType
from polyloom.sets import Affine


@dataclass(frozen=True, slots=True)
class Elementwise:
    """`result`[`dims`] = `term`, for all elements; `dims` run from 0 to `extents`."""

    result: str
    dims: tuple[str, ...]
    extents: tuple[Affine, ...]
    term: Term
    dtype: ElementType
    span: Span | None = None

    @property
    def reads(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(leaf.array for leaf in leaves(self.term)))


@dataclass(frozen=True, slots=True)
class Multiply:
    """A product, of which the result's `dims` run from 0 to `extents`. `is_exact`: each product and each sum is one
    of the source, in its order."""

    contraction: Contraction
    dims: tuple[str, ...]
    extents: tuple[Affine, ...]
    dtype: ElementType
    is_exact: bool
    span: Span | None = None

    @property
    def result(self) -> str:
        return self.contraction.result.array

    @property
    def reads(self) -> tuple[str, ...]:
        c = self.contraction
        return tuple(dict.fromkeys((c.left.array, c.right.array, *([c.begins] if c.begins else []))))


Stage = Elementwise | Multiply


@dataclass(frozen=True, slots=True)
class Stages:
    """In an order in which each stands behind those that it reads; `types` and `shapes` are those of all arrays."""

    stages: tuple[Stage, ...]
    types: Mapping[str, ElementType]
    shapes: Mapping[str, tuple[Affine, ...]]


def leaves(term: Term) -> Iterator[Leaf]:
    """Elements of arrays that a term without sums reads."""
    if isinstance(term, Leaf):
        yield term
    elif isinstance(term, Apply):
        for operand in term.operands:
            yield from leaves(operand)
