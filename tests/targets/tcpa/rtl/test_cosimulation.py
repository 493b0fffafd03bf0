# SPDX-License-Identifier: Apache-2.0
"""The circuit equals the model in every cycle: kernels, random programs, and random programs with a changed word."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.targets.tcpa.rtl.changed_words import DIFFERS, EQUAL, compare_changed
from tests.targets.tcpa.rtl.conftest import TINY
from tests.targets.tcpa.rtl.random_programs import random_program

from polyloom import api
from polyloom.targets.tcpa import cosimulation, cosimulation_steps
from polyloom.targets.tcpa.cosimulation import Step, run_steps
from polyloom.targets.tcpa.cosimulation_steps import compare_steps, share_circuits
from polyloom.targets.tcpa.rtl.configuration_changes import Loading, changed_words, load_image, make_image
from polyloom.targets.tcpa.rtl.observed_runs import Comparison, Fault, ObservedRun, compare
from polyloom.targets.tcpa.rtl.simulator import Simulator
from polyloom.targets.tcpa.run.phases import plan_execution
from polyloom.targets.tcpa.words import concrete_file
from polyloom.targets.tcpa.words.sides import Side

KERNELS = Path(__file__).with_name("kernels")


def _instance(name: str, sizes: dict[str, int]) -> bytes:
    compiled = api.compile(str(KERNELS / f"{name}.c"), on=f"tcpa:{TINY}:2x2")
    return compiled.instantiate(sizes, pes=(2, 2)).data


def test_product_is_equal(simulator: Simulator) -> None:
    random = np.random.default_rng(1)
    a = random.integers(-(1 << 31), 1 << 31, (6, 5), np.int32)
    b = random.integers(-(1 << 31), 1 << 31, (5, 4), np.int32)
    found = cosimulation.compare_runs(simulator, _instance("gemm", {"n": 6, "m": 4, "k": 5}), {"A": a, "B": b})
    assert found == Comparison(67, 480, 24, None, None)


def test_product_of_floats_is_equal(simulator: Simulator) -> None:
    """Every fused sum has the model's bits; a product of infinity and zero is a NaN on both."""
    random = np.random.default_rng(1)
    a, b = (random.standard_normal(shape).astype(np.float32) for shape in ((6, 5), (5, 4)))
    data = _instance("gemm_f32", {"n": 6, "m": 4, "k": 5})
    found = cosimulation.compare_runs(simulator, data, {"A": a, "B": b})
    assert (found.operations, found.bank_writes, found.fault, found.difference) == (384, 24, None, None)
    a[2, 3], b[3, 1] = np.inf, 0
    found = cosimulation.compare_runs(simulator, data, {"A": a, "B": b})
    assert (found.bank_writes, found.fault, found.difference) == (24, None, None)
    less = np.nextafter(a, np.float32(-np.inf))
    seen = cosimulation.run_circuit(simulator, data, {"A": less, "B": b})
    assert compare(cosimulation.run_model(simulator.circuit, data, {"A": a, "B": b}), seen).difference is not None


def _compare_blocks(simulator: Simulator, data: bytes, given: Mapping[str, NDArray[Any]]) -> Comparison:
    def region_simulator(rows: int, columns: int) -> Simulator:
        assert max(rows, columns) == 2
        return simulator

    return compare_steps(region_simulator, data, str(TINY), given)


def test_steps_are_equal(simulator: Simulator, monkeypatch: pytest.MonkeyPatch) -> None:
    """A product in blocks: four steps, each loaded over the configuration bus; one that differs is named."""
    data = _instance("gemm", {"n": 16, "m": 16, "k": 16})
    random = np.random.default_rng(6)
    given = {name: random.integers(-99, 99, (16, 16), np.int32) for name in "AB"}
    found = _compare_blocks(simulator, data, given)
    assert (found.steps, found.bank_writes, found.fault, found.difference) == (4, 16 * 16, None, None)
    # Three steps of four load the bases that move.
    assert found.configuration == 313
    ran = plan_execution.simulate(data, str(TINY), given, trace=False)
    assert found.cycles == sum(part.cycles for part in ran.phases)

    results = iter([Comparison(5, 6, 7, None, None), Comparison(5, 6, 0, None, "it differs")])

    def next_result(*_: object) -> Comparison:
        return next(results)

    monkeypatch.setattr(cosimulation_steps, "compare", next_result)
    assert _compare_blocks(simulator, data, given) == Comparison(10, 12, 7, None, "step 2: it differs", 2, 305)


