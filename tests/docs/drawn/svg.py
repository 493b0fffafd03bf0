# SPDX-License-Identifier: Apache-2.0
"""What all pictures share: a file of its own with a label, text in the colour of the theme, and a few accents that have
enough contrast in light and dark."""

from __future__ import annotations

from html import escape
from typing import Final

from polyloom.report.page.svg import decimal, text

__all__ = ["ACCENTS", "arrow", "box", "decimal", "drawing", "line", "text"]

ACCENTS: Final = ("#14a08c", "#d9822b", "#6c7fd8", "#c2557f")
"""Teal, orange, blue, rose: as fills behind text, at the opacity of `box`."""
_FILLS: Final = "".join(f".a{n}{{fill:{c};stroke:{c};fill-opacity:.4}}" for n, c in enumerate(ACCENTS))
_STYLE: Final = (
    f"<style>svg{{color-scheme:light dark;color:#1b2430}}rect{{rx:3px;stroke-opacity:.8}}{_FILLS}"
    ".a{fill:none;stroke:currentColor}@media(prefers-color-scheme:dark){svg{color:#e4e9ef}}</style>"
    '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="6" markerHeight="6" orient="auto">'
    '<path d="M0 0L8 4L0 8z" fill="context-stroke"/></marker></defs>'
)


def drawing(width: float, height: float, content: str, label: str) -> str:
    """A file; `label` is what a screen reader says."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{escape(label)}" width="{decimal(width)}" '
        f'height="{decimal(height)}" viewBox="0 0 {decimal(width)} {decimal(height)}" '
        f'font-family="ui-monospace,monospace" font-size="12" fill="currentColor">{_STYLE}{content}</svg>\n'
    )


def box(x: float, y: float, width: float, height: float, accent: int | None = None) -> str:
    """A rectangle: filled with an accent, or an outline alone."""
    kind = "" if accent is None else accent % len(ACCENTS)
    size = f'width="{decimal(width)}" height="{decimal(height)}"'
    return f'<rect class="a{kind}" x="{decimal(x)}" y="{decimal(y)}" {size}/>'


def line(path: str, accent: int | None = None, *, dashed: bool = False) -> str:
    colour = "currentColor" if accent is None else ACCENTS[accent % len(ACCENTS)]
    dash = ' stroke-dasharray="4 3"' if dashed else ""
    return f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="1.4"{dash}/>'


def arrow(path: str, accent: int | None = None, *, dashed: bool = False) -> str:
    """A line with a tip at its end."""
    return line(path, accent, dashed=dashed).replace("/>", ' marker-end="url(#tip)"/>')
