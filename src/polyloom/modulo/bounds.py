# SPDX-License-Identifier: Apache-2.0
"""Lower bounds."""

from __future__ import annotations

from dataclasses import dataclass

from polyloom.modulo.problem import Problem


@dataclass(frozen=True, slots=True)
class Bound:
    """No initiation interval below `value` has a schedule; `reason` names the units and operations, or the cycle, that bind."""

    value: int
    reason: str


def resource_minimum(problem: Problem) -> Bound:
    raise NotImplementedError


def recurrence_minimum(problem: Problem) -> Bound:
    raise NotImplementedError
