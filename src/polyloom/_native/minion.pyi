# SPDX-License-Identifier: Apache-2.0
"""The model of an ET-SoC-1 with any number of its minions (native/minion/bind.cpp). `polyloom.targets.minion.model`
checks what callers give."""

from collections.abc import Mapping
from typing import TypedDict, final

import numpy as np
from numpy.typing import NDArray

Event = tuple[int, int, int, int, int, int]
"""A span of the trace: start, end, minion (of a shire's port: the shire), track, word, pc. Tracks: 0 and 1 issue of a
hart, 2 load, 3 load to TenB, 4 load to L2Scp, 5 FMA, 6 quant, 7 store, 8 reduce, 9 to 12 the shire's banks."""

class Finding(TypedDict):
    """A hazard, each place once. `pc` is 0 where no instruction is known; `hart` is its number, 2 · minion + thread."""

    kind: str
    count: int
    hart: int
    pc: int
    cycle: int
    earlier_hart: int
    earlier_pc: int
    earlier_cycle: int
    address: int
    text: str
    cure: str

class Wait(TypedDict):
    """Of a deadlock: a hart, why it waits, and who could release it."""

    hart: int
    pc: int
    since: int
    kind: str
    text: str
    releasers: list[int]

class Result(TypedDict):
    stop: str
    """passed, failed, deadlock, trap, hazard or max-cycles."""
    cycles: int
    """Of the last store or hart's end; of functional runs, the most instructions of a hart."""
    instructions: int
    hart: int
    pc: int
    cause: int
    value: int
    word: int
    """Of a trap; `hart` of whatever stopped the run, and `value` of validation0 where it failed."""
    printed: bytes
    findings: list[Finding]
    waits: list[Wait]
    counters: dict[str, int]
    extrapolated: list[str]
    events: list[Event]

@final
class Chip:
    def __init__(
        self, minions: int, machine: Mapping[str, int], timing: Mapping[str, float], options: Mapping[str, int]
    ) -> None:
        """`machine`: shires, l2_kib, l3_kib, scratchpad_kib. `options`: hazards (0 off, 1 report, 2 error, 3 poison),
        functional, threads, errata, trace, max_cycles. `timing`: parameters by name; others have their defaults."""

    def write(self, address: int, data: bytes | NDArray[np.uint8]) -> str:
        """Nothing, or what is there instead of memory."""

    def read(self, address: int, size: int) -> bytes:
        """ValueError outside memory, with what is there instead."""

    def run(self, entry: int) -> Result:
        """All harts start at the entry, in machine mode. Once only."""
