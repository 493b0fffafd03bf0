# SPDX-License-Identifier: Apache-2.0
"""Random programs, bounds, regions and members: the model's outputs equal the interpreter's, and what is refused is
refused fairly.

One compilation serves several bounds and regions. `4 * PROGRAMS * PLACEMENTS` cases run by default, and twice as many
more as `long`, at least `SHARE` of them to the end; the rest must be refused for want of a schedule, a route or
capacity.
"""

from __future__ import annotations

import random
from collections import Counter

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from tests.targets.tcpa.end_to_end.run import compiled, refusal, run
from tests.targets.tcpa.instantiate.library import instantiate
from tests.targets.tcpa.oracle.compare import differences
from tests.targets.tcpa.oracle.programs import random_program, random_sizes

from polyloom.diagnostics import PolyloomError
from polyloom.ir.pla import Program
from polyloom.modulo.guards.solve import search
from polyloom.targets.tcpa import machine_file
from polyloom.targets.tcpa.compile import compile_program
from polyloom.targets.tcpa.machine import Machine
from polyloom.targets.tcpa.words import concrete_file, symbolic_file

pytestmark = pytest.mark.usefixtures("roughly_scheduled")
CHUNKS, PROGRAMS, PLACEMENTS, SHARE = 12, 7, 6, 0.6
REGIONS = ((1, 1), (1, 2), (1, 4), (3, 1), (2, 2), (2, 3), (4, 4), (4, 1), (3, 3), (3, 4))
MEMBERS = ("unit", "unit", "generic", "wide", "wide", "ideal", "paper", "fau")
SMALL = 6
"""The most equations that are mapped to the members with few units and one destination: the search for copies takes
long."""
SEEDS = st.integers(0, 1 << 20)
# Smaller seeds are not smaller programs, so shrinking would only cost time.
ONLY_GENERATE = (Phase.explicit, Phase.generate)


def _member(program: Program, rng: random.Random) -> Machine:
    few = len(program.equations) <= SMALL
    return machine_file.load(rng.choice(MEMBERS if few else MEMBERS[:6]))


def _case(seed: int, placements: int, outcomes: Counter[str]) -> None:
    program, rng = random_program(seed), random.Random(seed)
    machine = _member(program, rng)
    try:
        symbolic = compiled(program, machine)
    except PolyloomError as error:
        outcomes[refusal(error)] += placements
        return
    for _ in range(placements):
        values, region = random_sizes(program, rng, 500), rng.choice(REGIONS)
        try:
            run(program, symbolic, machine, values, region, seed)
        except PolyloomError as error:
            outcomes[refusal(error)] += 1
            continue
        outcomes["ran"] += 1


def _check_share(outcomes: Counter[str], least: int) -> None:
    print(f"{outcomes['ran']} of {outcomes.total()} ran: {dict(outcomes)}")
    assert outcomes.total() >= least
    assert outcomes["ran"] >= SHARE * outcomes.total()


@pytest.mark.parametrize("chunk", [*range(2), *(pytest.param(c, marks=pytest.mark.long) for c in range(2, CHUNKS))])
def test_outputs_equal_the_meaning(chunk: int) -> None:
    outcomes: Counter[str] = Counter()

    @given(SEEDS)
    @settings(max_examples=PROGRAMS, phases=ONLY_GENERATE)
    def every(seed: int) -> None:
        _case(CHUNKS * seed + chunk, PLACEMENTS, outcomes)

    every()
    _check_share(outcomes, PROGRAMS * PLACEMENTS)


@pytest.mark.long
@pytest.mark.parametrize("chunk", range(8))
def test_thousands(chunk: int) -> None:
    outcomes: Counter[str] = Counter()
    for seed in range(100):
        _case(10_000_000 + 100 * chunk + seed, 5, outcomes)
    _check_share(outcomes, 500)


@given(SEEDS)
@settings(max_examples=6, phases=ONLY_GENERATE)
def test_instantiation_equals_brute_force(seed: int) -> None:
    """For every stored candidate, on a few bounds and regions."""
    program, rng = random_program(seed), random.Random(seed)
    machine = machine_file.load(rng.choice(MEMBERS[:6]))
    try:
        symbolic = compiled(program, machine)
    except PolyloomError as error:
        refusal(error)
        return
    for candidate in range(len(symbolic.candidates)):
        values, region = random_sizes(program, rng, 200), rng.choice(REGIONS)
        try:
            concrete = instantiate(symbolic, values, *region, candidate=candidate)
        except PolyloomError as error:
            refusal(error)
            continue
        assert differences(symbolic, values, candidate, concrete) == []


@given(SEEDS)
@settings(max_examples=3, phases=ONLY_GENERATE)
def test_one_symbolic_file_serves_all_sizes(seed: int) -> None:
    """Instantiating one file for two sizes gives the bytes that compiling anew for each gives."""
    program, rng = random_program(seed), random.Random(seed)
    machine = machine_file.load("unit")
    try:
        once = symbolic_file.encode(compile_program(program, machine))
    except PolyloomError as error:
        refusal(error)
        return
    for region in rng.sample(REGIONS, 2):
        values = random_sizes(program, rng, 300)
        search.cache_clear()
        anew = compile_program(random_program(seed), machine_file.load("unit"))
        assert symbolic_file.encode(anew) == once
        try:
            wanted = concrete_file.encode(instantiate(anew, values, *region))
        except PolyloomError as error:
            refusal(error)
            continue
        assert concrete_file.encode(instantiate(symbolic_file.decode(once), values, *region)) == wanted
