# SPDX-License-Identifier: Apache-2.0
"""Start-up time: `polyloom bench start`, CPU seconds, of user and system, of commands that only print: medians over
processes.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from resource import RUSAGE_CHILDREN, getrusage
from statistics import median
from typing import Final

from polyloom.cli.entry import known_verbs

TIMES: Final = 10


def rows(times: int = TIMES) -> Iterator[dict[str, object]]:
    words = [("--version",), ("--help",), *((verb, "--help") for verb in known_verbs())]
    for each in words:
        yield {"command": " ".join(("polyloom", *each)), "seconds": round(seconds(each, times), 3)}


def seconds(words: tuple[str, ...], times: int) -> float:
    """After one run, which leaves compiled modules behind where Python may write them."""
    # A first run fills the caches of files and of byte code.
    _child_seconds(words)
    return median(_child_seconds(words) for _ in range(times))


def _child_seconds(words: tuple[str, ...]) -> float:
    before = getrusage(RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-m", "polyloom", *words], check=True, stdout=subprocess.DEVNULL)
    after = getrusage(RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
