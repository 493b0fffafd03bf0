# SPDX-License-Identifier: Apache-2.0
"""The plan of parts that were planned one by one: arrays between them under names of their own, and of the counters
around a phase only those that it needs.

A phase that does not depend on a counter is the same in every step: it is instantiated once. What a counter's range
implies anyway is no dependence on it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import islpy as isl

from polyloom.ir.nest import Nest, assignments, names
from polyloom.ir.pla import Array, Program, Reference
from polyloom.ir.plan import Phase, Plan
from polyloom.ir.steps import Steps, Tree, as_loop, leaves, loops
from polyloom.names import fresh_name
from polyloom.sets import Affine, Condition, Polyhedron, extreme
from polyloom.sets.isl import from_set, parameter_set
from polyloom.sets.normal_form import normalize
from polyloom.transform.space import Space

MARGIN = 64
"""Elements that an array may have beyond its last one, so that its extent is never negative."""


@dataclass
class Arrays:
    """Mutable: `made` are the arrays between the parts of `nest`, by name."""

    nest: Nest
    made: dict[str, Array] = field(default_factory=dict[str, Array])

    def bind_phases(self, part: Plan) -> tuple[Phase, ...]:
        """The phases of a part; what its arrays are called outside is new in the nest."""
        renamed = {a.name: self._name(a) for a in part.intermediates}
        return tuple(
            replace(phase, inputs=_renamed_pairs(phase.inputs, renamed), outputs=_renamed_pairs(phase.outputs, renamed))
            for phase in part.phases
        )

    def _name(self, array: Array) -> str:
        storage = next((s for s in self.nest.storage if s.name == array.name), None)
        # A local's own elements: what else uses them is ordered by the source.
        if storage is not None and storage.role == "local" and storage.shape == array.shape:
            self.made[array.name] = array
            return array.name
        name = fresh_name(array.name, {*names(self.nest), *self.made})
        self.made[name] = replace(array, name=name)
        return name


def _renamed_pairs(pairs: tuple[tuple[str, str], ...], renamed: dict[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple((inner, renamed.get(outer, outer)) for inner, outer in pairs)


def stepped_plan(nest: Nest, at_entry: frozenset[str], tree: Tree[Phase], arrays: Arrays) -> Plan:
    """The plan of `nest`; `at_entry` are arguments whose elements at entry show."""
    found = {s.name: Array(s.name, s.dtype, s.shape, s.span) for s in nest.storage} | arrays.made
    shapes = {name: constant_shape(array.shape, nest, tree) for name, array in found.items()}
    found = {name: replace(array, shape=shapes[name]) for name, array in found.items()}
    bodies = number_programs(nest, _with_parameters(tree, nest, shapes))
    written = {a.target.name for a in assignments(nest.body)}
    arguments = [s.name for s in nest.storage if s.role == "argument"]
    inputs = tuple(found[name] for name in arguments if name in at_entry)
    outputs = tuple(found[name] for name in arguments if name in written)
    known = {a.name for a in (*inputs, *outputs)}
    used = dict.fromkeys(n for phase, _ in leaves(bodies) for _, n in (*phase.inputs, *phase.outputs))
    between = tuple(found[n] for n in used if n in found and n not in known)
    return Plan(nest.name, nest.parameters, nest.assumptions, inputs, outputs, between, bodies)


def number_programs(nest: Nest, tree: Tree[Phase]) -> Tree[Phase]:
    """Programs that are called like the nest, with their number where there are several."""
    count = sum(1 for _ in leaves(tree))
    numbers = iter(range(1, count + 1))

    def call(phase: Phase) -> Phase:
        name = nest.name if count == 1 else f"{nest.name}.{next(numbers)}"
        return replace(phase, program=replace(phase.program, name=name))

    return _map_phases(tree, lambda phase, _: call(phase))


def _with_parameters(tree: Tree[Phase], nest: Nest, shapes: dict[str, tuple[Affine, ...]]) -> Tree[Phase]:
    return _map_phases(tree, lambda phase, around: _with_used_counters(_with_shapes(phase, shapes), around, nest))


def _map_phases(
    tree: Tree[Phase], to: Callable[[Phase, tuple[Steps[Phase], ...]], Phase], around: tuple[Steps[Phase], ...] = ()
) -> Tree[Phase]:
    made: list[Phase | Steps[Phase]] = []
    for node in tree:
        loop = as_loop(node)
        if loop is not None:
            made.append(replace(loop, body=_map_phases(loop.body, to, (*around, loop))))
        elif isinstance(node, Phase):
            made.append(to(node, around))
    return tuple(made)


def _with_shapes(phase: Phase, shapes: dict[str, tuple[Affine, ...]]) -> Phase:
    """With the extents that arrays have outside."""
    outer = dict((*phase.inputs, *phase.outputs))

    def with_shape(array: Array) -> Array:
        return replace(array, shape=shapes.get(outer[array.name], array.shape))

    program = phase.program
    return replace(
        phase,
        program=replace(
            program, inputs=tuple(map(with_shape, program.inputs)), outputs=tuple(map(with_shape, program.outputs))
        ),
    )


def _with_used_counters(phase: Phase, around: tuple[Steps[Phase], ...], nest: Nest) -> Phase:
    """Projection of a phase's domain onto the counters that it needs (Fourier-Motzkin by isl): with those counters for
    parameters.
    """
    program = _drop_redundant(phase.program, [loop.counter for loop in around])
    used = _symbols(program) | {*nest.parameters}
    assumptions, kept = project_parameters(program.assumptions, program.parameters, used)
    if len(kept) == len(nest.parameters):
        assumptions = nest.assumptions
    return replace(phase, program=replace(program, parameters=kept, assumptions=assumptions))


def project_parameters(
    domain: Condition, parameters: tuple[str, ...], used: Collection[str]
) -> tuple[Condition, tuple[str, ...]]:
    """Projection of a domain of parameters onto those that are used (Fourier-Motzkin by isl), with these."""
    kept = tuple(name for name in parameters if name in used)
    points = parameter_set(domain, parameters)
    for n in reversed(range(len(parameters))):
        if parameters[n] not in used:
            # What is left out may leave a stride: the domain without it is a little larger.
            points = points.project_out(isl.dim_type.param, n, 1).remove_divs()
    return normalize(from_set(points)), kept


def counter_bounds(counter: str, lower: Sequence[Affine], upper: Sequence[Affine]) -> tuple[Affine, ...]:
    """Constraints on a counter of steps, or on the loop that it counts."""
    value = Affine.symbol(counter)
    return (*(value - low for low in lower), *(high - value - 1 for high in upper))


def _drop_redundant(program: Program, counters: Iterable[str]) -> Program:
    """Redundant constraints on counters removed: those that the counters' ranges imply."""
    hidden, space = frozenset(counters), Space((), program.parameters, program.assumptions)
    known: dict[Affine, bool] = {}

    def is_redundant(constraint: Affine) -> bool:
        if not (constraint.symbols & hidden and constraint.symbols <= {*program.parameters}):
            return False
        # Many equations share a constraint; each is decided once.
        if constraint not in known:
            known[constraint] = space.solutions(-constraint - 1).is_empty()
        return known[constraint]

    def rest(condition: Condition) -> Condition:
        pieces = [Polyhedron(tuple(c for c in p.constraints if not is_redundant(c))) for p in condition.pieces]
        return Condition(tuple(pieces))

    equations = tuple(replace(e, condition=rest(e.condition)) for e in program.equations)
    return replace(program, space=rest(program.space), equations=equations)


def _symbols(program: Program) -> frozenset[str]:
    """What the equations mention, without the domain of the parameters."""
    conditions = [program.space, *(e.condition for e in program.equations)]
    affines = [c for condition in conditions for piece in condition.pieces for c in piece.constraints]
    for equation in program.equations:
        references = (equation.target, *(o for o in equation.operands if isinstance(o, Reference)))
        affines += [index for reference in references for index in reference.index]
    return frozenset[str]().union(*(a.symbols for a in affines))


def constant_shape(shape: tuple[Affine, ...], nest: Nest, tree: Tree[Any]) -> tuple[Affine, ...]:
    """Extents that suffice in every step: affine in the parameters alone, and never negative."""
    return tuple(_largest(extent, nest, list(loops(tree))) for extent in shape)


def _largest(extent: Affine, nest: Nest, around: Sequence[Steps[Any]]) -> Affine:
    if not extent.symbols & {loop.counter for loop in around}:
        return extent
    found = extreme(extent, [(loop.counter, loop.lower[0], loop.upper[0] - 1) for loop in around], 1)
    assert found is not None
    values = Space((), nest.parameters, nest.assumptions)
    return next((found + n for n in range(MARGIN) if values.solutions(-found - n - 1).is_empty()), found)
