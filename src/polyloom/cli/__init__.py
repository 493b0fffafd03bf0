# SPDX-License-Identifier: Apache-2.0
"""The command line: one module per verb. stdout is data, stderr is messages; `polyloom.diagnostics` has exit codes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

INTERRUPTED: Final = 130
"""The exit code behind Ctrl-C."""


def main(words: Sequence[str] | None = None) -> int:
    """`entry.main`, which is loaded here so that Ctrl-C ends that as well without a traceback."""
    try:
        from polyloom.cli.entry import main as execute
    except (KeyboardInterrupt, ImportError) as error:
        if by_interrupt(error):
            return INTERRUPTED
        raise
    return execute(words)


def by_interrupt(error: BaseException | None) -> bool:
    """Native modules that are interrupted while they are loaded raise an ImportError because of it."""
    return error is not None and (
        isinstance(error, KeyboardInterrupt) or by_interrupt(error.__cause__ or error.__context__)
    )
