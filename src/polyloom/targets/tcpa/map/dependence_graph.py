# SPDX-License-Identifier: Apache-2.0
"""Reduced dependence graph from equations (the array paper, section 4), and copy insertion where instructions have too
few destinations.

isl intersects every definition with every use of its variable (the producer iterations whose value is read; Feautrier
1991); what is left of isl's knowledge afterwards are the graph's relations. An instruction writes at most D
destinations (the machine's). All uses at distance zero share one register; every other use that needs a value takes one
destination, because the tile displacements of one use exclude each other. A value with more destinations is sent on by
copies, which read it from that register.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import islpy as isl

from polyloom.ir.pla import Equation, Program, Reference, Variable
from polyloom.ir.rdg import Graph, Use, Writer
from polyloom.sets import Affine, Condition, Polyhedron
from polyloom.sets.isl import from_set, parameter_set, to_set


def build_graph(program: Program) -> Graph:
    """Reduced dependence graph (the array paper, section 4); conditions are simplified under the program's assumptions
    but stand alone.
    """
    domain = parameter_set(program.assumptions, program.parameters)
    spaces = [condition_points(program, e.condition).intersect_params(domain) for e in program.equations]
    # Conditions are simplified within the domain but must stand alone, because instantiation evaluates them one by one.
    program = replace(
        program,
        equations=tuple(
            replace(e, condition=_condition(s, domain)) for e, s in zip(program.equations, spaces, strict=True)
        ),
    )
    # Disjoint condition spaces: the two never execute in one iteration, and may share a cell of the table.
    exclusive = frozenset(
        pair for pair in combinations(range(len(spaces)), 2) if spaces[pair[0]].is_disjoint(spaces[pair[1]])
    )
    uses: list[Use] = []
    produced: list[isl.Set] = []
    for consumer, equation in enumerate(program.equations):
        for position, operand in enumerate(equation.operands):
            if isinstance(operand, Reference) and operand.name in {v.name for v in program.variables}:
                distance = program.distance(operand)
                read = condition_points(
                    program, _move_points(equation.condition, program.dimensions, distance)
                ).intersect_params(domain)
                found = [
                    (v, spaces[v].intersect(read))
                    for v, other in enumerate(program.equations)
                    if other.target.name == operand.name
                ]
                # An operand may have several writers, each with the part of the iterations in which its value is the
                # one that is read.
                writers = tuple(Writer(v, _condition(points, domain)) for v, points in found if not points.is_empty())
                uses.append(Use(consumer, position, operand.name, distance, writers))
                produced.append(read)
    pairs = combinations(range(len(uses)), 2)
    overlaps = frozenset(
        (a, b) for a, b in pairs if uses[a].variable == uses[b].variable and not produced[a].is_disjoint(produced[b])
    )
    return Graph(program, tuple(uses), exclusive, overlaps)


def limit_destinations(graph: Graph, limit: int) -> Graph:
    """Copy insertion: the graph with moves inserted so that no instruction needs more than `limit` destinations."""
    program = graph.program
    for variable in program.variables:
        if count_destinations(graph, variable.name) > limit:
            program = _insert_copies(program, graph, variable, limit)
    return graph if program is graph.program else build_graph(program)


def count_destinations(graph: Graph, variable: str, *, separate: bool = False) -> int:
    """Destination count: the greatest number of destinations that one instance of `variable` is written to; `separate`
    counts a FIFO for every use at distance zero instead of one register for all.
    """
    uses = graph.variable_uses(variable)
    alone = [(n,) for n in uses if separate or not graph.uses[n].is_local]
    local = tuple(n for n in uses if not separate and graph.uses[n].is_local)
    return _overlap_clique(graph, ([local] if local else []) + alone)


def _overlap_clique(graph: Graph, groups: Sequence[tuple[int, ...]]) -> int:
    """Maximum clique of groups of uses that overlap pairwise: at least what meets in one iteration."""

    def overlap(a: tuple[int, ...], b: tuple[int, ...]) -> bool:
        return any((min(m, n), max(m, n)) in graph.overlaps for m in a for n in b)

    def largest_clique(candidates: list[tuple[int, ...]]) -> int:
        if not candidates:
            return 0
        first, *rest = candidates
        met = [g for g in rest if overlap(first, g)]
        with_first = 1 + largest_clique(met)
        # Branch and bound without the bound: if `first` meets all others, leaving it out cannot give a larger set.
        return with_first if len(met) == len(rest) else max(with_first, largest_clique(rest))

    return largest_clique(list(groups))


@dataclass(slots=True)
class _Bin:
    """A copy in the making: the uses that it serves."""

    uses: list[int]


def _insert_copies(program: Program, graph: Graph, variable: Variable, limit: int) -> Program:
    """Copies of `variable` in `program`; uses on a cycle stay direct if they can, as a copy lengthens it."""
    uses = graph.variable_uses(variable.name)
    local = tuple(n for n in uses if graph.uses[n].is_local)
    distant = sorted((n for n in uses if not graph.uses[n].is_local), key=lambda n: (not _is_cyclic(graph, n), n))
    direct: list[int] = []
    bins: list[_Bin] = []
    for n in distant:
        # The copies read the general register, so it counts as written in every iteration.
        if 1 + _overlap_clique(graph, [(m,) for m in (*direct, n)]) <= limit:
            # First come those on cycles: a copy there would lengthen the recurrence and with it the initiation
            # interval.
            direct.append(n)
            continue
        chosen = next((b for b in bins if _overlap_clique(graph, [(m,) for m in (*b.uses, n)]) <= limit), None)
        if chosen is None:
            bins.append(_Bin([n]))
        else:
            chosen.uses.append(n)
    assert local or bins
    for number, copy in enumerate(bins, 1):
        reason = f"sends {variable.name} on, as one instruction has too few destinations"
        program = insert_copy(program, graph, variable, f"{variable.name}.copy{number}", copy.uses, reason)
    return program


def insert_copy(
    program: Program, graph: Graph, variable: Variable, name: str, uses: Sequence[int], reason: str
) -> Program:
    """Copy insertion: the program in which `uses` of `graph` read a copy of the variable."""
    pieces = tuple(p for n in uses for w in graph.uses[n].writers for p in w.condition.pieces)
    # Executed exactly where some of its readers needs the value: elsewhere its source may not exist.
    copy = Equation(
        name,
        program.reference(name),
        "move",
        variable.dtype,
        (program.reference(variable.name),),
        Condition(pieces),
        next((e.span for e in program.equations if e.target.name == variable.name), variable.span),
        reason,
    )
    equations = list(program.equations)
    for n in uses:
        use = graph.uses[n]
        consumer = equations[use.consumer]
        operands = tuple(
            replace(o, name=name) if k == use.position and isinstance(o, Reference) else o
            for k, o in enumerate(consumer.operands)
        )
        equations[use.consumer] = replace(consumer, operands=operands)
    return replace(
        program, variables=(*program.variables, Variable(name, variable.dtype)), equations=(*equations, copy)
    )


def _is_cyclic(graph: Graph, use: int) -> bool:
    """Recurrence membership: whether the consumer of `use` contributes to a later value of the variable that it
    reads."""
    reached = {graph.uses[use].consumer}
    # Reachability along dependences, a step at a time; graphs are small.
    while grown := {
        u.consumer for u in graph.uses if u.consumer not in reached and any(w.node in reached for w in u.writers)
    }:
        reached |= grown
    return any(w.node in reached for w in graph.uses[use].writers)


def _move_points(condition: Condition, dimensions: tuple[str, ...], distance: tuple[int, ...]) -> Condition:
    """Translated condition: the I with I + distance in `condition`."""
    shift = {name: Affine.symbol(name) + d for name, d in zip(dimensions, distance, strict=True)}
    return Condition(tuple(Polyhedron(tuple(c.substitute(shift) for c in p.constraints)) for p in condition.pieces))


def condition_points(program: Program, condition: Condition) -> isl.Set:
    """Condition space: the iterations of a condition, as isl has them."""
    return to_set(condition, program.dimensions, program.parameters)


def _condition(points: isl.Set, domain: isl.Set) -> Condition:
    return from_set(points.coalesce().remove_redundancies().gist_params(domain))
