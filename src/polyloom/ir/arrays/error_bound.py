# SPDX-License-Identifier: Apache-2.0
"""How far NumPy's results of an array program may be from its ordered meaning: bounds of rounding errors, derived
operation by operation while the program is interpreted (running error analysis; Wilkinson, Rounding Errors in Algebraic
Processes, 1963; Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., section 3.3).

Both are rounded evaluations of one program. They differ where sums run in another order, within 2 (n - 1) u sum |x| of
n terms to first order, and in library functions; differences grow in what follows. Where a test may come out
differently, so that another value is chosen, the bound is the distance of both, and infinite for what is no number of
floating point.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from polyloom.ir.arrays.interpret import Interpreter, extents
from polyloom.ir.arrays.program import (
    Apply,
    Cases,
    Constant,
    Contract,
    Form,
    Gather,
    Program,
    Read,
    Reduce,
    Scan,
    Store,
    Value,
    View,
    dtype,
    shape,
)
from polyloom.ir.operations import BY_NAME

Bound = npt.NDArray[np.float64]
_UNIT: Final = {"f16": 2.0**-11, "f32": 2.0**-24, "f64": 2.0**-53}
_LIBRARY: Final = 8.0
"""Units in the last place between two libraries' functions, each of which may be wrong by four."""
_SLOPE: Final = {"sin": 1.0, "cos": 1.0, "tanh": 1.0, "floor": 0.0, "ceil": 0.0, "rint": 0.0, "trunc": 0.0}


def error_bounds(
    program: Program, parameters: Mapping[str, int], arrays: Mapping[str, Any], *, contracts: bool = False
) -> dict[str, Bound]:
    """For every argument that is stored to, the greatest distance of each element of NumPy's from the ordered one;
    with `contracts`, from that of a machine that leaves out the rounding of products in sums."""
    machine = _Machine(program, parameters, arrays, contracts=contracts)
    with np.errstate(all="ignore"):
        machine.run(program.body, dict(parameters))
    return {name: machine.bounds[name] for name in program.written_arguments}


class _Machine(Interpreter):
    """`bounds` are those of the elements of `arrays` (mutable)."""

    def __init__(
        self, program: Program, parameters: Mapping[str, int], arrays: Mapping[str, Any], *, contracts: bool
    ) -> None:
        super().__init__(program, parameters, arrays)
        self.contracts = contracts
        self.bounds: dict[str, Bound] = {name: np.zeros(array.shape) for name, array in self.arrays.items()}

    def store(self, store: Store, values: Mapping[str, int]) -> None:
        target = store.target
        found = self.bound(store.value, values)
        super().store(store, values)
        if all(extents(target.shape, values)):
            held = self.bounds[target.name]
            whole = found.copy() if np.may_share_memory(held, found) else found
            held[self.index(target.name, target.index, target.shape, values)] = whole

    def bound(self, value: Value, values: Mapping[str, int]) -> Any:
        """The bound of each element of a value."""
        match value:
            case Constant() | Form():
                return np.float64(0)
            case Read(name=name, index=index, shape=size):
                return self.element(self.bounds[name], index, size, values)
            case View(source=source, index=index, shape=size):
                return self.element(self.spread(source, values), index, size, values)
            case Gather(source=source, index=index):
                found = self.gather(value, self.spread(source, values), values)
                rank = len(shape(source)) - value.axis - 1
                # Another index may choose any element.
                unsure = np.asarray(self.spread(index, values)) > 0
                return np.where(unsure.reshape((*unsure.shape, *(1,) * rank)), np.inf, found)
            case Apply():
                return self.operation_error(value, values)
            case Contract():
                return self.contraction_error(value, values)
            case Reduce():
                return self.reduction_error(value, values)
            case Scan(axis=axis, source=source):
                count = np.ones(extents(shape(value), values)).cumsum(axis)
                whole = np.abs(self.all_elements(source, values).astype(np.float64)) + self.spread(source, values)
                return self.spread(source, values).cumsum(axis) + self.unit(source) * 2 * count * whole.cumsum(axis)
            case Cases():
                holds = self.holds(value, values)
                before, self.clamps = self.clamps, True
                sides = [np.broadcast_to(self.bound(s, values), holds.shape) for s in (value.inside, value.outside)]
                self.clamps = before
                return np.where(holds, sides[0], sides[1])

    def spread(self, value: Value, values: Mapping[str, int]) -> Bound:
        return np.broadcast_to(self.bound(value, values), extents(shape(value), values))

    def unit(self, value: Value) -> float:
        return _UNIT.get(dtype(value), 0.0)

    def operation_error(self, value: Apply, values: Mapping[str, int]) -> Any:
        known = [self.bound(operand, values) for operand in value.operands]
        alike = not self.contracts or value.operation not in _CONTRACTED
        if alike and not any(np.any(each) for each in known) and value.operation not in _TRANSCENDENTAL:
            return np.float64(0)
        given = [np.asarray(self.value(operand, values)).astype(np.float64) for operand in value.operands]
        result = np.abs(np.asarray(self.value(value, values)).astype(np.float64))
        grown = _propagated_error(value, given, known, result)
        # What is finite and exact on both sides is rounded alike.
        differs = np.broadcast_arrays(*known, grown)[:-1]
        rounded = 2 * self.unit(value) * (result + grown)
        rounded = rounded if BY_NAME[value.operation].result(value.dtype) in _UNIT else 0.0
        library = _LIBRARY * self.unit(value) * result if value.operation in _TRANSCENDENTAL else 0.0
        # The same operands give the same result: IEEE 754 leaves no choice.
        exact = np.logical_and.reduce([each == 0 for each in differs])
        return np.where(exact & alike, 0.0, grown + rounded) + library

    def contraction_error(self, value: Contract, values: Mapping[str, int]) -> Any:
        """Of n products: each is wrong by its factors' errors, and the sum by 2 n u of their magnitudes."""
        found = [np.abs(self.all_elements(o, values).astype(np.float64)) for o in value.operands]
        wrong = [self.spread(o, values) for o in value.operands]
        labels = f"{','.join(value.labels)}->{value.result}"
        least = np.einsum(labels, *found)
        most = np.einsum(labels, *[a + e for a, e in zip(found, wrong, strict=True)])
        count = np.einsum(labels, *[np.ones_like(a) for a in found])
        return (most - least) + 2 * (count + len(found)) * self.unit(value) * most

    def reduction_error(self, value: Reduce, values: Mapping[str, int]) -> Any:
        wrong = self.spread(value.source, values)
        source = np.abs(self.all_elements(value.source, values).astype(np.float64))
        count, u = float(np.prod([source.shape[n] for n in value.axes])), self.unit(value.source)
        match value.operation:
            case "add":
                return wrong.sum(value.axes) + 2 * count * u * (source + wrong).sum(value.axes)
            case "mul":
                product = source.prod(value.axes)
                return ((source + wrong).prod(value.axes) - product) + 2 * count * u * (source + wrong).prod(value.axes)
            case "maximum" | "minimum":
                return wrong.max(value.axes, initial=0.0)
            case _:
                return np.where(np.any(wrong > 0, value.axes), np.inf, 0.0)


