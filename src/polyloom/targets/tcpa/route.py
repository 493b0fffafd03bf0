# SPDX-License-Identifier: Apache-2.0
"""Propagation channels."""

from __future__ import annotations

from dataclasses import dataclass

from polyloom.targets.tcpa.machine import Machine
from polyloom.targets.tcpa.symbolic import Route


@dataclass(frozen=True, slots=True)
class Demand:
    """A value to carry to the element at `displacement` (rows, columns), components in -1..1, not both 0.

    Demands with equal `value` carry the same tokens in the same iterations: they leave by one output port and may share a
    prefix of their paths.
    """

    displacement: tuple[int, int]
    value: int


def route(machine: Machine, demands: tuple[Demand, ...]) -> tuple[Route, ...]:
    raise NotImplementedError


def check_routes(machine: Machine, demands: tuple[Demand, ...], routes: tuple[Route, ...]) -> None:
    raise NotImplementedError
