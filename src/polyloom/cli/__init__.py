# SPDX-License-Identifier: Apache-2.0
"""The command line: one module per verb. stdout is data, stderr is messages; exit codes are those of
`polyloom.diagnostics`."""

from polyloom.cli.entry import main

__all__ = ["main"]
