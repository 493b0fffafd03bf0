# SPDX-License-Identifier: Apache-2.0
"""Value types on the belt: a width and a number of lanes, which operands carry as tags (docs/targets/belt.md, Values
and faults)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

Width = Literal["b", "h", "w", "d", "q"]
BYTES: Final[Mapping[Width, int]] = {"b": 1, "h": 2, "w": 4, "d": 8, "q": 16}


@dataclass(frozen=True, slots=True)
class Type:
    """Type of a value: a width, and a number of lanes; 1 is a scalar. Comparisons give b, one per lane: 0 or 1."""

    width: Width
    lanes: int = 1

    def __str__(self) -> str:
        return self.width if self.lanes == 1 else f"{self.width}x{self.lanes}"
