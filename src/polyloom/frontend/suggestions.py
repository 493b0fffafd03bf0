# SPDX-License-Identifier: Apache-2.0
"""The nearest known name, for messages about unknown ones."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def suggestion(name: str, known: Iterable[str], otherwise: str | None = None) -> str | None:
    """`did you mean ...?` when a known name is near, else `otherwise`."""
    near = get_close_matches(name, sorted(set(known)), n=1, cutoff=0.6)
    return f"did you mean `{near[0]}`?" if near else otherwise
