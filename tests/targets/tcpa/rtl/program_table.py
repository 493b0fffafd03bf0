# SPDX-License-Identifier: Apache-2.0
"""Random programs on a circuit of 2x2 elements beside the model, and files of such programs with one byte changed
(`changed_words.py`): `make programs PROGRAMS=1000 CHANGED=10000 SEED=1` prints how many are equal, fault or are
refused.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from tests.targets.tcpa.rtl.changed_words import DIFFERS, EQUAL, compare_changed
from tests.targets.tcpa.rtl.conftest import tiny_circuit
from tests.targets.tcpa.rtl.random_programs import random_program

from polyloom import temporary
from polyloom.targets.tcpa import cosimulation
from polyloom.targets.tcpa.cosimulation import Step, run_steps
from polyloom.targets.tcpa.rtl.configuration_changes import load_image, make_image
from polyloom.targets.tcpa.rtl.observed_runs import compare
from polyloom.targets.tcpa.rtl.simulator import Simulator, build_simulator
from polyloom.targets.tcpa.words import concrete_file

CHANGES: Final = 10
"""Changed files per program."""
_BATCH: Final = 25
"""Programs between two lines of the table."""
_SEEDS: Final = 10_000
"""Programs of one seed of the table. Those of seed 1 begin here: none that the tests use."""


def compare_programs(simulator: Simulator, seeds: range) -> Counter[str]:
    """How many random programs are equal, in every operation, bank write and cycle."""
    programs = [random_program(simulator.circuit.machine, seed) for seed in seeds]
    images = [make_image(simulator.circuit, concrete_file.decode(data)) for data, _ in programs]
    steps = [Step(*both, load_image(image)) for both, image in zip(programs, images, strict=True)]
    kinds = Counter[str]()
    for both, seen in zip(programs, run_steps(simulator, steps), strict=True):
        found = compare(cosimulation.run_model(simulator.circuit, *both), seen)
        kinds[EQUAL if found.difference is None and found.fault is None else DIFFERS] += 1
    return kinds


def _batches(seed: int, count: int) -> Iterator[range]:
    begin = seed * _SEEDS
    for first in range(begin, begin + count, _BATCH):
        yield range(first, min(first + _BATCH, begin + count))


def main(words: Sequence[str]) -> int:
    programs, changed, seed = (int(word) for word in words)
    kinds, changes = Counter[str](), Counter[str]()
    with temporary.temporary_folder() as folder:
        simulator = build_simulator(tiny_circuit(), folder)
        for seeds in _batches(seed, programs):
            kinds += compare_programs(simulator, seeds)
            print(f"{kinds.total()} random programs: {_shown(kinds)}", flush=True)
        for seeds in _batches(seed, -(-changed // CHANGES)):
            changes += compare_changed(simulator, seeds, CHANGES)
            print(f"{changes.total()} changed words: {_shown(changes)}", flush=True)
    return int(kinds[DIFFERS] + changes[DIFFERS] > 0)


def _shown(kinds: Counter[str]) -> str:
    return ", ".join(f"{number} {kind}" for kind, number in sorted(kinds.items(), key=lambda item: -item[1]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
