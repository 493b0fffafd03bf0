# SPDX-License-Identifier: Apache-2.0
"""The names of one phase: its variables, with their element types, and for those that are not the user's the reason why
they are there.

All are made here, each apart from the parameters, the dimensions, the arrays and those that were made before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from polyloom.diagnostics import Span
from polyloom.ir.operations import ElementType
from polyloom.ir.pla import Array, Constant, Operand
from polyloom.ir.plan import Parametric
from polyloom.ir.recurrence import Recurrence, System
from polyloom.names import dotted_name, fresh_name
from polyloom.sets import Affine


class Names:
    """`types`, `reasons` and `spans` (what in the source needs it) are by variable, the last also by array; `entry`
    names what an array holds at entry, where the phase writes it, too; `arrays` are those outside of the phase and, by
    the names of inputs, `parametric` scalars."""

    def __init__(
        self, system: System, equations: Sequence[Recurrence], dims: tuple[str, ...], arrays: Mapping[str, Array]
    ) -> None:
        self.system, self.dims, self.arrays = system, dims, dict(arrays)
        # Names that the user knows come first; whatever is added gives way to them.
        self.taken = {*dims, *system.parameters, *arrays}
        self.labels: set[str] = set()
        # An expression of n operations makes n names of one base.
        self.numbers: dict[str, int] = {}
        self.label_numbers: dict[str, int] = {}
        self.entry = {a: fresh_name(f"{a}_in", self.taken, dotted_name) for a in arrays}
        self.types: dict[str, ElementType] = {}
        self.reasons: dict[str, str] = {}
        self.spans: dict[str, Span | None] = {}
        self.parametric: dict[str, Parametric] = {}
        self.variable_of = {
            e.name: self._new_variable(f"{e.statement.assign.target.name}_{e.name}", e.dtype, "", e.span)
            for e in equations
        }
        self.reasons |= {self.variable_of[n]: why for n, why in system.reasons if n in self.variable_of}

    def label(self, base: str) -> str:
        """A name for an equation."""
        return fresh_name(base, self.labels, dotted_name, self.label_numbers)

    def dtype(self, operand: Operand) -> ElementType:
        if isinstance(operand, Constant):
            return operand.dtype
        return self.types[operand.name] if operand.name in self.types else self.arrays[operand.name].dtype

    def propagation_name(self, statement: str, axis: int) -> str:
        equation, dim = self.system[statement], self.dims[axis]
        array = equation.statement.assign.target.name
        reason = (
            f"passes the value of {array} that {statement} computed along {dim}, where iterations far from it read it"
        )
        return self._new_variable(f"{array}_{dim}", equation.dtype, reason, equation.span)

    def input_name(self, array: str) -> str:
        known = self.parametric.get(array)
        reason = f"takes each element of {array} in once and passes it on to the other iterations that read it"
        return self._new_variable(
            f"{array}_at",
            self.arrays[array].dtype,
            f"passes {known.value} to the iterations that use it as data" if known else reason,
            self.spans.get(array),
        )

    def relay_name(self, variable: str) -> str:
        return self._new_variable(
            variable,
            self.types[variable],
            f"hands the values of {variable} on by unit steps, because it is read at many distances",
            self.spans.get(variable),
        )

    def operand(self, name: str, label: str, dtype: ElementType) -> str:
        # The name of the outermost part, so that chains of operands do not grow with their depth.
        return self._new_variable(name.split(".")[0], dtype, f"an operand of {label}", self.spans.get(name))

    def selection_name(self, name: str, label: str, dtype: ElementType, places: int) -> str:
        reason = f"selects an operand of {label}, which comes from {places} places"
        return self._new_variable(name.split(".")[0], dtype, reason, self.spans.get(name))

    def counter_name(self, value: Affine, dtype: ElementType, span: Span | None) -> str:
        return self._new_variable(
            "_".join(("index", *value.symbols & {*self.dims})),
            dtype,
            f"counts {value}, which is used as data, from iteration to iteration",
            span,
        )

    def note_use(self, array: str, span: Span | None) -> None:
        """The elements of an array are read here; of several places the first one is told."""
        if self.spans.get(array) is None:
            self.spans[array] = span

    def scalar(self, value: Affine, dtype: ElementType) -> str:
        """The input that holds the value of an affine expression of the parameters."""
        scalar = Parametric(f"{value} as {dtype}", value, dtype)
        # Equal expressions share one input, hence one channel at the border.
        known = next((name for name, other in self.parametric.items() if other == scalar), None)
        if known is not None:
            return known
        name = fresh_name("_".join((*sorted(value.symbols), "value")), self.taken, dotted_name)
        self.parametric[name], self.arrays[name] = scalar, Array(name, dtype)
        self.reasons[name] = f"is {value}: parameters have no values in an iteration"
        return name

    def _new_variable(self, base: str, dtype: ElementType, reason: str, span: Span | None) -> str:
        name = fresh_name(base, self.taken, dotted_name, self.numbers)
        self.types[name], self.spans[name] = dtype, span
        self.reasons |= {name: reason} if reason else {}
        return name
