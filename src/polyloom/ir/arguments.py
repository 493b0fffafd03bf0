# SPDX-License-Identifier: Apache-2.0
"""Argument checks of interpreters: parameter values and inputs.

Programs, plans and configurations of several phases have the same `Signature`; a scalar is an input of rank 0 that is
no output.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import index
from typing import Any, Protocol, SupportsIndex

import numpy as np
import numpy.typing as npt

from polyloom.diagnostics import PolyloomError, input_error
from polyloom.ir.numbers import NUMPY
from polyloom.ir.pla import Array
from polyloom.ir.pla_text import print_condition
from polyloom.sets import Affine, Condition
from polyloom.sets.normal_form import fixed_symbols

Arrays = dict[str, npt.NDArray[Any]]
# Parameters are i32 in generated C and in the files of targets.
PARAMETER_LIMIT = 1 << 31


class Signature(Protocol):
    """Signature of a program: `inputs` are given, `outputs` come back; `assumptions`: the parameters' domain."""

    @property
    def name(self) -> str: ...
    @property
    def parameters(self) -> tuple[str, ...]: ...
    @property
    def assumptions(self) -> Condition: ...
    @property
    def inputs(self) -> tuple[Array, ...]: ...
    @property
    def outputs(self) -> tuple[Array, ...]: ...


def print_signature(signature: Signature) -> str:
    """`gemm(NI, NJ, alpha: f32)`: the parameters, then the scalars; arrays are left out."""
    scalars = (f"{a.name}: {a.dtype}" for a in signature.inputs if not a.shape)
    return f"{signature.name}({', '.join((*signature.parameters, *scalars))})"


def check_parameters(signature: Signature, values: Mapping[str, Any]) -> dict[str, int]:
    """Parameter values as integers, in order; one that the domain fixes may be left out. Raises PL0230 when some are
    missing, unknown or outside the domain.
    """
    for name in values:
        if name not in signature.parameters:
            raise _parameter_error(
                f"`{signature.name}` has no parameter `{name}`", f"it is {print_signature(signature)}"
            )
    values = {**fixed_symbols(signature.assumptions), **values}
    missing = [name for name in signature.parameters if name not in values]
    if missing:
        raise _parameter_error(
            f"the {quote('parameter', missing)} {'has no value' if len(missing) == 1 else 'have no values'}",
            f"give every one, as in `{missing[0]}=16`: {print_signature(signature)}",
        )
    for name in signature.parameters:
        _check_integer(name, values[name])
    # `index` takes NumPy's integers, too, and no floats.
    result = {name: index(values[name]) for name in signature.parameters}
    if not signature.assumptions.contains(result):
        given, domain = (
            ", ".join(f"{n} = {v}" for n, v in result.items()),
            print_condition(signature.assumptions, signature.parameters),
        )
        raise _parameter_error(
            f"{given} is outside the domain of `{signature.name}`", f"the parameters must satisfy {domain}"
        )
    return result


def has_plain_values(parameters: Sequence[str], values: Mapping[str, Any]) -> bool:
    """Whether the values are integers in range, one for each parameter: then `check_parameters` has only their domain
    to look at."""
    if len(values) != len(parameters):
        return False
    for name in parameters:
        value = values.get(name)
        if type(value) is not int or not 0 <= value < PARAMETER_LIMIT:
            return False
    return True


def quote(what: str, names: Sequence[str]) -> str:
    """``array `A` ``, or ``arrays `A`, `B` and `C` ``."""
    quoted = [f"`{n}`" for n in names]
    return f"{what} {quoted[0]}" if len(quoted) == 1 else f"{what}s {', '.join(quoted[:-1])} and {quoted[-1]}"


def _check_integer(name: str, value: Any) -> None:
    # The usual case first: asking for a protocol takes longer than all the rest.
    if type(value) is int and 0 <= value < PARAMETER_LIMIT:
        return
    if isinstance(value, bool) or not isinstance(value, SupportsIndex):
        raise _parameter_error(f"`{name}` = {value!r} is not an integer", f"give an integer, as in `{name}=16`")
    if not 0 <= index(value) < PARAMETER_LIMIT:
        raise _parameter_error(f"`{name}` = {value} is out of range", "give a value from 0 to 2147483647")


