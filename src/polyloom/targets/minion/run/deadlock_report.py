# SPDX-License-Identifier: Apache-2.0
"""Deadlock report: a chain in the wait-for graph (Coffman, Elphick and Shoshani 1971), from one hart until it closes or
ends, and the others in groups.

The model gives one row for each hart that waits and one for each operation in its minion's tensor unit
(native/minion/deadlock.hpp). A hart that waits for its own operation leads to that, an operation or a credit to the
hart that could release it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final, cast

from polyloom.diagnostics import INPUT, Diagnostic
from polyloom.targets.minion.run.hazard_report import hart_words, site_json
from polyloom.targets.minion.words.locate import Locator
from polyloom.targets.target import Json

if TYPE_CHECKING:
    from polyloom._native.minion import Wait

_OWN: Final = ("place", "event", "registers")  # a hart waits for an operation of its own minion
_BLOCKING: Final = ("transfer", "pair")  # operations that need somebody else
_NAMED: Final = 4  # harts that a sentence lists


def wait_chain(waits: Sequence[Wait]) -> list[Wait]:
    """Walk in the wait-for graph from the first hart that does not merely sleep, until nobody is left or one comes
    again.
    """
    harts = {row["hart"]: row for row in waits if not row["operation"]}
    awake = [row for row in harts.values() if row["kind"] not in ("interrupt", "disabled")]
    row = awake[0] if awake else next(iter(waits), None)
    found: list[Wait] = []
    # Rows are compared by identity: two harts may wait in the same words.
    while row is not None and not any(row is known for known in found):
        found.append(row)
        row = _follow_wait(row, harts, waits)
    return found


def _follow_wait(row: Wait, harts: Mapping[int, Wait], waits: Sequence[Wait]) -> Wait | None:
    """Row that this one waits for. A hart that waits for an operation of its own leads to that, if possible to one that
    needs somebody else.
    """
    if not row["operation"] and row["kind"] in _OWN:
        own = [each for each in waits if each["operation"] and each["hart"] >> 1 == row["hart"] >> 1]
        return next((each for each in own if each["kind"] in _BLOCKING), own[0] if own else None)
    return next((harts[hart] for hart in row["releasers"] if hart in harts), None)


def wait_sentence(row: Wait, locator: Locator, unit: str = "cycle") -> str:
    """Sentence of a row: `minion 5 at 0x8000001020 (start+0x20, k.s:12) receives 32 registers from minion 7 since cycle
    40`.
    """
    name = f"{hart_words(row['hart'])} at {locator.at(row['pc'])}"
    gave = [f"{hart_words(site['hart'])} at {locator.at(site['pc'])}" for site in row["gave"][:_NAMED]]
    given = f"; only the stores of {', '.join(gave)} have given it" if gave else ""
    joins = _missing_joins(row)
    return f"{name} {row['text']} since {unit} {row['since']}{given}{joins}" + (
        f"; {row['note']}" if row["note"] else ""
    )


def _missing_joins(row: Wait) -> str:
    """Harts that have yet to join a barrier. For a credit that somebody gave, the giver is told instead."""
    if row["kind"] != "credit" or row["gave"] or not row["releasers"]:
        return ""
    more = len(row["releasers"]) - _NAMED
    names = ", ".join(hart_words(hart) for hart in row["releasers"][:_NAMED])
    return f"; yet to join: {names}" + (f" and {more} more" if more > 0 else "")


def diagnostic(rows: Sequence[Mapping[str, object]], locator: Locator, cycles: int | None = None) -> Diagnostic:
    """Diagnostic PL1381. Without time, `cycles` is None, and since when a hart waits is its number of instructions."""
    waits = cast("Sequence[Wait]", rows)
    links = wait_chain(waits)
    unit = "instruction" if cycles is None else "cycle"
    notes = [wait_sentence(row, locator, unit) for row in links] + _remaining_harts(waits, links, locator)
    # `cycles` ends with the last store or hart's end; whoever waits may have gone on until later.
    last = max((row["since"] for row in waits), default=0)
    message = "no hart can run any more" + ("" if cycles is None else f" after cycle {max(cycles, last)}")
    return Diagnostic("PL1381", message, INPUT, notes=tuple(notes), help=_help(links))


def _remaining_harts(waits: Sequence[Wait], links: Sequence[Wait], locator: Locator) -> list[str]:
    """Harts that the chain does not name, grouped by instruction and reason."""
    named = {row["hart"] for row in links}
    groups: dict[tuple[int, str], list[int]] = {}
    for row in waits:
        if not row["operation"] and row["hart"] not in named:
            groups.setdefault((row["pc"], row["text"]), []).append(row["hart"])
    return [_group(harts, pc, text, locator) for (pc, text), harts in groups.items()]


def _group(harts: Sequence[int], pc: int, text: str, locator: Locator) -> str:
    first = ", ".join(hart_words(hart) for hart in harts[:_NAMED])
    more = f" and {len(harts) - _NAMED} more" if len(harts) > _NAMED else ""
    return f"{first}{more} at {locator.at(pc)}: {text}"


def _help(links: Sequence[Wait]) -> str:
    for row in links:
        if row["note"]:
            return _remedy(row)
    return "one of them has to do first what the next waits for"


def _remedy(row: Wait) -> str:
    """Remedy by what a row waits for."""
    if row["kind"] == "transfer":
        return "both sides of a transfer name each other, with the same COUNT, one sending and one receiving"
    if row["kind"] == "pair":
        return "issue a tensor_fma with TENB=1 after each tensor_load_b"
    if row["releasers"]:
        return "each participant has to join the barrier, and all name the same number of them"
    return "a hart has to store this hart's bit to CREDINC of its shire"


def as_json(rows: Sequence[Mapping[str, object]], locator: Locator, timed: bool = True) -> list[Json]:
    """JSON of `deadlock` in a report: all rows, harts first. Cycles are null without time."""
    waits = cast("Sequence[Wait]", rows)
    links = wait_chain(waits)
    return [_json(row, any(row is link for link in links), locator, timed) for row in waits]


def _json(row: Wait, linked: bool, locator: Locator, timed: bool) -> Json:
    """JSON of a row of the wait-for graph."""
    where = locator.at(row["pc"])
    gave: list[Json] = [site_json(site, locator, "credit", timed) for site in row["gave"]]
    releasers: list[Json] = list(row["releasers"])
    return {
        "hart": row["hart"],
        "minion": row["hart"] >> 1,
        "operation": row["operation"],
        "kind": row["kind"],
        "text": row["text"],
        "note": row["note"] or None,
        "since": row["since"] if timed else None,
        "pc": row["pc"],
        "symbol": where.symbol or None,
        "file": where.file,
        "line": where.line or None,
        "releasers": releasers,
        "gave": gave,
        "in_chain": linked,
    }
