# SPDX-License-Identifier: Apache-2.0
"""The activity that the script draws: one bit per lane and cycle, deflated, in base 64, with the names of the rows.

The browser inflates it (`DecompressionStream`) and draws what is visible, from the whole run down to single cycles.
"""

from __future__ import annotations

from typing import Final

from polyloom.report.page.packed import deflated, embedded
from polyloom.targets.activity import Activity

_KEYS: Final = (
    "Click a row to open its parts; drag to move, double-click or use "
    "the buttons to zoom to single cycles. Keys: + − ← → to look around, ↑ ↓ and Enter to open a row, Backspace to go "
    "back."
)


def note(found: Activity | None) -> str:
    """How to read it."""
    what = "are busy" if found is not None and found.holds else "start an operation"
    return f"Stronger colour: more units {what}. {_KEYS}"


def activity(found: Activity | None) -> str:
    """A place for the drawing, and the data; empty where nothing happened."""
    if found is None or not found.cycles:
        return ""
    kinds = list(dict.fromkeys(g.lanes for g in found.groups))
    data = {
        "cycles": found.cycles,
        "step": found.step,
        "lanes": kinds,
        "groups": [(g.name, kinds.index(g.lanes)) for g in found.groups],
        "bits": deflated(found.bits),
    }
    without = (
        "<noscript><p>The picture needs a script; the page has it, and the browser does not run it.</p></noscript>"
    )
    return f'<div class="activity">{without}<script type="application/json">{embedded(data)}</script></div>'
