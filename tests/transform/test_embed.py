# SPDX-License-Identifier: Apache-2.0
"""Beam search for placements: branch and bound leaves out only what is not among the cheapest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from tests.frontend.python.helpers import KERNELS

from polyloom.frontend.python import load_kernel
from polyloom.ir.recurrence import Recurrence, System
from polyloom.transform import embed, phases, plan
from polyloom.transform.embed import Placements


def test_bounds_leave_out_nothing_that_is_among_the_cheapest(monkeypatch: pytest.MonkeyPatch) -> None:
    measured, found = list[int](), list[tuple[Any, Any]]()
    searches: Any = vars(embed)["_Search"]
    cost, bound, search = searches._cost, searches._possible, embed.embed

    def counted(self: Any, placed: Placements, limit: float) -> float:
        measured[-1] += 1
        return cost(self, placed, limit)

    def no_bound(self: Any, cost: float, vectors: object) -> float:
        return 0.0

    def both(system: System, equations: Sequence[Recurrence]) -> Any:
        monkeypatch.setattr(searches, "_possible", bound)
        measured.append(0)
        bounded = search(system, equations)
        # Without bounds every placement is measured.
        monkeypatch.setattr(searches, "_possible", no_bound)
        measured.append(0)
        found.append((bounded, search(system, equations)))
        return bounded

    monkeypatch.setattr(searches, "_cost", counted)
    monkeypatch.setattr(phases, "embed", both)
    plan(load_kernel(str(KERNELS / "gramschmidt.py")).nest)
    assert found
    assert all(bounded == every for bounded, every in found)
    assert 2 * sum(measured[::2]) < sum(measured[1::2])
