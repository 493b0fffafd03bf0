# SPDX-License-Identifier: Apache-2.0
"""Text of a comparison: what was computed, the table, and a line for what needs a word."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from polyloom.report.comparison.columns import columns, headline, list_rows, notes, totals
from polyloom.report.markdown import table

CAVEAT: Final = "A cycle of one machine is not a cycle of another; docs/compare.md defines the columns."


def page(data: Mapping[str, Any]) -> str:
    """What `polyloom compare` prints, of what it prints under `--json`."""
    shown = columns(data)
    rows = [{name: cell(row) for name, cell in shown.items()} for row in list_rows(data)]
    told = "\n".join(f"{on}: {line}" for on, line in notes(data))
    return "\n\n".join(part for part in (f"{headline(data)}: {totals(data)}", table(rows), told, CAVEAT) if part)
