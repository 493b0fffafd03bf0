# SPDX-License-Identifier: Apache-2.0
"""Reference interpreter of plans: phases one after another on named arrays, each by the interpreter of its equations;
loops of steps repeat theirs.

`chain_phases` alone knows how arrays pass from phase to phase. Whoever executes phases, interpreter or model, goes
through it, and an execution of one phase overwrites elements of what its outputs held before.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import prod
from typing import Any, Protocol

import numpy as np

from polyloom import memory
from polyloom.diagnostics import Diagnostic, PolyloomError
from polyloom.ir.arguments import Arrays, Signature, array_shape, check_inputs, check_parameters
from polyloom.ir.interpret import interpret as interpret_program
from polyloom.ir.numbers import NUMPY, make_element
from polyloom.ir.pla import Array
from polyloom.ir.plan import Parametric, Plan
from polyloom.ir.steps import Tree, number_leaves, walk_steps


class Bindings(Protocol):
    """Bindings of a phase: its names of inputs and outputs, each with the array outside that it is."""

    @property
    def inputs(self) -> tuple[tuple[str, str], ...]: ...
    @property
    def outputs(self) -> tuple[tuple[str, str], ...]: ...
    def window(self, name: str, around: Mapping[str, int]) -> tuple[range, ...] | None: ...


class Chained(Signature, Protocol):
    """A signature with arrays that pass values from phase to phase, and scalars that parameters determine."""

    @property
    def intermediates(self) -> tuple[Array, ...]: ...
    @property
    def parametric(self) -> tuple[Parametric, ...]: ...


Execute = Callable[[int, Mapping[str, int], Arrays, Arrays], Arrays]
"""Phase number, values of parameters and counters, its inputs, and what its outputs hold before it: what they hold
after it."""


_COPIES = 8
"""Bytes of an element: what it holds, and what a phase holds of it."""


def interpret(plan: Plan, parameters: Mapping[str, Any], inputs: Mapping[str, Any]) -> Arrays:
    """The outputs by name. Errors: PL0222 and PL0230 to PL0233, as for a program."""
    values = check_parameters(plan, parameters)

    phases = plan.phases

    def execute(number: int, around: Mapping[str, int], read: Arrays, held: Arrays) -> Arrays:
        phase = phases[number]
        try:
            return interpret_program(phase.program, phase.values(around), read, held)
        except PolyloomError as error:
            # Parameters are the same in every step: only counters tell which one it was.
            counters = {name: value for name, value in around.items() if name not in plan.parameters}
            raise PolyloomError(*(add_step_note(d, counters) for d in error.diagnostics)) from None

    return chain_phases(plan, phases, number_leaves(plan.body), values, inputs, execute)


def add_step_note(diagnostic: Diagnostic, counters: Mapping[str, int]) -> Diagnostic:
    """A diagnostic that arose in the step of these values, if it arose in any."""
    where = ", ".join(f"{name} = {value}" for name, value in counters.items())
    return replace(diagnostic, notes=(*diagnostic.notes, f"in the step of {where}")) if where else diagnostic


def chain_phases(
    signature: Chained,
    phases: Sequence[Bindings],
    tree: Tree[int],
    values: Mapping[str, int],
    inputs: Mapping[str, Any],
    execute: Execute,
) -> Arrays:
    """Execution of phases in order: the outputs after all steps of `tree`, whose leaves number `phases`. Given arrays
    are not changed. Errors: PL0231 and PL0232 for the inputs.
    """
    made = (*signature.outputs, *signature.intermediates)
    # Before anything is allocated: sizes are the user's, and may be far beyond the memory.
    memory.require_memory(
        sum(prod(array_shape(a, values)) * _COPIES for a in made),
        f"the outputs of `{signature.name}`",
        "use smaller loop bounds",
    )
    arrays = {a.name: np.zeros(array_shape(a, values), NUMPY[a.dtype]) for a in made}
    # Behind the zeros: an output that is given begins with what is given.
    arrays |= check_inputs(signature, values, inputs)
    known, own = {p.name: p for p in signature.parametric}, set[str]()
    for number, around in walk_steps(tree, values):
        phase = phases[number]
        # Counters are in scope only here.
        used = [known[outer] for _, outer in phase.inputs if outer in known]
        arrays |= {p.name: make_element(p.value.evaluate(around), p.dtype) for p in used}
        # Arrays are handed over, not copied: a phase returns new ones for its outputs.
        read = {inner: window_elements(arrays[outer], phase.window(inner, around)) for inner, outer in phase.inputs}
        held = {inner: window_elements(arrays[outer], phase.window(inner, around)) for inner, outer in phase.outputs}
        written = execute(number, around, read, held)
        for inner, outer in phase.outputs:
            part = phase.window(inner, around)
            if part is None:
                arrays[outer] = written[inner]
                own.discard(outer)
                continue
            # A given array is the caller's; a window of what is made here is written in its place.
            if outer not in own:
                arrays[outer] = arrays[outer].copy()
                own.add(outer)
            write_window(arrays[outer], part, written[inner])
    return {a.name: arrays[a.name] for a in signature.outputs}


def window_elements(array: Any, part: tuple[range, ...] | None) -> Any:
    """Elements of a window, or the array itself; 0 where a window has elements that the array has not."""
    if part is None:
        return array
    made = np.zeros([len(r) for r in part], array.dtype)
    outside, inside = _overlap(array.shape, part)
    made[inside] = array[outside]
    return made


def write_window(array: Any, part: tuple[range, ...], elements: Any) -> None:
    """Write the elements of a window in their places."""
    outside, inside = _overlap(array.shape, part)
    array[outside] = elements[inside]


def _overlap(shape: tuple[int, ...], window: tuple[range, ...]) -> tuple[tuple[slice, ...], tuple[slice, ...]]:
    """Index ranges of what an array and a window have in common, in the array and in the window."""
    common = [(max(0, r.start), max(0, r.start, min(extent, r.stop))) for extent, r in zip(shape, window, strict=True)]
    outside = tuple(slice(first, end) for first, end in common)
    inside = tuple(slice(first - r.start, end - r.start) for (first, end), r in zip(common, window, strict=True))
    return outside, inside
