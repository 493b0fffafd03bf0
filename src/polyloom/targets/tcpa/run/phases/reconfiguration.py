# SPDX-License-Identifier: Apache-2.0
"""Reconfiguration: the words that the configuration bus carries before each step of a run (docs/targets/tcpa.md, Whole
time).

The first step, and each that has other words than the one before, loads a whole configuration. Where only bases of
address generators change, because windows move or because these are all that differs, it loads these.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache

from polyloom.targets.tcpa.machine import Machine
from polyloom.targets.tcpa.run.configuration_size import count_words
from polyloom.targets.tcpa.run.phases.step_sequence import Run, Use
from polyloom.targets.tcpa.words.concrete import Concrete
from polyloom.targets.tcpa.words.generator_table import decode_outline


def configuration_cycles(run: Run, machine: Machine) -> Iterator[int]:
    """Cycles of the configuration bus before each step; 0 where it has no limit."""
    rate = machine.configuration_words
    if rate is None:
        yield from (0 for _ in run.steps)
        return
    configurations = {id(own): _strip_origin(own.data) for own in run.configurations}

    @cache
    def changed_generators(before: int, own: int) -> tuple[int, ...] | None:
        return _changed_bases(configurations[before], configurations[own])

    for n, own in enumerate(run.steps):
        concrete = configurations[id(own)]
        changed = changed_generators(id(run.steps[n - 1]), id(own)) if n else None
        if changed is None:
            # The bus has no words that say "as before", so that a class that changes is loaded with all others.
            words = count_words(machine, concrete)
        else:
            # Banks begin with the window's first element: a generator's base changes with the half that holds it.
            moved = _moved_arrays(run.uses[n - 1], run.uses[n])
            at_arrays = (i for i, g in enumerate(concrete.generators) if concrete.arrays[g.array].name in moved)
            words = len({*changed, *at_arrays})
        yield -(-words // rate)


def _strip_origin(data: bytes) -> Concrete:
    """The words, without what they were made of."""
    return replace(decode_outline(data).whole, made_of=None)


def _changed_bases(before: Concrete, own: Concrete) -> tuple[int, ...] | None:
    """Generators whose bases change, where nothing else does."""
    if before is own:
        return ()
    bases = [g.base for g in before.generators]
    if len(bases) != len(own.generators):
        return None
    moved = tuple(replace(g, base=base) for g, base in zip(own.generators, bases, strict=True))
    if replace(own, generators=moved) != before:
        return None
    return tuple(n for n, (g, base) in enumerate(zip(own.generators, bases, strict=True)) if g.base != base)


def _moved_arrays(before: tuple[Use, ...], own: tuple[Use, ...]) -> set[str]:
    """Arrays of a phase whose windows move; both steps have the same phase's configuration."""
    return {b.inner for a, b in zip(before, own, strict=True) if a.first != b.first}
