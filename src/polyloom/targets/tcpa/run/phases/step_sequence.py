# SPDX-License-Identifier: Apache-2.0
"""Step sequence: the phases of a concrete file in the order in which they run, each with the configuration of its step.

Phases without loops around them have one configuration each, which stands in the file. Steps are instantiated here, for
the values of the counters that their phase takes; equal ones share a configuration.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, partial
from math import prod
from typing import Final

import numpy as np

from polyloom import memory
from polyloom.diagnostics import infeasible
from polyloom.ir.arguments import array_shape
from polyloom.ir.steps import walk_steps
from polyloom.targets.tcpa.run import model, program
from polyloom.targets.tcpa.run.bank_accesses import Accesses, collect_accesses
from polyloom.targets.tcpa.run.phases.transfers import Numbers, Touched, touched_elements, transfer_cycles
from polyloom.targets.tcpa.words import concrete_file
from polyloom.targets.tcpa.words.generator_table import decode_outline
from polyloom.targets.tcpa.words.phases.phase_file import Phased
from polyloom.targets.tcpa.words.phases.stages import (
    NamedStage,
    decode_steps,
    file_kind,
    has_phases,
    locate_error,
    named_stages,
    open_phases,
    places_in_stage,
    read_phases,
)
from polyloom.targets.tcpa.words.phases.steps_file import STEPS, Bound

MOST: Final = 1 << 20
"""Steps of one run: each is a configuration that is loaded."""
_KEPT: Final = 4
"""Files whose steps are kept, so that what was instantiated to be checked is not instantiated again to be run."""


@dataclass(frozen=True)  # without slots, which exclude cached properties
class Own:
    """A configuration of phase `number`, counted from 0, with the names of its arrays outside; `is_made` if the library
    has just made it, and nobody can have changed it."""

    number: int
    stage: NamedStage
    is_made: bool = False

    @property
    def data(self) -> bytes:
        return self.stage.data

    @cached_property
    def accesses(self) -> dict[str, Accesses]:
        # What the library has just made needs no check; a file from outside is read with all of them.
        return collect_accesses(concrete_file.parse(self.data) if self.is_made else decode_outline(self.data).whole)

    @cached_property
    def cycles(self) -> int:
        """As predicted, without transfers."""
        return model.read(self.data).predict()[0]

    @cached_property
    def touched(self) -> Touched:
        """By the numbers of elements in the phase's own arrays."""
        return touched_elements(self.stage, self.accesses)

    def accesses_of_step(self, shapes: Mapping[str, tuple[int, ...]], around: Mapping[str, int]) -> Touched:
        """By the numbers of elements in arrays of these shapes, in a step of these values."""
        if not self.stage.windows:
            return self.touched
        return touched_elements(self.stage, self.accesses, partial(self._outer_elements, shapes, around))

    def _outer_elements(
        self, shapes: Mapping[str, tuple[int, ...]], around: Mapping[str, int], name: str, outer: str, elements: Numbers
    ) -> Numbers:
        window = self.stage.window(name, around)
        if window is None:
            return elements
        inside = np.unravel_index(elements, [len(r) for r in window])
        return np.ravel_multi_index(tuple(n + r.start for n, r in zip(inside, window, strict=True)), shapes[outer])


@dataclass(frozen=True, slots=True)
class Use:
    """Array of a phase in a step: what it is called inside and outside, and the number of its window's first
    element."""

    inner: str
    outer: str
    is_output: bool
    first: int


