# SPDX-License-Identifier: Apache-2.0
"""Codes of diagnostics from PL1080 on, in the form of `polyloom.codes.CODES`."""

from __future__ import annotations

CODES: dict[str, tuple[str, str]] = {
    "PL1080": (
        "genasm that cannot be read",
        "The text is not what `polyloom compile --emit genasm` prints; the message shows where.",
    ),
    "PL1081": (
        "ill-formed member-independent code",
        "A rule for genasm is broken; the message names it. In a text of yours: correct it. After a pass: a bug of\n"
        "Polyloom.",
    ),
    "PL1082": (
        "a fault of the belt's interpreter",
        "A store outside of every array, a NaR that is stored or decides where control goes, or calls that are too\n"
        "deep. What it comes from is undefined in C, too: give other arguments.",
    ),
    "PL1083": ("a function that does not return", "It took more steps than it was given. Is there a loop without end?"),
    "PL1084": ("arguments that do not fit", "Give one argument per parameter: integers, floats, contiguous arrays."),
    "PL1085": (
        "recursion on a belt",
        "A function that calls itself, directly or not, is not compiled:\n\n"
        "    int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }\n\n"
        "Write a loop, with a stack of its own in an array if there must be one.",
    ),
    "PL1086": (
        "an array whose size is not constant",
        "Arrays of a function's own are data of the program. Declare `int a[16]`, or pass the array as an argument.",
    ),
    "PL1087": (
        "a loop with several entries",
        "A `goto` into a loop makes its flow irreducible, and there is no head in which the loop could be entered.\n"
        "Test a flag within the loop instead.",
    ),
    "PL1088": (
        "pointers of other than 32 bits",
        "Functions for the belt are read with the data model ILP32: `Model('riscv32-unknown-elf', 4)`.",
    ),
    "PL1090": (
        "an operation that the member cannot do",
        "It has no slot for it, and nothing stands for it. Take another member, or write the computation otherwise.",
    ),
    "PL1091": (
        "a loop that cannot be vectorized",
        "The message names what stands against it: a recurrence with its distance, a stride, a call.\n"
        "`--vectorize=try` leaves such loops scalar; sums of floats need `--reassociate`.",
    ),
    "PL1092": (
        "a profile that cannot be read",
        "A profile is a JSON object with numbers by function and block. `polyloom run FILE ... --counts counts.json`\n"
        "writes one.",
    ),
}
