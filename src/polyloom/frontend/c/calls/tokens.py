# SPDX-License-Identifier: Apache-2.0
"""Tokens of a C text, as far as bodies and statements are found by them without clang."""

from __future__ import annotations

import re
from typing import Final

TOKEN: Final = re.compile(
    r"/\*.*?\*/|//(?:\\\n|[^\n])*|^[ \t]*#(?:\\\n|[^\n])*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|\w+|[^\w\s]",
    re.DOTALL | re.MULTILINE,
)
"""Comments, directives, strings, words, and any other character (C17 5.1.1.2, phases 3 and 4)."""
COMMENTS: Final = ("/*", "//")
