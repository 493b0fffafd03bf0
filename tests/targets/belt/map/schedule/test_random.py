# SPDX-License-Identifier: Apache-2.0
"""Random loops on all members, with phases and without, by both solvers, whatever the trip count: the model's memory
and results are the interpreter's. This is what the specializer is believed for."""

from __future__ import annotations

import pytest
from tests.targets.belt.map.schedule.comparing import check_drawn, drawn

CHUNK = 25


CHUNKS = 2
"""All members, phasings and solvers are drawn within these."""


@pytest.mark.parametrize(
    "chunk", [*range(CHUNKS), *(pytest.param(k, marks=pytest.mark.long) for k in range(CHUNKS, 500 // CHUNK))]
)
def test_drawn_loops(chunk: int) -> None:
    facts = [check_drawn(seed) for seed in range(chunk * CHUNK, (chunk + 1) * CHUNK)]
    told = [f for f in facts if f is not None]
    assert sum(f.pipelined for f in told) >= len(told) // 3


def test_draws_reach_all_members_and_solvers() -> None:
    seen = {(d.machine.name, d.machine.phasing, d.solver) for d in map(drawn, range(4 * CHUNK))}
    assert len(seen) == 7 * 2 * 2


@pytest.mark.long
@pytest.mark.parametrize("chunk", range(500))
def test_many_drawn_loops(chunk: int) -> None:
    for seed in range(1000 + 100 * chunk, 1100 + 100 * chunk):
        check_drawn(seed)
