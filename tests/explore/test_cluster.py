# SPDX-License-Identifier: Apache-2.0
"""Dask: the same table, from workers that have neither the file nor the machine's; and what is said where it fails."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.explore.killing import POINTS, begun, ended, resumed, rows_in, serial, wait_for_rows

import polyloom as pl
from polyloom.cli.examples import folder
from polyloom.exploration import cluster

distributed: Any = pytest.importorskip("distributed")
SEEDS = pytest.mark.parametrize("seeds", [(1,), pytest.param(range(2, 22), marks=pytest.mark.long)], ids=["1", "20"])
Start = Callable[[], subprocess.Popen[bytes]]


@contextmanager
def started(*words: str) -> Generator[subprocess.Popen[bytes]]:
    """A process of Dask's command line."""
    process = subprocess.Popen(
        [sys.executable, "-m", "distributed.cli." + words[0], *words[1:]],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


class Site:
    """A scheduler and two workers, each a process, which can be ended and begun anew."""

    def __init__(self, stack: ExitStack, folder: Path) -> None:
        self.stack, self.folder = stack, folder
        self.file = folder / f"scheduler-{time.monotonic_ns()}.json"
        words = ["dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--no-show"]
        self.scheduler = stack.enter_context(started(*words, "--scheduler-file", str(self.file)))
        while not self.file.exists():
            assert self.scheduler.poll() is None
            time.sleep(0.02)
        self.workers = [self.worker() for _ in range(2)]

    def worker(self) -> subprocess.Popen[bytes]:
        words = ["dask_worker", "--nthreads", "1", "--no-dashboard", "--no-nanny", "--death-timeout", "60"]
        place = ["--local-directory", str(self.folder), "--scheduler-file", str(self.file)]
        return self.stack.enter_context(started(*words, *place))

    @property
    def address(self) -> str:
        import json

        return json.loads(self.file.read_text())["address"]


@pytest.fixture
def site(tmp_path: Path) -> Generator[Callable[[], Site]]:
    with ExitStack() as stack:
        yield lambda: Site(stack, tmp_path)


def test_the_same_table_without_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One worker in this process, in another folder, after the kernel's file has gone."""
    (tmp_path / "k.py").write_text((folder() / "kernels" / "matvec.py").read_text())
    monkeypatch.chdir(tmp_path)
    asked: Any = {"sweep": {"N": [4, 6], "pes": "1x1..1x2"}, "set": {"fifo_depth": [64]}, "M": 5}
    with distributed.LocalCluster(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None) as local:
        here = pl.explore("k.py", **asked)
        monkeypatch.setattr(cluster, "perform", elsewhere(cluster.perform, tmp_path))
        there = pl.explore("k.py", scheduler=local.scheduler_address, **asked)
    assert there.csv() == here.csv()
    assert any(row.verified for row in there)


def elsewhere(perform: Callable[..., Any], path: Path) -> Callable[..., Any]:
    def moved(*of: Any) -> Any:
        (path / "k.py").rename(path / "gone.py") if (path / "k.py").exists() else None
        return perform(*of)

    return moved


def test_no_scheduler() -> None:
    with pytest.raises(pl.PolyloomError, match=r"PL1414\]: the Dask scheduler at tcp://127.0.0.1:9 does not answer"):
        cluster_of("tcp://127.0.0.1:9")


def cluster_of(address: str) -> None:
    with cluster.cluster(address):
        pass


def test_workers_of_another_version(monkeypatch: pytest.MonkeyPatch) -> None:
    with distributed.LocalCluster(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None) as local:
        monkeypatch.setattr(cluster, "version", lambda: "0.0.9")
        with pytest.raises(pl.PolyloomError, match=r"PL1415\]: the worker at \S+ has Polyloom 0\.0\.9, and here is"):
            cluster_of(local.scheduler_address)


@SEEDS
def test_a_worker_of_a_scheduler_is_killed(seeds: Sequence[int], site: Callable[[], Site], tmp_path: Path) -> None:
    for seed in seeds:
        own, kept = site(), tmp_path / str(seed)
        process = begun(kept, "--scheduler", own.address)
        wait_for_rows(kept, random.Random(seed).randrange(POINTS), process)
        own.workers[seed % 2].kill()
        assert process.wait(timeout=120) == 0
        assert rows_in(kept) == POINTS
        assert resumed(kept) == serial()


@SEEDS
def test_the_scheduler_is_killed(seeds: Sequence[int], site: Callable[[], Site], tmp_path: Path) -> None:
    for seed in seeds:
        own, kept = site(), tmp_path / str(seed)
        process = begun(kept, "--scheduler", own.address)
        wait_for_rows(kept, random.Random(seed).randrange(POINTS), process)
        own.scheduler.kill()
        assert ended(process, signal.SIGCONT) in (0, 1)
        assert resumed(kept) == serial()
