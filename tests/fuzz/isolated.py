# SPDX-License-Identifier: Apache-2.0
"""Inputs tried in a process of their own, under limits of memory and time, until a time is over, so many were tried, or
one is found fault with.

The process writes an input to a file before it tries it, so that the parent has it whatever happens: a signal, a limit,
an exception.
"""

from __future__ import annotations

import faulthandler
import os
import resource
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random
from time import monotonic
from typing import Final

MEMORY: Final = 3 << 30
"""Bytes of address space on top of what a process has when it begins."""
PATIENCE: Final = 20.0
"""Seconds for one step of an attempt."""
_HANG: Final = 180
"""Seconds of processor time after which an attempt that does not even heed signals is killed."""


@dataclass(frozen=True, slots=True)
class Finding:
    """An input that something is wrong with, and what that is."""

    data: bytes
    what: str


@dataclass(frozen=True, slots=True)
class Hunt:
    """How many inputs were tried, and the one that ended it, if any."""

    tried: int
    finding: Finding | None


class TooLong(BaseException):
    """A step took longer than it was given; no `except Exception` stops it."""


def limited(seconds: float, action: Callable[[], None]) -> bool:
    """Whether `action` ended within so many seconds of processor time; what waits has ten times as long by the clock,
    so that a busy machine makes no findings."""
    try:
        signal.setitimer(signal.ITIMER_VIRTUAL, seconds, 1.0)
        signal.setitimer(signal.ITIMER_REAL, 10 * seconds, 1.0)
        action()
    except TooLong:
        return False
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)
    return True


def heed_limits(stop: Callable[..., None]) -> None:
    """Have `stop` called when a limit is reached."""
    for each in (signal.SIGALRM, signal.SIGVTALRM):
        signal.signal(each, stop)


def hunt(
    seconds: float,
    seed: int,
    make: Callable[[Random], bytes],
    attempt: Callable[[bytes], None],
    most: int | None = None,
) -> Hunt:
    """Tries what `make` makes for `seconds`, or `most` inputs: these are the same on every machine. An exception of
    `attempt` is a finding, as is every death of its process."""
    with tempfile.TemporaryDirectory(prefix="polyloom-fuzz-") as folder:
        current, report, count = Path(folder, "input"), Path(folder, "report"), Path(folder, "count")
        sys.stdout.flush()
        sys.stderr.flush()
        child = os.fork()
        if child == 0:
            _child(Path(folder), lambda: _try(seconds, Random(seed), make, attempt, most))
        _, status = os.waitpid(child, 0)
        tried = int(count.read_text()) if count.exists() else 0
        if status == 0:
            return Hunt(tried, None)
        ended = os.waitstatus_to_exitcode(status)
        what = (
            report.read_text()
            if report.exists()
            else f"the process ended with {ended if ended >= 0 else signal.Signals(-ended).name}"
        )
        return Hunt(tried, Finding(current.read_bytes() if current.exists() else b"", what))


def _child(folder: Path, work: Callable[[], None]) -> None:
    """Does not return."""
    status = 1
    try:
        faulthandler.disable()
        os.chdir(folder)
        heed_limits(_stop)
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + MEMORY, resource.RLIM_INFINITY))
        work()
        status = 0
    except BaseException:
        Path(folder, "report").write_text(traceback.format_exc())
    finally:
        os._exit(status)


def _try(
    seconds: float, random: Random, make: Callable[[Random], bytes], attempt: Callable[[bytes], None], most: int | None
) -> None:
    end, tried = monotonic() + seconds, 0
    while monotonic() < end and tried != most:
        data = make(random)
        Path("input").write_bytes(data)
        signal.setitimer(signal.ITIMER_PROF, _HANG)
        attempt(data)
        tried += 1
        Path("count").write_text(str(tried))


def _stop(number: int, frame: object) -> None:
    del number, frame
    raise TooLong
