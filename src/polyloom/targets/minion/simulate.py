# SPDX-License-Identifier: Apache-2.0
"""`simulate --on minion`: bare-metal programs, arrays at symbols or addresses in and out."""

from __future__ import annotations

from polyloom.targets.target import Simulated, Simulation, lack


def simulate(asked: Simulation) -> Simulated:
    """Errors: PL1303 to PL1312."""
    del asked
    lack("the target minion runs nothing yet")
