# SPDX-License-Identifier: Apache-2.0
"""Kernels of whole arrays as programs of stages, directly from their array operations, with the views of arguments that
the host lays out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from polyloom.ir.arrays.program import Program as ArrayProgram
from polyloom.ir.arrays.program import Store, axes, reads
from polyloom.ir.nest import Nest
from polyloom.ir.pla import Array
from polyloom.ir.plan import Plan
from polyloom.ir.signature import Signature, plan_signature
from polyloom.ir.stage import Program
from polyloom.passes import Pass, Watch, run_passes
from polyloom.targets.tensix.words.arrays.views import Views, viewed_arguments
from polyloom.transform.stages.abilities import Abilities
from polyloom.transform.stages.array_formulas import ArrayFormulas, array_formulas
from polyloom.transform.stages.integers.carried_terms import Carrier
from polyloom.transform.stages.integers.carry import carry_integers
from polyloom.transform.stages.stage_cutting import STAGES, cut_stages


def cut_arrays(
    arrays: ArrayProgram,
    stores: Sequence[Store],
    can: Abilities,
    watch: Watch | None,
    formulas_of: Callable[[ArrayProgram, Sequence[Store]], ArrayFormulas] = array_formulas,
    carrier: Carrier | None = None,
) -> tuple[Program, Views]:
    """Cut of arrays into stages, and the views that they read; integers beside floats are carried by a `carrier`.
    Raises `Unlike`. Errors: PL1232.
    """
    made = formulas_of(arrays, stores)
    formulas = made.formulas if carrier is None else carry_integers(made.formulas, carrier)
    stages = run_passes(formulas, (Pass("cut", lambda formulas: cut_stages(formulas, can), STAGES),), watch)
    # Formulas that are made for the places of reads hold for all sizes of which arrays have elements.
    return replace(stages, needs_sizes=formulas_of is array_formulas), made.views


def array_signature(program: ArrayProgram, nest: Nest, stages: Program, views: Views) -> Signature:
    """Signature of a program: what neither stages nor views read need not be given, if it is written."""
    read = viewed_arguments(views).union(*(stage.reads for stage in stages.stages))
    arrays = {s.name: Array(s.name, s.dtype, s.shape, s.span) for s in program.storage if s.role == "argument"}
    written = program.written_arguments
    inputs = tuple(array for name, array in arrays.items() if name in read or name not in written)
    outputs = tuple(arrays[name] for name in written)
    plan = Plan(program.name, program.parameters, program.assumptions, inputs, outputs, (), ())
    return plan_signature(plan, nest)


def program_signature(program: ArrayProgram, nest: Nest) -> Signature:
    """Signature of a program of array statements in a row: a result that is stored whole before it is read need not be
    given.
    """
    arrays = {s.name: Array(s.name, s.dtype, s.shape, s.span) for s in program.storage if s.role == "argument"}
    made, needed = set[str](), set[str]()
    for each in program.body:
        assert isinstance(each, Store), "there are no loops"
        needed |= {read.name for read in reads(each.value)} - made
        shape = program[each.target.name].shape
        if (each.target.index, each.target.shape) == (axes(len(shape)), shape):
            made.add(each.target.name)
        elif each.target.name not in made:
            needed.add(each.target.name)
    written = program.written_arguments
    inputs = tuple(array for name, array in arrays.items() if name in needed or name not in written)
    outputs = tuple(arrays[name] for name in written)
    plan = Plan(program.name, program.parameters, program.assumptions, inputs, outputs, (), ())
    return plan_signature(plan, nest)
