# SPDX-License-Identifier: Apache-2.0
"""Facts of a pipelined loop, as a file carries them: whether it is pipelined, its bounds, and what it holds."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LoopFacts:
    """Facts of one loop. What only a pipelined loop has is None for others; `reason` says why it is not pipelined:
    never and ratio (the test), stations (more loads than these), schedule, none, belt, scratch (what could not be
    found, or did not fit, after all rounds), or what the importer says.

    `linear`: bundles of an iteration by its data flow; `packed`: by slots alone (the two latencies of the SPL test,
    docs/targets/belt.md, Loops). `minimum_initiation_interval` is the greater one of the bounds of the loop as it is
    given, before fills, spills and recurs (ResMII and RecMII, Rau 1994); `stations` are those in use, `rounds` the
    schedules thrown away for a lost operand.
    """

    name: str
    line: int
    pipelined: bool
    reason: str
    linear: int
    packed: int
    minimum_initiation_interval: int
    resource_bound: int
    recurrence_bound: int
    initiation_interval: int | None = None
    proved_minimal: bool | None = None
    bound_by: str | None = None
    stages: int | None = None
    drops: int | None = None
    belt_high_water: int | None = None
    spills: int = 0
    fills: int = 0
    recurs: int = 0
    rounds: int = 0
    scratch_bytes: int = 0
    stations: int = 0
    lanes: int = 1
    first_bundle: int | None = None
    routine: str = ""
