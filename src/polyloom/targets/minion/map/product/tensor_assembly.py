# SPDX-License-Identifier: Apache-2.0
"""Words of tensor CSRs as assembly: fields that a minion computes are or-ed into constant bits (programmer's reference
manual, chapter 9).

The left factor's tiles take lines 0 to 15 and 16 to 31 of L1Scp in turns, over blocks as well, so that a load never
overwrites lines of the youngest FMA: accepting that one proves the one before it complete.
"""

from __future__ import annotations

from typing import Final

from polyloom.targets.minion.words.tensor_words import EVENTS, encode
from polyloom.twos_complement import sign_extend

TURN_LOAD: Final = encode("tensor_load", start=16).value
"""The bit of a load that tells which half it writes."""
TURN_FMA: Final = encode("tensor_fma", a=16).value
"""The bit of an FMA that tells which half it reads."""
TURN_STORE: Final = encode("tensor_store_scp", start=16).value
# A word's constant bits are made by the encoder, so that layouts of fields stand in one table only.
FIRST: Final = encode("tensor_fma", first=1).value
LAST: Final = encode("tensor_fma", to_registers=1).value
ROW_FIELD: Final = 51
"""Where FMA and store have rows - 1; loads have it at bit 0."""
COLUMN_FIELD: Final = 55
"""Where an FMA has columns / 4 - 1."""
DEPTH_FIELD: Final = 47
"""Where an FMA has words of depth - 1."""
OFFSET_FIELD: Final = 43
"""Where an FMA has the left factor's first word in its lines."""
LOADED, STORED, MULTIPLIED, COMBINED, PREFETCHED, EVICTED = "load0", "store", "fma", "reduce", "prefetch0", "cacheop"


def wait(event: str) -> str:
    """Write of tensor_wait for an event, which has its number (manual, chapter 9)."""
    return f"csrwi tensor_wait, {EVENTS.index(event)}"


def refresh_registers() -> list[str]:
    """Workaround of erratum 1.29: before other instructions read registers that tensor operations wrote, the one that
    was written last has to be read. A multiplication of masked rows makes that f31.
    """
    word = encode("tensor_fma", masked=1, rows=16, columns=16, words=1, first=1, a=32, b=47).value
    lines = ["csrw tensor_mask, zero", li("t0", word), "csrw tensor_fma, t0", wait(MULTIPLIED)]
    return [*lines, "fmv.x.w zero, f31"]


def li(register: str, value: int) -> str:
    """A constant."""
    return f"li {register}, {sign_extend(value, 64)}"


def add_scaled(register: str, index: str, step: int, to: str) -> list[str]:
    """Strength-reduced address computation: adds index · step to `to`; `register` is free."""
    # Steps of tiles are powers of two mostly; a multiplication takes eight cycles.
    if step & (step - 1) == 0 and step:
        return [f"slli {register}, {index}, {step.bit_length() - 1}", f"add {to}, {to}, {register}"]
    return [li(register, step), f"mul {register}, {register}, {index}", f"add {to}, {to}, {register}"]
