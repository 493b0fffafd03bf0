# SPDX-License-Identifier: Apache-2.0
"""`polyloom` as it is where only its dependencies are installed: the packages of all extras cannot be imported."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Final

from polyloom.extras import EXTRAS

PACKAGES: Final = tuple(re.split("[=<>]", package)[0] for packages in EXTRAS.values() for package in packages)
_MAIN: Final = f"""
import sys
sys.modules.update(dict.fromkeys({PACKAGES!r}))
from polyloom.cli import main
sys.exit(main(sys.argv[1:]))
"""


def polyloom(*words: str, folder: Path) -> tuple[str, int]:
    """What a command prints, both streams together, and its exit code."""
    done = subprocess.run(
        [sys.executable, "-c", _MAIN, *words],
        cwd=folder,
        env={**os.environ, "COLUMNS": "120", "NO_COLOR": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.stdout, done.returncode
