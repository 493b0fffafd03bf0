# SPDX-License-Identifier: Apache-2.0
"""What tests of ends share: a small sweep, its serial table, and processes that are killed at random moments."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing, suppress
from functools import cache
from pathlib import Path

import polyloom as pl
from polyloom.cli.examples import folder

FIR = str(folder() / "fir.pla")
WORDS = [FIR, "T=4", "--sweep", "N=16..46+3", "--sweep", "pes=1x1..1x4", "--level", "verify"]
POINTS = 33


@cache
def serial() -> str:
    """The table, computed in this process."""
    return pl.explore(FIR, sweep=["N=16..46+3", "pes=1x1..1x4"], level="verify", T=4).csv()


def begun(kept: Path, *more: str) -> subprocess.Popen[bytes]:
    """The sweep as a command of its own, keeping its rows."""
    words = [sys.executable, "-m", "polyloom", "explore", *WORDS, "--resume", str(kept), *more]
    return subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def rows_in(kept: Path) -> int:
    """How many rows the folder has; none where there is no table yet."""
    path = kept / "rows.sqlite"
    if path.exists():
        with suppress(sqlite3.Error), closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=5)) as rows:
            return rows.execute("SELECT count(*) FROM rows").fetchone()[0]
    return 0


def wait_for_rows(kept: Path, count: int, process: subprocess.Popen[bytes], seconds: float = 120) -> None:
    """Until there are so many rows, or the process has ended."""
    end = time.monotonic() + seconds
    while rows_in(kept) < count and process.poll() is None:
        assert time.monotonic() < end, "no rows come"
        time.sleep(0.005)


def ended(process: subprocess.Popen[bytes], by: signal.Signals) -> int:
    with suppress(ProcessLookupError):
        process.send_signal(by)
    _, err = process.communicate(timeout=120)
    assert process.returncode in (0, 130, -by), err.decode()
    return process.returncode


def resumed(kept: Path) -> str:
    """The table after the rest has been computed here."""
    before = rows_in(kept)
    sweep = pl.explore(FIR, sweep=["N=16..46+3", "pes=1x1..1x4"], level="verify", T=4, resume=kept)
    assert (before + sweep.computed, rows_in(kept)) == (POINTS, POINTS)
    return sweep.csv()


def workers(parent: int) -> list[int]:
    """The workers among the children of a process."""
    found: list[int] = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            with suppress(OSError, IndexError):
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
                if int(fields[1]) == parent and b"exploration" in (entry / "cmdline").read_bytes():
                    found.append(int(entry.name))
    return found


def kill_one(random: random.Random) -> None:
    """Some worker of this process."""
    if alive := sorted(workers(os.getpid())):
        with suppress(ProcessLookupError):
            os.kill(random.choice(alive), signal.SIGKILL)
