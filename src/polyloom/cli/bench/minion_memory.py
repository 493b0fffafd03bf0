# SPDX-License-Identifier: Apache-2.0
"""Blind rows of the memory system: measurements of silicon that no parameter of the model was fitted to, beside the
model. They were listed here before banks, rows and refresh of DRAM were added to it.

Chains of dependent loads over 4 MB, which L3 holds, and 256 MB, from hart 0 of a shire; the second of two loads from
DRAM, in cycles more than alone, once the first has come; and a neighbourhood that streams from its own scratchpad. All
of them at 600 MHz.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from polyloom._native.minion import FabricBench
from polyloom.cli.bench import minion_programs as programs
from polyloom.cli.bench.minion_programs import LINE, SHIRE, Measure

_ROW, _BANK = 18, 10
"""Bits of an address: another row of the same bank, and another bank."""
_NEAR, _FAR = 4 << 20, 256 << 20
"""Bytes that a chain of dependent loads goes over: those that L3 holds, and those that come from DRAM."""
_STEPS: Final = 2000
_LOAD: Final = 0


def blind_rows() -> tuple[Measure, ...]:
    """Rows of silicon that were named before anything was fitted, and left out of it."""

    def chain(size: int, shire: int, what: str, silicon: float) -> Measure:
        return Measure(
            f"chain of loads from {what}, shire {shire}", silicon, "cycles a load", lambda: chase(size, shire)
        )

    def second(bit: int, what: str, silicon: float) -> Measure:
        return Measure(
            f"a load behind another from DRAM, {what}", silicon, "cycles more", lambda: later_line_delay(bit)
        )

    return (
        chain(_NEAR, 24, "L3", 159.3),
        chain(_NEAR, 7, "L3", 160.7),
        chain(_FAR, 24, "DRAM", 287.3),
        chain(_FAR, 7, "DRAM", 288.4),
        second(_ROW, "another row of its bank", 10),
        second(_BANK, "another bank", 0),
        Measure("8 minions stream from their shire's scratchpad", 50, "B a cycle", stream),
    )


def chase(size: int, shire: int) -> float:
    """Cycles of a load whose address is what the one before has loaded, a line each, in a random order."""
    lines, random = size // LINE, np.random.default_rng(1)
    # L3 has every line after one round; in DRAM no line is met twice.
    warm, count = (lines, lines) if size == _NEAR else (0, 2 * _STEPS + 1)
    order = random.permutation(lines)[:count] * LINE + programs.DRAM
    chain = [(int(at), int(to).to_bytes(8, "little")) for at, to in zip(order, np.roll(order, -1), strict=True)]
    few, many = (
        programs.run(programs.chase(shire, chain[0][0], warm + n), SHIRE * (shire + 1), chain)
        for n in (_STEPS, 2 * _STEPS)
    )
    return (many - few) / _STEPS


def later_line_delay(bit: int) -> float:
    """Cycles that a load from DRAM takes more once another has come whose address differs in one bit."""
    first, second = programs.DRAM, programs.DRAM ^ 1 << bit
    return float(np.median([_latency([first, second], at) - _latency([second], at) for at in range(0, 20_000, 97)]))


def _latency(addresses: list[int], at: int) -> int:
    """Cycles of the last of some loads by minion 0, 600 cycles after one another."""
    bench, there = FabricBench(), np.zeros(len(addresses), np.uint64)
    cycles = at + 600 * (np.arange(len(addresses), dtype=np.uint64) + 2 - len(addresses))
    bench.run(cycles.astype(np.uint64), np.zeros_like(there), np.array(addresses, np.uint64), _LOAD, there)
    return int(there[-1]) - int(cycles[-1])


def stream() -> float:
    """Bytes a cycle that the minions of one neighbourhood load, each its own 32 lines again and again."""
    return 2 * 8 * 16 * LINE / programs.cycles_per_repetition(programs.streams, 8, 10, 40)
