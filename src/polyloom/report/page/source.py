# SPDX-License-Identifier: Apache-2.0
"""A source with numbered lines, some of which are linked with what they became.

A line's key is `line_key(file, line)`; whatever carries the same key in `data-l` lights up with it. `data-c` holds
the columns that the source shows stronger while its owner is lit: from the first to after the last, from 1.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Final

_STRING: Final = r'"(?:\\.|[^"\\\n])*"?|\'(?:\\.|[^\'\\\n])*\'?'
_DELIMITED: Final = {
    **dict.fromkeys(("py", "pla"), re.compile(rf"#.*|(?P<open>\"{{3}}|'{{3}})(?:.|\n)*?(?:(?P=open)|\Z)|{_STRING}")),
    **dict.fromkeys(("c", "h", "hpp", "cpp", "mlir"), re.compile(rf"//.*|(?P<open>/\*)(?:.|\n)*?(?:\*/|\Z)|{_STRING}")),
}
"""By the ending of a file: comments and strings, of which some go on over lines (Python language reference, 2.4.1; C17,
section 6.4.9)."""
_AROUND: Final = 6
"""Lines shown before the first and after the last linked one; what is farther away is left out."""


@dataclass(frozen=True, slots=True)
class Mark:
    """Line `line` (from 1) has something to show: `note`, of a few letters, such as how many operations it
    became."""

    line: int
    note: str = ""


def line_key(file: int, line: int) -> str:
    """`file` is the number of the source on its page."""
    return f"s{file}.{line}"


def link_attributes(file: int, line: int, column: int = 0, end_column: int = 0) -> str:
    """The attributes, with a space before them, that link an element with a line; empty where the line is unknown."""
    if not line:
        return ""
    columns = f' data-c="{column}-{end_column}"' if 0 < column < end_column else ""
    return f' data-l="{line_key(file, line)}"{columns} tabindex="0"'


def source_pane(file: str, text: str, marks: Sequence[Mark], number: int = 0) -> str:
    """The lines around all marks; `file` is its name as the user typed it, `number` its number on the page."""
    notes: Mapping[int, str] = {m.line: m.note for m in marks if m.line > 0}
    lines = text.splitlines()
    # One range around all marks, not one per mark: line numbers stay contiguous.
    first = max(min(notes, default=1) - _AROUND, 1)
    last = min(max(notes, default=len(lines)) + _AROUND, len(lines))
    rows = "".join(_line(number, n, lines[n - 1], notes.get(n)) for n in range(first, last + 1))
    name = f"<figcaption>{escape(file)}</figcaption>" if file else ""
    return f'<figure class="source">{name}{line_list(file, lines, first, rows)}</figure>'


def line_list(file: str, lines: Sequence[str], first: int, rows: str) -> str:
    """Numbered list of the lines of a file from `first` on, which `rows` are; the page's script colours them."""
    open_text = open_delimiter(file, "".join(f"{line}\n" for line in lines[: first - 1]))
    inside = f' data-o="{escape(open_text)}"' if open_text else ""
    return f'<ol start="{first}" style="--first:{first - 1}"{inside}>{rows}</ol>'


def open_delimiter(file: str, before: str) -> str:
    """Beginning of the comment or string in which a text ends; empty where it ends in neither."""
    delimited = _DELIMITED.get(file.rpartition(".")[2])
    found = None if delimited is None else deque(delimited.finditer(before), 1)
    # What is closed ends before the end of its line, at which the text ends.
    return found[0]["open"] or "" if found and found[0].end() == len(before) else ""


def _line(file: int, line: int, text: str, note: str | None) -> str:
    """Every line has its key; who has something to show can be reached by keyboard."""
    focus = "" if note is None else ' tabindex="0"'
    told = f"<small>{escape(note)}</small>" if note else "<small></small>"
    return f'<li data-l="{line_key(file, line)}"{focus}>{told}<code>{escape(text)}</code></li>'
