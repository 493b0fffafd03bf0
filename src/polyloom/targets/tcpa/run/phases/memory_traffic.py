# SPDX-License-Identifier: Apache-2.0
"""Memory traffic of a run: what DMA and the configuration bus move before and after each step (docs/targets/tcpa.md,
Whole time), read from the words of its configurations.

Banks keep what a step touches until the next one. What that reads besides comes from memory; what was written and is
not touched again goes there. A transition depends on the two configurations and on how far windows have moved, so that
blocks of one class are looked at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from polyloom.targets.tcpa.machine import Machine
from polyloom.targets.tcpa.run.phases.integer_sets import Integers, SetTable
from polyloom.targets.tcpa.run.phases.reconfiguration import configuration_cycles
from polyloom.targets.tcpa.run.phases.step_overlap import Slot, WholeTime, overlap_steps
from polyloom.targets.tcpa.run.phases.step_sequence import Run, Use
from polyloom.targets.tcpa.run.phases.transfers import transfer_cycles

Sets = Mapping[str, Integers]
"""Elements by array, numbered row by row."""


def measure_time(run: Run, machine: Machine, cycles: Sequence[int] | None = None) -> WholeTime:
    """Whole time of a run on a machine; `cycles` are those that its steps took, else as predicted."""
    # Domains with slanted faces are predicted from above; what a run took is exact.
    own = [step.cycles for step in run.steps] if cycles is None else cycles
    return overlap_steps(tuple(_slots(run, machine, own)), machine.bank_halves)


def _slots(run: Run, machine: Machine, cycles: Sequence[int]) -> Iterator[Slot]:
    configurations = configuration_cycles(run, machine)
    # Without limits nothing has to be loaded again, and banks exchange what they held at any earlier time.
    if machine.dma_words is None and not machine.dma_request_cycles:
        rows = zip(configurations, cycles, run.transfers, strict=True)
        yield from (Slot(words, 0, own + moved, 0) for words, own, moved in rows)
        return
    traffic = _Traffic(run, machine)
    moves = zip(configurations, cycles, traffic.exchanges(), traffic.moves(), strict=True)
    yield from (Slot(words, load, own + moved, store) for words, own, moved, (load, store) in moves)


@dataclass
class _Traffic:
    """Traffic of a run. Mutable: sets of elements, and what they cost, are computed once."""

    run: Run
    machine: Machine
    sets: SetTable = field(default_factory=SetTable)
    _touched: dict[tuple[int, str, bool], Integers] = field(default_factory=dict[tuple[int, str, bool], Integers])
    _costs: dict[int, int] = field(default_factory=dict[int, int])

    def moves(self) -> Iterator[tuple[int, int]]:
        """Cycles of the loads before each step, and of the stores after it."""
        outputs = {a.name for a in self.run.phased.outputs}
        held, dirty = dict[str, Integers](), dict[str, Integers]()
        # What leaves after a step is known with the next one.
        waiting: int | None = None
        for step in range(len(self.run.steps)):
            reads, writes = self._sets_of_step(step, False), self._sets_of_step(step, True)
            # A bank has room for the windows of one step; what the next one does not touch makes room for its windows.
            touched = self._unite(reads, writes)
            load = sum(self._cost(self._subtract(own, held.get(name))) for name, own in reads.items())
            if waiting is not None:
                yield waiting, sum(self._cost(self._subtract(own, touched.get(name))) for name, own in dirty.items())
            both = dirty.keys() & touched.keys()
            # Written back once: an element that every step writes stays in its bank until a step leaves it alone.
            kept = {name: self.sets.intersection(dirty[name], touched[name]) for name in sorted(both)}
            held, dirty, waiting = touched, self._unite(kept, writes), load
        if waiting is not None:
            yield waiting, sum(self._cost(own) for name, own in dirty.items() if name in outputs)

    def exchanges(self) -> Iterator[int]:
        """Cycles in which banks exchange what the step before touched, before each step."""
        known, steps = dict[object, int](), self.run.steps
        # Of the first step there is nothing to exchange.
        yield from (0 for _ in steps[:1])
        for n in range(1, len(steps)):
            key = id(steps[n - 1]), id(steps[n]), _relative_shifts((*self.run.uses[n - 1], *self.run.uses[n]))
            if key not in known:
                pair = (steps[m].accesses_of_step(self.run.shapes, self.run.around[m]) for m in (n - 1, n))
                known[key] = list(transfer_cycles(pair, self.run.shapes))[1]
            yield known[key]

    def _sets_of_step(self, step: int, is_output: bool) -> dict[str, Integers]:
        """Elements that a step reads or writes, by array."""
        found = dict[str, Integers]()
        for use in self.run.uses[step]:
            if use.is_output == is_output:
                found = self._unite(found, {use.outer: self._elements(step, use)})
        return found

    def _elements(self, step: int, use: Use) -> Integers:
        own = self.run.steps[step]
        key = id(own), use.inner, use.is_output
        if (known := self._touched.get(key)) is None:
            pair = ((use.inner, use.outer),)
            stage = replace(own.stage, inputs=() if use.is_output else pair, outputs=pair if use.is_output else ())
            touched = replace(own, stage=stage).accesses_of_step(self.run.shapes, self.run.around[step])
            # Relative to the window, so that the same set serves all steps of this configuration.
            made = self.sets.make(touched[use.is_output][use.outer][1])
            known = self._touched[key] = Integers(made.number, made.shift - use.first)
        return Integers(known.number, known.shift + use.first)

    def _unite(self, a: Sets, b: Sets) -> dict[str, Integers]:
        return {**a, **{name: self.sets.union(a[name], own) if name in a else own for name, own in b.items()}}

    def _subtract(self, a: Integers, b: Integers | None) -> Integers:
        return a if b is None else self.sets.difference(a, b)

    def _cost(self, elements: Integers) -> int:
        """Cycles of DMA: a request for each run of words that follow one another in memory, and these words."""
        if elements.number not in self._costs:
            lengths = self.sets.run_lengths(elements)
            words = 0 if self.machine.dma_words is None else int((-(-lengths // self.machine.dma_words)).sum())
            self._costs[elements.number] = words + self.machine.dma_request_cycles * len(lengths)
        return self._costs[elements.number]


def _relative_shifts(uses: Sequence[Use]) -> tuple[int, ...]:
    """Shifts, each relative to the first one of the same array."""
    first: dict[str, int] = {}
    return tuple(use.first - first.setdefault(use.outer, use.first) for use in uses)
