# SPDX-License-Identifier: Apache-2.0
"""What the model recorded, as a trace: one track for the issue slot of each hart, each load engine, FMA, quant, reduce
and store of a minion, and one for each bank of a shire."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from polyloom.targets.minion.locate import Locator
from polyloom.targets.minion.model import Outcome
from polyloom.targets.trace import Span, Trace

if TYPE_CHECKING:
    from polyloom._native.minion import Event

TRACKS: Final = (
    *(
        "issue 0",
        "issue 1",
        "load L1Scp",
        "load TenB",
        "load L2Scp 0",
        "load L2Scp 1",
        "FMA",
        "quant",
        "store",
        "reduce",
    ),
    *("bank 0", "bank 1", "bank 2", "bank 3"),
)
"""By the number that the model gives them."""
_PORTS: Final = TRACKS.index("bank 0")
_ISSUE: Final = 2


def trace(outcome: Outcome, locator: Locator) -> Trace:
    """Spans by minion and shire; where the instruction stands is shown beside its span."""
    return Trace(tuple(_span(event, locator) for event in outcome.events), holds=True)


def _span(event: Event, locator: Locator) -> Span:
    start, end, owner, track, word, pc = event
    group = f"shire {owner}" if track >= _PORTS else f"minion {owner}"
    where = locator.at(pc)
    arguments = [("pc", str(where))] if pc else []
    arguments += [("source", where.source)] if pc and where.source else []
    arguments += [("reason", where.reason)] if pc and where.reason else []
    if word and track >= _ISSUE:
        arguments.append(("word", f"{word:#018x}"))
    name = TRACKS[track].split()[0] if track < _ISSUE or track >= _PORTS else TRACKS[track]
    return Span(group, TRACKS[track], name, start, max(end - start, 1), tuple(arguments))
