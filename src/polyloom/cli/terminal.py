# SPDX-License-Identifier: Apache-2.0
"""Safe terminal output. Names of files, lines of sources and output of programs may come from anybody, and a terminal
obeys what it reads: control characters are printed visibly, as Python writes them, as is what the encoding lacks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TextIO

_KEPT: Final = "\n\t"
# C0, DEL and C1 (ECMA-48): a terminal acts on the second range as on ESC sequences.
_CONTROLS: Final = (*range(0x20), *range(0x7F, 0xA0))
_DIRECTIONS: Final = (0x061C, 0x200E, 0x200F, *range(0x2028, 0x202F), *range(0x2066, 0x206A))
"""Ends of lines and directions of writing, which show text in another order than it has (Unicode, UAX 9)."""
_VISIBLE: Final = {code: ascii(chr(code))[1:-1] for code in (*_CONTROLS, *_DIRECTIONS) if chr(code) not in _KEPT}


def escape_controls(text: str) -> str:
    """Text without control characters but ends of lines and tabs."""
    return text.translate(_VISIBLE)


def write(text: str, stream: TextIO | None, paint: Callable[[str], str] = str) -> None:
    """Prints a text, if there is any, with an end of its line; `paint` adds colors to what is visible."""
    # A process started without a console has no streams.
    if not text or stream is None:
        return
    # What the encoding lacks becomes an escape: a message must never fail while it is printed.
    encoding = getattr(stream, "encoding", None) or "utf-8"
    plain = escape_controls(text).encode(encoding, "backslashreplace").decode(encoding)
    print(paint(plain), file=stream, flush=True)
