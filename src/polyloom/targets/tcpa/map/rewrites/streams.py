# SPDX-License-Identifier: Apache-2.0
"""Streams between elements and banks: accesses of arrays in the middle of the iteration space.

An access on a face of a mapped dimension enters or leaves at the elements of one border, through a port of their own.
Any other one has a route per element, of which a quarter of a line's elements share a side (the array paper, section 6;
docs/targets/tcpa.md, Interior input and output): on 16 x 16 elements each stream takes four channels of a side.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Final

import islpy as isl

from polyloom.ir.pla import Program, Reference
from polyloom.sets.isl import parameter_set
from polyloom.targets.tcpa.machine import Machine
from polyloom.targets.tcpa.map.allocate import Allocation
from polyloom.targets.tcpa.map.dependence_graph import condition_points

LINE: Final = 16
"""Elements of a line on which every mapping should find its channels, where some allocation does."""


def count_streams(program: Program, arrays: Collection[str]) -> int:
    """Equations that access one of the arrays in iterations of full dimension, not on a face of the space."""
    return sum(not fixed for fixed in _fixed_dimensions(program, arrays))


def narrower_allocations(
    program: Program, machine: Machine, kept: Iterable[Allocation], allocations: Sequence[Allocation]
) -> tuple[Allocation, ...]:
    """Allocations of two dimensions with the fewest streams, if these fit on a line of `LINE` elements and those of the
    kept ones do not; else none."""
    arrays = {a.name for a in (*program.inputs, *program.outputs)}
    planar = [a for a in allocations if a.rows is not None and a.columns is not None]
    if machine.channels is None or not planar:
        return ()
    fixed, most = _fixed_dimensions(program, arrays), machine.channels // -(-LINE // 4)
    streams = {a: sum(f.isdisjoint({a.rows, a.columns}) for f in fixed) for a in (*planar, *kept)}
    if min(streams[a] for a in kept) <= most:
        return ()
    least = min(streams[a] for a in planar)
    return tuple(a for a in planar if streams[a] == least <= most)


def _fixed_dimensions(program: Program, arrays: Collection[str]) -> list[frozenset[int]]:
    """For each equation that accesses one of the arrays the dimensions that its condition confines by equations."""
    domain = parameter_set(program.assumptions, program.parameters)
    found: list[frozenset[int]] = []
    for equation in program.equations:
        names = {equation.target.name, *(o.name for o in equation.operands if isinstance(o, Reference))}
        if not names.isdisjoint(arrays):
            points = condition_points(program, equation.condition).intersect_params(domain)
            equations = [c for c in points.affine_hull().get_constraints() if c.is_equality()]
            found.append(frozenset(n for c in equations for n in _dimensions(c)))
    return found


def _dimensions(constraint: isl.Constraint) -> list[int]:
    count = constraint.dim(isl.dim_type.set)
    return [n for n in range(count) if not constraint.get_coefficient_val(isl.dim_type.set, n).is_zero()]
