# SPDX-License-Identifier: Apache-2.0
"""Global atomics among minions and shires: round trips by flags, a barrier of all shires, and one word that all add to.
The cycles are those of the silicon.
"""

from __future__ import annotations

import pytest

from polyloom.cli.bench import minion_programs as programs
from polyloom.targets.minion.map import frame


@pytest.mark.parametrize(
    ("minion", "silicon"), [(24, 355.2), (3, 374.7), (4, 400.2), (2, 424.6), (5, 496.9), (6, 521.6), (31, 570.7)]
)
def test_flags_by_the_distance_of_their_home(minion: int, silicon: float) -> None:
    found = programs.cycles_per_repetition(programs.flags(0, minion), 32, 5, 25)
    assert found == pytest.approx(silicon, rel=0.03)


def test_a_barrier_of_all_shires() -> None:
    assert programs.cycles_per_repetition(programs.chip_barriers, 1024, 1, 2) == pytest.approx(5018, rel=0.15)


def test_a_compiled_barrier_of_all_shires_goes_down_a_tree() -> None:
    """One hart that gave all shires their credits, one write after another, would take about 5,000 cycles."""

    def text(times: int) -> str:
        parts = [frame.barrier(frame.Team(1024), f"b{n}", n % 8) for n in range(times)]
        return "".join(f"{line}\n" for line in ("mv s1, s0", *(line for part in parts for line in part.lines)))

    assert programs.cycles_per_repetition(text, 1024, 1, 4) < 2_200


def test_additions_to_one_word_are_served_one_by_one() -> None:
    found = programs.cycles_per_repetition(programs.atomics(programs.DRAM, 32), 96, 2, 6) / 64
    assert found == pytest.approx(10, rel=0.01)


@pytest.mark.parametrize(("lines", "silicon"), [(1, 73), (4, 144), (8, 320), (16, 730)])
def test_loads_from_dram(lines: int, silicon: float) -> None:
    found = programs.cycles_per_repetition(programs.loads(lines, programs.DRAM, 1024), 1, 10, 40)
    assert found == pytest.approx(silicon, rel=0.05)
