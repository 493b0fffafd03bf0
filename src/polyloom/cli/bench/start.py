# SPDX-License-Identifier: Apache-2.0
"""`polyloom bench start`: CPU seconds, of user and system, of commands that only print: medians over processes."""

from __future__ import annotations

import os
import subprocess
import sys
from statistics import median
from typing import Final

from polyloom.cli.entry import all_verbs

TIMES: Final = 10


def rows(times: int = TIMES) -> list[dict[str, object]]:
    words = [("--version",), ("--help",), *((verb, "--help") for verb in all_verbs())]
    return [{"command": " ".join(("polyloom", *w)), "seconds": round(seconds(w, times), 3)} for w in words]


def seconds(words: tuple[str, ...], times: int) -> float:
    """After one run, which leaves compiled modules behind where Python may write them."""
    _once(words)
    return median(_once(words) for _ in range(times))


def _once(words: tuple[str, ...]) -> float:
    before = os.times()
    subprocess.run([sys.executable, "-m", "polyloom", *words], check=True, stdout=subprocess.DEVNULL)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system
