# SPDX-License-Identifier: Apache-2.0
"""Answer of a verb: data for machines, text for people, and diagnostics although there is an answer."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from polyloom.diagnostics import Diagnostic
from polyloom.report.markdown import table

__all__ = ["Answer", "table"]


@dataclass(frozen=True, slots=True)
class Answer:
    """Answer of a verb. `data` is printed under `--json`, else `text` and the lines of `streamed`, each as soon as it
    is known (then `data` may be None); `printed`, what the program printed, and `diagnostics` go to stderr, and the
    first of these gives the exit code.
    """

    data: object
    text: str = ""
    diagnostics: tuple[Diagnostic, ...] = ()
    printed: str = ""
    streamed: Iterable[str] = ()
