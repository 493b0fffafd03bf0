# SPDX-License-Identifier: Apache-2.0
"""Independent check of a modulo schedule."""

from __future__ import annotations

from polyloom.modulo.problem import Problem, Solution


def violations(problem: Problem, solution: Solution) -> tuple[str, ...]:
    """One sentence for each constraint that `solution` violates."""
    raise NotImplementedError


def check(problem: Problem, solution: Solution) -> None:
    """Raise PL0455 (internal) when `solution` violates a constraint of `problem`."""
    raise NotImplementedError
