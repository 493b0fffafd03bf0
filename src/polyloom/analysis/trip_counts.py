# SPDX-License-Identifier: Apache-2.0
"""Trip counts: the number of iterations of a superblock loop whose last exit compares an induction variable of step 1
or -1 for equality."""

from __future__ import annotations

from polyloom.analysis.affine import (
    Affine,
    AffineForms,
    atom_form,
    induction_steps,
    initial_values,
)
from polyloom.analysis.superblocks import SideExit, Superblock
from polyloom.ir.ssa import Constant, Function, Instruction, Value
from polyloom.ir.ssa_types import PTR
from polyloom.twos_complement import sign_extend


def equality_test(loop: Superblock, e: SideExit) -> Instruction | None:
    """The comparison in the loop by which the exit is taken where its operands are equal."""
    test = next((i for i in loop.instructions if e.condition in i.results), None)
    # An exit that is taken when the condition is false is an equality of the opposite test.
    taken = "eq" if e.sense else "ne"
    return test if test is not None and test.operation == taken else None


def tested_variable(
    loop: Superblock, test: Instruction, forms: AffineForms, basic: dict[Value, int]
) -> tuple[Value, int, Affine] | None:
    """The one induction variable of an equality, its factor of 1 or -1, and the difference of the operands."""
    if test.operands[0].type.lanes or test.operands[0].type not in (forms.function.address, PTR):
        return None
    difference = forms.form(test.operands[0]) - forms.form(test.operands[1])
    own = loop.definitions
    inside = [(atom, c) for atom, c in difference.terms if isinstance(atom, Value) and atom.name in own]
    # With a factor other than 1 or -1 the equality may never hold.
    if len(inside) != 1 or inside[0][0] not in basic or abs(inside[0][1]) != 1:
        return None
    return (*inside[0], difference)


def trip_count(function: Function, loop: Superblock) -> tuple[SideExit, Affine] | None:
    """The last exit, and how many iterations the loop has where none is taken before: as a form over values from
    outside."""
    forms = AffineForms(function, loop)
    basic = induction_steps(loop, forms)
    # A store behind the test is not executed in the last iteration: iterations would not be alike.
    if not loop.exits or any(i.operation == "store" for i in loop.instructions[loop.exits[-1].position :]):
        return None
    last = loop.exits[-1]
    test = equality_test(loop, last)
    found = tested_variable(loop, test, forms, basic) if test is not None else None
    if found is None:
        return None
    variable, coefficient, difference = found
    step = sign_extend(basic[variable] * coefficient, function.pointers)
    if abs(step) != 1:
        return None
    first = initial_values(function, loop)[variable]
    begin = AffineForms(function).form(first) if isinstance(first, Constant) else forms.form(first)
    begun = difference + (begin - atom_form(variable)) * coefficient
    return last, begun * -step + Affine(1)  # where begun + t * step == 0 the last iteration is t
