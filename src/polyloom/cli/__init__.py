# SPDX-License-Identifier: Apache-2.0
"""The command line: one module per verb. stdout is data, stderr is messages; `polyloom.diagnostics` has exit codes."""

from __future__ import annotations

from collections.abc import Sequence

from polyloom.cli.interrupt import INTERRUPTED, is_interrupt


def main(words: Sequence[str] | None = None) -> int:
    """`entry.main`, which is loaded here so that Ctrl-C ends that as well without a traceback."""
    try:
        from polyloom.cli.entry import main as execute
    except (KeyboardInterrupt, ImportError) as error:
        if is_interrupt(error):
            return INTERRUPTED
        raise
    return execute(words)
