# SPDX-License-Identifier: Apache-2.0
"""Progress on stderr, on a terminal only."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from time import monotonic

from polyloom.report.progress import CLEAR, draw, repeat_progress
from polyloom.targets.subject import Progress

Line = Callable[[str], None]
"""Shows a text in the place of the one before; "" removes it."""


@contextmanager
def status_line(is_quiet: bool = False) -> Generator[Line]:
    """Status line: a function that shows what is being done, with the seconds that it takes, until the next text. It
    shows nothing without a terminal, or where output is to be quiet.
    """
    # In a file or a pipe, a line that is drawn again and again would be noise.
    if is_quiet or not sys.stderr.isatty():
        yield lambda text: None
        return
    began = [monotonic()]

    def show(step: str, fraction: float) -> None:
        del fraction
        took = f"{step}, {monotonic() - began[0]:.0f} s" if step else ""
        print(f"{CLEAR}{took}", end="", file=sys.stderr, flush=True)

    def begin(text: str) -> None:
        began[0] = monotonic()
        told(text, 0.0)

    with repeat_progress(show) as beat:
        told = beat or show
        try:
            yield begin
        finally:
            told("", 0.0)


@contextmanager
def progress_bar(is_quiet: bool = False) -> Generator[Progress | None]:
    """Progress bar: a function to report (step, fraction) to; it draws one line, removed in the end. None without a
    terminal, or where output is to be quiet.
    """
    if is_quiet or not sys.stderr.isatty():
        yield None
        return
    try:
        # It draws from a thread: the work does not return to Python for seconds.
        with repeat_progress(draw) as told:
            yield told
    finally:
        draw("", 0)
