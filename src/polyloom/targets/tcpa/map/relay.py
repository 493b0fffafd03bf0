# SPDX-License-Identifier: Apache-2.0
"""Value reuse by unit steps: a variable that is read at many distances is handed on by moves to the neighbouring
iteration, so that it takes fewer feedback registers and channels.

Each distance takes a feedback register, one that crosses two tiled dimensions takes channels to three neighbours, and
two operations that read one distance take all of it twice. A rectilinear arborescence of the distances (Rao,
Sadayappan, Hwang, Shor, "The rectilinear Steiner arborescence problem", 1992: the greedy one) has an edge of one unit
step for each, and its nodes are read in the iteration itself. Each node costs a move in every iteration, and a cycle
for what depends on it; so this is done only where registers do not suffice. `transform.relay` does the same for phases
whose channels are too many for any machine.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import islpy as isl

from polyloom.ir.pla import Equation, Operand, Program, Reference, Variable
from polyloom.sets import Condition
from polyloom.sets.isl import from_set, parameter_set, translate
from polyloom.targets.tcpa.machine import Machine
from polyloom.targets.tcpa.map.allocate import is_orderable
from polyloom.targets.tcpa.map.dependence_graph import condition_points
from polyloom.targets.tcpa.map.register_demand import distant_reads, greatest_demand, shortage

Vector = tuple[int, ...]


def insert_relays(program: Program, machine: Machine) -> Program:
    """Relay insertion: the program with relays for each variable that then takes less, if a scan order remains."""
    program = _share_input_reads(program)
    least = greatest_demand(program, machine)
    read = {name for name, _ in distant_reads(program)}
    for variable in (v for v in program.variables if v.name in read):
        made = _relay_variable(program, variable)
        found = greatest_demand(made, machine)
        if found < least and is_orderable({d for _, d in distant_reads(made)}, len(program.dimensions)):
            program, least = made, found
    return program


def insert_relays_if_short(program: Program, machine: Machine) -> Program:
    """Relay insertion on demand: the program with relays, if no mapping of two dimensions fits without them, and one
    may with them, or none does at all.
    """
    if not shortage(program, machine, planar=True):
        return program
    made = insert_relays(program, machine)
    return made if shortage(program, machine) or not shortage(made, machine, planar=True) else program


def _share_input_reads(program: Program) -> Program:
    """Input sharing: the program in which one operand reads an element of an input in an iteration, since each operand
    takes an input register.
    """
    inputs = {a.name: a for a in program.inputs}
    operands = (o for e in program.equations for o in e.operands if isinstance(o, Reference) and o.name in inputs)
    # Equal references, not equal values: that two indices always agree is for simplification to find.
    many = [reference for reference, times in Counter(operands).items() if times > 1]
    for n, reference in enumerate(many, 1):
        name, dtype = f"{reference.name}.read{n}", inputs[reference.name].dtype
        readers = [e for e in program.equations if reference in e.operands]
        pieces = dict.fromkeys(p for e in readers for p in e.condition.pieces)
        reason = (
            f"takes an element of {reference.name} in once for all that read it, so that fewer registers are needed"
        )
        condition, here = Condition(tuple(pieces)), program.reference(name)
        made = Equation(name, here, "move", dtype, (reference,), condition, readers[0].span, reason)
        others = (
            replace(e, operands=tuple(here if o == reference else o for o in e.operands)) for e in program.equations
        )
        program = replace(program, variables=(*program.variables, Variable(name, dtype)), equations=(*others, made))
    return program


@dataclass(frozen=True, slots=True)
class _Node:
    """A distance of an arborescence, one unit step behind its parent."""

    distance: Vector
    parent: Vector
    name: str

    @property
    def step(self) -> Vector:
        return _minus(self.distance, self.parent)


def _relay_variable(program: Program, variable: Variable) -> Program:
    """The program in which each distance of `variable` is a node of its arborescence."""
    reads = [d for name, d in distant_reads(program) if name == variable.name]
    tree = _arborescence(sorted(set(reads)))
    if len(tree) == len(reads) and not any(map(any, tree.values())):
        return program  # one operand for each unit step: relays would save nothing
    nodes = [_Node(d, parent, f"{variable.name}.relay{n}") for n, (d, parent) in enumerate(tree.items(), 1)]
    names = {(0,) * len(program.dimensions): variable.name, **{node.distance: node.name for node in nodes}}
    # A relay that has a value where nobody reads it would read outside of the writer's domain.
    points = _relay_domains(program, variable.name, nodes)
    equations = [_redirect_reads(program, e, variable.name, names) for e in program.equations]
    span = next((e.span for e in program.equations if e.target.name == variable.name), variable.span)
    for node in nodes:
        source = program.reference(names[node.parent], node.step)
        reason = f"hands {variable.name} on to the next iteration, so that fewer registers are needed"
        target, domain = (
            program.reference(node.name),
            parameter_set(program.assumptions, program.parameters),
        )
        condition = from_set(points[node.distance].coalesce().gist_params(domain))
        equations.append(Equation(node.name, target, "move", variable.dtype, (source,), condition, span, reason))
    return replace(
        program,
        variables=(*program.variables, *(Variable(node.name, variable.dtype) for node in nodes)),
        equations=tuple(equations),
    )


def _arborescence(distances: Sequence[Vector]) -> dict[Vector, Vector]:
    """Greedy rectilinear Steiner arborescence (Rao et al. 1992): the parent of each node, parents first; every
    distance, and those between that unit steps need. Dimensions in which distances have both signs have no such steps,
    so that such distances are left out.
    """
    signs = [_common_sign([d[m] for d in distances]) for m in range(len(distances[0]) if distances else 0)]
    usable = [d for d in distances if all(s is not None or not c for s, c in zip(signs, d, strict=True))]
    origin: Vector = (0,) * len(signs)
    parents: dict[Vector, Vector] = {}
    for d in sorted(usable, key=lambda d: (sum(map(abs, d)), d)):
        # The node from which fewest steps lead here, of those that lie between the origin and it in every dimension.
        between = [p for p in (origin, *parents) if _precedes(p, d)]
        at = max(between, key=lambda p: (sum(map(abs, p)), p))
        for m in range(len(d)):
            while at[m] != d[m]:
                step = 1 if d[m] > at[m] else -1
                following = (*at[:m], at[m] + step, *at[m + 1 :])
                parents.setdefault(following, at)
                at = following
    return parents


def _common_sign(components: Sequence[int]) -> int | None:
    """The common sign; None for both."""
    return None if min(components) < 0 < max(components) else 1


def _precedes(p: Vector, d: Vector) -> bool:
    return all(0 <= a <= b or b <= a <= 0 for a, b in zip(p, d, strict=True))


def _relay_domains(program: Program, name: str, nodes: Sequence[_Node]) -> dict[Vector, isl.Set]:
    """Domain of each relay: the iterations in which it is read, and those where its children take its value from."""
    domain = parameter_set(program.assumptions, program.parameters)

    def points(condition: Condition) -> isl.Set:
        return condition_points(program, condition).intersect_params(domain)

    found: dict[Vector, isl.Set] = {}
    for e in program.equations:
        for o in e.operands:
            if isinstance(o, Reference) and o.name == name and any(d := program.distance(o)):
                found[d] = found[d].union(points(e.condition)) if d in found else points(e.condition)
    # Children come behind their parents, and add to what these are needed for.
    for node in reversed(nodes):
        if any(node.parent):
            taken = translate(found[node.distance], tuple(-s for s in node.step))
            found[node.parent] = found[node.parent].union(taken) if node.parent in found else taken
    return found


def _redirect_reads(program: Program, equation: Equation, name: str, names: dict[Vector, str]) -> Equation:
    def redirect_operand(operand: Operand) -> Operand:
        if not isinstance(operand, Reference) or operand.name != name:
            return operand
        known = names.get(program.distance(operand))
        return operand if known is None else program.reference(known)

    return replace(equation, operands=tuple(map(redirect_operand, equation.operands)))


def _minus(a: Vector, b: Vector) -> Vector:
    return tuple(x - y for x, y in zip(a, b, strict=True))