def array_shape(array: Array, parameters: Mapping[str, int]) -> tuple[int, ...]:
    """Shape of an array for parameter values."""
    return tuple(extent.evaluate(parameters) for extent in array.shape)


def sizes_from_shapes(signature: Signature, arrays: Mapping[str, npt.NDArray[Any]]) -> dict[str, int]:
    """The parameters, from the shapes of all inputs and outputs; 1 for one that no shape tells."""
    known = dict[str, int]()
    shapes = [(a.shape, arrays[a.name].shape) for a in (*signature.inputs, *signature.outputs)]
    pairs = [pair for shape, extents in shapes for pair in zip(shape, extents, strict=True)]
    for _ in signature.parameters:  # each time, one more may follow
        for extent, number in pairs:
            if len(missing := extent.symbols - set(known)) == 1:
                (found,) = missing
                # One unknown is left: number = coefficient * unknown + rest.
                rest = number - extent.substitute({n: Affine((), v) for n, v in known.items()}).constant
                known[found] = rest // extent.coefficient(found)
    return {name: known.get(name, 1) for name in signature.parameters}


def check_inputs(signature: Signature, parameters: Mapping[str, int], inputs: Mapping[str, Any]) -> Arrays:
    """Inputs as NumPy arrays; raises PL0231 for a wrong set of names, PL0232 for a wrong shape or type."""
    names = [a.name for a in signature.inputs]
    for name in inputs:
        if name not in names:
            raise input_error(
                "PL0231",
                f"`{signature.name}` has no input `{name}`",
                help=f"its inputs are {', '.join(names) or 'none'}",
            )
    if missing := [name for name in names if name not in inputs]:
        raise input_error(
            "PL0231",
            f"the {quote('input', missing)} {verb(missing)} missing",
            help=f"the inputs are {', '.join(names)}",
        )
    return {
        array.name: _check_array(array, array_shape(array, parameters), inputs[array.name], "input")
        for array in signature.inputs
    }


def verb(names: Sequence[str]) -> str:
    """The verb behind `quote`."""
    return "is" if len(names) == 1 else "are"


def _check_array(array: Array, shape: tuple[int, ...], value: object, what: str) -> npt.NDArray[Any]:
    # Types must match exactly: a silent conversion would round or wrap the user's data.
    found = np.asarray(value)
    if found.dtype != NUMPY[array.dtype]:
        kind = f"numpy.{NUMPY[array.dtype].name}"
        help = (
            f"convert it: `.astype({kind})`"
            if what == "input"
            else f"make it of this type, `numpy.zeros({shape}, {kind})`, or leave it out"
        )
        raise input_error(
            "PL0232", f"the {what} `{array.name}` has the type {found.dtype}, not {array.dtype}", help=help
        )
    if found.shape != shape:
        declared = ", ".join(map(str, array.shape))
        message = f"the {what} `{array.name}` has the shape {found.shape}, not {shape}"
        raise input_error("PL0232", message, help=f"it is declared as `{array.name}[{declared}]`")
    return found


def _parameter_error(message: str, help: str) -> PolyloomError:
    return input_error("PL0230", message, help=help)


def read_only_arrays(arrays: Mapping[str, npt.NDArray[Any]]) -> Arrays:
    """Read-only views of arrays (NumPy, `ndarray.flags`), copies of those that are not contiguous or not aligned. A
    machine or an oracle that changes arrays copies these first: so weights exist once, and one that forgets to fails
    instead of changing what others see."""
    found = {name: array[...] if _is_contiguous(array) else array.copy() for name, array in arrays.items()}
    for array in found.values():
        array.flags.writeable = False
    return found


def _is_contiguous(array: npt.NDArray[Any]) -> bool:
    return array.flags.c_contiguous and array.flags.aligned
