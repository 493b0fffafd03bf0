# SPDX-License-Identifier: Apache-2.0
"""Loop-invariant code motion in recurrence equations: what is computed of values that are handed on is handed on.

With a[I] = a[I - u] and b[I] = b[I - u], `x[I] = a[I] * b[I]` is x[I - u]. The product is then computed where a or b
enters, and a move hands it on elsewhere; both exclude each other and share a slot, while the moves of a and b go, where
nothing else needs them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

import islpy as isl

from polyloom.ir.pla import Constant, Equation, Program, Reference
from polyloom.ir.rdg import Graph
from polyloom.names import dotted_name, fresh_name
from polyloom.sets import Affine, Condition
from polyloom.sets.isl import from_set, parameter_set, translate
from polyloom.targets.tcpa.map.dependence_graph import condition_points

Vector = tuple[int, ...]


def hoist_equation(program: Program, number: int) -> Iterator[Program]:
    """Programs in which equation `number` hands its value on along one direction each."""
    equation = program.equations[number]
    if equation.operation == "move" or equation.target.name not in {v.name for v in program.variables}:
        return
    domain = parameter_set(program.assumptions, program.parameters)
    executed = condition_points(program, equation.condition).intersect_params(domain)
    for direction in _directions(program, equation):
        # The equation itself must have computed the value that is handed on.
        same = executed.intersect(translate(executed, direction))
        for operand in equation.operands:
            same = same.intersect(_invariant_points(program, operand, direction))
        if not same.is_empty():
            yield _add_propagation(program, number, direction, same, executed.subtract(same), domain)


def live_equations(graph: Graph) -> Program:
    """Dead code elimination: the program without equations that no output depends on."""
    program = graph.program
    outputs = {a.name for a in program.outputs}
    # Reachability backwards from outputs: what only hands itself on is not live.
    live = {v for v, e in enumerate(program.equations) if e.target.name in outputs}
    while grown := {w.node for u in graph.uses if u.consumer in live for w in u.writers} - live:
        live |= grown
    return keep_equations(program, (e for v, e in enumerate(program.equations) if v in live))


def keep_equations(program: Program, equations: Iterable[Equation]) -> Program:
    """The program with these equations, and the variables that they write."""
    kept = tuple(equations)
    written = {e.target.name for e in kept}
    return replace(program, variables=tuple(v for v in program.variables if v.name in written), equations=kept)


def held_element(program: Program, variable: str) -> Reference | None:
    """Element of an input that a variable holds in all its iterations, if it only hands it on."""
    inputs = {a.name for a in program.inputs}
    writers = [e for e in program.equations if e.target.name == variable]
    sources = [e.operands[0] for e in writers if e.operation == "move"]
    entered = {Reference(o.name, o.index) for o in sources if isinstance(o, Reference) and o.name in inputs}
    handed = all(isinstance(o, Reference) and o.name in inputs | {variable} for o in sources)
    if not handed or len(sources) != len(writers) or len(entered) != 1:
        return None
    (element,) = entered
    return element if all(_is_invariant(program, element, d) for d, _ in _propagations(program, variable)) else None


def _directions(program: Program, equation: Equation) -> list[Vector]:
    """Directions along which operands are handed on."""
    names = [o.name for o in equation.operands if isinstance(o, Reference)]
    return list(dict.fromkeys(d for name in names for d, _ in _propagations(program, name)))


def _propagations(program: Program, variable: str) -> Iterator[tuple[Vector, Equation]]:
    """Equations that hand a variable on, each with its direction."""
    for e in program.equations:
        source = e.operands[0]
        is_move = e.target.name == variable and e.operation == "move"
        if is_move and isinstance(source, Reference) and source.name == variable:
            yield program.distance(source), e


def _is_invariant(program: Program, element: Reference, direction: Vector) -> bool:
    """Whether an element of an input is the same one along a direction."""
    moved = {d: Affine.symbol(d) - c for d, c in zip(program.dimensions, direction, strict=True)}
    return all(index.substitute(moved) == index for index in element.index)


def _invariant_points(program: Program, operand: Reference | Constant, direction: Vector) -> isl.Set:
    """Points at which an operand is what it is at the point minus `direction`."""
    points = isl.Set.universe(condition_points(program, program.space).get_space())
    nowhere = isl.Set.empty(points.get_space())
    if isinstance(operand, Constant):
        return points
    is_variable = operand.name in {v.name for v in program.variables}
    # A variable that holds one element in all iterations does not change, whichever way it came.
    element = held_element(program, operand.name) if is_variable else operand
    if element is not None and _is_invariant(program, element, direction):
        return points
    if not is_variable:
        return nowhere
    if any(program.distance(operand)):
        return nowhere
    handed = [e.condition for d, e in _propagations(program, operand.name) if d == direction]
    return condition_points(program, Condition(tuple(p for c in handed for p in c.pieces)))


def _add_propagation(
    program: Program, number: int, direction: Vector, same: isl.Set, rest: isl.Set, domain: isl.Set
) -> Program:
    equation = program.equations[number]
    taken = {e.name for e in program.equations}
    handed = replace(
        equation,
        name=fresh_name(equation.name, taken, dotted_name),
        operation="move",
        operands=(program.reference(equation.target.name, direction),),
        condition=from_set(same.coalesce().gist_params(domain)),
        reason="hands on what does not change, so that fewer values are handed on",
    )
    equations = list(program.equations)
    equations[number] = replace(equation, condition=from_set(rest.coalesce().gist_params(domain)))
    return replace(program, equations=(*equations, handed))
