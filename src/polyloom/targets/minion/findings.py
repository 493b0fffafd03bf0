# SPDX-License-Identifier: Apache-2.0
"""Hazards and deadlocks of a run, as `simulate` tells them: lines of text, JSON, and the one that ended the run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from polyloom.diagnostics import Diagnostic
from polyloom.targets.minion import deadlock_report, hazard_report
from polyloom.targets.minion.locate import Locator
from polyloom.targets.minion.model import Outcome
from polyloom.targets.target import Json

_Rows = Sequence[Mapping[str, object]]


def lines(outcome: Outcome, locator: Locator) -> list[str]:
    """One for each hazard, which tells its place once, and how often it was met."""
    return hazard_report.lines(cast(_Rows, outcome.findings), locator, _timed(outcome))


def as_json(outcome: Outcome, locator: Locator) -> dict[str, Json]:
    """The keys `hazards` and `deadlock`."""
    deadlock = None
    if outcome.stop == "deadlock":
        deadlock = deadlock_report.as_json(cast(_Rows, outcome.waits), locator, _timed(outcome))
    hazards = hazard_report.as_json(cast(_Rows, outcome.findings), locator, _timed(outcome))
    return {"hazards": hazards, "deadlock": deadlock}


def hazard(outcome: Outcome, locator: Locator) -> Diagnostic:
    """PL1380: the one that ended the run."""
    return hazard_report.diagnostic(cast(_Rows, outcome.findings)[-1], locator, _timed(outcome))


def deadlock(outcome: Outcome, locator: Locator) -> Diagnostic:
    """PL1381: who waits for what."""
    return deadlock_report.diagnostic(cast(_Rows, outcome.waits), locator, outcome.cycles)


def _timed(outcome: Outcome) -> bool:
    return outcome.cycles is not None
