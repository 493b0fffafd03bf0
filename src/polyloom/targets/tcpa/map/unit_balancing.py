# SPDX-License-Identifier: Apache-2.0
"""Operation balancing: integer additions that units of multiply-add take over, where the units of additions alone bound
the interval.

`a + b` is `madd(a, 1, b)`, exactly so for integers. A quantised kernel adds three times behind one multiplication, the
sum of products, the rounding and the zero point: two adders then start an iteration in every other cycle while
multipliers idle. What depends on itself is left alone, because a multiply-add takes longer.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from polyloom.ir.operations import INTEGERS
from polyloom.ir.pla import Constant, Equation
from polyloom.ir.rdg import Graph
from polyloom.modulo.guards.bounds import recurrence_minimum, resource_minimum
from polyloom.targets.tcpa.machine import Machine
from polyloom.targets.tcpa.map.schedule import build_problem, has_single_iteration, safe_distance

MOST: Final = 4
"""So many additions are moved at most: each costs a bound."""


def balance_units(graph: Graph, machine: Machine) -> Graph:
    """Unit balancing: the graph with the fewest additions moved that lower ResMII (Rau 1994); as it is, where none
    do."""
    movable = [v for v, e in enumerate(graph.equations) if _is_movable(e, machine) and not _is_cyclic(graph, v)]
    if not movable or has_single_iteration(graph):
        return graph
    usual = build_problem(graph, machine, safe_distance)
    bound, least = resource_minimum(usual).value, recurrence_minimum(usual).value
    # One addition more may not lower the bound while two do: moves go on from the last graph, and the best one is kept.
    best = moved = graph
    for v in movable[:MOST]:
        if bound <= least:
            break
        moved = _move_operation(moved, v)
        found = resource_minimum(build_problem(moved, machine, safe_distance)).value
        best, bound = (moved, found) if found < bound else (best, bound)
    return best


def _is_movable(equation: Equation, machine: Machine) -> bool:
    if equation.operation != "add" or equation.dtype not in INTEGERS:
        return False
    others = set(machine.find_units("madd", equation.dtype))
    # A unit that adds and multiplies gains nothing: the operation would stay on it, with a longer latency.
    return bool(others) and others.isdisjoint(machine.find_units("add", equation.dtype))


def _is_cyclic(graph: Graph, node: int) -> bool:
    """Recurrence membership: whether the value of a node depends on an earlier one of its own."""
    reached = {node}
    while grown := {
        u.consumer for u in graph.uses if u.consumer not in reached and any(w.node in reached for w in u.writers)
    }:
        reached |= grown
    return any(w.node in reached for u in graph.uses if u.consumer == node for w in u.writers)


def _move_operation(graph: Graph, node: int) -> Graph:
    """With the addition as a multiply-add by one; its second operand is the third."""
    equation = graph.equations[node]
    first, second = equation.operands
    operands = (first, Constant(1, equation.dtype), second)
    equations = list(graph.equations)
    equations[node] = replace(equation, operation="madd", operands=operands)
    uses = tuple(replace(u, position=2) if (u.consumer, u.position) == (node, 1) else u for u in graph.uses)
    return replace(graph, program=replace(graph.program, equations=tuple(equations)), uses=uses)
