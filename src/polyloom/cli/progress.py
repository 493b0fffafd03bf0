# SPDX-License-Identifier: Apache-2.0
"""A progress bar on stderr, on a terminal only."""

from __future__ import annotations

import sys
from collections.abc import Generator
from contextlib import contextmanager

from polyloom.report.progress import beating, draw
from polyloom.targets.subject import Progress


@contextmanager
def bar(is_quiet: bool = False) -> Generator[Progress | None]:
    """A function to report (step, fraction) to; it draws one line, removed in the end. None where nobody
    looks, or wants to."""
    if is_quiet or not sys.stderr.isatty():
        yield None
        return
    try:
        with beating(draw) as told:
            yield told
    finally:
        draw("", 0)
