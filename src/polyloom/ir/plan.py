# SPDX-License-Identifier: Apache-2.0
"""Plan: one or more piecewise linear algorithms, the phases, that run one after another on named arrays, and loops of
steps around them.

Arrays live beside the processor array. A phase reads some and writes others; which array an input or output of its
program is, its bindings say. An argument that a function reads and writes is one array here, although a program knows
it under two names. An equation program (`.pla`) is a plan of one phase whose arrays have the names of its inputs and
outputs.

A loop of steps runs a plan once for each value of its counter; every step needs what the one before left in the arrays.
Its bounds are affine in the parameters and in the counters around it. A counter is a parameter of the phases in its
loop that need it: they are instantiated for each of its values.
"""

from __future__ import annotations

from dataclasses import dataclass

from polyloom.ir.operations import ElementType
from polyloom.ir.pla import Array, Program
from polyloom.ir.steps import Steps, Tree, leaves, loops
from polyloom.sets import Affine, Condition


@dataclass(frozen=True, slots=True)
class Parametric:
    """A scalar that nobody gives: the value of an affine expression of the parameters and counters, wrapped to `dtype`
    or rounded once to f32."""

    name: str
    value: Affine
    dtype: ElementType


@dataclass(frozen=True, slots=True)
class Phase:
    """`inputs` and `outputs` pair each of the program's names, in its order, with an array of the plan. `reasons` pairs
    variables that are not the user's with a sentence that says why they are there. An output whose array exists before
    the phase overwrites elements of it; the others keep their values. An input may also be one of `parametric`. The
    program's parameters are the plan's, then those counters around the phase that it needs, outermost first."""

    program: Program
    inputs: tuple[tuple[str, str], ...]
    outputs: tuple[tuple[str, str], ...]
    reasons: tuple[tuple[str, str], ...] = ()
    parametric: tuple[Parametric, ...] = ()


@dataclass(frozen=True, slots=True)
class Plan:
    """`inputs` must be given (an output among them begins with the given values, other outputs with 0); `outputs` are
    the results; `intermediates` pass values from phase to phase. The three share one name space; an array in both
    `inputs` and `outputs` is the same one. Every phase has the plan's parameters, and its assumptions at least."""

    name: str
    parameters: tuple[str, ...]
    assumptions: Condition
    inputs: tuple[Array, ...]
    outputs: tuple[Array, ...]
    intermediates: tuple[Array, ...]
    body: Tree[Phase]

    @property
    def phases(self) -> tuple[Phase, ...]:
        """Phases of the plan, in the order of the text."""
        return tuple(leaf for leaf, _ in leaves(self.body))

    @property
    def loops(self) -> tuple[Steps[Phase], ...]:
        """Step loops of the plan, outer ones before those in them."""
        return tuple(loops(self.body))

    @property
    def parametric(self) -> tuple[Parametric, ...]:
        """Parametric scalars of all phases."""
        # Phases share scalars: each is one.
        return tuple(dict.fromkeys(p for phase in self.phases for p in phase.parametric))


def single_phase_plan(program: Program) -> Plan:
    """The plan of one phase that is `program` itself."""
    phase = Phase(
        program, tuple((a.name, a.name) for a in program.inputs), tuple((a.name, a.name) for a in program.outputs)
    )
    return Plan(program.name, program.parameters, program.assumptions, program.inputs, program.outputs, (), (phase,))
