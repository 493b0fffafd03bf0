# SPDX-License-Identifier: Apache-2.0
"""Register colouring."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Interval:
    """A value lives in the cycles ready..last, both inclusive, at most `period` of them, in every period."""

    ready: int
    last: int


def colour(intervals: tuple[Interval, ...], period: int, compatible: frozenset[tuple[int, int]] = frozenset()) -> tuple[tuple[int, ...], int]:
    """A register for every interval, and a proven lower bound on the number of registers.

    Pairs in `compatible` (in any order) may share a register although they meet.
    """
    raise NotImplementedError


def colour_graph(n: int, edges: Iterable[tuple[int, int]]) -> tuple[int, ...]:
    """A colour for each of the nodes 0..n-1, unlike colours at the ends of every edge."""
    raise NotImplementedError
