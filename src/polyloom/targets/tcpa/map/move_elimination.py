# SPDX-License-Identifier: Apache-2.0
"""Move elimination, where units of moves bound the interval: a slot is there in every iteration, whoever uses it.

- A value that a move alone reads is computed into the target of the move (copy propagation, backwards).
  `y[i] = total[i, k]` at the last k becomes a part of the equations that compute `total`: where the output reads their
  value, they write the output. The parts exclude each other, and one instruction executes them.
- What is computed of values that are handed on is handed on in their place (`invariant_hoisting`).
- An element of an input that one operation reads where it enters is read by the operation itself; a scalar on a face of
  the iteration space is read there in each iteration.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from polyloom.ir.pla import Equation, Program, Reference
from polyloom.ir.rdg import Graph, Use
from polyloom.modulo.guards.bounds import recurrence_minimum, resource_minimum
from polyloom.names import dotted_name, fresh_name
from polyloom.sets import Affine
from polyloom.sets.isl import from_set, parameter_set
from polyloom.targets.tcpa.machine import Machine
from polyloom.targets.tcpa.map.dependence_graph import build_graph, condition_points
from polyloom.targets.tcpa.map.invariant_hoisting import held_element, hoist_equation, keep_equations, live_equations
from polyloom.targets.tcpa.map.schedule import build_problem, has_single_iteration, safe_distance


def eliminate_moves(graph: Graph, machine: Machine) -> Graph:
    """Move elimination: the graph with fewer moves, if that lowers ResMII (Rau 1994); as it is, where it does not, or
    where recurrences bound the interval."""
    if has_single_iteration(graph) or not any(e.operation == "move" for e in graph.equations):
        return graph
    # The safe distances: what lowers the bound must do so for tiles of every size.
    usual = build_problem(graph, machine, safe_distance)
    least = recurrence_minimum(usual).value
    best, bound = graph, resource_minimum(usual).value
    while bound > least:
        for made in _rewrites(best):
            # Greedy: the first rewrite that lowers the bound is kept, and all are tried on what it gives.
            found = resource_minimum(build_problem(made, machine, safe_distance)).value
            if found < bound:
                best, bound = made, found
                break
        else:
            break
    return best


def _rewrites(graph: Graph) -> Iterator[Graph]:
    """Graphs that compute the same with fewer moves, perhaps; those that cost nothing first."""
    yield _remove_copies(graph)
    # Copies cost nothing; hoisting takes a FIFO, and a read at a border takes banks.
    for number in range(len(graph.equations)):
        for program in hoist_equation(graph.program, number):
            yield _simplify(program)
    for variable in graph.program.variables:
        scalar = held_element(graph.program, variable.name)
        uses = [u for u in graph.uses if u.variable == variable.name and not _is_propagation(graph, u)]
        if (
            scalar is not None
            and not _depends_on_iteration(graph.program, scalar)
            and all(_is_at_border(graph, u) for u in uses)
        ):
            yield _simplify(_read_directly(graph.program, uses, scalar))


def _simplify(program: Program) -> Graph:
    """Graph of a program without dead equations and without moves that nothing needs."""
    graph = build_graph(live_equations(build_graph(program)))
    while True:
        entered = ((use, _entered_element(graph, use)) for use in graph.uses)
        use, element = next(((use, e) for use, e in entered if e is not None), (None, None))
        if use is None or element is None:
            return _remove_copies(graph)
        graph = build_graph(live_equations(build_graph(_read_directly(graph.program, [use], element))))


def _remove_copies(graph: Graph) -> Graph:
    while move := next((v for v in range(len(graph.equations)) if _is_removable(graph, v)), None):
        graph = build_graph(_split_producers(graph, move))
    return graph


def _is_removable(graph: Graph, node: int) -> bool:
    """Whether a node moves a value of its own iteration, which no other use reads there."""
    if graph.equations[node].operation != "move":
        return False
    # Uses that overlap read one value: it would have to be computed twice.
    shared = {n for pair in graph.overlaps for n in pair}
    return any(u.is_local and n not in shared for n, u in enumerate(graph.uses) if u.consumer == node)


def _split_producers(graph: Graph, move: int) -> Program:
    """The program in which the writers of what `move` reads write its target themselves."""
    program = graph.program
    domain = parameter_set(program.assumptions, program.parameters)
    target = graph.equations[move].target
    equations: list[Equation | None] = list(program.equations)
    equations[move] = None
    taken = {e.name for e in program.equations}
    for writer in next(use for use in graph.uses if use.consumer == move).writers:
        own = graph.equations[writer.node]
        part = replace(own, target=target, condition=writer.condition)
        whole = condition_points(program, own.condition).intersect_params(domain)
        rest = whole.subtract(condition_points(program, writer.condition))
        # All of its values are outputs: the equation keeps its name, and only its target changes.
        if rest.is_empty():
            equations[writer.node] = part
        else:
            equations[writer.node] = replace(own, condition=from_set(rest.coalesce().gist_params(domain)))
            equations.append(replace(part, name=fresh_name(own.name, taken, dotted_name)))
    return keep_equations(program, (e for e in equations if e is not None))


def _entered_element(graph: Graph, use: Use) -> Reference | None:
    """Element of an input that a use alone reads, from moves that take it in."""
    nodes = {w.node for w in use.writers}
    sources = {graph.equations[v].operands[0] for v in nodes if graph.equations[v].operation == "move"}
    # A second reader would take the element in a second time, by a register and a bank of its own.
    alone = all(other is use or nodes.isdisjoint(w.node for w in other.writers) for other in graph.uses)
    if not use.is_local or not alone or len(sources) != 1 or graph.equations[use.consumer].operation == "move":
        return None
    (source,) = sources
    inputs = {a.name for a in graph.program.inputs}
    moves = all(graph.equations[v].operation == "move" for v in nodes)
    return source if moves and isinstance(source, Reference) and source.name in inputs else None


def _depends_on_iteration(program: Program, element: Reference) -> bool:
    return any(index.symbols & {*program.dimensions} for index in element.index)


def _is_propagation(graph: Graph, use: Use) -> bool:
    """Whether a use moves a variable to itself, in another iteration."""
    equation = graph.equations[use.consumer]
    return equation.operation == "move" and equation.target.name == use.variable


def _is_at_border(graph: Graph, use: Use) -> bool:
    """Whether a use is in iterations of one face alone, of a dimension along which values are handed on, but no
    operation depends on an earlier one: it is mapped to rows or columns, so that elements at a border have the face."""
    dimensions = graph.program.dimensions
    # Sums are accumulated along a loop that elements scan in time: its faces are iterations of all elements.
    carried = {
        dimensions[m]
        for u in graph.uses
        for m, d in enumerate(u.distance)
        if d and graph.equations[u.consumer].operation != "move"
    }
    faces: list[set[str]] = [
        {d for c in p.constraints if -c in p.constraints for d in dimensions if _is_bound(c, d, dimensions)}
        for p in graph.equations[use.consumer].condition.pieces
    ]
    return any(all(d in face for face in faces) for d in dimensions if d not in carried)


def _is_bound(constraint: Affine, dimension: str, dimensions: tuple[str, ...]) -> bool:
    return constraint.symbols & {*dimensions} == frozenset((dimension,))


def _read_directly(program: Program, uses: Sequence[Use], element: Reference) -> Program:
    equations = list(program.equations)
    for use in uses:
        consumer = equations[use.consumer]
        operands = tuple(element if k == use.position else o for k, o in enumerate(consumer.operands))
        equations[use.consumer] = replace(consumer, operands=operands)
    return replace(program, equations=tuple(equations))
