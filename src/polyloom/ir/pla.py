# SPDX-License-Identifier: Apache-2.0
"""Piecewise linear algorithms: single-assignment equations quantified over an iteration space (array paper, section 4,
Eq. (1); uniform recurrences: Karp, Miller and Winograd 1967).

    Si: x[I] = op(y[I - d], in[Q I + q], constant, ...) if I in condition

A `Program` here is *flat*: every equation applies one operation. Internal variables are indexed uniformly: a target by
exactly the dimensions, an operand by the dimensions minus a constant vector `d`. Inputs and outputs are indexed
affinely.
"""

from __future__ import annotations

from dataclasses import dataclass

from polyloom.diagnostics import Span
from polyloom.ir.operations import ElementType
from polyloom.sets import Affine, Condition


@dataclass(frozen=True, slots=True)
class Array:
    """An input or output. `shape` is affine in the parameters; `()` is a scalar."""

    name: str
    dtype: ElementType
    shape: tuple[Affine, ...] = ()
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Variable:
    """An internal variable: one value of `dtype` an iteration where some equation defines it."""

    name: str
    dtype: ElementType
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Reference:
    """`name[index]`: an array element, or an instance of an internal variable."""

    name: str
    index: tuple[Affine, ...] = ()
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Constant:
    """An immediate operand; `value` is in range of `dtype` (f32 values are exactly representable)."""

    value: int | float
    dtype: ElementType
    span: Span | None = None


Operand = Reference | Constant


@dataclass(frozen=True, slots=True)
class Equation:
    """Equation Si (array paper, section 4, Eq. (1)): `name: target = operation(operands) if condition`. `dtype` is the
    operands' element type (the last operand's). `span` is what the user wrote it for; of one that the user did not
    write, `reason` says why it exists.
    """

    name: str
    target: Reference
    operation: str
    dtype: ElementType
    operands: tuple[Operand, ...]
    condition: Condition
    span: Span | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Program:
    """A flat piecewise linear algorithm.

    `assumptions` is the parameters' domain. Every equation's `condition` already includes `space`, so the condition
    spaces stand alone; `space` is kept for printing and for tiling.
    """

    name: str
    parameters: tuple[str, ...]
    assumptions: Condition
    dimensions: tuple[str, ...]
    space: Condition
    inputs: tuple[Array, ...]
    outputs: tuple[Array, ...]
    variables: tuple[Variable, ...]
    equations: tuple[Equation, ...]

    def distance(self, reference: Reference) -> tuple[int, ...]:
        """The dependence vector `d` of a reference to an internal variable `x[I - d]`, in the order of `dimensions`."""
        return tuple(-e.constant for e in reference.index)

    def reference(self, name: str, distance: tuple[int, ...] = ()) -> Reference:
        """The reference `name[I - d]`, of which `distance` is d; without one, `name[I]`."""
        steps = distance or (0,) * len(self.dimensions)
        return Reference(name, tuple(Affine.symbol(d) - s for d, s in zip(self.dimensions, steps, strict=True)))
