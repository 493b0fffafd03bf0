# SPDX-License-Identifier: Apache-2.0
"""Medians of wall-clock times."""

from __future__ import annotations

from collections.abc import Callable
from statistics import median
from time import perf_counter


def median_seconds(action: Callable[[], object], times: int = 5) -> float:
    """The median of `times` runs."""
    return median(_seconds(action) for _ in range(times))


def _seconds(action: Callable[[], object]) -> float:
    start = perf_counter()
    action()
    return perf_counter() - start
