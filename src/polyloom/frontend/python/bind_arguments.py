# SPDX-License-Identifier: Apache-2.0
"""Argument binding of a kernel's call (Python language reference, section 6.3.4): arrays and scalars of the declared
types, sizes from shapes or by keyword.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from polyloom.diagnostics import PolyloomError, input_error
from polyloom.frontend.python.integer_trees import as_integer
from polyloom.frontend.python.resolve_names import Function
from polyloom.frontend.suggestions import suggestion
from polyloom.ir.nest import Storage
from polyloom.ir.numbers import NUMPY, element_constant
from polyloom.ir.pla_text import print_condition
from polyloom.sets import Affine, Condition

Arguments = dict[str, Any]


def bind_arguments(
    function: Function, assumptions: Condition, given: Sequence[object], named: Mapping[str, object]
) -> tuple[dict[str, int], Arguments]:
    """Binding of a call: the parameters' values and the arguments by name; raises PL0145 for whatever does not fit the
    declaration.
    """
    values = _bind_names(function, given, named)
    arguments = {name: _check_argument(storage, values[name]) for name, storage in function.storage.items()}
    parameters = {name: _check_parameter(name, values[name]) for name in function.parameters if name in values}
    arrays = [(storage, arguments[storage.name].shape) for storage in function.storage.values() if storage.shape]
    _solve_sizes(arrays, parameters)
    for name in function.parameters:
        if name not in parameters:
            raise _wrong(
                f"the size `{name}` has no value",
                f"no shape gives it: pass it by keyword, as in `{function.node.name}(..., {name}=16)`",
            )
    _check_shapes(arrays, parameters)
    if not assumptions.contains(parameters):
        shown = ", ".join(f"{name} = {value}" for name, value in parameters.items())
        raise _wrong(
            f"`{function.node.name}` is not defined for {shown}",
            f"its sizes must satisfy {print_condition(assumptions, function.parameters)}",
        )
    _check_overlap(function, arguments)
    return parameters, {**arguments, **{name: parameters[name] for name in function.order if name in parameters}}


def _bind_names(function: Function, given: Sequence[object], named: Mapping[str, object]) -> dict[str, object]:
    call = f"{function.node.name}({', '.join(function.order)})"
    if len(given) > len(function.order):
        raise _wrong(
            f"`{function.node.name}` takes {len(function.order)} arguments, not {len(given)}",
            f"it is declared as {call}",
        )
    values = dict(zip(function.order, given, strict=False))
    known = (*function.order, *function.parameters)
    for name, value in named.items():
        if name in values:
            raise _wrong(f"the argument `{name}` is given twice", f"it is declared as {call}")
        if name not in known:
            raise _wrong(
                f"`{function.node.name}` has no argument `{name}`", suggestion(name, known, f"it is declared as {call}")
            )
        values[name] = value
    for name in function.order:
        if name not in values:
            raise _wrong(f"the argument `{name}` is missing", f"it is declared as {call}")
    return values


def _check_argument(storage: Storage, value: object) -> Any:
    if storage.shape:
        return _check_array(storage, value)
    # A NumPy scalar of another type is taken by its value, as a Python number is.
    number: object = cast(Any, value).item() if isinstance(value, np.generic) else value
    found = element_constant(number, storage.dtype) if isinstance(number, int | float) else None
    if found is None:
        raise _wrong(f"the scalar `{storage.name}` cannot be {value!r}", f"it is declared as {storage.dtype}")
    return NUMPY[storage.dtype].type(found)


def _check_array(storage: Storage, value: object) -> npt.NDArray[Any]:
    help = f"it is declared as {storage.dtype}: pass a NumPy array of {NUMPY[storage.dtype].name}"
    if not isinstance(value, np.ndarray):
        raise _wrong(f"the array `{storage.name}` was given a value of the type {type(value).__name__}", help)
    array = cast(npt.NDArray[Any], value)
    if array.dtype != NUMPY[storage.dtype]:
        raise _wrong(f"the array `{storage.name}` was given elements of the type {array.dtype}", help)
    if array.ndim != len(storage.shape):
        raise _shape_error(storage, array.shape)
    return array


def _check_parameter(name: str, value: object) -> int:
    number = as_integer(value)
    if number is None:
        raise _wrong(f"the integer `{name}` cannot be {value!r}", f"pass an integer, as in `{name}=16`")
    return number


def _solve_sizes(arrays: Sequence[tuple[Storage, tuple[int, ...]]], parameters: dict[str, int]) -> None:
    """Sizes from shapes: gives a value to every size that some extent determines once others are known."""
    pairs = [(extent, length) for storage, shape in arrays for extent, length in zip(storage.shape, shape, strict=True)]
    progress = True
    # A fixed point: A[N] gives N, and then B[N + M] gives M.
    while progress:
        found = {
            # Reversed, so that the first array of the declaration decides where two disagree.
            name: value
            for extent, length in reversed(pairs)
            for name, value in _solve_extent(extent, length, parameters)
        }
        parameters |= found
        progress = bool(found)


def _solve_extent(extent: Affine, length: int, parameters: Mapping[str, int]) -> Iterator[tuple[str, int]]:
    unknown = [(name, factor) for name, factor in extent.terms if name not in parameters]
    if len(unknown) == 1:
        (name, factor) = unknown[0]
        rest = length - extent.evaluate({**parameters, name: 0})
        if rest % factor == 0:
            yield name, rest // factor


def _check_shapes(arrays: Sequence[tuple[Storage, tuple[int, ...]]], parameters: Mapping[str, int]) -> None:
    for storage, shape in arrays:
        if shape != tuple(extent.evaluate(parameters) for extent in storage.shape):
            raise _shape_error(storage, shape, parameters)


def _shape_error(
    storage: Storage, shape: tuple[int, ...], parameters: Mapping[str, int] | None = None
) -> PolyloomError:
    declared = f"it is declared as {storage.name}[{', '.join(map(str, storage.shape))}]"
    symbols = {symbol for extent in storage.shape for symbol in extent.symbols}
    values = ", ".join(f"{name} = {value}" for name, value in (parameters or {}).items() if name in symbols)
    return _wrong(
        f"the array `{storage.name}` has the shape {shape}", f"{declared} with {values}" if values else declared
    )


def _check_overlap(function: Function, arguments: Arguments) -> None:
    """Aliasing check: arrays that share memory would not be the arrays that the nest is about."""
    arrays = [name for name, storage in function.storage.items() if storage.shape]
    for n, a in enumerate(arrays):
        for b in arrays[:n]:
            if np.may_share_memory(arguments[a], arguments[b]):
                raise _wrong(f"the arrays `{b}` and `{a}` share memory", "pass a copy of one of them")


def _wrong(message: str, help: str | None) -> PolyloomError:
    return input_error("PL0145", message, help=help)
