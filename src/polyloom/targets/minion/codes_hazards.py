# SPDX-License-Identifier: Apache-2.0
"""Codes of hazards, deadlocks and lost operations: PL1380 to PL1389, in the form of `polyloom.codes.CODES`."""

from __future__ import annotations

CODES: dict[str, tuple[str, str]] = {
    "PL1380": (
        "hazard",
        "Two instructions need a wait, a flush or an order between them that the program does not have: on the machine "
        "the result\nwould depend on time. The message names both instructions and what is missing. `--hazards report` "
        "lists all.",
    ),
    "PL1381": (
        "deadlock",
        "No hart can ever run again. The notes tell who waits for whom; a hart that is waited for and has ended, or "
        "waits for the\nfirst one itself, is where to begin.",
    ),
    "PL1382": (
        "tensor operation that was lost",
        "A tensor or cache operation that cannot be performed does not trap: it sets a bit of the CSR `tensor_error`, "
        "and nothing\nof it is done, or nothing from the first row that faults. The message names the instruction and "
        "the bit. A program that\nexpects this waits for the operation, reads `tensor_error` and writes 0 to it; any "
        "bit that is still set when the run\nends is this error.",
    ),
}