@dataclass(frozen=True)  # without slots, which exclude cached properties
class Run:
    """`steps` are in the order of time; equal ones are the same object. `phased` has numbers for extents."""

    phased: Phased
    steps: tuple[Own, ...]
    around: tuple[Mapping[str, int], ...]
    """Values of parameters and counters in each step."""

    @cached_property
    def configurations(self) -> tuple[Own, ...]:
        """Each that is used, once, in the order of its first use."""
        return tuple({id(step): step for step in self.steps}.values())

    @cached_property
    def transfers(self) -> tuple[int, ...]:
        """The cycles of transfers before each step."""
        if len(self.steps) == 1:
            return (0,)
        steps = zip(self.steps, self.around, strict=True)
        return tuple(transfer_cycles((s.accesses_of_step(self.shapes, around) for s, around in steps), self.shapes))

    @cached_property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Of the arrays outside."""
        return {a.name: array_shape(a, {}) for a in self.phased.arrays}

    @cached_property
    def uses(self) -> tuple[tuple[Use, ...], ...]:
        """Arrays of each step."""
        return tuple(
            tuple(_list_uses(own.stage, around, self.shapes))
            for own, around in zip(self.steps, self.around, strict=True)
        )

    def of_phase(self, number: int) -> Sequence[int]:
        """Places in `steps` at which a phase runs."""
        return [n for n, step in enumerate(self.steps) if step.number == number]

    @cached_property
    def longest(self) -> tuple[Own, ...]:
        """Of each phase that runs the configuration that takes most cycles, the first one of several."""
        by_phase: dict[int, list[Own]] = {}
        for own in self.configurations:
            by_phase.setdefault(own.number, []).append(own)
        return tuple(max(found, key=lambda c: c.cycles) for _, found in sorted(by_phase.items()))


def _list_uses(stage: NamedStage, around: Mapping[str, int], shapes: Mapping[str, tuple[int, ...]]) -> Iterator[Use]:
    origins = {array.name: origin for array, origin in stage.windows}
    bound = (*((pair, False) for pair in stage.inputs), *((pair, True) for pair in stage.outputs))
    for (inner, outer), is_output in bound:
        shape, origin = shapes[outer], origins.get(inner, ())
        firsts = (form.evaluate(around) * prod(shape[n + 1 :]) for n, form in enumerate(origin))
        yield Use(inner, outer, is_output, sum(firsts))


@lru_cache(_KEPT)
def run(data: bytes) -> Run:
    """Step sequence of a concrete file of any kind. Errors: those of instantiation, with the phase and its step in
    notes, and PL0521.
    """
    if has_phases(data) and file_kind(data) is STEPS:
        return _steps(decode_steps(data), read_phases(data))
    phased = read_phases(data)
    stages = named_stages(phased)
    nothing: Mapping[str, int] = {}
    return Run(phased, tuple(Own(n, stage) for n, stage in enumerate(stages)), (nothing,) * len(stages))


def _steps(bound: Bound, phased: Phased) -> Run:
    opened = open_phases(bound.symbolic)
    named, given = opened.named, dict(zip(opened.phased.parameters, bound.values, strict=True))
    region, places = (bound.rows, bound.columns), bound.places
    makers = [
        program.make_instantiator(
            stage.data, region, c, bound.closed, places_in_stage(stage, places) if places else None
        )
        for stage, c in zip(phased.stages, bound.candidates, strict=True)
    ]
    known: dict[tuple[int, ...], Own] = {}
    steps, values_around, size = list[Own](), list[Mapping[str, int]](), 0
    for number, around in walk_steps(phased.tree, given, _step_counter(phased.name)):
        stage = named[number]
        values = tuple(stage.values(around).values())
        key = number, *values
        if (found := known.get(key)) is None:
            where = ", ".join(f"{n} = {v}" for n, v in around.items() if n in stage.symbols and n not in given)
            file = locate_error(number + 1, len(named), partial(makers[number], values), where)
            found = known[key] = Own(number, replace(stage, data=file), is_made=True)
            size += len(file)
            # All steps are made before the first one runs, because a step that does not fit has to be refused before
            # that.
            memory.require_memory(
                size, f"the configurations of the steps of `{phased.name}`", "use smaller loop bounds"
            )
        steps.append(found)
        values_around.append(around)
    return Run(phased, tuple(steps), tuple(values_around))


def _step_counter(name: str) -> Callable[[], None]:
    """What counts iterations of loops of steps, whether or not there is a phase in them. Raises PL0521."""
    count = iter(range(MOST))

    def tick() -> None:
        if next(count, None) is None:
            raise infeasible("PL0521", f"`{name}` takes more than {MOST} steps", help="use smaller loop bounds")

    return tick
