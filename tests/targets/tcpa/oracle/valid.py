# SPDX-License-Identifier: Apache-2.0
"""Is a program valid for given parameter values? Decided by listing every instance, without integer sets.

The rules are those of the equation language: every used instance is defined, none twice, arrays are indexed inside
their shape, output elements are written once, and no instance depends on itself. `faults` is empty exactly when all
hold.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import numpy.typing as npt

from polyloom.ir.pla import Equation, Program, Reference
from polyloom.sets import Affine

Point = tuple[int, ...]
Instance = tuple[str, Point]
Scope = dict[str, int]

REACH = 3
"""Iterations are looked for this far outside of the parameters' box, in which a program of these tests must stay."""


def faults(program: Program, parameters: Mapping[str, int]) -> list[str]:
    """What is wrong with `program` for these parameter values, in words."""
    listed = [(e, scope) for e in program.equations for scope in _iterations(program, e, parameters)]
    return [*_outside(program, parameters, listed), *_twice(program, listed), *_order(program, listed)]


def _iterations(program: Program, equation: Equation, parameters: Mapping[str, int]) -> Iterator[Scope]:
    width = max(parameters.values(), default=0) + 2 * REACH + 1
    grid = np.indices((width,) * len(program.dimensions)).reshape(len(program.dimensions), -1) - REACH
    inside = np.zeros(grid.shape[1], bool)
    for piece in equation.condition.pieces:
        inside |= np.logical_and.reduce(
            [_values(c, program.dimensions, grid, parameters) >= 0 for c in piece.constraints]
        )
    for point in grid[:, inside].T:
        yield {**parameters, **dict(zip(program.dimensions, map(int, point), strict=True))}


def _values(
    row: Affine, dimensions: tuple[str, ...], grid: npt.NDArray[np.int64], parameters: Mapping[str, int]
) -> npt.NDArray[np.int64]:
    constant = row.constant + sum(row.coefficient(p) * n for p, n in parameters.items())
    return np.array([row.coefficient(d) for d in dimensions]) @ grid + constant


def _element(reference: Reference, scope: Scope) -> Instance:
    return reference.name, tuple(row.evaluate(scope) for row in reference.index)


def _outside(program: Program, parameters: Mapping[str, int], listed: list[tuple[Equation, Scope]]) -> Iterator[str]:
    shapes = {
        a.name: tuple(row.evaluate(dict(parameters)) for row in a.shape) for a in (*program.inputs, *program.outputs)
    }
    for equation, scope in listed:
        for reference in (equation.target, *(o for o in equation.operands if isinstance(o, Reference))):
            shape = shapes.get(reference.name)
            name, index = _element(reference, scope)
            if shape is not None and not all(0 <= i < n for i, n in zip(index, shape, strict=True)):
                yield f"{equation.name}: {name}{index} is outside of {shape}"


def _twice(program: Program, listed: list[tuple[Equation, Scope]]) -> Iterator[str]:
    writers: dict[Instance, str] = {}
    for equation, scope in listed:
        target = _element(equation.target, scope)
        if target in writers:
            yield f"{target} is defined by {writers[target]} and by {equation.name}"
        writers[target] = equation.name


def _order(program: Program, listed: list[tuple[Equation, Scope]]) -> Iterator[str]:
    """Undefined instances, and instances that wait for themselves."""
    internal = {v.name for v in program.variables}
    reads: dict[Instance, list[Instance]] = {}
    for equation, scope in listed:
        operands = [o for o in equation.operands if isinstance(o, Reference) and o.name in internal]
        reads[_element(equation.target, scope)] = [_element(o, scope) for o in operands]
    readers: dict[Instance, list[Instance]] = {}
    for reader, needed in reads.items():
        for instance in needed:
            if instance not in reads:
                yield f"{reader} uses {instance}, which nothing defines"
            readers.setdefault(instance, []).append(reader)
    missing = {reader: len(needed) for reader, needed in reads.items()}
    ready = [reader for reader, count in missing.items() if not count]
    for instance in ready:
        for reader in readers.get(instance, ()):
            missing[reader] -= 1
            if not missing[reader]:
                ready.append(reader)
    if len(ready) < len(reads):
        yield f"{next(r for r, count in missing.items() if count)} depends on itself"
