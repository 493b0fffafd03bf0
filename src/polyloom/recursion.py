# SPDX-License-Identifier: Apache-2.0
"""Deep recursion: room for functions that recurse over trees; sums of thousands of terms are trees of as many levels.

Python stops a recursion after some thousand calls, and the stack of a program's first thread has room for not many
more. The decorator `with_deep_stack` calls a function again where that was too little, in a thread with a large stack
and with a limit to match. Only functions may have it whose first part can be done twice.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from contextvars import copy_context
from functools import wraps
from typing import Final, ParamSpec, TypeVar

from polyloom.diagnostics import PolyloomError, Span, input_error

P = ParamSpec("P")
T = TypeVar("T")

LEVELS: Final = 60_000
"""Calls within each other. A level of an expression takes a few of them, which differ between functions."""
_STACK: Final = 1 << 29
"""Bytes, of which only those that are used take memory: 8 KiB a call."""


def with_deep_stack(function: Callable[P, T]) -> Callable[P, T]:
    """Decorator: `function`, which raises RecursionError only where `LEVELS` are not enough either."""

    @wraps(function)
    def call(*arguments: P.args, **named: P.kwargs) -> T:
        try:
            return function(*arguments, **named)
        except RecursionError:
            # Already in such a thread: another one would have no more room.
            if sys.getrecursionlimit() >= LEVELS:
                raise
        return _run_in_thread(lambda: function(*arguments, **named))

    return call


def nesting_error(name: str, span: Span | None = None) -> PolyloomError:
    """Error PL0103 that a RecursionError of such a function becomes; `name` is the file."""
    help = "split it into several assignments, with variables of their own"
    return input_error("PL0103", f"{name}: an expression or a statement is nested too deeply", span=span, help=help)


def _run_in_thread(work: Callable[[], T]) -> T:
    """Run work in a thread with a stack of `_STACK` bytes and room for `LEVELS` calls; its exception is raised here."""
    # Context variables of the caller hold in the thread as well.
    context = copy_context()
    found: list[T] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            found.append(context.run(work))
        except BaseException as error:  # raised again where it is waited for
            failed.append(error)

    # Both are settings of the whole process, given back at the end.
    limit, size = sys.getrecursionlimit(), threading.stack_size(_STACK)
    try:
        sys.setrecursionlimit(LEVELS)
        # A daemon: an interrupt while it is waited for ends the program.
        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        thread.join()
    except RuntimeError:
        raise RecursionError("there is no memory for a larger stack") from None
    finally:
        threading.stack_size(size)
        sys.setrecursionlimit(limit)
    if failed:
        raise failed[0]
    return found[0]
