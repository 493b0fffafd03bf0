# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C: its exit code, and the exceptions that it causes."""

from __future__ import annotations

from typing import Final

# 128 plus the number of the signal SIGINT, as shells report it (POSIX.1-2017, "Exit Status for Commands").
INTERRUPTED: Final = 130
"""The exit code behind Ctrl-C."""


def is_interrupt(error: BaseException | None) -> bool:
    """Whether an exception comes from Ctrl-C: native modules that are interrupted while they are loaded raise an
    ImportError because of it.
    """
    return error is not None and (
        isinstance(error, KeyboardInterrupt) or is_interrupt(error.__cause__ or error.__context__)
    )
