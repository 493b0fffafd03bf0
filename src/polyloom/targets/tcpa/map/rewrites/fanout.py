# SPDX-License-Identifier: Apache-2.0
"""Fan-out of a value with more readers than an instruction has destinations.

All of them share a general register then, which holds the value for less than one interval: the interval becomes as
long as the chain from the first reader to the last, as of a polynomial whose variable each step of Horner's rule reads.
A copy serves the late readers (a fan-out tree, as of buffers in circuits: Berman, Carter and Day 1989), so that each of
the two has few enough for FIFOs, which hold a value for as long as it takes.
"""

from __future__ import annotations

from dataclasses import replace

from polyloom.ir.rdg import Graph
from polyloom.modulo.guards.bounds import recurrence_minimum, resource_minimum
from polyloom.targets.tcpa.machine import Machine
from polyloom.targets.tcpa.map.dependence_graph import build_graph, count_destinations, insert_copy
from polyloom.targets.tcpa.map.rare_operations import ranks
from polyloom.targets.tcpa.map.schedule import build_problem, safe_distance


def split_fanout(graph: Graph, machine: Machine) -> Graph:
    """Fan-out splitting: the graph with a copy for the late readers of each value that has too many, where registers
    of such values bound the interval; as it is, where they do not."""
    problem = build_problem(graph, machine, safe_distance)
    if not problem.short or machine.destinations < 3:
        return graph
    free = recurrence_minimum(replace(problem, short=())).value
    if recurrence_minimum(problem).value <= max(free, resource_minimum(problem).value):
        return graph
    made, waiting = graph, [v.name for v in graph.program.variables]
    for name in waiting:
        if count_destinations(made, name, separate=True) <= machine.destinations:
            continue
        following = _split(made, name, machine.destinations)
        if following is None:
            return graph
        # The value has few enough readers now; its copy, which has all the late ones, may not.
        waiting.append(following.program.variables[-1].name)
        made = following
    return made


def _split(graph: Graph, name: str, limit: int) -> Graph | None:
    """The graph with a copy for the readers of a value that come latest; None where it has readers elsewhere, too, or
    no order."""
    uses, rank = graph.variable_uses(name), ranks(graph)
    if rank is None or not all(graph.uses[n].is_local for n in uses):
        return None
    # The copy itself is one destination; what each reader of it needs is decided when its turn comes.
    ordered = sorted(uses, key=lambda n: (rank[graph.uses[n].consumer], n))
    variable = next(v for v in graph.program.variables if v.name == name)
    reason = f"hands {name} to its late readers, since one instruction has too few destinations"
    return build_graph(insert_copy(graph.program, graph, variable, f"{name}.late", ordered[limit - 1 :], reason))
