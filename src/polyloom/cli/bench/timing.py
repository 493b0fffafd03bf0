# SPDX-License-Identifier: Apache-2.0
"""Medians of wall-clock times, and of CPU times on a machine that has other work."""

from __future__ import annotations

from collections.abc import Callable
from statistics import median
from time import perf_counter, thread_time


def median_seconds(action: Callable[[], object], times: int = 5) -> float:
    """The median of `times` runs."""
    return median(_seconds(action) for _ in range(times))


def median_cpu_seconds(action: Callable[[], object], times: int = 5) -> float:
    """The same of this thread's CPU time."""
    return median(_seconds(action, thread_time) for _ in range(times))


def _seconds(action: Callable[[], object], clock: Callable[[], float] = perf_counter) -> float:
    start = clock()
    action()
    return clock() - start
