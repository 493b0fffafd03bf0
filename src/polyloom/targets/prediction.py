# SPDX-License-Identifier: Apache-2.0
"""Prediction of a run: what a target knows before it, read from the program's words, without inputs.

A prediction is what exploration is made of: it costs a thousandth of a run, and where it is exact a run adds only the
proof of the outputs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Prediction:
    """Predicted figures. `cycles` are those of a run, which takes at most so many where they are not `exact`.
    `elements` is how much of the machine was asked for, in units that the target counts; `facts` are further figures of
    the program by name.
    """

    cycles: int
    exact: bool
    elements: int | None = None
    facts: Mapping[str, int | str] = field(default_factory=dict[str, int | str])