@pytest.mark.parametrize(("sides", "region"), [(("north", "west"), (4, 3)), (("north", "south"), (1, 2))])
def test_a_region_without_banks_inside_shares_the_larger_circuit(
    sides: tuple[Side, Side], region: tuple[int, int], simulator: Simulator
) -> None:
    concrete = concrete_file.decode(_instance("gemm", {"n": 4, "m": 4, "k": 4}))
    moved = tuple(replace(g, side=sides[n % 2], channel=n // 4) for n, g in enumerate(concrete.generators))
    control = replace(concrete.controller, south=False, east=False)
    data = concrete_file.encode(replace(concrete, controller=control, generators=moved))
    found = list[tuple[int, int]]()

    def build(rows: int, columns: int) -> Simulator:
        found.append((rows, columns))
        return simulator

    share_circuits(build, simulator.circuit.machine, data, (4, 3))(concrete.rows, concrete.columns)
    assert found == [region]


@pytest.mark.long
@pytest.mark.parametrize("first", range(3000, 4000, 100))
def test_random_programs_of_floats(float_simulator: Simulator, first: int) -> None:
    _compare_random(float_simulator, range(first, first + 100))


def test_triangular_loops_with_a_division_are_equal(simulator: Simulator) -> None:
    """Half-spaces, and a blocking unit; a zero on the diagonal faults on both in one cycle."""
    random = np.random.default_rng(2)
    lower, b = random.integers(1, 9, (6, 6), np.int32), random.integers(-1000, 1000, 6, np.int32)
    data = _instance("tri", {"n": 6})
    found = cosimulation.compare_runs(simulator, data, {"L": lower, "b": b})
    assert (found.bank_writes, found.fault, found.difference) == (6, None, None)
    lower[3, 3] = 0
    found = cosimulation.compare_runs(simulator, data, {"L": lower, "b": b})
    assert found.fault is not None
    assert (found.fault.cause, found.difference) == (19, None)


def test_kernels_follow_one_another(simulator: Simulator) -> None:
    """Each loads the words that change: units get programs and lose them, connections and sets are taken back. The one
    of floats takes more elements than the others, so that all words are loaded for it and after it.
    """
    random = np.random.default_rng(4)
    a, b = random.integers(-99, 99, (6, 5), np.int32), random.integers(-99, 99, (5, 4), np.int32)
    lower, right = random.integers(1, 9, (6, 6), np.int32), random.integers(-99, 99, 6, np.int32)
    product = _instance("gemm", {"n": 6, "m": 4, "k": 5}), {"A": a, "B": b}
    floats = _instance("gemm_f32", {"n": 6, "m": 4, "k": 5}), {"A": a.astype(np.float32), "B": b.astype(np.float32)}
    solution = _instance("tri", {"n": 6}), {"L": lower, "b": right}
    programs = [product, solution, floats, solution, product]
    for both, own in zip(programs, _run_one_after_another(simulator, programs), strict=True):
        found = compare(cosimulation.run_model(simulator.circuit, *both), own)
        assert (found.fault, found.difference) == (None, None)


Program = tuple[bytes, Mapping[str, NDArray[Any]]]


def _run_one_after_another(simulator: Simulator, programs: Sequence[Program]) -> list[ObservedRun | list[Fault]]:
    images = [make_image(simulator.circuit, concrete_file.decode(data)) for data, _ in programs]
    changes = [
        Loading(False, changed_words(a, b)) if a.region == b.region else load_image(b) for a, b in pairwise(images)
    ]
    loadings = [load_image(images[0]), *changes]
    return run_steps(simulator, [Step(*both, loading) for both, loading in zip(programs, loadings, strict=True)])


def _without_last_element(data: bytes) -> bytes:
    """The configuration with an empty tile in the last corner."""
    concrete = concrete_file.decode(data)
    classes = [list(row) for row in concrete.element_class]
    classes[-1][-1] = -1
    return concrete_file.encode(replace(concrete, element_class=tuple(tuple(row) for row in classes)))


def test_an_element_that_loses_its_class_stops(simulator: Simulator) -> None:
    """It does not go on with the program of the step before, and gets it again in the step after."""
    data, inputs = random_program(simulator.circuit.machine, 3)
    programs = [(data, inputs), (_without_last_element(data), inputs), (data, inputs)]
    for both, own in zip(programs, _run_one_after_another(simulator, programs), strict=True):
        assert compare(cosimulation.run_model(simulator.circuit, *both), own).difference is None


def _compare_random(simulator: Simulator, seeds: range) -> None:
    """One after another on a circuit that keeps its configuration: each loads the words that change."""
    operations = writes = 0
    programs = [random_program(simulator.circuit.machine, seed) for seed in seeds]
    seen = _run_one_after_another(simulator, programs)
    for seed, both, own in zip(seeds, programs, seen, strict=True):
        found = compare(cosimulation.run_model(simulator.circuit, *both), own)
        assert found.difference is None, seed
        assert found.fault is None, seed
        operations += found.operations
        writes += found.bank_writes
    assert operations > 300 * len(seeds)
    assert writes > 5 * len(seeds)


def test_random_programs(simulator: Simulator) -> None:
    _compare_random(simulator, range(10))


@pytest.mark.long
@pytest.mark.parametrize("first", range(1000, 2000, 100))
def test_more_random_programs(simulator: Simulator, first: int) -> None:
    _compare_random(simulator, range(first, first + 100))


def test_changed_words_fault_in_one_cycle(simulator: Simulator) -> None:
    found = compare_changed(simulator, range(100, 104), 8)
    assert not found[DIFFERS]
    assert found[EQUAL] > 7
    assert sum(n for kind, n in found.items() if kind.startswith("fault")) > 3


@pytest.mark.long
@pytest.mark.parametrize("first", range(2000, 3000, 100))
def test_more_changed_words(simulator: Simulator, first: int) -> None:
    assert not compare_changed(simulator, range(first, first + 100), 10)[DIFFERS]


def test_differences_are_found(simulator: Simulator) -> None:
    """The comparison looks at operations, results, bank writes and faults."""
    data, inputs = random_program(simulator.circuit.machine, 3)
    concrete = concrete_file.decode(data)
    expected = cosimulation.run_model(simulator.circuit, data, inputs)
    assert compare(expected, cosimulation.run_circuit(simulator, data, inputs)).difference is None
    other = {name: array + np.ones_like(array) if array.dtype != np.bool_ else ~array for name, array in inputs.items()}
    values = compare(expected, cosimulation.run_circuit(simulator, data, other)).difference
    assert values is not None
    assert "result" in values or "bank write" in values
    late = replace(concrete, controller=replace(concrete.controller, start=concrete.controller.start + 1))
    seen = cosimulation.run_circuit(simulator, concrete_file.encode(late), inputs)
    assert compare(expected, seen).difference is not None
