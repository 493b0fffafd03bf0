# SPDX-License-Identifier: Apache-2.0
"""What the model recorded, as a trace: one track for the issue slot, each load engine, FMA, quant, reduce and store of
a minion, and one for each port of a shire.

Sources of the tracks: the engines of docs/targets/minion.md.
"""

from __future__ import annotations

from polyloom.targets.minion.locate import Locator
from polyloom.targets.minion.model import Outcome
from polyloom.targets.trace import Span, Trace


def trace(outcome: Outcome, locator: Locator) -> Trace:
    """Spans by minion and shire; what a program wrote into a tensor CSR stands beside its span."""
    return Trace(tuple(_span(event, locator) for event in outcome.events))


def _span(event: tuple[object, ...], locator: Locator) -> Span:
    start, end, owner, track, label, pc = event
    assert isinstance(start, int) and isinstance(end, int) and isinstance(pc, int)
    arguments = (("pc", str(locator.at(pc))),) if pc else ()
    return Span(str(owner), str(track), str(label), start, max(end - start, 1), arguments)
