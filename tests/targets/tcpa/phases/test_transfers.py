# SPDX-License-Identifier: Apache-2.0
"""Cycles of transfers, and the banks that they are counted between, against word-by-word counting."""

from __future__ import annotations

from collections import Counter
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.made_up import random_inputs
from tests.targets.tcpa.phases.plans import ATAX, CASES, MVT, PARTLY

import polyloom as pl
from polyloom.ir.plan_interpret import interpret
from polyloom.targets.tcpa.run import bank_accesses
from polyloom.targets.tcpa.run.bank_accesses import Accesses
from polyloom.targets.tcpa.run.phases import plan_execution as phases
from polyloom.targets.tcpa.run.phases.transfers import transfer_cycles
from polyloom.targets.tcpa.words import concrete_file
from polyloom.targets.tcpa.words.concrete import Concrete, Generator
from polyloom.targets.tcpa.words.phases import phase_file

pytestmark = pytest.mark.usefixtures("roughly_scheduled")

Pairs = set[tuple[int, int]]
_pairs = st.sets(st.tuples(st.integers(0, 3), st.integers(0, 4)), max_size=8)
_arrays = st.dictionaries(st.sampled_from("ABC"), _pairs)


def accesses(pairs: Pairs) -> Accesses:
    both = np.array(sorted(pairs), np.int64).reshape(-1, 2)
    return both[:, 0], both[:, 1]


def counted(steps: list[tuple[dict[str, Pairs], dict[str, Pairs]]]) -> list[int]:
    """Word by word, with the holders of every element in a dictionary."""
    holders, cycles = dict[tuple[str, int], set[int]](), list[int]()
    for reads, writes in steps:
        sent, received = Counter[int](), Counter[int]()
        for name, pairs in reads.items():
            for bank, element in pairs:
                held = holders.get((name, element), set())
                if held and bank not in held:
                    received[bank] += 1
                    sent[min(held)] += 1
        cycles.append(max([0, *sent.values(), *received.values()]))
        for touched in (reads, writes):
            for name, pairs in touched.items():
                for element in {e for _, e in pairs}:
                    holders[name, element] = {b for b, e in pairs if e == element}
    return cycles


@settings(max_examples=60)
@given(st.lists(st.tuples(_arrays, _arrays), max_size=5))
def test_cycles_are_those_of_the_busiest_bank(steps: list[tuple[dict[str, Pairs], dict[str, Pairs]]]) -> None:
    given_steps = [
        ({n: accesses(p) for n, p in reads.items()}, {n: accesses(p) for n, p in writes.items()})
        for reads, writes in steps
    ]
    assert list(transfer_cycles(given_steps, dict.fromkeys("ABC", (5,)))) == counted(steps)


def test_an_example() -> None:
    first = {"A": {(0, 0), (0, 1), (0, 2), (1, 0)}}, {"x": {(2, 0), (2, 1)}}
    second = {"A": {(1, 0), (1, 1), (3, 2)}, "x": {(2, 0), (1, 1)}}, dict[str, Pairs]()
    assert counted([first, second]) == [0, 2]  # bank 1 receives A[1] and x[1]; bank 0 sends A[1] and A[2]


def touched(concrete: Concrete, generator: Generator) -> set[int]:
    """The elements of one generator, digit by digit."""
    found = set[int]()
    for s in generator.domain:
        for digits in product(*(range(low, high + 1) for low, high in zip(s.lower, s.upper, strict=True))):
            if all(
                sum(a * d for a, d in zip(h.coefficients, digits, strict=True)) + h.constant >= 0 for h in s.half_spaces
            ):
                found.add(generator.base + sum(a * d for a, d in zip(generator.coefficients, digits, strict=True)))
    return found


@pytest.mark.parametrize("name", CASES)
def test_accesses_are_those_of_the_generators(name: str) -> None:
    for stage in stages(pl.compile(CASES[name].plan).instantiate(N=6, pes=(2, 3)).data):
        concrete = concrete_file.decode(stage)
        for array, (holders, elements) in bank_accesses.collect_accesses(concrete).items():
            generators = [g for g in concrete.generators if concrete.arrays[g.array].name == array]
            want = {((g.side, g.position, g.channel), e) for g in generators for e in touched(concrete, g)}
            numbers = dict(zip(sorted(set(holders.tolist())), sorted({p for p, _ in want}, key=order), strict=True))
            assert {(numbers[b], e) for b, e in zip(holders.tolist(), elements.tolist(), strict=True)} == want


def order(place: tuple[str, int, int]) -> tuple[int, int, int]:
    return concrete_file.SIDES.index(place[0]), place[1], place[2]


def test_elements_of_an_output_are_those_that_the_equations_write() -> None:
    """Written over two different backgrounds, the elements that no equation writes differ."""
    (first, _, _) = stages(pl.compile(PARTLY.plan).instantiate(N=6, pes=(1, 4)).data)
    assert sorted(bank_accesses.collect_accesses(concrete_file.decode(first))["to"][1].tolist()) == [1, 2, 3, 4, 5]


def test_a_matrix_that_is_read_along_its_columns_has_to_move() -> None:
    instance = pl.compile(MVT.plan, on="tcpa:wide:2x3").instantiate(N=7)
    assert phases.transfers(instance.data)[1] > 0


def test_what_stays_in_its_bank_costs_nothing() -> None:
    plan = ATAX.plan
    again = type(plan)(
        "again",
        plan.parameters,
        plan.assumptions,
        plan.inputs,
        plan.outputs,
        plan.intermediates,
        (plan.phases[0], plan.phases[0], plan.phases[1]),
    )
    twice = pl.compile(again, on="tcpa:wide:2x2").instantiate(N=5)
    assert phases.transfers(twice.data)[:2] == (0, 0)
    inputs = random_inputs(again, {"N": 5}, 0)
    assert np.array_equal(twice.run(inputs).outputs["y"], interpret(plan, {"N": 5}, inputs)["y"])


def stages(data: bytes) -> tuple[bytes, ...]:
    return tuple(s.data for s in phase_file.decode(phase_file.CONCRETE, data).stages)
