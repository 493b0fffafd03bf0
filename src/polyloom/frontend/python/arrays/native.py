# SPDX-License-Identifier: Apache-2.0
"""An array function as the Python function that it is: NumPy executes it, with numbers in the place of sizes."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from types import FunctionType
from typing import Any

import numpy as np

from polyloom.diagnostics import PolyloomError, input_error
from polyloom.frontend.python.bind_arguments import check_shapes, solve_sizes
from polyloom.frontend.python.types import Size
from polyloom.ir.arrays.program import Program
from polyloom.ir.nest import Storage
from polyloom.ir.numbers import NUMPY
from polyloom.ir.pla_text import print_condition


def bind_arguments(function: FunctionType, given: Sequence[Any], named: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a call by name, with defaults; raises PL0145."""
    try:
        bound = inspect.signature(function).bind(*given, **named)
    except TypeError as error:
        raise _wrong(f"`{function.__name__}`: {error}", "see the head of the function") from None
    bound.apply_defaults()
    return dict(bound.arguments)


def call_function(function: FunctionType, program: Program, given: Sequence[Any], named: Mapping[str, Any]) -> Any:
    """What the function returns, executed by NumPy in place. Raises PL0145 for arguments of other types or shapes."""
    own = set(inspect.signature(function).parameters)
    sizes = {name: value for name, value in named.items() if name not in own and name in program.parameters}
    values = bind_arguments(function, given, {n: v for n, v in named.items() if n not in sizes})
    arrays = list[tuple[Storage, tuple[int, ...]]]()
    for storage in program.storage:
        if storage.name not in values or storage.role != "argument":
            continue
        values[storage.name] = _argument(storage, values[storage.name])
        if storage.shape:
            arrays.append((storage, values[storage.name].shape))
    parameters = {**sizes, **{n: v for n, v in values.items() if n in program.parameters}}
    solve_sizes(arrays, parameters)
    for name in program.parameters:
        if name not in parameters:
            help = f"no shape gives it: pass it by keyword, as in `{function.__name__}(..., {name}=16)`"
            raise _wrong(f"the size `{name}` has no value", help)
    check_shapes(arrays, parameters)
    if not program.assumptions.contains(parameters):
        shown = ", ".join(f"{name} = {value}" for name, value in parameters.items())
        domain = print_condition(program.assumptions, program.parameters)
        raise _wrong(f"`{function.__name__}` is not defined for {shown}", f"its sizes must satisfy {domain}")
    with np.errstate(all="ignore"):
        return with_sizes(function, parameters)(**values)


def with_sizes(function: FunctionType, parameters: Mapping[str, int]) -> Callable[..., Any]:
    """The function in a module where sizes are numbers, and kernels are functions."""
    names: dict[str, Any] = {}

    def sized_value(value: Any) -> Any:
        inner = getattr(value, "function", value)
        # Outside of a compiled kernel a size is no number; here it has the value of this call.
        if isinstance(value, Size):
            form: Any = value.form
            return form.evaluate(parameters) if form.symbols <= parameters.keys() else value
        if isinstance(inner, FunctionType) and inner.__globals__ is function.__globals__:
            defaults, keywords = inner.__defaults__, inner.__kwdefaults__
            found = FunctionType(inner.__code__, names, inner.__name__, defaults, inner.__closure__)
            found.__kwdefaults__ = keywords
            return found
        return value

    names |= {name: sized_value(value) for name, value in function.__globals__.items()}
    return sized_value(function)


def _argument(storage: Storage, given: object) -> Any:
    value: Any = given
    if not storage.shape:
        return NUMPY[storage.dtype].type(value)
    help = f"it is declared as {storage.dtype}: pass a NumPy array of {NUMPY[storage.dtype].name}"
    if not isinstance(given, np.ndarray):
        raise _wrong(f"the array `{storage.name}` was given a value of the type {type(value).__name__}", help)
    if value.dtype != NUMPY[storage.dtype]:
        raise _wrong(f"the array `{storage.name}` was given elements of the type {value.dtype}", help)
    if value.ndim != len(storage.shape):
        raise _wrong(
            f"the array `{storage.name}` has the shape {value.shape}", f"it has {len(storage.shape)} dimensions"
        )
    return value


def _wrong(message: str, help: str) -> PolyloomError:
    return input_error("PL0145", message, help=help)
