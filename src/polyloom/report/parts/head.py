# SPDX-License-Identifier: Apache-2.0
"""What a reader wants first: the kernel, whether its results are right, and the key figures as cards."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from html import escape
from typing import Final

from polyloom.report import run_text, verdict
from polyloom.targets.target import Json

_FIGURE: Final = re.compile(r"(\d[^\s,(]*(?: m?s\b)?)[,\s]*(.*)", re.DOTALL)
"""What begins with a number: that number, and the rest."""


def head(data: Mapping[str, Json], summary: run_text.Rows) -> str:
    """The heading, the verdict and the cards."""
    more = run_text.format_parameters(data)
    told = f" <small>{escape(more)}</small>" if more else ""
    kind = verdict.mood(data)
    sign = {"good": "✓ ", "bad": "✗ "}.get(kind, "")
    return (
        f"<h1>{escape(str(data['kernel']))}{told}</h1>"
        f'<p class="verdict {kind}">{sign}{escape(verdict.run_verdict(data))}</p>{cards(summary)}'
    )


def cards(rows: Sequence[tuple[str, str]]) -> str:
    """One card per row: its number large, what else is said of it small."""
    return f'<dl class="cards">{"".join(_card(a, b) for a, b in rows)}</dl>' if rows else ""


def _card(what: str, value: str) -> str:
    found = _FIGURE.fullmatch(value)
    if found is None:
        return f"<div><dt>{escape(what)}</dt><dd>{escape(value)}</dd></div>"
    figure, rest = found[1], found[2]
    # On a card the rest stands on a line of its own, where brackets would only be noise.
    rest = rest[1:-1] if rest.startswith("(") and rest.endswith(")") else rest
    return f"<div><dt>{escape(what)}</dt><dd><b>{_group_thousands(figure)}</b>{escape(rest)}</dd></div>"


def _group_thousands(figure: str) -> str:
    """Thousands apart."""
    return f"{int(figure):,}" if figure.isdecimal() and len(figure) > 4 else escape(figure)
