# SPDX-License-Identifier: Apache-2.0
"""Compulsory traffic of a source in bytes (Hong and Kung 1981; the roofline model's least traffic: Williams et al.
2009): what has to enter a machine once and to leave it once, whatever runs it.

An element enters if the source reads it before it writes it; it leaves if the source writes it. Arrays and scalars of
the function count, its own locals and the values of parameters do not. A nest is interpreted in its order over arrays
that only record what is touched; the references of equations are enumerated.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from polyloom.ir.interpret import accessed_elements
from polyloom.ir.nest import Nest
from polyloom.ir.nest_interpret import compile_nest
from polyloom.ir.numbers import NUMPY
from polyloom.ir.operations import ElementType
from polyloom.ir.plan import Plan
from polyloom.ir.python_source import Scope
from polyloom.ir.semantics import Function
from polyloom.ir.work import count_assignments

MOST: Final = 1 << 21
"""Assignments that are walked: a second or two of work."""


def nest_traffic(nest: Nest, values: Mapping[str, int]) -> int | None:
    """Compulsory bytes of a function; None where it executes more than `MOST` assignments."""
    if count_assignments(nest, values) > MOST:
        return None
    arrays = {s.name: _Recorder() for s in nest.storage}
    # Only addresses matter: the nest runs without arithmetic.
    compile_nest(nest, _Blank())(dict(values), arrays)
    arguments = [s for s in nest.storage if s.role == "argument"]
    return sum((len(arrays[s.name].read) + len(arrays[s.name].written)) * _element_bytes(s.dtype) for s in arguments)


def plan_traffic(plan: Plan, values: Mapping[str, int]) -> int | None:
    """Compulsory bytes of equations in one phase, whose arrays are either read or written; None of others."""
    if len(plan.phases) != 1 or plan.loops:
        return None
    program = plan.phases[0].program
    sizes = {a.name: _element_bytes(a.dtype) for a in (*program.inputs, *program.outputs)}
    touched: dict[str, list[Any]] = {name: [] for name in sizes}
    for name, index in accessed_elements(program, values):
        touched[name].append(index)
    # An array is either input or output here: an element counts once.
    return sum(_count_distinct(rows) * sizes[name] for name, rows in touched.items())


def _count_distinct(rows: list[Any]) -> int:
    """Columns that differ; a scalar has one."""
    if not rows:
        return 0
    together = np.concatenate(rows, axis=1)
    # A scalar has no index: all of its columns are the same empty one.
    if not together.shape[0]:
        return min(1, together.shape[1])
    return int(np.unique(together, axis=1).shape[1])


def _element_bytes(dtype: ElementType) -> int:
    return NUMPY[dtype].itemsize


class _Recorder:
    """Access recorder in the place of an array: what is read before it is written, and what is written."""

    def __init__(self) -> None:
        self.read: set[tuple[int, ...]] = set()
        self.written: set[tuple[int, ...]] = set()

    def __getitem__(self, index: tuple[int, ...]) -> int:
        if index not in self.written:
            self.read.add(index)
        # A divisor that never faults; which statements execute does not depend on data.
        return 1

    def __setitem__(self, index: tuple[int, ...], value: object) -> None:
        del value
        self.written.add(index)


class _Blank(Scope):
    """Nothing is computed: every operation gives 1, which divides."""

    def function(self, operation: str, dtype: ElementType) -> Function:
        del operation, dtype
        return _unit_value


def _unit_value(*operands: object) -> int:
    del operands
    return 1
