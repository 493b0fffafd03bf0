# SPDX-License-Identifier: Apache-2.0
"""Reference interpreter of recurrence equations, without an order (demand-driven evaluation): an instance is computed
when something needs it, once.

Evaluation starts at the finals and follows origins with a stack of its own. It checks what the system promises: each
read has exactly one piece, each origin is inside its statement's domain, no instance needs itself, no element has two
final writers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import islpy as isl
import numpy as np

from polyloom.diagnostics import PolyloomError, input_error
from polyloom.ir.arguments import Arrays, array_shape, check_inputs, check_parameters
from polyloom.ir.nest import accesses
from polyloom.ir.numbers import NUMPY
from polyloom.ir.pla import Array, Constant
from polyloom.ir.plan import Plan
from polyloom.ir.python_source import Scope
from polyloom.ir.recurrence import Final, Immediate, Origin, Piece, Produced, Recurrence, Stored, System
from polyloom.sets.isl import to_set

Point = tuple[int, ...]
Instance = tuple[int, Point]
"""Equation n at its loops' values, or element of the array ~n."""


def interpret(system: System, parameters: Mapping[str, Any], inputs: Mapping[str, Any]) -> Arrays:
    """Interpretation of a system: every array that a final writes; the rest of it is as given, or 0.

    Raises PL0230 to PL0232 for wrong arguments, PL0233 for an integer division by zero, PL0222 where the system breaks
    a promise.
    """
    signature = _signature(system)
    values = check_parameters(signature, parameters)
    blank = {
        a.name: np.zeros(array_shape(a, values), NUMPY[a.dtype]) for a in signature.outputs if a.name not in inputs
    }
    arrays = check_inputs(signature, values, {**inputs, **blank})
    run = _Run(system, values, arrays)
    outputs = {a.name: arrays[a.name].copy() for a in signature.outputs}
    with np.errstate(all="ignore"):
        run.store(outputs)
    return outputs


def final_points(final: Final, system: System, values: Mapping[str, int]) -> list[Point]:
    """The iterations of `final`, in no order."""
    loops, found = system[final.statement].loops, list[Point]()
    domain = to_set(final.domain, loops, system.parameters)
    for n, name in enumerate(system.parameters):
        domain = domain.fix_val(isl.dim_type.param, n, isl.Val(values[name]))
    # isl enumerates the points of sets without parameters only.
    flat = domain.project_out(isl.dim_type.param, 0, len(system.parameters))
    flat.foreach_point(
        lambda p: found.append(tuple(int(str(p.get_coordinate_val(isl.dim_type.set, n))) for n in range(len(loops))))
    )
    return found


@dataclass(frozen=True, slots=True)
class _Compiled:
    """Functions of the loops' values: whether they are in the domain, the origins of the reads; and of these and the
    reads, the value."""

    equation: Recurrence
    inside: Callable[..., bool]
    origins: Callable[..., list[list[Instance]]]
    value: Callable[..., Any]


