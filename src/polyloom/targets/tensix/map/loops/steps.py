# SPDX-License-Identifier: Apache-2.0
"""Selected formulas of element-wise programs as data: arrays, scalars, and operations of vector kernels in their
order."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from polyloom.diagnostics import Span
from polyloom.ir.operations import ElementType
from polyloom.ir.ssa import NOWHERE, Place

ARRAYS, HALF_ARRAYS = 4, 8
"""Tiles of inputs that half of Dst holds at 32 bits, and at 16."""
SCALARS: Final = 3
"""Constant registers that belong to the program: L12 to L14."""


@dataclass(frozen=True, slots=True)
class Spread:
    """An input that is broadcast: for each dimension of the result the position of the input's own one, or -1."""

    array: str
    axes: tuple[int, ...]


Source = tuple[str, int]
"""What an operand is: `array`, `scalar` or `step` with its number, or `bits` with a constant's."""


@dataclass(frozen=True, slots=True)
class Step:
    """A selected operation: its name in the table, its vectors and its numbers behind them; `select` has a comparison
    in `numbers`, and in `operands` its two sides and both values. `is_fused`: the source, too, rounds a product and sum
    once.
    """

    name: str
    operands: tuple[Source, ...]
    numbers: tuple[int, ...] = ()
    span: Span | None = field(default=None, compare=False)
    is_fused: bool = False


@dataclass(frozen=True, slots=True)
class Pointwise:
    """A selected formula; `value` is the operand that is the result, which is written at `span`."""

    result: str
    dtype: ElementType
    arrays: tuple[Spread, ...]
    scalars: tuple[str, ...]
    steps: tuple[Step, ...]
    value: Source
    span: Span | None = field(default=None, compare=False)

    @property
    def place(self) -> Place:
        return span_place(self.span)


def span_place(span: Span | None) -> Place:
    """Source place of a span."""
    return NOWHERE if span is None else Place(span.source.name, span.line)
