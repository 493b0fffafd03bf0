# SPDX-License-Identifier: Apache-2.0
"""Parameter values and input arrays of a run: their checks, and inputs made up from a seed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from polyloom.diagnostics import PolyloomError, input_error
from polyloom.ir.numbers import NUMPY
from polyloom.ir.pla import Array, Program

Arrays = dict[str, npt.NDArray[Any]]
PARAMETER_LIMIT = 1 << 31


def check_parameters(program: Program, values: Mapping[str, Any]) -> dict[str, int]:
    """The values as integers in the program's order; raises PL0230 when one is missing, unknown or outside the domain."""
    for name in values:
        if name not in program.parameters:
            raise _parameter(f"`{program.name}` has no parameter `{name}`", _signature(program))
    for name in program.parameters:
        if name not in values:
            raise _parameter(f"the parameter `{name}` has no value", f"give one, as in `{name}=16`")
        value = values[name]
        if isinstance(value, bool) or not isinstance(value, int | np.integer):
            raise _parameter(f"`{name}` = {value!r} is not an integer", f"give an integer, as in `{name}=16`")
        if not 0 <= value < PARAMETER_LIMIT:
            raise _parameter(f"`{name}` = {value} is out of range", "give a value from 0 to 2147483647")
    result = {name: int(values[name]) for name in program.parameters}
    if not program.assumptions.contains(result):
        given = ", ".join(f"{n} = {v}" for n, v in result.items())
        raise _parameter(f"{given} is outside the domain of `{program.name}`", f"the parameters must satisfy {program.assumptions}")
    return result


def shape_of(array: Array, parameters: Mapping[str, int]) -> tuple[int, ...]:
    """The extents of `array`."""
    return tuple(extent.evaluate(parameters) for extent in array.shape)


def check_inputs(program: Program, parameters: Mapping[str, int], inputs: Mapping[str, Any]) -> Arrays:
    """The inputs as NumPy arrays; raises PL0231 for a wrong set of names, PL0232 for a wrong shape or type."""
    names = [a.name for a in program.inputs]
    for name in inputs:
        if name not in names:
            raise input_error("PL0231", f"`{program.name}` has no input `{name}`", help=f"its inputs are {', '.join(names) or 'none'}")
    for name in names:
        if name not in inputs:
            raise input_error("PL0231", f"the input `{name}` is missing", help=f"the inputs are {', '.join(names)}")
    return {array.name: _check_array(array, shape_of(array, parameters), inputs[array.name]) for array in program.inputs}


def random_inputs(program: Program, parameters: Mapping[str, int], seed: int) -> Arrays:
    """Inputs that depend on `seed` alone: integers from -4 to 4, f32 uniform in [-1, 1)."""
    generator = np.random.default_rng(seed)
    return {array.name: _random(generator, array, shape_of(array, parameters)) for array in program.inputs}


def _random(generator: np.random.Generator, array: Array, shape: tuple[int, ...]) -> npt.NDArray[Any]:
    values = generator.uniform(-1, 1, shape) if array.dtype == "f32" else generator.integers(-4, 5, shape)
    return np.asarray(values).astype(NUMPY[array.dtype])


def _check_array(array: Array, shape: tuple[int, ...], value: object) -> npt.NDArray[Any]:
    found = np.asarray(value)
    if found.dtype != NUMPY[array.dtype]:
        help = f"convert it: `.astype(numpy.{NUMPY[array.dtype].name})`"
        raise input_error("PL0232", f"the input `{array.name}` has the type {found.dtype}, not {array.dtype}", help=help)
    if found.shape != shape:
        declared = ", ".join(map(str, array.shape))
        raise input_error("PL0232", f"the input `{array.name}` has the shape {found.shape}, not {shape}", help=f"it is declared as `{array.name}[{declared}]`")
    return found


def _parameter(message: str, help: str) -> PolyloomError:
    return input_error("PL0230", message, help=help)


def _signature(program: Program) -> str:
    return f"its parameters are {', '.join(program.parameters)}" if program.parameters else "it has no parameters"
