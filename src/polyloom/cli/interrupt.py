# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C: its exit code, and which exceptions come of it."""

from __future__ import annotations

from typing import Final

INTERRUPTED: Final = 130
"""The exit code behind Ctrl-C."""


def by_interrupt(error: BaseException | None) -> bool:
    """Native modules that are interrupted while they are loaded raise an ImportError because of it."""
    return error is not None and (
        isinstance(error, KeyboardInterrupt) or by_interrupt(error.__cause__ or error.__context__)
    )
