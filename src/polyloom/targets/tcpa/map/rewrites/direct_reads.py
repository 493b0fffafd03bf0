# SPDX-License-Identifier: Apache-2.0
"""Direct reads of an element that is handed on along an outer dimension, where that makes the array wait.

An element that enters at a border and is handed from iteration to iteration reaches the next processing element when
the tile's last row has it: the wavefront is skewed by a whole tile of intervals for each row of the array (the array
paper, section 5.2). One such dimension may be the innermost one, whose rows are short; a second one costs as much time
as all tiles of a line one after another. Where an iteration takes long, the banks bring such an element in time: each
iteration reads it itself, which undoes the broadcast removal of `transform.share` (Wong and Delosme 1988) for one
variable.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from polyloom.ir.pla import Equation, Program, Reference
from polyloom.modulo.guards.bounds import resource_minimum
from polyloom.sets import Condition
from polyloom.sets.isl import from_set, parameter_set
from polyloom.targets.tcpa.machine import Machine
from polyloom.targets.tcpa.map.dependence_graph import build_graph, condition_points
from polyloom.targets.tcpa.map.rewrites.streams import count_streams
from polyloom.targets.tcpa.map.rewrites.unroll_choice import constant_extent
from polyloom.targets.tcpa.map.schedule import build_problem, safe_distance

INTERVAL: Final = 4
"""Cycles from which on an iteration takes long."""
ROUTES: Final = 9
"""Channels per stream on a region of 32 x 32, which a program must still fit: a quarter of a line's elements has its
banks at one end, and one more."""


@dataclass(frozen=True, slots=True)
class _Chain:
    """A variable that hands an element of an input on along one dimension, `moved`, from where it has `entered`."""

    dimension: int
    moved: Equation
    entered: Equation


def read_directly(program: Program, machine: Machine) -> Program:
    """Direct reads (broadcast removal undone, Wong and Delosme 1988): the program in which iterations read an element
    themselves along one of two dimensions in which elements are handed on; as it is, where one dimension suffices,
    iterations are short, or channels would be too few."""
    chains = list(_chains(program)) if len(program.dimensions) == 2 else []
    if len({c.dimension for c in chains}) < 2 or _interval(program, machine) < INTERVAL:
        return program
    # The longer rows are read directly, as far as extents are known.
    size = max({c.dimension for c in chains}, key=lambda m: (constant_extent(program, m), -m))
    found = [c for c in chains if c.dimension == size]
    streams = count_streams(program, {a.name for a in program.inputs}) + len(found)
    if machine.channels is not None and ROUTES * streams > machine.channels:
        return program
    for chain in found:
        program = _remove_chain(program, chain)
    return program


def _interval(program: Program, machine: Machine) -> int:
    return resource_minimum(build_problem(build_graph(program), machine, safe_distance)).value


def _chains(program: Program) -> Iterator[_Chain]:
    inputs = {a.name for a in program.inputs}
    for variable in program.variables:
        writers = [e for e in program.equations if e.target.name == variable.name]
        if len(writers) != 2 or any(e.operation != "move" for e in writers):
            continue
        sources = [e.operands[0] for e in writers]
        own = [n for n, o in enumerate(sources) if isinstance(o, Reference) and o.name == variable.name]
        if len(own) == 1 and isinstance(element := sources[1 - own[0]], Reference) and element.name in inputs:
            distance = program.distance(_reference(writers[own[0]]))
            along = [m for m, d in enumerate(distance) if d]
            # Only what does not change along the dimension is the same element in all iterations.
            if len(along) == 1 and not any(f.coefficient(program.dimensions[along[0]]) for f in element.index):
                yield _Chain(along[0], writers[own[0]], writers[1 - own[0]])


def _reference(equation: Equation) -> Reference:
    (operand,) = equation.operands
    assert isinstance(operand, Reference)
    return operand


def _remove_chain(program: Program, chain: _Chain) -> Program:
    """The program in which each iteration reads the element of a chain itself."""
    pieces = (*chain.entered.condition.pieces, *chain.moved.condition.pieces)
    domain = parameter_set(program.assumptions, program.parameters)
    points = condition_points(program, Condition(pieces)).intersect_params(domain).coalesce()
    made = replace(chain.entered, condition=from_set(points))
    kept = (e for e in program.equations if e != chain.moved)
    return replace(program, equations=tuple(made if e == chain.entered else e for e in kept))
