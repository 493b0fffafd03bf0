# SPDX-License-Identifier: Apache-2.0
"""Exact modulo scheduling."""

from __future__ import annotations

from polyloom.modulo.problem import Problem, Solution


def solve(problem: Problem, *, at_least: int = 1, limit: int | None = None) -> Solution:
    raise NotImplementedError
