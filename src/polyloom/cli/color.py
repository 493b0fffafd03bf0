# SPDX-License-Identifier: Apache-2.0
"""Colors of messages: of `error[...]`, places, carets and help, by the SGR sequences of ECMA-48, section 8.3.117.

`--color auto` colors on a terminal unless NO_COLOR is set to something (no-color.org); `always` and `never` need no
terminal to say so.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Final, TextIO

_STYLES: Final = (
    (re.compile(r"^error(?:\[PL\d+\])?(?=: )"), "1;31"),
    (re.compile(r"^warning(?:\[PL\d+\])?(?=: )"), "1;33"),
    (re.compile(r"^ *-->"), "1;34"),
    (re.compile(r"^(?: +\|(?= )| +\|$|\d+ \|(?= |$))"), "1;34"),
    (re.compile(r"^(?:note|help)(?=: )"), "1;36"),
)
"""What a line of a message begins with, and the parameters of its graphic rendition."""
_CARETS: Final = re.compile(r"(?<=\| )( *)(\^+)$")


def paint_diagnostic(message: str) -> str:
    """A rendered diagnostic with its colors."""
    return "\n".join(map(_paint_line, message.split("\n")))


def _paint_line(text: str) -> str:
    marked = _CARETS.sub(lambda found: found[1] + _with_style(found[2], "1;31"), text)
    for begin, style in _STYLES:
        if found := begin.match(marked):
            return _with_style(found[0], style) + marked[found.end() :]
    return marked


def _with_style(text: str, style: str) -> str:
    return f"\x1b[{style}m{text}\x1b[0m"


def wants_color(words: Sequence[str], stream: TextIO | None) -> bool:
    """Whether a command line, parsed or not, wants colors on a stream."""
    # The words themselves: an error in parsing is a message, too, and is colored.
    choices = [value for flag, value in pairwise(words) if flag == "--color"]
    choices += [word.partition("=")[2] for word in words if word.startswith("--color=")]
    choice = choices[-1] if choices else "auto"
    if choice != "auto":
        return choice == "always"
    is_plain = bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"
    return not is_plain and stream is not None and stream.isatty()
