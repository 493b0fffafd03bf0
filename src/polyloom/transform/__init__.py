# SPDX-License-Identifier: Apache-2.0
"""From a sequential loop nest to piecewise linear algorithms, in four steps on this page.

Nest -> System       dataflow.py (reduction.py, forward.py, prune.py): which instance wrote what every read reads
System -> spaces     phases.py, embed.py: statements that share a space, and their places in it;
                     crossing.py: what passes between spaces
spaces -> Plan       carry.py, share.py, count.py: every value at a constant distance; assemble.py, program.py:
                     one operation per equation
nest -> nest         reverse.py, residues.py: where there is no such plan, accumulations in another order, and loops
                     unrolled by residue classes
nest -> Plan         steps.py: where these have none either, loops of steps around parts that have one
"""

from __future__ import annotations

from contextlib import suppress
from typing import Final

from polyloom.diagnostics import PolyloomError
from polyloom.ir import pla_verify, plan_verify
from polyloom.ir.nest import Nest
from polyloom.ir.plan import Plan
from polyloom.ir.plan_text import print_plan
from polyloom.ir.recurrence import System
from polyloom.passes import Form, Pass, Watch, run_passes
from polyloom.transform.dataflow import analyse, passes
from polyloom.transform.entry import observable_arguments
from polyloom.transform.indirect import affine_approximation, is_indirect
from polyloom.transform.phases import arguments_of_system, make_plan
from polyloom.transform.residues import unroll_by_residues
from polyloom.transform.reverse import reversal
from polyloom.transform.steps import SEQUENTIAL, STRIDED, arguments_plan, in_steps, is_large


def plan(
    nest: Nest, reassociate: bool = False, watch: Watch | None = None, *, has_steps: bool = True
) -> tuple[System | None, Plan]:
    """The dataflow of a checked nest and the plan made from it: in phases, if that is not possible in steps; without
    `has_steps`, it then has the arguments alone. There is no dataflow of a nest whose accesses meet at a stride, of
    which only parts have one. Raises PL025x, and PL026x for what cannot be made uniform."""
    system: System | None = None
    try:
        system = analyse(nest, reassociate, watch)
        return system, _show_plan(make_plan(nest, system), watch)
    # Kept for the end: what stands in the way of the nest as written tells the user most.
    except PolyloomError as error:
        refused = error
    with suppress(PolyloomError):
        turned = None if system is None else reversal(nest, system, reassociate)
        if turned is not None:
            return _analyse_and_plan(turned, reassociate, watch)
    # Other faults are the user's own, and no rewriting of loops would mend them.
    if refused.diagnostics[0].code not in SEQUENTIAL | STRIDED:
        raise refused
    with suppress(PolyloomError):
        unrolled = unroll_by_residues(nest)
        found = None if unrolled is None else _analyse_and_plan(unrolled, reassociate, watch)
        # Copies of bodies multiply units: a plan of steps is smaller.
        if found is not None and not is_large(found[1]):
            return found
    if not has_steps:
        return system, arguments_plan(nest, system)
    stepped = in_steps(nest, system, reassociate)
    if stepped is None:
        raise refused
    return system, _show_plan(stepped, watch)


def _analyse_and_plan(nest: Nest, reassociate: bool, watch: Watch | None) -> tuple[System, Plan]:
    system = analyse(nest, reassociate, watch)
    return system, _show_plan(make_plan(nest, system), watch)


def _show_plan(plan: Plan, watch: Watch | None) -> Plan:
    made: Plan = run_passes(plan, (Pass("plan", lambda plan: plan, _PLAN),), watch)
    return made


def write_only_arguments(nest: Nest) -> frozenset[str]:
    """Write-only arguments of a checked nest: those whose elements at entry show nowhere. Raises what `analyse` does,
    but for what meets at a stride.
    """
    return frozenset(s.name for s in nest.storage if s.role == "argument") - _read(nest)


def _read(nest: Nest) -> frozenset[str]:
    if is_indirect(nest):
        return observable_arguments(affine_approximation(nest))
    try:
        return arguments_of_system(analyse(nest))
    except PolyloomError as error:
        # At a stride origins are not affine; the question about sets of instances still has an answer.
        if error.diagnostics[0].code not in STRIDED:
            raise
        return observable_arguments(nest)


def _verify(plan: Plan) -> None:
    plan_verify.verify(plan)
    for phase in plan.phases:
        pla_verify.check_origins(phase.program)


_PLAN: Final = Form(print_plan, _verify)
PASSES: Final = (*(each.name for each in passes()), "plan")
"""The names of all passes, in their order."""
