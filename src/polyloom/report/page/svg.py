# SPDX-License-Identifier: Apache-2.0
"""SVG pictures that take their colours from the page's palette (SVG 2; WAI-ARIA roles, W3C 2014): a picture has a
label, which is what a screen reader says.
"""

from __future__ import annotations

from html import escape
from typing import Final

_WIDE: Final = 640
"""What gets no narrower where its natural size is asked for."""


def picture(width: float, height: float, content: str, label: str, kind: str = "", *, natural: bool = False) -> str:
    """A drawing of its natural size, narrower where the page is; with `natural` a wide one is never narrower, and
    stands in what scrolls. `kind` is a class of the style sheet."""
    known = f' class="{kind}"' if kind else ""
    known += f' style="min-width:{decimal(width)}px"' if natural and width > _WIDE else ""
    return (
        f'<svg{known} role="img" aria-label="{escape(label)}" width="{decimal(width)}" height="{decimal(height)}" '
        f'viewBox="0 0 {decimal(width)} {decimal(height)}">{content}</svg>'
    )


def text(x: float, y: float, content: str, anchor: str = "") -> str:
    """`anchor`: "middle" or "end" of the text is at x; without it the start is."""
    where = f' text-anchor="{anchor}"' if anchor else ""
    return f'<text x="{decimal(x)}" y="{decimal(y)}"{where}>{escape(content)}</text>'


def decimal(number: float) -> str:
    """One digit after the point, and none where it is 0."""
    return f"{number:.1f}".removesuffix(".0")
