# SPDX-License-Identifier: Apache-2.0
"""Progress reporting: a bar of tqdm where that is installed, a line on a terminal where it is not, and a beat that
repeats what was told last, so that who waits sees at least every half second that work goes on.
"""

from __future__ import annotations

import sys
from collections.abc import Generator
from contextlib import contextmanager
from importlib import import_module
from threading import Event, Thread
from time import monotonic
from types import TracebackType
from typing import Any, Final

from polyloom.targets.subject import Progress

BEAT: Final = 0.4
"""Seconds after which the last report is repeated."""
DONE: Final = "done"
"""The last step of whatever reports progress."""
_WIDTH: Final = 24
CLEAR: Final = "\r\x1b[K"


class progress:  # a function to its users: `pl.compile(..., progress=pl.progress())`
    """A function to report (step, fraction) to, and a context manager that ends the bar: what compiles ends it itself
    at the step "done". With tqdm (`pip install tqdm`) it is a bar of a notebook or a terminal, without it a line on
    stderr where that is a terminal, and nothing elsewhere."""

    def __init__(self, title: str = "") -> None:
        self.title = title
        self._bar: Any = None

    def __call__(self, step: str, fraction: float) -> None:
        """Show that `step` has begun or goes on, with a fraction of everything done."""
        bar = _tqdm()
        if bar is None:
            _line(step, fraction)
            return
        if self._bar is None:
            self._bar = bar(total=100, desc=self.title or step, bar_format="{desc} |{bar}| {n:.0f} % [{elapsed}]")
        if not self.title:
            self._bar.set_description_str(step, refresh=False)
        # Steps may report a smaller fraction than the one before; a bar that runs back looks like a fault.
        self._bar.n = max(self._bar.n, 100 * min(max(fraction, 0.0), 1.0))
        self._bar.refresh()
        if step == DONE:
            self.close()

    def close(self) -> None:
        """End the bar."""
        if self._bar is not None:
            self._bar.close()
            self._bar = None
        elif sys.stderr.isatty():
            print(CLEAR, end="", file=sys.stderr, flush=True)

    def __enter__(self) -> progress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _tqdm() -> Any:
    """Its class for wherever this runs; None where it is not installed."""
    try:
        return import_module("tqdm.auto").tqdm
    except ImportError:
        return None


def _line(step: str, fraction: float) -> None:
    if sys.stderr.isatty():
        draw("" if step == DONE else step, fraction)


def draw(step: str, fraction: float) -> None:
    """One line on stderr, in the place of the one before; none without a step."""
    done = round(_WIDTH * min(max(fraction, 0.0), 1.0))
    shown = f"{'█' * done}{'·' * (_WIDTH - done)} {step}" if step else ""
    print(f"{CLEAR}{shown}", end="", file=sys.stderr, flush=True)


@contextmanager
def repeat_progress(told: Progress | None, beat: float = BEAT) -> Generator[Progress | None]:
    """Heartbeat: a function that tells `told`, which also hears its last report again when nothing new came for a beat;
    None where nobody listens. Reports come from a thread, too, and never after the end.
    """
    if told is None:
        yield None
        return
    last, ended = ["", 0.0, monotonic()], Event()

    def tell(step: str, fraction: float) -> None:
        # One slice assignment: the thread never sees a new step with an old fraction.
        last[:] = [step, fraction, monotonic()]
        told(step, fraction)

    def repeat() -> None:
        while not ended.wait(beat / 4):
            step, fraction, when = last
            if step and monotonic() - float(when) >= beat:
                tell(str(step), float(fraction))

    thread = Thread(target=repeat, daemon=True)
    thread.start()
    try:
        yield tell
    finally:
        ended.set()
        # Joined, and not only told to end: the last report of the thread must not come after the caller's own.
        thread.join()
