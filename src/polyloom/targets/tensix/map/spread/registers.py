# SPDX-License-Identifier: Apache-2.0
"""Registers of the NoCs' interface units, as programs of the movers use them (ISA documentation,
WormholeB0/NoC/MemoryMap.md, Atomics.md, Counters.md).
"""

from __future__ import annotations

from typing import Final

from polyloom.targets.tensix.map.loops.thread import Lines

NIUS: Final = (0xFFB20000, 0xFFB30000)
TARGET_LOW, TARGET_HIGH, RETURN_LOW, RETURN_HIGH, TAG, CONTROL, LENGTH, DATA, COMMAND = (
    0,
    4,
    12,
    16,
    24,
    28,
    32,
    36,
    40,
)
WRITE, INLINE, MARKED, BROADCAST, STATIC, ITSELF = 2, 8, 16, 32, 128, 1 << 17
MULTICAST: Final = WRITE | BROADCAST | STATIC | 0b10 << 14
"""A write to a rectangle without its own tile, on a virtual channel of broadcasts, so that packets stay in order."""
TELL: Final = MULTICAST | INLINE | ITSELF
"""Immediate data behind them, to the own tile, too."""
INCREMENT: Final = 1 << 12 | 31 << 2


def initiator(noc: int, number: int) -> int:
    """Address of a request initiator."""
    return NIUS[noc] + 0x400 * number


def outstanding(noc: int, transaction: int) -> int:
    """Counter of packets of a transaction without an answer."""
    return NIUS[noc] + 0x240 + 4 * transaction


def outgoing(noc: int, transaction: int) -> int:
    """Counter of writes of a transaction that have not left L1."""
    return NIUS[noc] + 0x280 + 4 * transaction


def set_register(base: str, at: int, value: int) -> Lines:
    return [f"li t1, {value:#x}", f"sw t1, {at}({base})"]


def copy_word(base: str, at: int, table: int) -> Lines:
    """Register of an initiator from the tile's table, at a1."""
    return [f"lw t1, {table}(a1)", f"sw t1, {at}({base})"]


def start_request(base: str, label: str) -> Lines:
    """Request, until the initiator may be changed again."""
    return ["li t1, 1", f"sw t1, {COMMAND}({base})", f"{label}:", f"lw t1, {COMMAND}({base})", f"bnez t1, {label}"]


def await_zero(address: int, label: str) -> Lines:
    return [f"li t0, {address:#x}", f"{label}:", "lw t1, 0(t0)", f"bnez t1, {label}"]
