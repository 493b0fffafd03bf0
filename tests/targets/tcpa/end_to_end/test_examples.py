# SPDX-License-Identifier: Apache-2.0
"""The seven example programs on members and regions: perfect and imperfect tilings, bounds of zero and one, and the
paper's numbers."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
from tests.targets.tcpa.end_to_end.run import compiled, refusal, run

from polyloom.diagnostics import PolyloomError
from polyloom.frontend.pla import load
from polyloom.ir.pla import Program
from polyloom.targets.tcpa import machine_file
from polyloom.targets.tcpa.words.symbolic import Symbolic

FOLDER = Path(__file__).parents[4] / "examples"
REGIONS = ((1, 1), (1, 3), (3, 1), (2, 3), (4, 4), (8, 8))
SIZES: dict[str, tuple[tuple[int, ...], ...]] = {
    # bounds in the order of the program's parameters: perfect on 4x4, imperfect, ones, a zero
    "bits": ((16,), (7,), (1,), (0,)),
    "fir": ((16, 8), (13, 5), (1, 1), (0, 3)),
    "matmul": ((8, 8, 4), (7, 5, 3), (1, 1, 1), (3, 0, 2)),
    "conv": ((4, 2, 4, 4, 2, 2), (3, 1, 5, 3, 2, 3), (1, 1, 1, 1, 1, 1), (2, 1, 0, 3, 1, 1)),
    "lcs": ((8, 8), (7, 5), (1, 1), (0, 4)),
    "jacobi1d": ((4, 16), (3, 7), (1, 1), (0, 5), (3, 0), (2, 2)),
    "matvec": ((8, 8), (7, 5), (1, 1), (4, 0)),
}
MEMBERS = ("unit", "wide", "ideal")


@cache
def example(name: str) -> Program:
    return load(FOLDER / f"{name}.pla")


@cache
def mapped(name: str, member: str) -> Symbolic:
    return compiled(example(name), machine_file.load(member))


def bounds(name: str, sizes: tuple[int, ...]) -> dict[str, int]:
    return dict(zip(example(name).parameters, sizes, strict=True))


# The search for the mapping of six loops on this member takes longer than all others; `unit` and `wide` stay.
SLOW = ("conv", "ideal")


@pytest.mark.parametrize(
    ("name", "member"),
    [
        pytest.param(name, member, marks=pytest.mark.long if (name, member) == SLOW else (), id=f"{member}-{name}")
        for member in MEMBERS
        for name in SIZES
    ],
)
def test_examples_run_on_every_region(name: str, member: str) -> None:
    machine, symbolic = machine_file.load(member), mapped(name, member)
    for sizes in SIZES[name]:
        for region in REGIONS if member != "ideal" else REGIONS[3:5]:
            finished = run(example(name), symbolic, machine, bounds(name, sizes), region)
            if 0 in sizes and name != "jacobi1d":
                assert finished.cycles == 0


@pytest.mark.parametrize("name", SIZES)
@pytest.mark.parametrize("member", ["paper", "fau"])
def test_small_members_run_or_refuse_with_a_reason(name: str, member: str) -> None:
    machine = machine_file.load(member)
    try:
        symbolic = mapped(name, member)
        run(example(name), symbolic, machine, bounds(name, SIZES[name][0]), (2, 2))
    except PolyloomError as error:
        refusal(error)


@pytest.mark.parametrize(
    ("name", "member", "sizes", "region", "cycles"),
    [
        ("matmul", "unit", (20, 20, 20), (4, 4), 585),
        ("matmul", "unit", (32, 32, 32), (8, 8), 638),
        ("matvec", "unit", (32, 32), (4, 1), 287),
    ],
)
def test_cycles_on_perfect_tilings_are_predicted_and_few(
    name: str, member: str, sizes: tuple[int, ...], region: tuple[int, int], cycles: int
) -> None:
    finished = run(example(name), mapped(name, member), machine_file.load(member), bounds(name, sizes), region)
    assert finished.cycles == finished.predicted
    assert finished.cycles <= cycles


def test_bits_on_the_paper_s_machine() -> None:
    symbolic = mapped("bits", "paper")
    finished = run(example("bits"), symbolic, machine_file.load("paper"), {"N": 16}, (1, 3))
    assert (finished.concrete.initiation_interval, symbolic.bottlenecks[0].minimum, symbolic.bottlenecks[0].proved) == (
        2,
        2,
        True,
    )


def test_the_first_three_programs() -> None:
    run(example("matmul"), mapped("matmul", "unit"), machine_file.load("unit"), {"N": 18, "M": 18, "K": 18}, (4, 4))
    run(example("jacobi1d"), mapped("jacobi1d", "unit"), machine_file.load("unit"), {"T": 8, "N": 32}, (1, 4))
    run(example("bits"), mapped("bits", "unit"), machine_file.load("unit"), {"N": 16}, (1, 3))


@pytest.mark.parametrize("name", ["fir", "matmul", "conv", "matvec"])
def test_initiation_interval_is_one_on_wide(name: str) -> None:
    machine = machine_file.load("wide")
    for region in ((1, 1), (4, 4), (8, 8)):
        finished = run(example(name), mapped(name, "wide"), machine, bounds(name, SIZES[name][0]), region)
        assert finished.concrete.initiation_interval == 1


@pytest.mark.parametrize("name", ["lcs", "jacobi1d"])
def test_recurrences_are_named_and_proved_on_unit(name: str) -> None:
    symbolic = mapped(name, "unit")
    reasons = [symbolic.bottlenecks[c.schedule] for c in symbolic.candidates]
    assert all(reason.proved for reason in reasons)
    assert all("->" in reason.bound_by or "unit" in reason.bound_by for reason in reasons)
    assert min(s.initiation_interval for s in symbolic.schedules) == min(reason.minimum for reason in reasons)


@pytest.mark.parametrize(("name", "sizes", "most"), [("fir", (4, 3), 9), ("matmul", (3, 3, 20), 2), ("bits", (4,), 1)])
def test_processor_classes_do_not_depend_on_the_region(name: str, sizes: tuple[int, ...], most: int) -> None:
    machine = machine_file.load("wide")
    counts: list[int] = []
    for size in (4, 8):
        region = (1, size) if name == "bits" else (size, size)
        scaled = tuple(n * size if m < 2 else n for m, n in enumerate(sizes))
        counts.append(
            len(run(example(name), mapped(name, "wide"), machine, bounds(name, scaled), region).concrete.classes)
        )
    assert counts[0] == counts[1] <= most
