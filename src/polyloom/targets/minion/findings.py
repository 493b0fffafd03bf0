# SPDX-License-Identifier: Apache-2.0
"""Hazards and deadlocks of a run, as `simulate` tells them: lines of text, JSON, and the one that ended the run."""

from __future__ import annotations

from collections.abc import Sequence

from polyloom.diagnostics import INPUT, Diagnostic
from polyloom.targets.minion.locate import Locator
from polyloom.targets.minion.model import Outcome
from polyloom.targets.target import Json


def lines(outcome: Outcome, locator: Locator) -> Sequence[str]:
    """One for each place."""
    del locator
    return [str(row) for row in outcome.findings]


def as_json(outcome: Outcome, locator: Locator) -> dict[str, Json]:
    """The keys `hazards` and `deadlock`."""
    del locator
    return {"hazards": [dict(row) for row in outcome.findings], "deadlock": [dict(row) for row in outcome.waits] or None}


def hazard(outcome: Outcome, locator: Locator) -> Diagnostic:
    """The one that ended the run."""
    return Diagnostic("PL1380", lines(outcome, locator)[-1], INPUT)


def deadlock(outcome: Outcome, locator: Locator) -> Diagnostic:
    """Who waits for what."""
    del locator
    return Diagnostic("PL1381", "no hart can run any more", INPUT, notes=tuple(str(row) for row in outcome.waits))
