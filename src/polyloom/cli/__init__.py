# SPDX-License-Identifier: Apache-2.0
"""The command line: one module per verb. stdout is data, stderr is messages; `polyloom.diagnostics` has exit codes."""

from polyloom.cli.entry import main

__all__ = ["main"]
