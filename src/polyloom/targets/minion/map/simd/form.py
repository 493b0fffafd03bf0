# SPDX-License-Identifier: Apache-2.0
"""SIMD form: loops that are no products, a whole nest, or a phase of a plan whose equations are put in an order again.

A Python or C function is compiled from its nest, whose arrays are the user's; its oracle computes the same nest.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

import numpy as np

from polyloom import frontend, transform
from polyloom.diagnostics import PolyloomError, infeasible
from polyloom.frontend.source import Reference, Source
from polyloom.ir.nest import Nest, accesses, assignments
from polyloom.ir.nest_interpret import nest_signature
from polyloom.ir.numbers import NUMPY
from polyloom.ir.pla import Array, Program
from polyloom.ir.plan import Parametric, Phase, Plan
from polyloom.sets import Condition
from polyloom.targets.minion.map.frame import Team
from polyloom.targets.minion.map.phase_work import Arrays, Bounds, Made, Setting, Work
from polyloom.targets.minion.map.simd import supported_types
from polyloom.targets.minion.map.simd.arithmetic import MachineScope, machine_function
from polyloom.targets.minion.map.simd.compile import arrange_nest, compile_nest, owner_arrays, specialize_nest
from polyloom.targets.minion.map.simd.parallel_machine import LANES
from polyloom.targets.minion.options import Fp
from polyloom.targets.subject import Written
from polyloom.targets.target import Json
from polyloom.transform.loop_generation import NoLoopOrder, generate_loops
from polyloom.transform.parallel.integer_promotion import promote_integers
from polyloom.transform.parallel.lane_interpreter import interpret_lanes
from polyloom.transform.writers import execute_in_place

HARTS: Final = 2
"""Of each minion."""
_PROMOTED: Final = ("u32", "bool")
_STAGE, _ROUND, _FAR = 320, 15, 400
"""Cycles of a formula: to begin and to evict, for eight elements of a hart, and where shires evict to L3."""


@dataclass(frozen=True, slots=True)
class Read:
    """A function as a nest, and the function itself as its reference."""

    nest: Nest
    reference: Reference
    path: str
    data: Mapping[str, Any] = field(default_factory=dict[str, Any], repr=False)


def read_function(written: Written) -> Read | None:
    """Function of a source; None for equations and plans. Errors: those of the front end."""
    value, path = written.value, written.path
    if isinstance(value, Source):
        return None if value.nest is None else Read(value.nest, value.reference, value.path, value.data)
    function = frontend.read_function(value, written.options)
    if function is not None:
        nest = function.nest if path is None else frontend.checked_nest(function)
        return Read(nest, function.reference, path or function.path, function.data)
    if path is None or not frontend.source_file(path).endswith(".c"):
        return None
    # Loaded late: reading C needs clang's library, which a Python kernel does not.
    from polyloom.frontend.c import load

    nest, reference = load(*frontend.split_function_name(path, written.options))
    return Read(nest, reference, path)


def nest_plan(nest: Nest, fp: Fp, minions: int) -> tuple[Plan, Work]:
    """Plan whose one phase is the nest, and its work on so many minions."""
    whole, inputs = nest_signature(nest), read_arrays(nest)
    # The phase has no equations: its work is the nest.
    program = Program(nest.name, nest.parameters, nest.assumptions, (), Condition(), inputs, whole.outputs, (), ())
    bound = [tuple((array.name, array.name) for array in arrays) for arrays in (inputs, whole.outputs)]
    phase = Phase(program, bound[0], bound[1])
    plan = Plan(nest.name, nest.parameters, nest.assumptions, inputs, whole.outputs, (), (phase,))
    return plan, Work(
        "simd", HARTS, "shared", partial(_compile_code, nest, fp, False), partial(_interpret, nest, fp, minions)
    )


def read_arrays(nest: Nest) -> tuple[Array, ...]:
    """Arguments whose values a nest needs.

    An output of which every element is written before it is read need not be given by the host, and is none of the
    inputs; one that is written in part is, for the rest holds what was given. So is an array that is read for
    nothing, by statements whose results nobody needs: the code loads it, and it needs a place.
    """
    whole = nest_signature(nest)
    read = {r.name for a in assignments(nest.body) for r in accesses(a.value)}
    written = {array.name for array in whole.outputs}
    names = (read | written) - (_write_only_arrays(nest) & written)
    return tuple(array for array in whole.inputs if array.name in names)


def nest_work(nest: Nest, fp: Fp, minions: int) -> Work:
    """Work of loops that are one phase of several."""
    return Work("simd", HARTS, "shared", partial(_compile_code, nest, fp, True), partial(_interpret, nest, fp, minions))


def phase_work(phase: Phase, fp: Fp, minions: int, *, others: bool) -> Work:
    """Work of a phase of a plan, with `others` or alone: its equations in an order that respects them. Errors:
    PL1350.
    """
    bound = dict(phase.inputs)
    parametric = {inner: p for p in phase.parametric for inner, outer in bound.items() if outer == p.name}
    made = _Equations(phase.program, parametric, fp, minions, others)
    return Work("simd", HARTS, "shared", made.code, made.results)


def stage_work(nest: Nest, fp: Fp, minions: int, bounds: Bounds | None) -> Work:
    """Work of a nest that is one phase of several, with the bounds of its errors."""
    code, results = partial(_compile_code, nest, fp, True), partial(_interpret, nest, fp, minions)
    # In another order of sums, results depend on the number of minions, which is then the user's.
    cycles = None if fp == "reassociate" else _stage_cycles
    own = partial(owner_arrays, nest, fp)
    return Work(
        "simd", HARTS, "shared", code, results, bounds, is_discrete=is_discrete(nest), cycles=cycles, own_rows=own
    )


def _stage_cycles(setting: Setting) -> int:
    """Predicted cycles of a formula: rows of its largest array are shared out, eight elements at a time, and what harts
    of several shires evict goes further. Fitted to three layers of 64 x 64.
    """
    team, placed = setting.team, max(setting.arrays.values(), key=lambda p: p.rows * p.width)
    rows = placed.shape[0] if placed.shape else 1
    shires = 1 if setting.shire_rows else team.shires
    most = -(-(setting.shire_rows or rows) // (HARTS * team.shire_minions * shires))
    is_far = team.shires > 1 and placed.name not in setting.near
    return _STAGE + _ROUND * most * -(-placed.rows * placed.width // (rows * LANES)) + (_FAR if is_far else 0)


@dataclass(frozen=True, slots=True)
class _Equations:
    """Equations of a phase, as loops once sizes are known."""

    program: Program
    parametric: Mapping[str, Parametric]
    fp: Fp
    minions: int
    others: bool

    def nest(self, values: Mapping[str, int]) -> Nest:
        """Loop nest of the equations at given sizes. Errors: PL1350."""
        try:
            return generate_loops(self.program, values, self.parametric)
        except NoLoopOrder as error:
            message = f"no order of loops computes {', '.join(error.names)}"
            help = "write them so that all dependences lead forwards in some order of the dimensions"
            raise infeasible("PL1350", message, span=error.span, help=help) from None

    def code(self, setting: Setting) -> Made:
        nest, places = self.nest(setting.values), setting.arrays
        # An array that the phase reads and writes has two names in its equations, and one place in memory.
        for result in self.program.outputs:
            for read in self.program.inputs:
                if read.name in places and places[read.name] is places[result.name]:
                    nest = execute_in_place(nest, result.name, read.name)
        return _compile_code(nest, self.fp, self.others, setting)

    def results(self, values: Mapping[str, int], read: Arrays, held: Arrays) -> Arrays:
        return _interpret(self.nest(values), self.fp, self.minions, values, read, held)


def is_discrete(nest: Nest) -> bool:
    """Whether nothing in the nest rounds."""
    return all(storage.dtype not in ("f32", "f16") for storage in nest.storage)


def _write_only_arrays(nest: Nest) -> frozenset[str]:
    try:
        return transform.write_only_arguments(nest)
    except PolyloomError:
        return frozenset()


def _compile_code(nest: Nest, fp: Fp, shared: bool, setting: Setting) -> Made:
    """Code of a nest, with the facts of the report. Errors: PL1350 to PL1353."""
    # Lanes compute in i32, of which u32 is another reading of the same bits.
    nest = promote_integers(nest, _PROMOTED)
    supported_types.check_types(nest)
    made = compile_nest(nest, setting, fp, others=shared)
    facts: dict[str, Json] = {"serial": list(made.alone), "harts": setting.team.workers}
    known = made.operations is not None
    return Made(tuple(made.parts), facts, made.operations or 0, 8 if known else 0, made.scratch)


def _interpret(nest: Nest, fp: Fp, minions: int, values: Mapping[str, int], read: Arrays, held: Arrays) -> Arrays:
    """Results in the order of the source; where that may change, in the order of the code."""
    made = specialize_nest(promote_integers(nest, _PROMOTED), values, fp)
    if fp == "reassociate":
        made = arrange_nest(made, Team(minions, HARTS, "shared"), fp)
    types = {s.name: NUMPY[s.dtype] for s in made.storage}
    # Inputs last: an array that is read and written begins as the host gave it.
    given = {name: np.asarray(array) for name, array in {**held, **read}.items()}
    arrays = {name: array.astype(types.get(name, array.dtype), copy=False) for name, array in given.items()}
    found = interpret_lanes(made, arrays, machine_function, MachineScope)
    return {name: found[name].astype(given[name].dtype, copy=False) for name in held}
