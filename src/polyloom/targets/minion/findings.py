# SPDX-License-Identifier: Apache-2.0
"""Hazards and deadlocks of a run, as `simulate` tells them: lines of text, JSON, and the one that ended the run."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from polyloom.diagnostics import INPUT, Diagnostic
from polyloom.targets.minion.locate import Locator
from polyloom.targets.minion.model import Outcome
from polyloom.targets.minion.report import hart_name
from polyloom.targets.target import Json

if TYPE_CHECKING:
    from polyloom._native.minion import Finding, Wait


def lines(outcome: Outcome, locator: Locator) -> list[str]:
    """One for each hazard, which tells its place once, and how often it was met."""
    return [_line(found, locator) for found in outcome.findings]


def as_json(outcome: Outcome, locator: Locator) -> dict[str, Json]:
    """The keys `hazards` and `deadlock`."""
    hazards: list[Json] = [_finding(found, locator) for found in outcome.findings]
    waits: list[Json] = [_wait(row, locator) for row in outcome.waits]
    return {"hazards": hazards, "deadlock": waits if outcome.stop == "deadlock" else None}


def hazard(outcome: Outcome, locator: Locator) -> Diagnostic:
    """PL1380: the one that ended the run."""
    found = outcome.findings[-1]
    return Diagnostic("PL1380", _line(found, locator), INPUT, help=found["cure"] or None)


def deadlock(outcome: Outcome, locator: Locator) -> Diagnostic:
    """PL1381: who waits for what."""
    notes = tuple(f"{hart_name(row['hart'])} at {locator.at(row['pc'])}: {row['text']}" for row in outcome.waits)
    message = "no hart can run any more" + ("" if outcome.cycles is None else f" after cycle {outcome.cycles}")
    return Diagnostic("PL1381", message, INPUT, notes=notes, help="release what the harts wait for")


def _line(found: Finding, locator: Locator) -> str:
    parts = [f"{found['kind']}: {hart_name(found['hart'])}: {found['text']}"]
    if found["pc"]:
        parts.append(f"at {locator.at(found['pc'])}")
    if found["earlier_pc"]:
        parts.append(f"after {locator.at(found['earlier_pc'])} of {hart_name(found['earlier_hart'])}")
    return "; ".join(parts) + (f" ({found['count']} times)" if found["count"] > 1 else "")


def _finding(found: Finding, locator: Locator) -> Json:
    return {**cast("dict[str, Json]", found), "where": str(locator.at(found["pc"])), "line": _line(found, locator)}


def _wait(row: Wait, locator: Locator) -> Json:
    return {**cast("dict[str, Json]", row), "where": str(locator.at(row["pc"]))}
