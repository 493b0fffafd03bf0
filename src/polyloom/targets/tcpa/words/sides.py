# SPDX-License-Identifier: Apache-2.0
"""Sides of the array and of its elements, and the ports of interconnect wrappers (the array paper, section 3.1), whose
numbers in the words of a concrete configuration are their places here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

Side = Literal["north", "east", "south", "west"]
Location = Literal["pe", "north", "east", "south", "west"]
SIDES: Final[tuple[Side, ...]] = ("north", "east", "south", "west")
LOCATIONS: Final[tuple[Location, ...]] = ("pe", *SIDES)
"""Where a port is: at the processing element, or at a side."""
OPPOSITE: Final[Mapping[str, Side]] = {"east": "west", "west": "east", "south": "north", "north": "south"}


def parse_port(name: str) -> tuple[int, int]:
    """The location and the index of a port by its name, such as `west0`."""
    location = next(n for n, text in enumerate(LOCATIONS) if name.startswith(text))
    return location, int(name.removeprefix(LOCATIONS[location]))
