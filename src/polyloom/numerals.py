# SPDX-License-Identifier: Apache-2.0
"""Integers of texts from strangers, as numbers of a bounded size.

Python neither reads nor prints decimal integers of more than 4,300 digits (CVE-2020-10735): `int` and messages that
show a number would raise ValueError. No field, operand or count of any format here has more than 64 bits: larger
numbers saturate, so that every check of a range still refuses them and every message can show them.
"""

from __future__ import annotations

import re
from typing import Final

MOST: Final = 1 << 128
"""Greatest magnitude of a number."""


def parse_integer(text: str, base: int = 10) -> int:
    """Integer of a text, as `int` reads it, saturated. ValueError for what is no integer."""
    try:
        return saturate(int(text, base))
    except ValueError:
        # Hexadecimal numbers have no limit: what `int` refuses is no integer, or a decimal one.
        if base not in (0, 10) or not re.fullmatch(r"[-+]?[0-9]+", text) or len(text) < _LIMIT:
            raise
        return saturate(int(text[:_LIMIT]))


def saturate(value: int) -> int:
    """The number, or the greatest one of its sign."""
    return max(-MOST, min(MOST, value))


_LIMIT: Final = 640
"""Digits that every setting of Python's limit allows (sys.int_info.str_digits_check_threshold)."""
