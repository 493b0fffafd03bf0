# SPDX-License-Identifier: Apache-2.0
"""However a sweep ends, and whoever of it dies: no row is lost, none comes twice, the table is that of one process."""

from __future__ import annotations

import random
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.exploration.killing import FIR, POINTS, begun, ended, kill_one, resumed, rows_in, serial, wait_for_rows

import polyloom as pl
from polyloom.exploration import pool

SEEDS = pytest.mark.parametrize("seeds", [(1,), pytest.param(range(2, 22), marks=pytest.mark.long)], ids=["1", "20"])


@pytest.fixture
def deadly(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    monkeypatch.setattr(pool, "WORKER", "tests.exploration.deadly")
    return monkeypatch


def pooled(jobs: int = 2, **more: Any) -> Any:
    return pl.explore(FIR, sweep=["N=16..46+3", "pes=1x1..1x4"], level="verify", T=4, jobs=jobs, **more)


def test_a_point_that_kills_its_worker_or_never_ends_costs_only_itself(deadly: pytest.MonkeyPatch) -> None:
    deadly.setenv("POLYLOOM_TEST_DEADLY", "N=19")
    deadly.setenv("POLYLOOM_TEST_SLOW", "N=22")
    rows = pl.explore(FIR, "tcpa:1x2", sweep={"N": "16..25+3"}, T=4, level="verify", jobs=2, timeout=10).rows
    assert [row.code for row in rows] == [None, "PL1408", "PL1410", None]
    assert rows[1].message == "its worker process died, 3 times when nothing else ran"
    assert rows[2].message == "it took longer than 10 seconds"


class Killer:
    """The progress of a sweep, which kills a worker at two random moments of it."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.moments = self.random.sample(range(1, POINTS), 2)
        self.seen = 0

    def __call__(self, step: str, fraction: float) -> None:
        self.seen += 1
        if self.seen in self.moments:
            kill_one(self.random)


@SEEDS
def test_workers_are_killed(seeds: Sequence[int]) -> None:
    for seed in seeds:
        assert pooled(progress=Killer(seed)).csv() == serial()


@SEEDS
def test_the_client_is_killed(seeds: Sequence[int], tmp_path: Path) -> None:
    for seed in seeds:
        kept = tmp_path / str(seed)
        process = begun(kept, "--jobs", "2")
        wait_for_rows(kept, random.Random(seed).randrange(POINTS), process)
        ended(process, signal.SIGKILL)
        assert resumed(kept) == serial()


def test_interrupted_by_the_user(tmp_path: Path) -> None:
    process = begun(tmp_path / "s")
    wait_for_rows(tmp_path / "s", 5, process)
    assert ended(process, signal.SIGINT) == 130
    assert 5 <= rows_in(tmp_path / "s") < POINTS
    assert resumed(tmp_path / "s") == serial()
