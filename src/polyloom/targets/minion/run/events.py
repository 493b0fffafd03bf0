# SPDX-License-Identifier: Apache-2.0
"""Trace of a run as the model recorded it: for each hart its core, the vector unit and its waits; for each minion the
load engines, FMA, quant, reduce and store; each bank of a shire; and each memory shire.

A core is busy while it issues instructions that are not the vector unit's, the vector unit while one of its
instructions is in its pipeline. The numbers of tracks and waits are those of native/minion/timeline.hpp.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from polyloom.targets.minion.run.model import Outcome
from polyloom.targets.minion.words.locate import Locator
from polyloom.targets.trace import Span, Trace

if TYPE_CHECKING:
    from polyloom._native.minion import Event

TRACKS: Final = (
    *(
        "core 0",
        "core 1",
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
    *("vector 0", "vector 1", "waits 0", "waits 1"),
    "memory",
)
"""By the number that the model gives them."""
WAITS: Final = (
    *("load", "load to TenB", "load to L2Scp", "load to L2Scp", "FMA", "quant", "store", "reduce"),
    *("registers of a tensor operation", "credit", "interrupt", "barrier", "cache operation", "data of a load"),
    *("result", "instruction cache", "multiplier", "end of the pipeline"),
)
"""What a hart waits for, by number."""
_PORTS: Final = range(TRACKS.index("bank 0"), TRACKS.index("vector 0"))
_STALLS: Final = range(TRACKS.index("waits 0"), TRACKS.index("memory"))
_MEMORY: Final = TRACKS.index("memory")
_OPERATIONS: Final = range(TRACKS.index("load L1Scp"), _PORTS.start)


def trace(outcome: Outcome, locator: Locator) -> Trace:
    """Spans by minion and shire; where the instruction stands is shown beside its span."""
    spans = tuple(_span(event, locator) for event in outcome.events)
    return Trace(spans, holds=True, notice=_notice(outcome))


def _notice(outcome: Outcome) -> str:
    if outcome.cut is None:
        return ""
    return f"the trace has {len(outcome.events):,} spans and is complete up to cycle {outcome.cut:,} only"


def _span(event: Event, locator: Locator) -> Span:
    """Span of an event. A word of a tensor CSR is shown only where the model recorded one, else the number is a reason
    to wait.
    """
    start, end, owner, track, word, pc = event
    group = f"{'shire' if track in _PORTS else 'memory shire' if track == _MEMORY else 'minion'} {owner}"
    where = locator.at(pc)
    arguments = [("pc", str(where))] if pc else []
    arguments += [("source", where.source)] if pc and where.source else []
    arguments += [("reason", where.reason)] if pc and where.reason else []
    if word and (track in _PORTS or track in _OPERATIONS or track == _MEMORY):
        arguments.append(("word", f"{word:#018x}"))
    # Viewers do not draw spans without length.
    return Span(group, TRACKS[track], _name(track, word), start, max(end - start, 1), tuple(arguments))


def _name(track: int, word: int) -> str:
    if track in _STALLS:
        return f"waits: {WAITS[word]}"
    return TRACKS[track] if track in _OPERATIONS else TRACKS[track].split()[0]
