# SPDX-License-Identifier: Apache-2.0
"""How large a nest may be. Dataflow compares every read with every writer of its array, and the search for a common
space every statement with those that are placed, so that the time grows with the square of the number of statements."""

from __future__ import annotations

from itertools import islice

from polyloom.diagnostics import input_error
from polyloom.ir.nest import Nest, assignments

STATEMENTS = 500
"""Statements of one function."""


def check_size(nest: Nest) -> None:
    """PL0308, at the first statement that is too many."""
    # The count is only made for the message: most nests end the search here.
    beyond = next(islice(assignments(nest.body), STATEMENTS, None), None)
    if beyond is None:
        return
    count = sum(1 for _ in assignments(nest.body))
    message = (
        f"`{nest.name}` has {count} statements, of which {STATEMENTS} at most can be mapped together; number "
        f"{STATEMENTS + 1} stands here"
    )
    help = (
        f"split the function: arrays pass values between functions of at most {STATEMENTS} statements, which are "
        "run one after another"
    )
    raise input_error("PL0308", message, span=beyond.span, help=help)
