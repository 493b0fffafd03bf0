# SPDX-License-Identifier: Apache-2.0
"""Evaluation of a nest in the tile's arithmetic, operation by operation: bit by bit, and in numbers with a running
error bound (Higham 2002, section 3.3).

Both interpret the arranged nest by `transform.parallel.lane_interpreter`, each operation as the formula that the
vector unit computes for it (`map.loops.vector`). A value with its error is a complex number here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from polyloom.frontend.source import Arrays
from polyloom.ir.formula import Apply, Leaf, Number, Term
from polyloom.ir.library import KERNELS
from polyloom.ir.nest import Nest
from polyloom.ir.operations import BY_NAME, DIVISIONS, ElementType
from polyloom.ir.python_source import Scope
from polyloom.ir.semantics import operation_function
from polyloom.ir.stage import Formula, Program
from polyloom.sets import Affine
from polyloom.targets.tensix.map.loops.pointwise import Selector
from polyloom.targets.tensix.map.loops.steps import Pointwise
from polyloom.targets.tensix.map.loops.vector import evaluate, formula_error
from polyloom.targets.tensix.map.oracle.nest_outputs import argument_arrays
from polyloom.targets.tensix.words.arrays.elements import to_vectors
from polyloom.transform.parallel.lane_interpreter import interpret_lanes
from polyloom.transform.stages.integers.ranges import CARRIED

Array = NDArray[Any]
Function = Callable[..., Any]
_CONVERSIONS: Final = tuple(f"to_{kind}" for kind in CARRIED)
_COMPARISONS: Final = ("lt", "le", "eq", "ne", "ge", "gt")


def nest_bits(nest: Nest, inputs: Arrays) -> dict[str, Array]:
    """Arguments after an arranged nest, as a tile computes them."""
    return interpret_lanes(nest, argument_arrays(nest, inputs), _function_of_bits, _BitScope)


def nest_errors(nest: Nest, inputs: Arrays, *, is_rounded: bool) -> dict[str, Array]:
    """Error bound of each argument after an arranged nest of floats. `is_rounded` says that the program rounds every
    product before it is added.
    """
    of_operation = _function_of_rounded_errors if is_rounded else _function_of_errors
    given = {name: array.astype(np.complex128) for name, array in argument_arrays(nest, inputs).items()}
    types: Mapping[ElementType, Any] = {storage.dtype: np.dtype(np.complex128) for storage in nest.storage}
    scope = _RoundedErrorScope if is_rounded else _ErrorScope
    made = interpret_lanes(nest, given, of_operation, scope, types)
    return {name: np.imag(array) for name, array in made.items()}


class _BitScope(Scope):
    """Arithmetic of single values."""

    def function(self, operation: str, dtype: ElementType) -> Function:
        return _function_of_bits(operation, dtype)


class _ErrorScope(Scope):
    """Errors of single values."""

    def function(self, operation: str, dtype: ElementType) -> Function:
        return _function_of_errors(operation, dtype)


class _RoundedErrorScope(Scope):
    """Errors of single values, about what the program rounds."""

    def function(self, operation: str, dtype: ElementType) -> Function:
        return _function_of_rounded_errors(operation, dtype)


@cache
def _operation_formula(operation: str, dtype: ElementType) -> Pointwise:
    """Formula of one operation; a comparison gives 1 or 0 in the type of what it compares."""
    # One formula for each operation and type; the nest has few.
    names = tuple(f"x{n}" for n in range(BY_NAME[operation].arity))
    leaves: tuple[Term, ...] = tuple(Leaf(name, (Affine.symbol("i"),)) for name in names)
    term = Apply(operation, leaves)
    if operation in _COMPARISONS:
        term = Apply("select", (term, Number(1), Number(0)))
    if operation in _CONVERSIONS:
        # The integer of a float is a float here, and the conversion back nothing.
        term = Apply("to_f32", (term,))
    if operation == "to_f32":
        term = leaves[0]
    if operation == "select":
        term = Apply("select", (Apply("ne", (leaves[0], Number(0))), *leaves[1:]))
    types: dict[str, ElementType] = dict.fromkeys((*names, "r"), dtype)
    program = Program((), types, dict.fromkeys(types, (Affine((), 1),)), ())
    selector = Selector(Formula("r", ("i",), term, "r"), program)
    selector.contracts = False
    return selector.made(term)


def _function_of_bits(operation: str, dtype: ElementType) -> Function:
    if operation in DIVISIONS and dtype != "f32":
        # Selection takes constant divisors alone, by which quotients are exact; this sees one operation at a time.
        return operation_function(operation, dtype)
    kind = np.float32 if dtype == "f32" else np.int32

    def compute(*operands: Any) -> Any:
        # Constants come as single numbers.
        given = np.broadcast_arrays(*(np.asarray(operand, kind) for operand in operands))
        shape, size = given[0].shape, given[0].size
        vectors = [to_vectors(np.ascontiguousarray(each).view(np.uint32)) for each in given]
        found = np.asarray(evaluate(_operation_formula(operation, dtype), vectors, [])).astype(np.uint32)
        made = np.broadcast_to(found, vectors[0].shape).ravel()[:size].view(kind).reshape(shape)
        return made.astype(np.int32)[()] if operation in _COMPARISONS else made[()]

    return compute


_CONNECTIVES: Final[Mapping[str, Function]] = {"or": np.maximum, "and": np.minimum}
"""Of comparisons, which are 1 or 0, as numbers: what is true is larger."""


def _function_of_connective(operation: str) -> Function:
    """Connective of comparisons with their errors: a result is as uncertain as its operands."""
    choose = _CONNECTIVES[operation]

    def compute(first: Any, second: Any) -> Any:
        one, other = (np.asarray(each, np.complex128) for each in (first, second))
        return _as_complex(choose(one.real, other.real), np.maximum(one.imag, other.imag))

    return compute


def _function_of_errors(operation: str, dtype: ElementType) -> Function:
    # Data of such a nest are floats, so that its integers are truth values.
    if operation in _CONNECTIVES:
        return _function_of_connective(operation)

    def compute(*operands: Any) -> Any:
        given = [np.asarray(operand, np.complex128) for operand in operands]
        return _as_complex(*formula_error(_operation_formula(operation, dtype), [(x.real, x.imag) for x in given], []))

    return compute


def _function_of_rounded_errors(operation: str, dtype: ElementType) -> Function:
    """Errors about the program's own values, which its operations give; a product and sum are two of them."""
    if operation in _CONNECTIVES:
        return _function_of_connective(operation)
    # The error of a function of C's library counts from its exact value, for tile and program together.
    own = None if operation in ("madd", *KERNELS) else operation_function(operation, "f32")
    formula = _operation_formula(operation, dtype)
    # Each product and sum of the arranged nest are two operations of the source.
    formula = replace(formula, steps=tuple(replace(step, is_fused=False) for step in formula.steps))

    def compute(*operands: Any) -> Any:
        given = [np.asarray(operand, np.complex128) for operand in operands]
        # Constants are single precision, too.
        singles = [np.asarray(x.real, np.float32) for x in given]
        pairs = [(single.astype(np.float64), x.imag) for single, x in zip(singles, given, strict=True)]
        value, error = formula_error(formula, pairs, [], None)
        if own is not None and operation not in _COMPARISONS:
            value = np.asarray(own(*singles), np.float64)
        return _as_complex(value, error)

    return compute


def _as_complex(value: Any, error: Any) -> Any:
    made = np.empty(np.broadcast_shapes(np.shape(value), np.shape(error)), np.complex128)
    made.real, made.imag = value, error
    return made[()]
