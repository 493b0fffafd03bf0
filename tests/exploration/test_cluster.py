# SPDX-License-Identifier: Apache-2.0
"""Dask: the same table, from workers that have neither the file nor the machine's; and what is said where it fails."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.exploration.killing import FIR, POINTS, begun, resumed, serial, wait_for_rows

import polyloom as pl
from polyloom import api
from polyloom.cli.examples import folder
from polyloom.exploration import cluster
from polyloom.exploration.serialization import pack, unpack
from polyloom.exploration.work import Task, Unit, Work
from polyloom.targets.tcpa import machine_file

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
        return json.loads(self.file.read_text())["address"]


@pytest.fixture
def site(tmp_path: Path) -> Generator[Callable[[], Site]]:
    with ExitStack() as stack:
        yield lambda: Site(stack, tmp_path)


@contextmanager
def local() -> Generator[str]:
    """The address of a scheduler with one worker, both in this process."""
    words: Any = {"n_workers": 1, "threads_per_worker": 1, "processes": False, "dashboard_address": None}
    with distributed.LocalCluster(**words) as made:
        yield made.scheduler_address


def test_the_same_table() -> None:
    asked: Any = {"sweep": {"N": [16, 19], "pes": "1x1..1x2"}, "set": {"fifo_depth": [64]}, "T": 4}
    with local() as address:
        there = pl.explore(FIR, scheduler=address, **asked)
    assert there.csv() == pl.explore(FIR, **asked).csv()
    assert any(row.verified for row in there)


def test_a_unit_goes_with_its_file(tmp_path: Path) -> None:
    """A worker that has neither the kernel's file nor the machine's computes the same row."""
    source = tmp_path / "k.py"
    source.write_text((folder() / "kernels" / "matvec.py").read_text())
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    there.mkdir()
    compiled = api.compile(source, "tcpa:wide")
    assert compiled.subject is not None
    machine = machine_file.resolve(machine_file.load("wide"))
    unit = Unit("", "tcpa:wide", machine, compiled.subject, compiled.target.options(), 0, compiled.data)
    task = Task(0, "0", "verify", (*((name, "4") for name in compiled.parameters), ("pes", "1x2")))
    data, rows = pack(unit), [answer(unit, task, here)]
    source.rename(tmp_path / "gone.py")
    rows.append(answer(unpack(data, there), task, there))
    assert json.loads(rows[0])["verified"]
    assert rows[0] == rows[1]


def answer(unit: Unit, task: Task, folder: Path) -> str:
    work = Work(folder)
    work.open_unit("0", unit)
    found = work.perform(task)
    assert isinstance(found, str)
    return found


@pl.kernel
def nowhere(a: pl.f32[4]) -> None:
    for i in range(4):
        a[i] = 1.0


def test_a_kernel_of_a_script_stays_where_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nowhere.function, "__module__", "__main__")
    monkeypatch.setattr(sys.modules["__main__"], "nowhere", nowhere, raising=False)
    with pytest.raises(pl.PolyloomError, match=r"PL1412[\s\S]*the kernel nowhere is defined in a script or a notebook"):
        pl.explore(nowhere, sweep={"pes": "1x1..1x2"}, jobs=2)


def test_no_scheduler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "WAIT", 1)
    with pytest.raises(pl.PolyloomError, match=r"PL1414\]: the Dask scheduler at tcp://127.0.0.1:9 does not answer"):
        cluster_of("tcp://127.0.0.1:9")


def cluster_of(address: str) -> None:
    with cluster.cluster(address):
        pass


def test_workers_of_another_version(monkeypatch: pytest.MonkeyPatch) -> None:
    with local() as address:
        monkeypatch.setattr(cluster, "VERSION", "0.0.9")
        monkeypatch.setattr(cluster, "version", version)
        with pytest.raises(
            pl.PolyloomError, match=r"PL1415\]: the worker at \S+ has Polyloom 0\.0\.8, and here is 0\.0\.9"
        ):
            cluster_of(address)


def version() -> str:
    return "0.0.8"


@SEEDS
def test_a_worker_is_killed_and_then_the_scheduler(
    seeds: Sequence[int], site: Callable[[], Site], tmp_path: Path
) -> None:
    for seed in seeds:
        own, kept = site(), tmp_path / str(seed)
        process = begun(kept, "--scheduler", own.address)
        first, last = sorted(random.Random(seed).sample(range(POINTS), 2))
        wait_for_rows(kept, first, process)
        own.workers[seed % 2].kill()
        wait_for_rows(kept, last, process)
        own.scheduler.kill()
        _, err = process.communicate(timeout=120)
        # It may have been done just before.
        assert (process.returncode, b"PL1414" in err) in ((0, False), (1, True))
        assert b"Traceback" not in err
        assert resumed(kept) == serial()
