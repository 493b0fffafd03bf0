# SPDX-License-Identifier: Apache-2.0
"""SSA function as what a target compiles, whatever source it comes from, and what its oracles share: the interpreter on
a signature's arguments, which parameters nothing reads, and the ranges of those that are indices.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from polyloom.analysis.index_ranges import index_ranges
from polyloom.analysis.stores import written_parameters
from polyloom.diagnostics import PolyloomError, Span
from polyloom.frontend.source import Arrays
from polyloom.ir.arguments import read_only_arrays
from polyloom.ir.signature import RESULT, Argument, Signature
from polyloom.ir.ssa import Function
from polyloom.ir.ssa_interpret import interpret
from polyloom.ir.ssa_types import FLOATS, SIZE, WIDTH, Type
from polyloom.ir.ssa_verify import uses
from polyloom.recursion import with_deep_stack

Array = npt.NDArray[Any]
STEPS: Final = 2 * 10**6
"""The interpreter gives up after these, some seconds of work: then another oracle is what a run is compared with."""


@dataclass(frozen=True, slots=True)
class Content:
    """The function, and where it stands in the user's text. `distinct`: no two arrays overlap, as in a Python kernel;
    `reassociate`: float sums may change their order.
    """

    function: Function
    span: Span | None
    distinct: bool = False
    reassociate: bool = False


def interpret_outputs(
    signature: Signature, function: Function, inputs: Arrays, names: Sequence[str], steps: int | None = None
) -> Arrays | None:
    """Outputs of these names by the interpreter, unless it takes more than so many steps, or `STEPS`."""
    found = _interpreter_arrays(signature, function, inputs)
    given = passed_arguments(function_arguments(signature), found)
    try:
        value = interpret(function, given, STEPS if steps is None else steps)
    except PolyloomError as error:
        # Only the limit of steps makes the interpreter give up; what is undefined is the user's error.
        if error.code != "PL0974":
            raise
        return None
    result = signature.argument(RESULT)
    if result is not None and function.result is not None and value is not None:
        found[RESULT] = as_result(value, result.dtype, function.result)
    return {name: found[name] for name in names}


def _interpreter_arrays(signature: Signature, function: Function, inputs: Arrays) -> dict[str, Array]:
    """Arrays for the interpreter, which writes in place: copies of those that the function may store to. The others
    are views, and a store to one of them a fault."""
    arguments, written = function_arguments(signature), written_parameters(function)
    views = read_only_arrays({a.name: inputs[a.name] for a in arguments})
    stored = {a.name for a, p in zip(arguments, function.parameters, strict=True) if p.name in written}
    return {name: array.copy() if name in stored else array for name, array in views.items()}


def called_arrays(signature: Signature, inputs: Arrays) -> dict[str, Array]:
    """Arrays for a machine's call of a function, in the declared types: outputs are copies, which it changes in place,
    all others read-only views."""
    given = {a.name: np.asarray(inputs[a.name], a.dtype, order="C") for a in signature.inputs}
    outputs = {a.name for a in signature.outputs}
    return {n: array.copy() if n in outputs else array for n, array in read_only_arrays(given).items()}


def better_error(
    error: PolyloomError, signature: Signature, function: Function, span: Span | None, inputs: Arrays
) -> PolyloomError:
    """Better error of a run: what the source leaves undefined is reported by the interpreter, which looks less long
    without an end. Else the error itself, at the function's place where it has none.
    """
    has_end = error.code not in ("PL0914", "PL0915")
    try:
        # A run that did not end makes the same loop likely here, so that fewer steps are spent on it.
        interpret_outputs(signature, function, inputs, (), STEPS if has_end else STEPS // 10)
    except PolyloomError as better:
        return better
    first = error.diagnostics[0]
    return PolyloomError(replace(first, span=first.span or span))


def function_arguments(signature: Signature) -> tuple[Argument, ...]:
    """Arguments that are the function's parameters, in their order."""
    return tuple(a for a in signature.arguments if a.name != RESULT)


def unused_parameters(signature: Signature, function: Function) -> frozenset[str]:
    """Parameters that no instruction of the function uses."""
    found = {value for block in function.blocks for _, operands in uses(block) for value in operands}
    names = zip(function_arguments(signature), function.parameters, strict=True)
    return frozenset(argument.name for argument, value in names if value not in found)


def index_argument_ranges(
    function: Function, signature: Signature, values: Mapping[str, int]
) -> dict[str, tuple[int, int]]:
    """Value ranges of inputs that are used as indices, by the user's names; extents need the values of all sizes."""
    own = {inner.name: a for inner, a in zip(function.parameters, function_arguments(signature), strict=True)}
    known = {inner: values[a.name] for inner, a in own.items() if a.name in values}
    shapes = {inner: (a.dtype.itemsize, a.extents(values)) for inner, a in own.items() if a.shape}
    return {own[inner].name: found for inner, found in with_deep_stack(index_ranges)(function, known, shapes).items()}


def as_result(value: float, declared: np.dtype[Any], type: Type) -> Array:
    """Result of a function, as an array of rank 0. It has the width that it has in SSA form, so that one whose
    declaration says otherwise differs from the host's.
    """
    if isinstance(value, float) or type in FLOATS:
        return np.array(value, f"<f{SIZE[type]}")
    bits = int(value) % (1 << WIDTH[type])
    kind = "u" if declared.kind == "u" else "i"
    dtype = declared if SIZE[type] == declared.itemsize else np.dtype(f"<{kind}{SIZE[type]}")
    return np.frombuffer(bits.to_bytes(dtype.itemsize, "little"), dtype).reshape(()).copy()


def passed_arguments(arguments: Sequence[Argument], arrays: Arrays) -> list[int | float | Array]:
    """Arguments of a call in their order: scalars as numbers of Python, the others as their arrays."""
    return [python_scalar(arrays[a.name]) if a.is_scalar else arrays[a.name] for a in arguments]


def python_scalar(scalar: Array) -> int | float:
    """A scalar as Python's number."""
    return float(scalar) if scalar.dtype.kind == "f" else int(scalar)
