# SPDX-License-Identifier: Apache-2.0
"""Codes of hazards and deadlocks: PL1380 to PL1389, in the form of `polyloom.codes.CODES`."""

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
}
