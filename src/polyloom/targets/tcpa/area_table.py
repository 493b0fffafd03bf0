# SPDX-License-Identifier: Apache-2.0
"""Area table `[area]` of a machine file (docs/machines.md): what the parts of an array take, in the unit that the file
names, such as LUT4 or µm²; the figures are the file's, with their source, as those of energy are.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Final

from polyloom.machine.table import Table
from polyloom.targets.tcpa.machine import Area

KEY: Final = "area"
_NAMES: Final = ("source", "unit")
_FIGURES: Final = ("element", "bank", "controller", "memory_bit")


def read_area(table: Table) -> Area:
    """Area table of the root table of a machine file. Errors: PL0303 to PL0306."""
    section = table.table(KEY)
    section.reject_unknown((*_NAMES, *_FIGURES))
    figures = {name: section.number(name, 0) for name in _FIGURES if name in section.content}
    return Area(section.text("source"), section.text("unit"), **figures)


def area_lines(area: Area) -> Iterator[str]:
    """The lines that `read_area` reads back."""
    for name in (*_NAMES, *_FIGURES):
        value: str | float | None = getattr(area, name)
        if value is not None:
            # Names may have letters outside ASCII, as µm² has.
            yield f"{name} = {json.dumps(value, ensure_ascii=False)}"
