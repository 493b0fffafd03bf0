# SPDX-License-Identifier: Apache-2.0
"""Capacity table: the capacities of a machine that a symbolic configuration carries, since instantiation checks
them."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from polyloom.targets.tcpa.machine import Machine
from polyloom.targets.tcpa.words.sides import LOCATIONS, parse_port
from polyloom.targets.tcpa.words.symbolic import Limits, Port


def extract_limits(machine: Machine) -> Limits:
    """Capacities of a machine, whose fields they share, with ports in the place of their names."""
    shared: dict[str, Any] = {field.name: getattr(machine, field.name) for field in fields(Limits)}
    pairs = machine.adjacency
    adjacency = None if pairs is None else tuple((_port(a), _port(b)) for a, b in pairs)
    shared |= {"units": tuple(u.name for u in machine.units), "adjacency": adjacency}
    return Limits(**shared)


def _port(name: str) -> Port:
    location, index = parse_port(name)
    return Port(LOCATIONS[location], index)
