# SPDX-License-Identifier: Apache-2.0
"""Rare operations: their unit is not reserved, and no configuration that is made lets two of them meet in it."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import product

import pytest
from tests.frontend.python.helpers import KERNELS
from tests.targets.tcpa.instantiate.oracle import instantiate as reference

from polyloom import api
from polyloom.diagnostics import PolyloomError
from polyloom.targets.tcpa import machine_file
from polyloom.targets.tcpa.map.rare_operations import has_collision
from polyloom.targets.tcpa.run import instantiation
from polyloom.targets.tcpa.run.verify import verify_concrete
from polyloom.targets.tcpa.words import concrete_file, symbolic_file
from polyloom.targets.tcpa.words.phases.stages import phase_files
from polyloom.targets.tcpa.words.symbolic import Apart, Row, Schedule, Symbolic

WIDE = machine_file.load("wide")


@cache
def mapped(kernel: str) -> bytes:
    return phase_files(api.compile(str(KERNELS / f"{kernel}.py"), on="tcpa:wide").data)[0]


def blind(symbolic: Symbolic) -> Symbolic:
    """The configuration without what its schedules remember of rare operations."""
    return replace(symbolic, schedules=tuple(replace(s, apart=()) for s in symbolic.schedules))


def made(symbolic: Symbolic, n: int, region: tuple[int, int], candidate: int | None) -> bytes | None:
    """The words, or None where no candidate fits."""
    data = symbolic_file.encode(symbolic)
    try:
        return instantiation.instantiate(data, symbolic, (n,), *region, candidate=candidate)
    except PolyloomError as error:
        assert error.exit_code == 3
        return None


@pytest.mark.parametrize("kernel", ["trisolv", "lu"])
def test_a_division_on_the_diagonal_does_not_set_the_interval(kernel: str) -> None:
    schedules = symbolic_file.decode(mapped(kernel)).schedules
    assert min(s.initiation_interval for s in schedules if s.apart) == 1
    assert all(s.initiation_interval >= 12 for s in schedules if not s.apart)


@pytest.mark.parametrize("region", [(1, 1), (2, 2), (1, 4), (4, 1)])
def test_words_are_right_for_every_candidate_and_size(region: tuple[int, int]) -> None:
    symbolic = symbolic_file.decode(mapped("trisolv"))
    for n, candidate in product((1, 2, 5, 9, 13), range(len(symbolic.candidates))):
        words = made(symbolic, n, region, candidate)
        assert words is None or verify_concrete.verify(words, WIDE) == ()


def test_without_memory_operations_meet_in_their_unit() -> None:
    symbolic = blind(symbolic_file.decode(mapped("lu")))
    words = [made(symbolic, n, (1, 1), c) for n in (3, 5) for c in range(len(symbolic.candidates))]
    found = [d.code for data in words if data is not None for d in verify_concrete.verify(data, WIDE)]
    assert "PL0617" in found


@pytest.mark.parametrize(("kernel", "n"), [("trisolv", 4), ("trisolv", 22), ("lu", 3), ("lu", 5)])
def test_the_library_decides_as_its_oracle_does(kernel: str, n: int) -> None:
    symbolic = symbolic_file.decode(mapped(kernel))
    for candidate in (None, *range(len(symbolic.candidates))):
        words = made(symbolic, n, (2, 2), candidate)
        if words is not None:
            expected = reference(symbolic, {"N": n}, 2, 2, candidate=candidate)
            assert words == concrete_file.encode(expected)


@pytest.mark.parametrize(
    ("n", "region", "signals", "extents", "interval"),
    [
        # Two rows of j have 10 steps each, and a division takes 12.
        (20, (2, 2), 64, (12, 10, 19), 1),
        # Tiles of 4x4 need more signals; i has one iteration less than j.
        (9, (2, 3), 25, (3, 4, 8), 4),
    ],
)
def test_tiles_are_longer_where_operations_meet_and_shorter_where_signals_lack(
    n: int, region: tuple[int, int], signals: int, extents: tuple[int, ...], interval: int
) -> None:
    symbolic = symbolic_file.decode(mapped("lu"))
    symbolic = replace(symbolic, limits=replace(symbolic.limits, control_signals=signals))
    words = made(symbolic, n, region, None)
    assert words is not None
    found = concrete_file.decode(words)
    assert (found.extents, found.initiation_interval, (found.rows, found.columns)) == (extents, interval, region)
    assert words == concrete_file.encode(reference(symbolic, {"N": n}, *region))
    assert verify_concrete.verify(words, WIDE) == ()


def test_small_tiles_start_iterations_more_seldom() -> None:
    symbolic = symbolic_file.decode(mapped("lu"))
    single = replace(symbolic, candidates=tuple(c for c in symbolic.candidates if symbolic.schedules[c.schedule].apart))
    intervals = [
        concrete_file.decode(words).initiation_interval for n in (3, 14) if (words := made(single, n, (1, 1), None))
    ]
    assert intervals[0] > intervals[1]


def test_every_meeting_is_found() -> None:
    """`collide` of an operation on the diagonal, against all pairs of iterations of a tile."""
    diagonal = Apart(0, 0, ((Row((1, -1), (), 0), Row((-1, 1), (), 0)),))
    found: set[bool] = set()
    for interval, order, sizes in product((1, 2, 5), ((0, 1), (1, 0)), product((1, 2, 3, 7, 13), repeat=2)):
        step = (1, sizes[0]) if order == (0, 1) else (sizes[1], 1)
        starts = [interval * sum(i * s for s in step) for i in range(min(sizes))]
        meets = any(0 < abs(a - b) < 12 for a, b in product(starts, repeat=2))
        assert has_collision(Schedule(interval, (0,), (0,), (12,), (diagonal,)), order, (1, 1), sizes, ()) == meets
        found.add(meets)
    assert found == {True, False}
