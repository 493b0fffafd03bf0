# SPDX-License-Identifier: Apache-2.0
"""Reconfiguration: the words that the configuration bus carries before each step of a run (docs/targets/tcpa.md, Whole
time).

The first step loads a whole configuration, each other one the words that change (`rtl/configuration_changes.py`), and
the bases of generators whose windows move.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache, partial
from typing import Final

from polyloom.diagnostics import PolyloomError
from polyloom.targets.tcpa.machine import Machine
from polyloom.targets.tcpa.rtl.bank_windows import bank_number
from polyloom.targets.tcpa.rtl.bus_addresses import GENERATOR, address
from polyloom.targets.tcpa.rtl.circuit import CAPACITIES, MOST, Circuit, build_circuit
from polyloom.targets.tcpa.rtl.configuration_changes import Loading, change_loading, load_image, make_image
from polyloom.targets.tcpa.run.configuration_size import count_words, used_registers
from polyloom.targets.tcpa.run.phases.step_sequence import Own, Run, Use
from polyloom.targets.tcpa.words.concrete import Concrete
from polyloom.targets.tcpa.words.generator_table import decode_outline
from polyloom.targets.tcpa.words.isa import File

_FILES: Final = {
    "general_registers": File.RD,
    "feedback_registers": File.FD,
    "output_registers": File.IO,
}
_ENOUGH: Final = 1 << 10
"""Of what a machine has without limit, and the number of words does not depend on."""


def configuration_cycles(run: Run, machine: Machine) -> Iterator[int]:
    """Cycles of the configuration bus before each step; 0 where it has no limit."""
    rate = machine.configuration_words
    if rate is None:
        yield from (0 for _ in run.steps)
        return
    configurations = {id(own): _strip_origin(own) for own in run.configurations}
    complete = _complete_machine(machine, list(configurations.values()))
    try:
        yield from (
            -(-len(loading.words) // rate)
            for loading in step_loadings(run, partial(build_circuit, complete), configurations)
        )
    except PolyloomError:
        # What has no circuit, such as two generators of one bank, is not compared word by word.
        yield from (-(-count_words(machine, configurations[id(own)]) // rate) for own in run.steps)


def step_loadings(
    run: Run, region_circuit: Callable[[int, int], Circuit], known: dict[int, Concrete] | None = None
) -> list[Loading]:
    """Loading before each step, on the circuit for its rows and columns. Errors: PL0640 where that lacks something."""
    configurations = known or {id(own): _strip_origin(own) for own in run.configurations}
    circuits = {key: region_circuit(c.rows, c.columns) for key, c in configurations.items()}
    images = {key: make_image(circuits[key], c) for key, c in configurations.items()}

    @cache
    def loading(before: int, own: int, moved: frozenset[str]) -> Loading:
        found = change_loading(images[before], images[own])
        # Banks begin with the window's first element: a generator's base changes with the half that holds it.
        bases = dict.fromkeys(_base_addresses(circuits[own], configurations[own], moved))
        added = () if found.whole else ((a, images[own].words[a]) for a in bases.keys() - dict(found.words).keys())
        return Loading(found.whole, (*found.words, *sorted(added)))

    return [
        load_image(images[id(own)]) if n == 0 else loading(id(run.steps[n - 1]), id(own), _moved_arrays(run, n))
        for n, own in enumerate(run.steps)
    ]


def _strip_origin(own: Own) -> Concrete:
    """The words, without what they were made of."""
    return replace(decode_outline(own.data).whole, made_of=None)


def _complete_machine(machine: Machine, configurations: list[Concrete]) -> Machine:
    """The machine with numbers for what it has without limit: what the configurations use, where words depend on
    it."""
    used = {name: max(used_registers(c, file) for c in configurations) for name, file in _FILES.items()}
    used["generator_dimensions"] = max(len(c.extents) for c in configurations)
    used["channels"] = 1 + max((n for c in configurations for n in _used_channels(c)), default=0)
    missing = [name for name in CAPACITIES if getattr(machine, name) is None]
    return replace(machine, **{name: used.get(name, MOST.get(name, _ENOUGH)) for name in missing})


def _used_channels(concrete: Concrete) -> Iterator[int]:
    yield from (g.channel for g in concrete.generators)
    ends = (end for wrapper in concrete.wrappers for c in wrapper for end in (c.sink, c.source))
    # Location 0 is the element itself.
    yield from (number for location, number in ends if location)


def _base_addresses(circuit: Circuit, concrete: Concrete, moved: frozenset[str]) -> Iterator[int]:
    for g in concrete.generators:
        array = concrete.arrays[g.array]
        if array.name in moved:
            number = 2 * bank_number(circuit, g) + array.is_output
            yield address(GENERATOR, number, 0, 0, circuit.capacity("generator_dimensions"))


def _moved_arrays(run: Run, step: int) -> frozenset[str]:
    """Arrays of a step whose windows are not where the step before had one."""
    before, own = run.uses[step - 1], run.uses[step]
    # Banks of one phase are those of its arrays; another phase finds what the banks hold.
    is_same = run.steps[step - 1].number == run.steps[step].number

    def place(use: Use) -> tuple[object, ...]:
        return (use.outer, use.first, *((use.inner, use.is_output) if is_same else ()))

    held = set(map(place, before))
    return frozenset(use.inner for use in own if place(use) not in held)
