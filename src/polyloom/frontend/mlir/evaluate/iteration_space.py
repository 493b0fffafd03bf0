# SPDX-License-Identifier: Apache-2.0
"""Structured operations by NumPy: parallel loops as whole arrays, the others one turn after the other, so that sums
have the order of the iterators.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import numpy as np
from xdsl.ir.affine import AffineDimExpr, AffineMap

from polyloom.frontend.mlir.evaluate.formulas import evaluate_formula
from polyloom.frontend.mlir.evaluate.scalars import BINARY, UNARY, convert, select_values
from polyloom.frontend.mlir.expanded_functions import EXPANDED

Body = Callable[..., Any]


def iteration_space(maps: Sequence[AffineMap], operands: Sequence[Any], loops: int) -> list[int]:
    """How often each loop runs."""
    found = [-1] * loops
    for each, operand in zip(maps, operands, strict=True):
        for n, expression in enumerate(each.results):
            if isinstance(expression, AffineDimExpr):
                found[expression.position] = np.shape(operand)[n]
    return found


def run_structured(
    maps: Sequence[AffineMap], loops: int, inputs: Sequence[Any], outputs: Sequence[Any], body: Body
) -> None:
    """Runs `body(elements..., indices)` over the iteration space, and stores what it gives into the outputs."""
    operands, count = [*inputs, *outputs], len(inputs)
    sizes = iteration_space(maps, operands, loops)
    # Loops that every output is indexed by alone are independent of each other.
    alone: list[set[int]] = [{e.position for e in m.results if isinstance(e, AffineDimExpr)} for m in maps[count:]]
    whole = all(len(m.results) == len(a) for m, a in zip(maps[count:], alone, strict=True))
    common = alone[0].intersection(*alone[1:]) if whole and alone else set[int]()
    parallel = sorted(common)
    others = [n for n in range(loops) if n not in parallel]
    grid: Any = np.ix_(*(np.arange(sizes[n]) for n in parallel)) if parallel else ()
    shape: tuple[int, ...] = tuple(sizes[n] for n in parallel)
    # Element-wise operations may write what they read: all is read before.
    sources = [np.array(s) if any(s is o for o in outputs) and not others else s for s in inputs]
    for point in product(*(range(sizes[n]) for n in others)):
        place: dict[int, Any] = {**dict(zip(parallel, grid, strict=True)), **dict(zip(others, point, strict=True))}
        at = [place[n] for n in range(loops)]
        elements = [_element(o, m, at, shape) for o, m in zip([*sources, *outputs], maps, strict=True)]
        results = body(*elements, at)
        for n, value in enumerate(results):
            index = tuple(_evaluate(e, at) for e in maps[count + n].results)
            outputs[n][index] = np.broadcast_to(value, shape) if shape else value


def _evaluate(expression: Any, at: Sequence[Any]) -> Any:
    return expression.eval(at, [])


def _element(operand: Any, found: AffineMap, at: Sequence[Any], shape: tuple[int, ...]) -> Any:
    if not found.results:
        return operand[()] if hasattr(operand, "shape") else operand
    index = [_evaluate(e, at) for e in found.results]
    for places, extent in zip(index, operand.shape, strict=True):
        if np.min(places, initial=0) < 0 or np.max(places, initial=0) >= max(extent, 1):
            raise IndexError(f"an element outside of {extent}")
    taken: Any = operand[tuple(index)]
    return np.broadcast_to(taken, shape) if shape else taken


_UNARY_NAMES = {"abs": "math.absf", "negf": "arith.negf"}


def combine(name: str, a: Any, b: Any) -> Any:
    """A binary operation of a named one, in the type of its operands."""
    base, is_unsigned = name.removesuffix("_unsigned"), name.endswith("_unsigned")
    if a.dtype.kind == "f":
        names = {"max": "arith.maximumf", "min": "arith.minimumf", "powf": "math.powf"}
        return BINARY[names.get(base, f"arith.{base}f")](a, b)
    if a.dtype.kind == "b":
        return a | b if base == "add" else a & b
    sign = "ui" if is_unsigned else "si"
    return BINARY[f"arith.{base}{sign if base in ('max', 'min', 'div') else 'i'}"](a, b)


def named_body(body: str, inputs: int, dtype: Any) -> Body:
    """What a named operation computes of elements."""

    def compute(*elements: Any) -> tuple[Any, ...]:
        values = elements[:inputs]
        before = elements[inputs]
        if body == "select":
            return (select_values(values[0], values[1], values[2]),)
        parts = [widen(v, dtype, "unsigned" in body) for v in values]
        match body:
            case "quantized":
                shifted = [combine("sub", parts[n], parts[n + 2]) for n in (0, 1)]
                return (combine("add", before, combine("mul", *shifted)),)
            case "product":
                return (combine("add", before, combine("mul", parts[0], parts[1])),)
            case _:
                return (elementwise(body, parts),)

    return compute


def pooled_body(body: str, dtype: Any) -> Body:
    """What a pooling computes of an element, a place of the window, and the result so far."""

    def compute(*elements: Any) -> tuple[Any, ...]:
        name = {"sum": "add"}.get(body, body)
        return (combine(name, elements[2], widen(elements[0], dtype, "unsigned" in body)),)

    return compute


def widen(x: Any, dtype: Any, is_unsigned: bool) -> Any:
    """An element in the type of the output."""
    from polyloom.frontend.mlir.evaluate.scalars import saturate, unsigned

    if not hasattr(x, "dtype"):
        return convert(x, dtype)
    source = unsigned(x) if is_unsigned and x.dtype.kind == "i" else x
    if source.dtype.kind == "f" and np.dtype(dtype).kind == "i":
        return saturate(source, dtype)
    if source.dtype.kind == "b" and np.dtype(dtype).kind in "if" and not is_unsigned:
        return convert(-source.astype(np.int32), dtype)
    return convert(source, dtype)


def elementwise(name: str, parts: Sequence[Any]) -> Any:
    x = parts[0]
    match name:
        case "fill" | "copy":
            return x
        case "square":
            return x * x
        case "reciprocal":
            return x.dtype.type(1) / x
        case "erf":
            return evaluate_formula(EXPANDED["math.erf"], x)
        case _ if len(parts) == 1:
            return UNARY[_UNARY_NAMES.get(name, f"math.{name}")](x)
        case _:
            return combine(name, x, parts[1])


def softmax(array: Any, axis: int) -> Any:
    """Quotients of exponentials and their sum, which runs in index order, as the machines' do."""
    most = np.full(np.delete(array.shape, axis), -np.inf, array.dtype)
    for part in np.moveaxis(array, axis, 0):
        most = combine("max", most, part)
    powers = UNARY["math.exp"](array - np.expand_dims(most, axis))
    total = np.zeros_like(most)
    for part in np.moveaxis(powers, axis, 0):
        total = combine("add", total, part)
    return powers / np.expand_dims(total, axis)
