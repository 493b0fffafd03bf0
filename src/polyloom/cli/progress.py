# SPDX-License-Identifier: Apache-2.0
"""A progress bar on stderr, on a terminal only."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from time import monotonic

from polyloom.report.progress import CLEAR, beating, draw
from polyloom.targets.subject import Progress

Line = Callable[[str], None]
"""Shows a text in the place of the one before; "" removes it."""


@contextmanager
def line(is_quiet: bool = False) -> Generator[Line]:
    """A function that shows what is being done, with the seconds that it takes, until it is told something else. It
    shows nothing where nobody looks, or wants to."""
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

    with beating(show) as beat:
        told = beat or show
        try:
            yield begin
        finally:
            told("", 0.0)


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
