# SPDX-License-Identifier: Apache-2.0
"""Whole configurations on the plain model: outputs equal the program's meaning, depths are exact, cycles are
predicted."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest
from tests.targets.tcpa.instantiate import samples
from tests.targets.tcpa.instantiate.machine import Run, simulate
from tests.targets.tcpa.instantiate.naive import UNLIMITED, Cells, Program, reference, symbolic
from tests.targets.tcpa.instantiate.oracle import instantiate, predicted_cycles

from polyloom.targets.tcpa.words.concrete import Concrete
from polyloom.targets.tcpa.words.isa import File, If
from polyloom.targets.tcpa.words.symbolic import Symbolic


def data_of(concrete: Concrete) -> Cells:
    points = ((a.name, p) for a in concrete.arrays if not a.is_output for p in product(*(range(n) for n in a.shape)))
    return {key: (i * 2654435761) % 1009 + 1 for i, key in enumerate(points)}


def check(
    program: Program, mapped: Symbolic, values: dict[str, int], rows: int, columns: int, *, latency: int = 1
) -> tuple[Concrete, Run]:
    concrete = instantiate(mapped, values, rows, columns)
    data = data_of(concrete)
    run = simulate(concrete, data, latency=latency, hop_delay=mapped.limits.hop_delay)
    assert run.outputs == reference(program, values, data)
    assert predicted_cycles(concrete) >= run.cycles
    for c, element in enumerate(concrete.classes):
        for file, depths in ((File.FD, element.feedback_depths), (File.IO, element.input_depths)):
            for index, depth in enumerate(depths):
                assert run.high_water.get((c, file, index), 0) == depth, f"class {c}: {file!r}{index} is {depth} deep"
    return concrete, run


@pytest.mark.parametrize(
    ("n", "columns", "interval"), [(16, 3, 2), (16, 4, 2), (5, 3, 2), (1, 1, 2), (7, 2, 3), (4, 8, 2), (3, 3, 2)]
)
def test_bits(n: int, columns: int, interval: int) -> None:
    mapped = symbolic(samples.BITS, rows=None, columns=0, order=(0,), interval=interval)
    check(samples.BITS, mapped, {"N": n}, 1, columns)


@pytest.mark.parametrize(
    ("sizes", "region"),
    [((4, 4, 3), (2, 2)), ((5, 7, 3), (2, 3)), ((6, 6, 2), (3, 3)), ((1, 1, 1), (2, 2)), ((5, 5, 4), (4, 4))],
)
@pytest.mark.parametrize("order", [(2, 1, 0), (0, 1, 2), (1, 2, 0)])
def test_matmul(sizes: tuple[int, int, int], region: tuple[int, int], order: tuple[int, ...]) -> None:
    mapped = symbolic(samples.MATMUL, rows=0, columns=1, order=order, interval=1)
    check(samples.MATMUL, mapped, dict(zip("NMK", sizes, strict=True)), *region)


@pytest.mark.parametrize(
    ("n", "t", "region"), [(8, 4, (2, 2)), (9, 5, (2, 3)), (12, 12, (4, 4)), (3, 2, (1, 1)), (7, 3, (3, 1))]
)
@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_fir(n: int, t: int, region: tuple[int, int], order: tuple[int, ...]) -> None:
    mapped = symbolic(samples.FIR, rows=0, columns=1, order=order, interval=2)
    check(samples.FIR, mapped, {"N": n, "T": t}, *region)


@pytest.mark.parametrize(("t", "n", "columns"), [(4, 12, 3), (5, 9, 2), (3, 3, 1), (6, 11, 4)])
def test_jacobi(t: int, n: int, columns: int) -> None:
    mapped = symbolic(samples.JACOBI, rows=None, columns=1, order=(1, 0), interval=3)
    check(samples.JACOBI, mapped, {"T": t, "N": n}, 1, columns)


@pytest.mark.parametrize(("n", "region"), [(6, (2, 2)), (7, (3, 2)), (5, (1, 1)), (9, (3, 3)), (8, (4, 4))])
@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_triangle(n: int, region: tuple[int, int], order: tuple[int, ...]) -> None:
    mapped = symbolic(samples.TRIANGLE, rows=0, columns=1, order=order, interval=2)
    concrete = instantiate(mapped, {"N": n}, *region)
    data = data_of(concrete)
    run = simulate(concrete, data)
    assert run.outputs == reference(samples.TRIANGLE, {"N": n}, data)
    assert predicted_cycles(concrete) >= run.cycles


def test_conv() -> None:
    mapped = symbolic(samples.CONV, rows=0, columns=1, order=(5, 4, 3, 2, 1, 0), interval=1)
    values = {"M": 4, "C": 2, "H": 5, "W": 4, "R": 2, "S": 3}
    check(samples.CONV, mapped, values, 2, 2)


@pytest.mark.parametrize("flags", [1, 2])
def test_few_branch_flags_clone_kernels_by_what_follows(flags: int) -> None:
    limits = replace(UNLIMITED, branch_flags=flags)
    mapped = symbolic(samples.MATMUL, rows=0, columns=1, order=(2, 1, 0), interval=1, limits=limits)
    concrete, _ = check(samples.MATMUL, mapped, {"N": 6, "M": 5, "K": 4}, 2, 2)
    assert all(
        len(i.branch.targets) <= 1 << flags
        for c in concrete.classes
        for p in c.programs
        for i in p
        if isinstance(i.branch, If)
    )


@pytest.mark.parametrize("hop_delay", [0, 1, 3])
@pytest.mark.parametrize("latency", [1, 2, 4])
def test_latencies_and_hops(hop_delay: int, latency: int) -> None:
    limits = replace(UNLIMITED, hop_delay=hop_delay)
    mapped = symbolic(samples.FIR, rows=0, columns=1, order=(0, 1), interval=latency, limits=limits, latency=latency)
    check(samples.FIR, mapped, {"N": 17, "T": 13}, 3, 2, latency=latency)


def test_predicted_cycles_are_the_simulated_ones_on_perfect_tilings() -> None:
    mapped = symbolic(samples.MATMUL, rows=0, columns=1, order=(1, 0, 2), interval=1)
    concrete, run = check(samples.MATMUL, mapped, {"N": 6, "M": 4, "K": 5}, 2, 2)
    assert predicted_cycles(concrete) == run.cycles > 3 * 2 * 5


def test_a_wrong_word_is_noticed() -> None:
    """The plain model is no rubber stamp: a depth, a delay, a signal or a destination that is off faults or differs."""
    mapped = symbolic(samples.MATMUL, rows=0, columns=1, order=(2, 1, 0), interval=1)
    values = {"N": 6, "M": 5, "K": 4}
    concrete = instantiate(mapped, values, 2, 2)
    data = data_of(concrete)
    first = concrete.classes[0]
    shallow = replace(first, feedback_depths=tuple(max(0, d - 1) for d in first.feedback_depths))
    for wrong in (
        replace(concrete, classes=(shallow, *concrete.classes[1:])),
        replace(
            concrete,
            generators=(
                replace(concrete.generators[0], delay=concrete.generators[0].delay + 1),
                *concrete.generators[1:],
            ),
        ),
        replace(concrete, controller=replace(concrete.controller, signals=((), *concrete.controller.signals[1:]))),
        replace(concrete, controller=replace(concrete.controller, column_delay=concrete.controller.column_delay - 1)),
    ):
        with pytest.raises((AssertionError, KeyError)):
            run = simulate(wrong, data)
            assert run.outputs == reference(samples.MATMUL, values, data)
