# SPDX-License-Identifier: Apache-2.0
"""A nest that finds no space for all its statements, cut into loops of steps around phases.

Where each iteration of a loop needs everything of the one before (the loop k of Floyd and Warshall), the loop is
sequential by nature, and its body is a nest of its own in which k is a parameter. So the outermost loop that cannot be
mapped becomes a loop of steps, and its body is planned again; what can be mapped as a whole stays whole. Between the
parts values live in arrays, as the source says it: only locals whose values no other part and no other step reads stay
inside (`transform.parts`).
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Final

from polyloom.diagnostics import Diagnostic, PolyloomError
from polyloom.ir.nest import If, Loop, Nest, Node, loops, negate
from polyloom.ir.plan import Phase, Plan
from polyloom.ir.recurrence import System
from polyloom.ir.steps import Steps, Tree
from polyloom.sets import Condition, Polyhedron
from polyloom.transform.dataflow import analyse, check_defined
from polyloom.transform.entry import observable_arguments
from polyloom.transform.parts import Parts
from polyloom.transform.phases import arguments_of_system, make_plan
from polyloom.transform.prune import prune
from polyloom.transform.residues import unroll_by_residues
from polyloom.transform.reverse import reversal
from polyloom.transform.shift import shift_to_zero
from polyloom.transform.stepped_plan import Arrays, counter_bounds, stepped_plan
from polyloom.transform.undefined_values import remove_undefined_choices

SEQUENTIAL: Final = frozenset({"PL0261", "PL0262", "PL0263", "PL0264"})
"""Refusals of a nest that may have a plan in steps."""
STRIDED: Final = frozenset({"PL0201", "PL0251"})
"""Refusals of a nest whose accesses meet at a stride."""
LARGE: Final = 30
"""Equations of a phase beyond which it seldom fits into the registers of an element."""


def in_steps(nest: Nest, system: System | None, reassociate: bool) -> Plan | None:
    """Plan of a sequential outer loop around parallel phases (Allen, Kennedy 1987, codegen: the outermost loops that
    carry dependences stay sequential), of a checked nest of which `system` is the dataflow, if it has one; None where
    it has no plan in steps either. Raises PL0250.
    """
    nest = _defined_nest(nest, system)
    cutting = _Cutting(nest, reassociate, Parts(nest), Arrays(nest))
    with suppress(PolyloomError):
        tree = cutting.level(nest.body, ())
        return stepped_plan(nest, _at_entry(nest, system), tree, cutting.arrays)
    return None


def arguments_plan(nest: Nest, system: System | None) -> Plan:
    """Plan without phases, the arguments alone, for machines that execute the nest in its own order: cutting it into
    steps tries many sets of statements, each with its dataflow. Raises PL0250.
    """
    nest = _defined_nest(nest, system)
    return stepped_plan(nest, _at_entry(nest, system), (), Arrays(nest))


def _defined_nest(nest: Nest, system: System | None) -> Nest:
    """Nest whose locals are written before they are read. Raises PL0250."""
    nest = remove_undefined_choices(nest)
    # Dataflow has seen it.
    if system is None:
        check_defined(nest)
    return nest


def _at_entry(nest: Nest, system: System | None) -> frozenset[str]:
    return observable_arguments(nest) if system is None else arguments_of_system(system)


@dataclass
class _Cutting:
    """Recursive cutting of a nest (procedure codegen of Allen, Kennedy 1987). Mutable: `arrays` are those that parts
    use, `found` what is known of the parts that were tried.
    """

    nest: Nest
    reassociate: bool
    parts: Parts
    arrays: Arrays
    found: dict[tuple[Node, ...], Plan | PolyloomError] = field(
        default_factory=dict["tuple[Node, ...]", "Plan | PolyloomError"]
    )

    def level(self, nodes: tuple[Node, ...], around: tuple[Loop, ...]) -> Tree[Phase]:
        """The plan of nodes within these loops of steps; raises what stands in the way of one of them."""
        whole = self.try_plan(nodes, around)
        if isinstance(whole, Plan):
            return self.map_separately(nodes, around, whole)
        if len(nodes) == 1:
            return self.single(nodes[0], around, whole)
        # Each node alone: which of them stand in the way, and which were only in bad company.
        stuck = [isinstance(self.try_plan((node,), around), PolyloomError) for node in nodes]
        return tuple(leaf for run in _runs(nodes, stuck) for leaf in self.level(run, around))

    def map_separately(self, nodes: tuple[Node, ...], around: tuple[Loop, ...], whole: Plan) -> Tree[Phase]:
        """Nodes that can be mapped together; one by one where that makes a phase of very many equations, if each can be
        mapped alone."""
        # Within a loop of steps a phase more would cost transfers in every step.
        apart = len(nodes) > 1 and not around and is_large(whole)
        alone = [self.try_plan((node,), around) for node in nodes] if apart else []
        plans = [plan for plan in alone if isinstance(plan, Plan)]
        several = plans if plans and len(plans) == len(nodes) else [whole]
        return tuple(phase for plan in several for phase in self.arrays.bind_phases(plan))

    def single(self, node: Node, around: tuple[Loop, ...], error: PolyloomError) -> Tree[Phase]:
        """The plan of a node that cannot be mapped: a loop of steps, or a condition pushed into what it is about."""
        match node:
            case Loop():
                made = self.steps(node, around, error)
                return (made,) if made.body else ()
            case If(body=(Loop() as loop,), orelse=()):
                inner = replace(node, body=loop.body)
                return self.single(replace(loop, body=(inner,)), around, error)
            case If(condition=condition, body=body, orelse=orelse) if len(body) + len(orelse) > 1:
                parts = [replace(node, body=(n,), orelse=()) for n in body]
                others = [replace(node, condition=negate(condition), body=(n,), orelse=()) for n in orelse]
                return self.level((*parts, *others), around)
            case If(body=(If(condition=inner_condition) as inner,), condition=condition) if not inner.orelse:
                return self.single(replace(inner, condition=_intersection(condition, inner_condition)), around, error)
            case _:
                raise error

    def steps(self, loop: Loop, around: tuple[Loop, ...], error: PolyloomError) -> Steps[Phase]:
        loop = shift_to_zero(loop, self.sub((), around))
        body = self.level(loop.body, (*around, loop))
        return Steps(loop.name, loop.lower, loop.upper, body, loop.step, loop.span, _slow(loop, error.diagnostics[0]))

    def try_plan(self, nodes: tuple[Node, ...], around: tuple[Loop, ...]) -> Plan | PolyloomError:
        """The plan of nodes as a whole, without a loop of steps, or what stands in the way."""
        if nodes not in self.found:
            try:
                self.found[nodes] = self.plan(self.sub(nodes, around), around)
            except PolyloomError as error:
                self.found[nodes] = error
        return self.found[nodes]

    def plan(self, sub: Nest, around: tuple[Loop, ...]) -> Plan:
        # What a part computes for itself is no result of it.
        unread = self.parts.unread(sub, tuple(loop.name for loop in around))
        try:
            return self.map_nest(sub, unread)
        except PolyloomError:
            with suppress(PolyloomError):
                other = reversal(sub, analyse(sub, self.reassociate), self.reassociate)
                if other is not None:
                    return self.map_nest(other, unread)
            unrolled = unroll_by_residues(sub)
            if unrolled is not None:
                with suppress(PolyloomError):
                    made = self.map_nest(unrolled, unread)
                    if not is_large(made):
                        return made
            raise

    def map_nest(self, sub: Nest, unread: frozenset[str]) -> Plan:
        system = analyse(sub, self.reassociate)
        finals = tuple(f for f in system.finals if f.name not in unread)
        if finals != system.finals:
            system = prune(replace(system, finals=finals))
        return make_plan(sub, system)

    def sub(self, nodes: tuple[Node, ...], around: tuple[Loop, ...]) -> Nest:
        """The nest of some nodes, within loops of steps whose counters are parameters."""
        counters = tuple(loop.name for loop in around)
        made = replace(
            self.nest,
            parameters=(*self.nest.parameters, *counters),
            assumptions=_with_counter_bounds(self.nest.assumptions, around),
            body=nodes,
        )
        return replace(made, storage=self.parts.storage(made, counters))


def is_large(plan: Plan) -> bool:
    """Whether a phase may have too many equations for the registers of an element."""
    return any(len(phase.program.equations) > LARGE for phase in plan.phases)


def _slow(loop: Loop, refused: Diagnostic) -> Diagnostic | None:
    """The refusal of a loop of steps as a warning, where its help avoids them, or where a step is one iteration."""
    if any(True for _ in loops(loop.body)) and "--reassociate" not in (refused.help or ""):
        return None
    return replace(refused, message=f"the loop `{loop.name}` runs in steps: {refused.message}", exit_code=0)


def _with_counter_bounds(assumptions: Condition, around: Sequence[Loop]) -> Condition:
    """The domain of the parameters and of the counters of these loops."""
    bounds = tuple(c for loop in around for c in counter_bounds(loop.name, loop.lower, loop.upper))
    return _intersection(assumptions, Condition((Polyhedron(bounds),)))


def _intersection(a: Condition, b: Condition) -> Condition:
    return Condition(tuple(Polyhedron((*p.constraints, *q.constraints)) for p in a.pieces for q in b.pieces))


def _runs(nodes: tuple[Node, ...], stuck: Sequence[bool]) -> list[tuple[Node, ...]]:
    """Neighbours that can be mapped together, as far as each can be mapped alone; where that is all of them, halves."""
    # Each can be mapped alone, but not all together: halves end, since nodes become fewer.
    if not any(stuck):
        return [nodes[: len(nodes) // 2], nodes[len(nodes) // 2 :]]
    runs: list[list[Node]] = [[]]
    for node, alone in zip(nodes, stuck, strict=True):
        if alone:
            runs += [[node], []]
        else:
            runs[-1].append(node)
    return [tuple(run) for run in runs if run]
