# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C while modules are loaded ends a command with exit code 130, and without a traceback."""

from __future__ import annotations

import subprocess
import sys
from functools import cache

import pytest

PROGRAM = """
import sys
from polyloom.cli import main

class Interrupted:
    count = 0

    def find_spec(self, name, path=None, target=None):
        if name == "atexit":  # what a native module does without
            return None
        Interrupted.count += 1
        if Interrupted.count == int(sys.argv[1]):
            raise KeyboardInterrupt
        return None

sys.meta_path.insert(0, Interrupted())
status = main(["machines"])
print(Interrupted.count)
sys.exit(status)
"""


def run(number: int) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", PROGRAM, str(number)], capture_output=True, text=True)


@cache
def loaded_modules() -> int:
    return int(run(0).stdout.split()[-1])


@pytest.mark.parametrize(
    "share", [0, 1, 8, 24, 31, *(pytest.param(share, marks=pytest.mark.long) for share in (2, 4, 16, 30))]
)
def test_an_interrupt_while_modules_are_loaded(share: int) -> None:
    loaded = loaded_modules()
    assert loaded > 100
    done = run(1 + share * (loaded - 1) // 31)
    assert done.returncode == 130 or "optional" in done.stderr
    assert "Traceback" not in done.stderr
