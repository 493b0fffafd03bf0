# SPDX-License-Identifier: Apache-2.0
"""Findings of a run, as `simulate` tells them: hazards, deadlocks and lost operations as lines of text and JSON, and
what is wrong with its end.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from polyloom.diagnostics import Diagnostic
from polyloom.targets.minion.run import deadlock_report, hazard_report
from polyloom.targets.minion.run.model import Outcome
from polyloom.targets.minion.words.locate import Locator
from polyloom.targets.target import Json

_Rows = Sequence[Mapping[str, object]]


def lines(outcome: Outcome, locator: Locator) -> list[str]:
    """Lines of text, one for each hazard, which tells its place once, and how often it was met; what the error of a run
    tells is not among them.
    """
    found = cast(_Rows, outcome.findings)
    if outcome.stop == "hazard":
        found = found[:-1]
    elif outcome.stop == "tensor-error":
        found = [each for each in found if not each["standing"]]
    return hazard_report.lines(found, locator, _has_time(outcome))


def as_json(outcome: Outcome, locator: Locator) -> dict[str, Json]:
    """JSON keys `hazards` and `deadlock`."""
    deadlock = None
    if outcome.stop == "deadlock":
        deadlock = deadlock_report.as_json(cast(_Rows, outcome.waits), locator, _has_time(outcome))
    hazards = hazard_report.as_json(cast(_Rows, outcome.findings), locator, _has_time(outcome))
    return {"hazards": hazards, "deadlock": deadlock}


def end_error(outcome: Outcome, locator: Locator) -> Diagnostic | None:
    """Diagnostic of how a run ended, apart from what `report.end_diagnostic` tells; None for a good end."""
    how = {"hazard": hazard, "deadlock": deadlock, "tensor-error": lost_operation}.get(outcome.stop)
    return None if how is None else how(outcome, locator)


def hazard(outcome: Outcome, locator: Locator) -> Diagnostic:
    """Diagnostic PL1380: the hazard that ended the run."""
    return hazard_report.diagnostic(cast(_Rows, outcome.findings)[-1], locator, _has_time(outcome))


def lost_operation(outcome: Outcome, locator: Locator) -> Diagnostic:
    """Diagnostic PL1382: operations that set bits of tensor_error which nobody has cleared."""
    return hazard_report.lost_diagnostic(cast(_Rows, outcome.findings), locator, _has_time(outcome))


def deadlock(outcome: Outcome, locator: Locator) -> Diagnostic:
    """Diagnostic PL1381: who waits for what."""
    return deadlock_report.diagnostic(cast(_Rows, outcome.waits), locator, outcome.cycles)


def _has_time(outcome: Outcome) -> bool:
    return outcome.cycles is not None
