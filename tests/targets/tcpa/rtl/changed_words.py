# SPDX-License-Identifier: Apache-2.0
"""Fault injection: random programs with one byte of their words changed and the checksum repaired, on the circuit and
on the model. Both fault in one cycle, or give equal values. What does not read is counted apart.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from random import Random
from typing import Final

from tests.targets.tcpa.rtl.random_programs import random_program
from tests.targets.tcpa.sabotage.words import repaired

from polyloom.diagnostics import PolyloomError
from polyloom.frontend.source import Arrays
from polyloom.targets.tcpa import cosimulation
from polyloom.targets.tcpa.cosimulation import Step, run_steps
from polyloom.targets.tcpa.rtl.configuration_changes import load_image, make_image
from polyloom.targets.tcpa.rtl.observed_runs import Fault, ObservedRun, compare
from polyloom.targets.tcpa.rtl.simulator import Simulator
from polyloom.targets.tcpa.run import model
from polyloom.targets.tcpa.words import concrete_file

FIRST_BYTE: Final = 60
"""After the header and the section table."""
LONG: Final = 20_000
"""Cycles after which a changed configuration is left alone."""
REFUSED, LEFT_OUT, TYPES, EQUAL, DIFFERS = "refused by the reader", "too long", "two types meet", "equal", "differs"


def changed_words(data: bytes, seed: int, count: int) -> Iterator[bytes]:
    """Files with one byte changed."""
    random = Random(seed)
    for _ in range(count):
        words, at = bytearray(data), random.randrange(FIRST_BYTE, len(data))
        words[at] = random.choice((words[at] ^ 1 << random.randrange(8), (words[at] + 1) % 256, words[at] - 1 & 255))
        yield repaired(bytes(words))


def changed_programs(data: bytes, seed: int, count: int) -> Iterator[bytes]:
    """Those of `count` files with one byte changed which still read and are not long."""
    return (changed for changed in changed_words(data, seed, count) if _reading(changed) is None)


def _reading(data: bytes) -> str | None:
    """Why a changed file is not run."""
    try:
        concrete = concrete_file.decode(data)
    except PolyloomError:
        return REFUSED
    delays = (concrete.controller.start, *(g.delay for g in concrete.generators))
    return LEFT_OUT if max(concrete.controller.steps * concrete.initiation_interval, *delays) > LONG else None


def compare_changed(simulator: Simulator, seeds: Iterable[int], changes: int) -> Counter[str]:
    """What became of `changes` changed files of the program of each seed: `EQUAL`, the number of the fault, which both
    have in one cycle, or why it is not compared; `DIFFERS` otherwise. A program's files run one after another."""
    kinds = Counter[str]()
    for seed in seeds:
        data, inputs = random_program(simulator.circuit.machine, seed)
        steps, expected = list[Step](), list[ObservedRun | Fault]()
        for changed in changed_words(data, seed, changes):
            reason = _reading(changed) or _expect(simulator, changed, inputs, steps, expected)
            kinds.update([reason] if reason else [])
        seen = run_steps(simulator, steps) if steps else []
        kinds.update(_verdict(simulator, *both) for both in zip(steps, expected, seen, strict=True))
    return kinds


def _expect(
    simulator: Simulator, data: bytes, inputs: Arrays, steps: list[Step], expected: list[ObservedRun | Fault]
) -> str | None:
    """Appends a step that loads the whole configuration, and what the model does in it; or tells why there is none."""
    try:
        image = make_image(simulator.circuit, concrete_file.decode(data))
        found = cosimulation.run_model(simulator.circuit, data, inputs)
    except PolyloomError as error:
        # Such as PL0602, an array of another size; PL0640, a register that no circuit has; PL0705, two writers of one.
        return f"refused with {error.diagnostics[0].code}"
    steps.append(Step(data, inputs, load_image(image)))
    expected.append(found)
    return None


def _verdict(simulator: Simulator, step: Step, expected: ObservedRun | Fault, seen: ObservedRun | list[Fault]) -> str:
    found = compare(expected, seen)
    if found.difference is not None:
        return TYPES if _meets_other_type(simulator, step.data) else DIFFERS
    return EQUAL if found.fault is None else f"fault PL06{found.fault.cause}"


def _meets_other_type(simulator: Simulator, data: bytes) -> bool:
    """Whether a value meets an instruction of another type: the model's words of 64 bits then hold a sign that those
    of 32 bits do not."""
    machine = simulator.circuit.machine
    try:
        model.execute([(model.load(data, machine), 0, 0, [])], machine, check_only=True)
    except PolyloomError as error:
        return error.diagnostics[0].code == "PL0626"
    return False
