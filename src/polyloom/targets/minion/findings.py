# SPDX-License-Identifier: Apache-2.0
"""Hazards and deadlocks of a run, as `simulate` tells them: lines of text, JSON, and the one that ended the run."""

from __future__ import annotations

from polyloom.diagnostics import Diagnostic
from polyloom.targets.minion import deadlock_report, hazard_report
from polyloom.targets.minion.locate import Locator
from polyloom.targets.minion.model import Outcome
from polyloom.targets.target import Json


def lines(outcome: Outcome, locator: Locator) -> list[str]:
    """One for each hazard, which tells its place once, and how often it was met."""
    return hazard_report.lines(outcome.findings, locator)


def as_json(outcome: Outcome, locator: Locator) -> dict[str, Json]:
    """The keys `hazards` and `deadlock`."""
    hazards: list[Json] = hazard_report.as_json(outcome.findings, locator)
    waits: list[Json] = deadlock_report.as_json(outcome.waits, locator)
    return {"hazards": hazards, "deadlock": waits if outcome.stop == "deadlock" else None}


def hazard(outcome: Outcome, locator: Locator) -> Diagnostic:
    """PL1380: the one that ended the run."""
    return hazard_report.diagnostic(outcome.findings[-1], locator)


def deadlock(outcome: Outcome, locator: Locator) -> Diagnostic:
    """PL1381: who waits for what."""
    return deadlock_report.diagnostic(outcome.waits, locator, outcome.cycles)
