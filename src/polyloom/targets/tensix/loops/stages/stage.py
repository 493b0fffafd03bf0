# SPDX-License-Identifier: Apache-2.0
"""What a program is cut into: products and element-wise programs, each of arguments and of what earlier ones made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from polyloom.analysis.contraction import Contraction
from polyloom.analysis.formulas import Output
from polyloom.diagnostics import Span
from polyloom.ir.operations import ElementType
from polyloom.sets import Affine
from polyloom.targets.tensix.loops.steps import Pointwise


@dataclass(frozen=True, slots=True)
class Multiply:
    """A product. `rounded` counts the operations that the program does for each term beside one product."""

    label: str
    contraction: Contraction
    rounded: int
    span: Span | None = None

    @property
    def result(self) -> str:
        return self.contraction.result.array

    @property
    def reads(self) -> tuple[str, ...]:
        return self.contraction.left.array, self.contraction.right.array


@dataclass(frozen=True, slots=True)
class Apply:
    """An element-wise program. `begun`: sums that the program begins with a value, so that it rounds that value in each
    of so many steps."""

    label: str
    pointwise: Pointwise
    begun: tuple[Affine, ...] = ()
    span: Span | None = None

    @property
    def result(self) -> str:
        return self.pointwise.result

    @property
    def reads(self) -> tuple[str, ...]:
        return tuple(spread.array for spread in self.pointwise.arrays)


Stage = Multiply | Apply


@dataclass(frozen=True, slots=True)
class Stages:
    """In their order; the shapes of arguments and of what stages make; what of that the arguments become."""

    stages: tuple[Stage, ...]
    shapes: Mapping[str, tuple[Affine, ...]]
    outputs: tuple[Output, ...]
    dtype: ElementType

    @property
    def made(self) -> frozenset[str]:
        return frozenset(stage.result for stage in self.stages)
