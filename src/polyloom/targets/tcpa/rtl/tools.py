# SPDX-License-Identifier: Apache-2.0
"""Tools for circuits, run as programs: what one prints where it fails, and how to install one that is missing."""

from __future__ import annotations

import subprocess
from pathlib import Path

from polyloom.diagnostics import PolyloomError, input_error


def run_tool(tool: str, command: tuple[str, ...], data: bytes, folder: Path) -> bytes:
    """Standard output of the command. Errors: PL0661."""
    done = subprocess.run(command, cwd=folder, input=data, capture_output=True)
    if done.returncode:
        lines = (done.stderr + done.stdout).decode(errors="replace").strip()
        raise tool_error(tool, f"`{Path(command[0]).name}` ended with exit code {done.returncode}", lines)
    return done.stdout


def tool_error(tool: str, message: str, lines: str) -> PolyloomError:
    """PL0661 with the first lines that a tool printed."""
    shown = "\n".join(lines.splitlines()[:10])
    return input_error("PL0661", f"{message}\n{shown}".rstrip(), help=f"check the tool: `{tool} --version`")


def missing_tool(tool: str, use: str, install: str) -> PolyloomError:
    """PL0660 with the command that installs it."""
    return input_error("PL0660", f"`{tool}` is not installed, which {use}", help=f"install it: {install}")
