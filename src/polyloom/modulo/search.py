# SPDX-License-Identifier: Apache-2.0
"""CP-SAT, set up so that the same question has the same answer on every run."""

from __future__ import annotations

from ortools.sat.python import cp_model


def solver(deterministic_limit: float) -> cp_model.CpSolver:
    """A solver whose limit counts its work, not seconds of a clock."""
    result = cp_model.CpSolver()
    result.parameters.num_workers = 1
    result.parameters.random_seed = 1
    result.parameters.max_deterministic_time = deterministic_limit
    # Its handler ends a search with what there is, and takes Python's own away for good.
    result.parameters.catch_sigint_signal = False
    return result
