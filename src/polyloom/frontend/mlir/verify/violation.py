# SPDX-License-Identifier: Apache-2.0
"""Violation of a rule of MLIR by an operation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from xdsl.ir import Operation

from polyloom.frontend.mlir.element_types import is_array_type


@dataclass(frozen=True, slots=True)
class Violation:
    """What is wrong with an operation, its code and what to write instead; without a help, that of all."""

    operation: Operation
    message: str
    code: str = "PL0170"
    help: str | None = None


def rank(value: object) -> int | None:
    """Rank of a value that is an array; None of others, and of arrays without a rank."""
    kind: Any = getattr(value, "type", None)
    return len(kind.get_shape()) if is_array_type(kind) else None
