# SPDX-License-Identifier: Apache-2.0
"""Codes of diagnostics of the model: PL1050 to PL1079, in the form of `polyloom.codes.CODES`."""

from __future__ import annotations

CODES: dict[str, tuple[str, str]] = {
    "PL1050": (
        "operand that is not on the belt",
        "The operation reads a position beyond the belt's end, or one that nothing has dropped to. Compile "
        "the function again; if the words were written by hand, `polyloom verify` shows every position.",
    ),
    "PL1051": (
        "drops differ from the header",
        "A bundle's header says how many operands drop in it. More arrived, or fewer where no loop has just "
        "begun. Compile the function again.",
    ),
    "PL1052": (
        "loads over stations",
        "Every load in flight holds a retire station of the member until its value drops, and the member has "
        "no more. Compile the function again for this member.",
    ),
    "PL1053": (
        "scratch that is not there",
        "A spill or a fill lies outside of what `scratchf` allocated, `scratchf` allocates more than the "
        "member has, or a fill finds nothing, an operand of another size, or one that was spilled less than "
        "two bundles before.",
    ),
    "PL1054": (
        "NaR that is used",
        "What is no result (of an overflow that is to be noticed, a division by zero, a load outside of every "
        "array) may be computed with, but must not be stored, be an address of a store, or decide where "
        "control goes. Check sizes and divisors of the source.",
    ),
    "PL1055": (
        "calls too deep",
        "The machine keeps 256 calls. Recursion is refused by the compiler; words written by hand must return earlier.",
    ),
    "PL1056": (
        "operands that do not suit",
        "An operation got operands of other widths or lanes than it takes. Compile the function again.",
    ),
    "PL1057": (
        "store outside of every array",
        "The program stores beyond the arrays that it was given, or into constant data. Give larger arrays, "
        "or correct the source's bounds.",
    ),
    "PL1058": (
        "control where no bundle is",
        "Control ran past the last bundle of a routine, or left a loop that was not entered. Compile the "
        "function again.",
    ),
    "PL1059": (
        "run that did not finish",
        "The run was ended after `--max-cycles` bundles. Give smaller inputs, or more cycles.",
    ),
    "PL1060": (
        "arguments that do not fit the routine",
        "The routine that is run takes one argument per parameter: contiguous arrays for addresses (w), "
        "integers, or floats for w and d.",
    ),
}
