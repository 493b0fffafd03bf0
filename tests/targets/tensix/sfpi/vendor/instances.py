# SPDX-License-Identifier: Apache-2.0
"""The instances of the vendor's kernels, `wormhole.txt`: what `make kernels` compiles and runs.

pure metal recip                        a header: its kind, its group, its name
    calculate_reciprocal<false, false>() | recip_init<false, false>()
                                        a kernel, and what initializes it; `| 32` behind it for a Dst of 32 bits,
                                            `| -D NAME` for what a kernel is configured with
    - calculate_x(): CODE construct, line   one that does not run, and why
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

LIST: Final = Path(__file__).with_name("wormhole.txt")
MACROS: Final = Path(__file__).with_name("macros.txt")
MARKS: Final = frozenset({"tile", "first row", "uint16", "early"})
"""What macros.txt explains."""
KINDS: Final = ("pure", "mixed")


@dataclass(frozen=True, slots=True)
class Instance:
    """`fails` says why it does not run, where that is known."""

    kind: str
    group: str
    header: str
    function: str
    init: str | None = None
    dest: Literal[16, 32] = 16
    define: str | None = None
    fails: str | None = None
    marks: frozenset[str] = frozenset()

    @property
    def name(self) -> str:
        return f"{self.group}/{self.header} {self.function}"


def instances(text: str) -> Iterator[Instance]:
    """Those of the list."""
    head = ("", "", "")
    for line in text.split("\n"):
        words = line.split("#")[0].strip()
        if not words:
            continue
        if not line.startswith(" "):
            kind, group, name = words.split()
            head = kind, group, name
            continue
        failing = words.startswith("- ")
        body, _, reason = words.removeprefix("- ").partition(" : ") if failing else (words, "", "")
        function, *more = (part.strip() for part in body.split(" | "))
        dest = 32 if "32" in more else 16
        marks = frozenset(MARKS.intersection(more))
        more = [part for part in more if part not in MARKS]
        define = next((part.removeprefix("-D ") for part in more if part.startswith("-D ")), None)
        init = next((part for part in more if part != "32" and not part.startswith("-D ")), None)
        yield Instance(*head, function, init, dest, define, reason if failing else None, marks)
