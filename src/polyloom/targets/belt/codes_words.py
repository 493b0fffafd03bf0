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
}
