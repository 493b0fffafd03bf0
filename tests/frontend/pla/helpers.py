# SPDX-License-Identifier: Apache-2.0
"""What the language's tests share."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

from polyloom.diagnostics import Span
from polyloom.ir.pla import Program

ROOT = Path(__file__).parents[3]
EXAMPLES = sorted((ROOT / "examples").glob("*.pla"))


def without_spans(program: Program) -> Program:
    """The program with every span removed, for comparison."""
    return _strip(program)


def _strip(value: Any) -> Any:
    if isinstance(value, Span):
        return None
    if isinstance(value, tuple):
        return tuple(map(_strip, value))  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType] (any tuple)
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **{f.name: _strip(getattr(value, f.name)) for f in fields(value)})
    return value
