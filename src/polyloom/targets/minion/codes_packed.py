# SPDX-License-Identifier: Apache-2.0
"""Codes of the Minion's notation: PL1370 to PL1379."""

from __future__ import annotations

CODES: dict[str, tuple[str, str]] = {
    "PL1371": (
        "assembly without an instruction",
        "A program has to have at least one instruction, at which its harts start.\n\n"
        "Write code before `.data`; the smallest program that passes ends its hart:\n\n"
        "```\nli t0, 0x1feed000\ncsrw validation0, t0\n```",
    ),
}
