# SPDX-License-Identifier: Apache-2.0
"""Members of a cross product in turns: the default run takes a part of the pairs, in which every row and every column
occurs, and `make test-long` the others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest


def in_turns(rows: Sequence[Any], columns: Sequence[Any], period: int) -> list[Any]:
    """Pairs of a row and a column for `pytest.mark.parametrize`: one in `period` along each row, shifted by one from
    row to row as in a Latin square; the others are marked `long`. A period up to the shorter side leaves none out.
    """
    return [
        pytest.param(row, column, id=f"{_id(row)}-{_id(column)}", marks=pytest.mark.long if (r + c) % period else ())
        for r, row in enumerate(rows)
        for c, column in enumerate(columns)
    ]


def _id(member: object) -> str:
    """Functions and kernels by their names, files by their last parts."""
    return str(getattr(member, "__name__", None) or getattr(member, "name", None) or member)
