# SPDX-License-Identifier: Apache-2.0
"""Codes of members, words, files, notations and the verifier, PL1000 to PL1049, as in `polyloom.codes.CODES`."""

from __future__ import annotations

CODES: dict[str, tuple[str, str]] = {
    "PL1000": (
        "unknown belt machine",
        "`--on belt:MEMBER` takes a shipped member, such as `silver`, or the path of a description that ends in "
        "`.toml`; `:unphased` after it\nlets every result drop at the end of its bundle.",
    ),
    "PL1001": (
        "contradictory member",
        "Delays of loads are from 1 to 63, the least one first; vectors have a power of two of bytes; a slot has the "
        "units that docs/targets/belt.md\nlists.",
    ),
    "PL1002": (
        "operation without a slot",
        "Nothing stands in for the operation, so that a member needs a slot whose units execute it; `lacks` names only "
        "operations that a program\ncan do without.",
    ),
    "PL1003": (
        "named data without room",
        "The named data of a program lie in the first 2 GiB of memory; they are larger.",
    ),
    "PL1004": (
        "what a word cannot hold",
        "Words of the belt machine have fields of fixed size (docs/formats.md): 255 drops per bundle, offsets of 12 "
        "bits, 65535 bundles per routine.\nSplit the function.",
    ),
    "PL1005": (
        "malformed code",
        "The file is whole, but its words are not written as docs/formats.md says. Compile the function again.",
    ),
    "PL1006": (
        "program for another member",
        "Slots, belt and latencies are those of one member: a program runs on no other. Compile the function again, "
        "`--on` this member, or leave\n`--on` out.",
    ),
    "PL1007": (
        "syntax of conasm",
        "A bundle is one line: its number and a colon, operations with a slot each, separated by `|`, and the drops:\n"
        "`3: F0 load.w(b1, b0 * 4) delay 3 | P0 pick(b0, b1) : drops 2`. docs/targets/belt.md shows whole programs.",
    ),
    "PL1008": (
        "unknown name in conasm",
        "Operations are those of docs/targets/belt.md; a call names a routine of the text.",
    ),
    # What `verify` finds in a program of ours, or in one that somebody has changed
    "PL1009": (
        "belt program with too many states",
        "The verifier follows every state in which a bundle may begin. Programs of ours have hundreds of them.",
    ),
    "PL1010": (
        "slot that does not take the operation",
        "Each slot of the member takes one operation per bundle, of the units that it has, and a division holds its "
        "slot for as long as\n`busy` says. docs/targets/belt.md lists the slots.",
    ),
    "PL1011": (
        "operation that the member does not have",
        "Some members lack operations, or do not fuse. The compiler replaces these by others.",
    ),
    "PL1012": (
        "position without an operand",
        "An operation reads a position beyond the member's belt, or one that nothing has dropped to on some path.",
    ),
    "PL1013": (
        "drops that differ from the header",
        "A bundle's header counts what drops in it. In the first passes of a loop Nones stand for results that nobody "
        "issued; otherwise as\nmany results must arrive.",
    ),
    "PL1014": (
        "more loads than stations",
        "A load holds one retire station from its issue to its drop.",
    ),
    "PL1015": (
        "scratch that is not there",
        "Spills and fills stay within what scratchf allocated, a multiple of 8 bytes, within one frame, aligned to "
        "their width; a fill comes\nat least two bundles after its spill.",
    ),
    "PL1016": (
        "control that leads nowhere",
        "`inner` enters the first bundle of a loop's pass and `leave` ends it; no path runs past the last bundle.",
    ),
    "PL1017": (
        "operands that do not fit",
        "Words state the width of what is shifted, multiplied or spilled; lists have the operands that their taker "
        "expects.",
    ),
    "PL1018": (
        "first passes that would act",
        "In the first passes of a loop operations of later stages run for iterations that do not exist. What stores, "
        "calls and leaves read must\nbe None there, and a `recur` must find a None that its initial value replaces.",
    ),
    "PL1019": (
        "store outside of the window of a leave",
        "When a loop is left, stores before the leave in program order must have been done and those after it not:\n"
        "t_leave - II < t <= t_leave + II.",
    ),
    "PL1020": (
        "delay that the member does not have",
        "A load states after how many bundles its value drops, within the member's range.",
    ),
}
