# SPDX-License-Identifier: Apache-2.0
"""The source beside the inner loop of a machine that has no schedule to show: its lines as the machine has them, linked
with the lines of the source that they come from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from html import escape
from typing import Final

from polyloom.report.page.source import Mark, link_attributes, source_pane
from polyloom.targets.costs import Line

NOTE: Final = (
    "The loop of the source with the most unit-cycles, as the machine has it. Point at a line to see what belongs "
    "together; the number before a line of the source says how many lines of the loop it became. What the compiler "
    "added is dim, and says why."
)


def loop(lines: Sequence[Line], source: tuple[str, str] | None) -> str:
    """`source` is the name of the file and its text; empty where the target tells no loop."""
    if not lines:
        return ""
    counted = Counter(line.line for line in lines if line.line)
    marks = [Mark(line, f"{count}×") for line, count in sorted(counted.items())]
    pane = source_pane(*source, marks) if source is not None and marks else ""
    rows = "".join(row(line.text, line.line, line.reason) for line in lines)
    return f'<div class="beside">{pane}<figure class="source code"><ol>{rows}</ol></figure></div>'


def row(text: str, line: int, reason: str) -> str:
    """A line of a machine's code, linked with its line of the source; its title says why the compiler added it."""
    told = f' class="made" title="{escape(reason)}"' if reason else ""
    return f"<li{told}{link_attributes(0, line)}><code>{escape(text)}</code></li>"
