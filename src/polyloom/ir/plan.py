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

from collections.abc import Mapping
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
    the phase overwrites elements of it; the others keep their values. An input may also be one of `parametric`.

    The program's parameters are the plan's, then those counters around the phase that it needs, outermost first. A
    phase of a block (`transform.blocks`) has parameters of its own: each is the least of its `arguments`, which are
    affine in the plan's parameters and in the counters around it. Of an array that `windows` names it sees a part,
    which begins at that element and has the extents of the program's own array.
    """

    program: Program
    inputs: tuple[tuple[str, str], ...]
    outputs: tuple[tuple[str, str], ...]
    reasons: tuple[tuple[str, str], ...] = ()
    parametric: tuple[Parametric, ...] = ()
    arguments: tuple[tuple[Affine, ...], ...] = ()
    windows: tuple[tuple[str, tuple[Affine, ...]], ...] = ()

    def values(self, around: Mapping[str, int]) -> dict[str, int]:
        """Values of the program's parameters, for those of the plan's parameters and of the counters."""
        return evaluate_arguments(self.program.parameters, self.arguments, around)

    def window(self, name: str, around: Mapping[str, int]) -> tuple[range, ...] | None:
        """What the program's array `name` is of the array outside; None for all of it. Elements of a window that the
        array has not are touched by no iteration.
        """
        origin = dict(self.windows).get(name)
        if origin is None:
            return None
        shape = next(a.shape for a in (*self.program.inputs, *self.program.outputs) if a.name == name)
        return evaluate_window(origin, shape, around, self.values(around))


def evaluate_arguments(
    parameters: tuple[str, ...], arguments: tuple[tuple[Affine, ...], ...], around: Mapping[str, int]
) -> dict[str, int]:
    """Values of a phase's parameters, each the least of its arguments, and at least 0; without any, those of the same
    names.
    """
    if not arguments:
        return {name: around[name] for name in parameters}
    return {
        name: max(0, min(bound.evaluate(around) for bound in bounds))
        for name, bounds in zip(parameters, arguments, strict=True)
    }


def evaluate_window(
    origin: tuple[Affine, ...], shape: tuple[Affine, ...], around: Mapping[str, int], values: Mapping[str, int]
) -> tuple[range, ...]:
    """Index ranges of a window that begins at `origin` and has these extents."""
    firsts = [first.evaluate(around) for first in origin]
    extents = [max(0, extent.evaluate(values)) for extent in shape]
    return tuple(range(first, first + extent) for first, extent in zip(firsts, extents, strict=True))


@dataclass(frozen=True, slots=True)
class Plan:
    """`inputs` must be given (an output among them begins with the given values, other outputs with 0); `outputs` are
    the results; `intermediates` pass values from phase to phase. The three share one name space; an array in both
    `inputs` and `outputs` is the same one. Every phase has the plan's parameters, and its assumptions at least, unless
    it has arguments."""

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
