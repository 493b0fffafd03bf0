# SPDX-License-Identifier: Apache-2.0
"""The native table of operations says what `isa` says, row by row."""

from __future__ import annotations

from polyloom._native import belt
from polyloom.targets.belt.isa import LANED, MANY, ROWS, predicate_count, states_width


def test_rows_are_those_of_isa() -> None:
    expected = [
        (
            op.name,
            op.phase,
            predicate_count(op) if op.operands[1] == MANY else op.operands[0],
            predicate_count(op) if op.operands[1] == MANY else op.operands[1],
            op.operands[1] == MANY,
            0 if op.results == MANY else op.results,
            op.immediate,
            states_width(op),
            op.name in LANED,
        )
        for op in ROWS
    ]
    assert belt.operations() == expected
