# SPDX-License-Identifier: Apache-2.0
"""Place of a run: a member, or a description of one in a file, and whether its bundles have phases."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from polyloom.targets.belt.machine import Machine, load

DEFAULT: Final = "silver"
_UNPHASED: Final = "unphased"


@dataclass(frozen=True, slots=True)
class Place:
    """Member to compile for or run on. `text` is what was written."""

    machine: Machine
    text: str = field(default="", compare=False)

    def __str__(self) -> str:
        return self.text or self.machine.name


def place(text: str) -> Place:
    """Parse `[MEMBER or FILE.toml][:unphased]`; errors PL0302 to PL0306, PL1000 to PL1002."""
    # From the right: a path may have colons of its own, a drive's letter for instance.
    name, colon, last = text.rpartition(":")
    if last == _UNPHASED:
        return Place(load(name or DEFAULT, phasing=False), text)
    return Place(load(name + colon + last or DEFAULT), text)
