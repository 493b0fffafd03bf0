# SPDX-License-Identifier: Apache-2.0
"""What a debugger prints of values, registers, source and code."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, cast

import numpy as np

from polyloom.diagnostics import input_error, nearest
from polyloom.stepping.session import Session
from polyloom.targets.provenance import with_statement

_AROUND: Final = 5
"""Lines of the source before and behind."""


def print_value(text: str, value: Any) -> list[str]:
    """`C[1, 2] = 0.5`; an array on lines of its own."""
    if isinstance(value, np.ndarray) and cast("np.ndarray[Any, Any]", value).ndim:
        return [f"{text} =", *np.array2string(cast("np.ndarray[Any, Any]", value), threshold=400).splitlines()]
    return [f"{text} = {value}"]


def list_registers(session: Session, unit: str) -> list[str]:
    """Registers of the units whose name contains `unit`. Errors: PL1504."""
    registers = session.machine.registers()
    chosen = {name: held for name, held in registers.items() if unit in name}
    if not chosen:
        help = nearest(unit, list(registers), "unit") or f"units are {', '.join(registers) or 'none'}"
        raise input_error("PL1504", f"there is no unit `{unit}` with registers", help=help)
    found = list[str]()
    for name, held in chosen.items():
        found += [f"{name}:", *(f"  {register:8} {value}" for register, value in held.items())]
    return found


def list_source(session: Session, texts: Mapping[str, str], line: int | None) -> list[str]:
    """Source around a line, by default that of the last step, which is marked. Errors: PL1505."""
    here = next((e.event.place for e in session.last if e.event.place is not None and e.event.place.line), None)
    places = [code.place for code in session.machine.code() if code.place is not None and code.place.line]
    # Before the first step: the first line that has code.
    place = here or min(places, key=lambda p: (p.file, p.line), default=None)
    if place is None:
        raise input_error("PL1505", "the program tells no lines of a source", help="`info code` lists its code")
    if place.file not in texts:
        help = f"name it by `--source {place.file}`; `info code` lists the code"
        raise input_error("PL1505", f"the text of '{place.file}' is not known", help=help)
    lines, middle = texts[place.file].splitlines(), line or place.line
    coded = {p.line for p in places}
    shown = range(max(1, middle - _AROUND), min(len(lines), middle + _AROUND) + 1)
    # An arrow marks where the run is, a star what has code.
    marks = {n: "=>" if here is not None and n == here.line else " *" if n in coded else "  " for n in shown}
    return [f"{marks[n]} {n:4}  {lines[n - 1]}".rstrip() for n in shown]


def list_code(session: Session, texts: Mapping[str, str]) -> list[str]:
    """Words of the program, with their places."""
    found = list[str]()
    for code in session.machine.code():
        where = f"{code.address:#8x}  " if code.address >= 0 else ""
        place = "" if code.place is None else f"  # {with_statement(code.place, texts)}"
        found.append(f"{where}{code.text:40}{place}".rstrip())
    return found or ["the program tells nothing of its code"]
