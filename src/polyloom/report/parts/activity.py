# SPDX-License-Identifier: Apache-2.0
"""The activity that the script draws: one bit per lane and cycle, deflated, in base 64, with the names of the rows.

The browser inflates it (`DecompressionStream`) and draws what is visible, from the whole run down to single cycles.
"""

from __future__ import annotations

from typing import Final

from polyloom.report.page.embedding import deflate_base64, embed_json
from polyloom.targets.activity import Activity

_KEYS: Final = (
    "Click a row to open its parts; drag to move, double-click or use "
    "the buttons to zoom to single cycles. Keys: + − ← → to look around, ↑ ↓ and Enter to open a row, Backspace to go "
    "back."
)


def note(found: Activity | None, notice: str = "", *, untimed: bool = False) -> str:
    """How to read it, and what it lacks; `untimed` where operations are counted instead of cycles."""
    what = "are busy" if found is not None and found.holds else "start an operation"
    lacks = f"{notice[:1].upper()}{notice[1:]}. " if notice else ""
    counted = "No time is modelled: what is called a cycle is one instruction. " if untimed else ""
    return f"{lacks}{counted}Stronger colour: more units {what}. {_KEYS}"


def activity(found: Activity | None) -> str:
    """A place for the drawing, and the data; empty where nothing happened."""
    if found is None or not found.cycles:
        return ""
    # Elements are mostly alike: the names of their units are on the page once.
    kinds = list(dict.fromkeys(g.lanes for g in found.groups))
    data = {
        "cycles": found.cycles,
        "step": found.step,
        "lanes": kinds,
        "groups": [(g.name, kinds.index(g.lanes)) for g in found.groups],
        "bits": deflate_base64(found.bits),
    }
    without = (
        "<noscript><p>The picture needs a script; the page has it, and the browser does not run it.</p></noscript>"
    )
    return f'<div class="activity">{without}<script type="application/json">{embed_json(data)}</script></div>'
