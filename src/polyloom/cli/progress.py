# SPDX-License-Identifier: Apache-2.0
"""A progress bar on stderr, on a terminal only."""

from __future__ import annotations

import sys
from collections.abc import Generator
from contextlib import contextmanager
from typing import Final

from polyloom.targets.subject import Progress

_WIDTH: Final = 24
_CLEAR: Final = "\r\x1b[K"


@contextmanager
def bar() -> Generator[Progress | None]:
    """A function to report (step, fraction) to; it draws one line, removed in the end. None where nobody looks."""
    if not sys.stderr.isatty():
        yield None
        return
    try:
        yield _draw
    finally:
        print(_CLEAR, end="", file=sys.stderr, flush=True)


def _draw(step: str, fraction: float) -> None:
    done = round(_WIDTH * min(max(fraction, 0.0), 1.0))
    print(f"{_CLEAR}{'█' * done}{'·' * (_WIDTH - done)} {step}", end="", file=sys.stderr, flush=True)
