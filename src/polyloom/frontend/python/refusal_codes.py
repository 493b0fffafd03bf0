# SPDX-License-Identifier: Apache-2.0
"""Refusal codes of Python: the refusals of the reader of loops under codes whose pages speak of Python."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from polyloom.diagnostics import PolyloomError

_VALUE: Final = "a loop has a value in its body: use another variable, or move the statement"
_WORDS: Final[dict[str, tuple[str, str | None]]] = {
    "PL0156": ("PL0133", None),
    "PL0158": ("PL0136", None),
    "PL0159": ("PL0136", None),
    "PL0160": ("PL0148", _VALUE),
    "PL0162": ("PL0137", None),
    "PL0164": ("PL0139", None),
    "PL0165": ("PL0148", _VALUE),
}
"""By code of the reader: Python's, and what to do where that is another thing than in C."""


def translate_refusal(error: PolyloomError) -> PolyloomError:
    """Translation of a refusal into the codes, and the help, of Python."""
    words = [_WORDS.get(d.code, (d.code, None)) for d in error.diagnostics]
    named = zip(error.diagnostics, words, strict=True)
    return PolyloomError(*(replace(d, code=code, help=help or d.help) for d, (code, help) in named))
