# SPDX-License-Identifier: Apache-2.0
"""Machine description for parallel loops: harts, lanes, lines, and costs in issue slots."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from polyloom.targets.minion.map.frame import Team
from polyloom.targets.minion.memory_map import LINE
from polyloom.transform.parallel.machine import Machine, VectorCosts

LANES: Final = 8
# A barrier of 32 minions takes 233 cycles on silicon, of the whole chip far more; the rest is flushes.
BARRIER: Final = 600
"""Cycles that a barrier and its flushes cost at least: what one hart does in less is not worth sharing out."""
_COSTS: Final = VectorCosts(operations={"div": 40, "sqrt": 260}, integer_division=450)
"""Division and root are software (software_arithmetic.py)."""
_FAR: Final = 64
"""Of a gather from eight lines that each miss: an access to L2, and a line every two cycles."""


def machine_description(team: Team) -> Machine:
    """Description of so many minions. Two harts share a first-level cache where that is not split."""
    sharers = team.harts if team.mode == "shared" else 1
    # Beside the L1 scratchpad a hart has eight lines (manual, chapter 8).
    costs = replace(_COSTS, far=_FAR) if team.mode == "scratchpad" else _COSTS
    return Machine(team.workers, LANES, LINE, sharers, team.shires == 1, BARRIER, costs)
