# SPDX-License-Identifier: Apache-2.0
"""Equations over points as a program: the space around all of them, conditions simplified within it, arrays bound to
names.

An array that is read and written is two, of which the one that is read has another name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import islpy as isl

from polyloom.diagnostics import Span
from polyloom.ir.operations import ElementType
from polyloom.ir.pla import Equation, Operand, Program, Reference, Variable
from polyloom.ir.plan import Phase
from polyloom.ir.recurrence import System
from polyloom.sets import Condition
from polyloom.sets.isl import from_set
from polyloom.sets.normal_form import conjunction, normalize
from polyloom.transform.names import Names
from polyloom.transform.space import Space, union


@dataclass(frozen=True, slots=True)
class Raw:
    """An equation whose condition is still an isl set."""

    name: str
    target: Reference
    operation: str
    dtype: ElementType
    operands: tuple[Operand, ...]
    points: isl.Set
    span: Span | None
    reason: str = ""


def phase(name: str, system: System, space: Space, equations: Sequence[Raw], names: Names) -> Phase:
    """Program of a phase from equations over sets of points: names, conditions relative to the common space."""
    read = {o.name for r in equations for o in r.operands if isinstance(o, Reference)}
    written = {r.target.name for r in equations}
    arrays, parametric = names.arrays, names.parametric
    renamed = {n: names.entry[n] if n in written else n for n in arrays if n in read}
    # The iteration space of the phase; each condition is then given relative to it (gist), which keeps them short.
    hull = _hull(equations)
    # Every condition is intersected with it when it is printed, so that one conjunction serves all.
    within = normalize(from_set(hull))
    program = Program(
        name,
        system.parameters,
        system.assumptions,
        space.dims,
        within,
        tuple(replace(arrays[n], name=r) for n, r in renamed.items()),
        tuple(a for n, a in arrays.items() if n in written),
        tuple(Variable(n, t) for n, t in names.types.items() if n in written),
        tuple(_equation(r, renamed, within, hull) for r in equations),
    )
    inputs = tuple((r, parametric[n].name if n in parametric else n) for n, r in renamed.items())
    outputs = tuple((n, n) for n in arrays if n in written)
    reasons = tuple((n, r) for n, r in names.reasons.items() if n in written | read)
    return Phase(program, inputs, outputs, reasons, tuple(p for n, p in parametric.items() if n in read))


def _equation(raw: Raw, renamed: Mapping[str, str], within: Condition, hull: isl.Set) -> Equation:
    operands = tuple(
        replace(o, name=renamed.get(o.name, o.name)) if isinstance(o, Reference) else o for o in raw.operands
    )
    return Equation(
        raw.name,
        raw.target,
        raw.operation,
        raw.dtype,
        operands,
        conjunction(within, from_set(raw.points, hull)),
        raw.span,
        raw.reason,
    )


def _hull(equations: Sequence[Raw]) -> isl.Set:
    """The convex hull, as far as the sets' own constraints express it, of all points."""
    # Divisions would be strides of the scan, which programs do not have.
    return isl.Set.from_basic_set(union([raw.points for raw in equations]).simple_hull().remove_divs())
