# SPDX-License-Identifier: Apache-2.0
"""Initiation interval of each phase of a symbolic configuration, and its binding bound (ResMII and RecMII; Rau 1994).

Of several schedules that a phase stores, the one of the least interval is told: sizes choose among them later.
"""

from __future__ import annotations

from collections.abc import Sequence

from polyloom.targets.report import LoopInterval
from polyloom.targets.tcpa.words.phases.stages import phase_files
from polyloom.targets.tcpa.words.program_file import decode_symbolic
from polyloom.targets.tcpa.words.symbolic import Symbolic


def loop_intervals(data: bytes) -> Sequence[LoopInterval]:
    """Interval of each phase of a symbolic file, with the lines that its operations come from."""
    return tuple(_interval(decode_symbolic(file)) for file in phase_files(data))


def _interval(symbolic: Symbolic) -> LoopInterval:
    schedules = symbolic.schedules
    best = min(range(len(schedules)), key=lambda n: schedules[n].initiation_interval)
    # What the compiler added stands where the user wrote something else.
    lines = {origin.line for origin in symbolic.origins if origin.line and not origin.reason}
    why = symbolic.bottlenecks[best]
    return LoopInterval(tuple(sorted(lines)), schedules[best].initiation_interval, why.proved, why.bound_by)
