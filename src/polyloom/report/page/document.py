# SPDX-License-Identifier: Apache-2.0
"""HTML document, self-contained: the shared style sheet and script, and what a page adds to them.

The policy in the head (Content Security Policy Level 2, W3C 2016) forbids every request, so that a page cannot fetch
anything even where a mistake asks for it.
"""

from __future__ import annotations

from functools import cache
from html import escape
from importlib.resources import files
from re import MULTILINE, compile, sub
from typing import Final

from polyloom.report.page.embedding import deflate_base64

# Blanks around punctuation mean nothing, but in strings and patterns; around + and - they do (ECMA-262, section 12).
_SCRIPT: Final = compile(
    r"""("(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`|(?<=\()/(?:\\.|[^/\\\n])+/)| ?([=?:;,{}()<>&|!]+) ?"""
)
"""Of a script: what is kept as it is, or punctuation with the blanks around it."""
_SHORT: Final = 3000
"""Characters of what is folded away as it is."""
_POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"


def document(title: str, style: str, body: str, script: str = "") -> str:
    """The whole file. `style` and `script` are added to the shared ones; `body` is HTML, `title` plain text."""
    head = (
        f'<meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">'
        f'<meta name="color-scheme" content="light dark"><meta http-equiv="Content-Security-Policy" '
        f'content="{_POLICY}"><title>{escape(title)}</title><style>{asset("page.css")}{style}</style>'
    )
    scripts = f"<script>{asset('page.js')}{script}</script>"
    return f'<!doctype html>\n<html lang="en"><head>{head}</head>\n<body>{body}{scripts}</body></html>\n'


@cache
def asset(name: str) -> str:
    """A style sheet or script beside this file, without comments, indentation and blanks around punctuation."""
    text = files("polyloom.report.page").joinpath(name).read_text(encoding="utf-8")
    # Comments explain to whoever reads the file, and would be in every page that is made.
    if name.endswith(".css"):
        # Spaces around marks of CSS mean nothing, and no string here has any (CSS Syntax 3, section 4.3).
        text = sub(r" ?([{};]) ", r"\1", text).replace(": ", ":")
    bare = sub(r"^\s*//.*\n|^\s*/\*[^*]*\*/\s*\n", "", text, flags=MULTILINE)
    text = "".join(f"{line.strip()}\n" for line in bare.splitlines() if line.strip())
    if name.endswith(".css"):
        return sub(r" ?([{};]) ?|(?<=[,:]) ", r"\1", text)
    return sub(_SCRIPT, lambda found: found[1] or found[2], text)


def section(title: str, content: str, *, note: str = "", key: str = "") -> str:
    """A part of a page with its heading; nothing where there is no content. `key` is its address on the page."""
    if not content:
        return ""
    told = f'<p class="note">{escape(note)}</p>' if note else ""
    address = f' id="{key}"' if key else ""
    return f"<section{address}><h2>{escape(title)}</h2>{told}{content}</section>"


def fold_section(title: str, content: str) -> str:
    """Folded section: what most readers do not need, closed until it is asked for, and deflated until then where it is
    long.
    """
    if not content:
        return ""
    head = f"<summary>{escape(title)}</summary>"
    if len(content) < _SHORT:
        return f"<details>{head}{content}</details>"
    without = "<noscript><p>It is inflated by the page's script, which does not run here.</p></noscript>"
    return f'<details data-z="{deflate_base64(content.encode())}">{head}{without}</details>'


def wrap_scrolling(content: str) -> str:
    """Something wide, which scrolls by itself; the page never does."""
    return f'<div class="wide" tabindex="0">{content}</div>' if content else ""
