# SPDX-License-Identifier: Apache-2.0
"""Codes of diagnostics from PL1110 on, in the form of `polyloom.codes.CODES`."""

from __future__ import annotations

CODES: dict[str, tuple[str, str]] = {
    "PL1110": (
        "scratch is too short",
        "What a function keeps while it runs has more bytes than the member's scratchpad: values that live from block "
        "to block, and the frames of a pipelined loop. The message says how many bytes are needed. Take a member with "
        "more scratch, or split the function.",
    ),
    "PL1111": (
        "more operands than the belt holds",
        "The arguments of a call, or what a block passes on, are more than the positions of the member's belt. "
        "Parameters of the function that is run may be more: they pass in memory, if they are scalars or arrays. Take "
        "a member with a longer belt, or pass fewer values.",
    ),
    "PL1112": (
        "no slot for an operation",
        "The member has no slot that executes an operation of the program, and nothing replaced it. Take another "
        "member, or add the unit to one of its slots.",
    ),
}
