# SPDX-License-Identifier: Apache-2.0
"""Unit pressure: a bar per unit that issues something, and the names of those that never do."""

from __future__ import annotations

from html import escape
from typing import Final

from polyloom.targets.report import Report

NOTE: Final = "Slots of one initiation interval in which a unit issues; a full unit is orange."


def pressure(view: Report) -> str:
    """Empty where nothing is known of units."""
    used = [p for p in view.pressure if p.used]
    bars = "".join(
        f"<span{' class=full' if p.used == p.available else ''}>{escape(p.unit)}</span>"
        f'<i style="--v:{p.used / p.available:.2f}"></i><span>{p.used}/{p.available}</span>'
        for p in used
    )
    idle = ", ".join(p.unit for p in view.pressure if not p.used)
    rest = f'<p class="note">Idle: {escape(idle)}</p>' if idle else ""
    return (f'<div class="bars">{bars}</div>' if bars else "") + rest