class _Run:
    """State of one interpretation: arrays, compiled equations, and the values that are computed."""

    def __init__(self, system: System, values: dict[str, int], arrays: Arrays) -> None:
        self.system, self.values, self.scope = system, values, Scope()
        self.arrays = [arrays[s.name] for s in system.storage]
        self.number = {e.name: n for n, e in enumerate(system.equations)} | {
            f"@{s.name}": ~n for n, s in enumerate(system.storage)
        }
        self.scope.values |= {self.scope.name(p): values[p] for p in system.parameters}
        self.equations = [self.compile_equation(e) for e in system.equations]
        self.done: dict[Instance, Any] = {}

    def compile_equation(self, equation: Recurrence) -> _Compiled:
        loops = [self.scope.name(loop) for loop in equation.loops]
        operands = [f"r{n}" for n in range(len(list(accesses(equation.value))))]
        value = self.function([*loops, *operands], self.scope.value(equation.value, iter(operands)))
        reads = ", ".join(f"[{', '.join(map(self.piece, read))}]" for read in equation.reads)
        origins = self.function(loops, f"[[origin for holds, origin in read if holds] for read in [{reads}]]")
        return _Compiled(equation, self.function(loops, self.scope.condition(equation.domain)), origins, value)

    def function(self, arguments: list[str], text: str) -> Callable[..., Any]:
        # Compiled: domains and indices are evaluated once per instance.
        return eval(f"lambda {', '.join(arguments)}: {text}", self.scope.values)

    def piece(self, piece: Piece) -> str:
        return (
            f"({self.scope.condition(piece.domain)}, ({self.source(piece.origin)}, "
            f"{self.scope.tuple(piece.origin.index)}))"
        )

    def source(self, origin: Origin) -> int:
        """The number of what `origin` is an instance or an element of; a constant is an array of its own."""
        match origin:
            case Produced(statement=statement):
                return self.number[statement]
            case Stored(name=name):
                return self.number[f"@{name}"]
            case Immediate(constant=Constant(value=value, dtype=dtype)):
                self.arrays.append(np.array(value, NUMPY[dtype]))
                return ~(len(self.arrays) - 1)

    def store(self, outputs: Arrays) -> None:
        written: set[tuple[str, Point]] = set()
        for final in self.system.finals:
            loops = self.system[final.statement].loops
            for point in final_points(final, self.system, self.values):
                at = self.values | dict(zip(loops, point, strict=True))
                element = tuple(a.evaluate(at) for a in final.index)
                # With two final writers the result would depend on the order of the finals.
                if (final.name, element) in written:
                    raise input_error("PL0222", f"{final.name}{list(element)} has two final writers")
                written.add((final.name, element))
                outputs[final.name][element] = self.evaluate_instance((self.number[final.statement], point))

    def evaluate_instance(self, instance: Instance) -> Any:
        """Demand-driven evaluation of an instance: depth first over its origins, with a stack instead of recursion."""
        stack, begun = [instance], set[Instance]()
        while stack:
            top = stack[-1]
            sources = [] if top in self.done else self.sources(top)
            missing = [s for s in sources if s not in self.done]
            # The instance is waited for by one of its own sources.
            if missing and top in begun:
                raise self.broken_promise(top, "needs itself")
            if not missing:
                # An instance may be on the stack twice, and done when it is met again.
                self.done.setdefault(top, None if top in self.done else self.compute_value(top, sources))
                stack.pop()
            # Seen a second time with origins still missing, the instance lies on a cycle.
            begun.add(top)
            stack += missing
        return self.done[instance]

    def sources(self, instance: Instance) -> list[Instance]:
        """Origins of the reads of `instance`; an element of an array has none."""
        number, point = instance
        if number < 0:
            return []
        if not self.equations[number].inside(*point):
            raise self.broken_promise(instance, "is outside its domain")
        found = self.equations[number].origins(*point)
        if any(len(origins) != 1 for origins in found):
            raise self.broken_promise(instance, f"has reads with {[len(origins) for origins in found]} origins")
        return [origin for (origin,) in found]

    def compute_value(self, instance: Instance, sources: list[Instance]) -> Any:
        number, point = instance
        if number < 0:
            return self.arrays[~number][point]
        try:
            return self.equations[number].value(*point, *(self.done[s] for s in sources))
        except ZeroDivisionError:
            raise input_error(
                "PL0233", f"{self.name(instance)} divides by zero", span=self.equations[number].equation.span
            ) from None

    def name(self, instance: Instance) -> str:
        return f"{self.equations[instance[0]].equation.name}{list(instance[1])}"

    def broken_promise(self, instance: Instance, what: str) -> PolyloomError:
        return input_error("PL0222", f"{self.name(instance)} {what}")


def _signature(system: System) -> Plan:
    arrays = tuple(Array(s.name, s.dtype, s.shape, s.span) for s in system.storage)
    written = {f.name for f in system.finals}
    return Plan(
        system.name,
        system.parameters,
        system.assumptions,
        arrays,
        tuple(a for a in arrays if a.name in written),
        (),
        (),
    )