_CONTRACTED: Final = ("add", "sub", "mul", "div", "sqrt")
"""What two machines round differently from the same operands, where one contracts."""
_TRANSCENDENTAL: Final = ("exp", "exp2", "log", "sin", "cos", "tanh", "pow")


def _propagated_error(value: Apply, given: list[Any], known: list[Any], result: Any) -> Any:
    """The error that operands bring in."""
    a: Any = given[0]
    e: Any = known[0]
    b, f = (given[1], known[1]) if len(given) > 1 else (a, e)
    match value.operation:
        case "add" | "sub":
            return e + f
        case "mul":
            return np.abs(a) * f + np.abs(b) * e + e * f
        case "div":
            return np.where(np.abs(b) > f, (e + result * f) / np.maximum(np.abs(b) - f, 1e-300), np.inf)
        case "min" | "max":
            return np.maximum(e, f)
        case "neg" | "abs" | "move":
            return e
        case "sqrt":
            return np.minimum(np.sqrt(e), e / np.maximum(result, 1e-300))
        # e^(x + d) - e^x = e^x (e^d - 1), which is no less for base 2.
        case "exp" | "exp2":
            return result * np.expm1(np.minimum(e, 700.0))
        case "log":
            return np.where(a > e, e / np.maximum(a - e, 1e-300), np.inf)
        case "floor" | "ceil" | "rint" | "trunc":
            return np.where(e > 0, np.ceil(e) + 1.0, 0.0)
        case "pow":
            n = np.abs(b)
            return n * (np.abs(a) + e) ** np.maximum(n - 1, 0) * e
        case "select":
            return _select_error(given, known)
        case "eq" | "ne" | "lt" | "le" | "gt" | "ge":
            return np.where(np.abs(a - b) <= e + f, np.where(e + f > 0, np.inf, 0.0), 0.0)
        case name if name in _SLOPE:
            return e * _SLOPE[name]
        case name if name.startswith("to_"):
            is_float = BY_NAME[name].result(value.dtype) in _UNIT
            return e if is_float else np.where(e > 0, np.ceil(e) + 1.0, 0.0)
        case _:
            return np.where(e + f > 0, np.inf, 0.0)


def _select_error(given: list[Any], known: list[Any]) -> Any:
    """Of a select: the distance of both values where the test may come out differently."""
    test: Bound = np.asarray(given[0])
    first: Bound = np.asarray(known[1])
    second: Bound = np.asarray(known[2])
    distance: Bound = np.abs(given[1] - given[2]) + first + second
    return np.where(np.asarray(known[0]) > 0, distance, np.where(test != 0, first, second))
