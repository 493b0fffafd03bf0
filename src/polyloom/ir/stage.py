# SPDX-License-Identifier: Apache-2.0
"""Stage programs: each stage computes all of one array, of arguments and of what stages before it computed.

    program = arrays, stages, outputs
    stage   = product R[i, j] = B[i, j] + sum k: X[i, k] * Y[k, j]       matrix units
            | formula R[i, j] = term over elements at i, j               vector units, SIMD loops

`transform.stages` cuts formulas into stages; `stage_text` prints and reads them, `stage_verify` has their rules,
`stage_interpret` their meaning.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from polyloom.diagnostics import Span
from polyloom.ir.formula import Leaf, Output, Term, leaves
from polyloom.ir.operations import ElementType
from polyloom.sets import Affine


@dataclass(frozen=True, slots=True)
class Product:
    """Matrix product: `result`[`dims`] = sum over `over` of `left` * `right`: whole arrays, which share no other
    dimension; `left` has the first of `dims`. Factors are converted by `widened` first; each sum begins with the
    element of `begins` at the same place, if that is named. `is_ordered`: products and sums are those of the source, in
    its order. `roundings`: what the source rounds in each term beside one product. `is_spread`: the right factor has
    the dimension of the sum alone, and formulas read one element of the result for all of a row. `label` is what the
    source calls the result.
    """

    result: str
    dims: tuple[str, ...]
    left: Leaf
    right: Leaf
    over: str
    label: str
    widened: str = ""
    begins: str = ""
    is_ordered: bool = False
    roundings: int = 0
    span: Span | None = field(default=None, compare=False)
    is_spread: bool = False

    @property
    def reads(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((self.left.array, self.right.array, *([self.begins] if self.begins else []))))


@dataclass(frozen=True, slots=True)
class Formula:
    """Element-wise formula: `result`[`dims`] = `term`, which has no sums. `summed`: lengths of sums that the source
    begins with this formula, so that it rounds that value in each of so many steps.
    """

    result: str
    dims: tuple[str, ...]
    term: Term
    label: str
    summed: tuple[Affine, ...] = ()
    span: Span | None = field(default=None, compare=False)

    @property
    def reads(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(leaf.array for leaf in leaves(self.term)))


@dataclass(frozen=True, slots=True)
class Fold(Formula):
    """Reduction of a matrix along its rows: `result`[`dims`] = `operation` over `over` of `term`, which is an element
    of one whole array; `maximum` or `minimum`, whose order matters to NaNs alone. `part`: of which elements of a row,
    the first one and behind the last; None: of all.
    """

    over: str = ""
    operation: str = "maximum"
    part: tuple[int, int] | None = None

    @property
    def elements(self) -> slice:
        """The elements of a row."""
        return slice(*self.part) if self.part else slice(None)


Stage = Product | Formula


@dataclass(frozen=True, slots=True)
class Program:
    """Stages in their order; element types and shapes of all arrays, which parameters determine; what of them arguments
    become. `needs_elements`: it holds where all sizes are at least 1; with `needs_sizes` False, where all arrays have
    elements."""

    stages: tuple[Stage, ...]
    types: Mapping[str, ElementType]
    shapes: Mapping[str, tuple[Affine, ...]]
    outputs: tuple[Output, ...]
    needs_elements: bool = True
    needs_sizes: bool = True

    @property
    def computed(self) -> frozenset[str]:
        """Arrays that stages compute."""
        return frozenset(stage.result for stage in self.stages)

    def array_label(self, array: str) -> str:
        """Label of an array: what the source calls it."""
        return next((each.label for each in self.stages if each.result == array), array)
