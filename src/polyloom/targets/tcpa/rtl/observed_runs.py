# SPDX-License-Identifier: Apache-2.0
"""Observed runs of the model and of the circuit, and their comparison: what happens in which cycle."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

NO_ELEMENT: Final = -1
"""Value of a word between the elements of an array."""
ANY_NAN: Final = -2
"""Value of an f32 that is a NaN. Which one arithmetic makes, IEEE 754-2019 (6.2.3) leaves open: that of the model is
the host's."""
_SIGN, _INFINITY = 1 << 31, 0x7F800000
_LEFTOVER: Final = 22
"""Cause of the fault that tokens are left (native/tcpa/model.hpp)."""
Row = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Fault:
    """Cause (a code's last two digits), cycle, and the element as (row, column)."""

    cause: int
    cycle: int
    row: int
    column: int


@dataclass(frozen=True, slots=True)
class Comparison:
    """What was compared, the first difference, if there is one, and the words of all configurations on the bus."""

    cycles: int
    operations: int
    bank_writes: int
    fault: Fault | None
    difference: str | None
    steps: int = 1
    configuration: int = 0


@dataclass(frozen=True, slots=True)
class ObservedRun:
    """Rows of a run without a fault: operations (cycle, element, unit, instruction), results (cycle, element, lane,
    word), and bank writes (cycle, array, word of its memory, value); and cycles from first issue to last write."""

    issues: list[Row]
    results: list[Row]
    writes: list[Row]
    cycles: int


def compare(expected: ObservedRun | Fault, seen: ObservedRun | Sequence[Fault]) -> Comparison:
    """Comparison of what the model and the circuit did; the circuit's faults are those of the first cycle with any."""
    if isinstance(expected, Fault):
        return _compare_faults(expected, seen)
    if not isinstance(seen, ObservedRun):
        shown = ", ".join(map(str, seen))
        return Comparison(expected.cycles, 0, 0, seen[0], f"only the circuit faults: {shown}")
    writes, results = _hide_open(expected.writes, seen.writes), _hide_open(expected.results, seen.results)
    difference = _find_difference(expected, replace(seen, writes=writes, results=results))
    return Comparison(expected.cycles, len(expected.issues), len(expected.writes), None, difference)


def hide_nan(word: int) -> int:
    """The word of an f32, or `ANY_NAN`."""
    return ANY_NAN if word & ~_SIGN > _INFINITY else word


def _hide_open(expected: list[Row], seen: list[Row]) -> list[Row]:
    """Rows as seen, but of what the model leaves open: words between the elements of an array, and bits of NaNs."""
    unknown = {row[:3] for row in expected if row[3] == NO_ELEMENT}
    nans = {row[:3] for row in expected if row[3] == ANY_NAN}
    hidden = [(*row[:3], hide_nan(row[3])) if row[:3] in nans else row for row in seen]
    return [(*row[:3], NO_ELEMENT) if row[:3] in unknown else row for row in hidden]


def _compare_faults(expected: Fault, seen: ObservedRun | Sequence[Fault]) -> Comparison:
    """The model stops at one fault of a cycle, the circuit shows all of them."""
    if isinstance(seen, ObservedRun):
        return Comparison(0, 0, 0, expected, f"only the model faults: {expected}")
    # What is left at the end has no cycle of its own.
    cycle = None if expected.cause == _LEFTOVER else expected.cycle
    # Several rules may break in one cycle; which one the model looks at first is not the circuit's business.
    same = any(f.cause == expected.cause and (f.row, f.column) == (expected.row, expected.column) for f in seen)
    if same and cycle in (None, seen[0].cycle):
        return Comparison(0, 0, 0, expected, None)
    return Comparison(0, 0, 0, expected, f"the model has {expected}, the circuit {', '.join(map(str, seen))}")


def _find_difference(expected: ObservedRun, seen: ObservedRun) -> str | None:
    for what, want, got in (
        ("operation (cycle, element, unit, instruction)", expected.issues, seen.issues),
        ("result (cycle, element, lane, word)", expected.results, seen.results),
        ("bank write (cycle, array, word, value)", expected.writes, seen.writes),
    ):
        if want != got:
            n = next((n for n, (a, b) in enumerate(zip(want, got, strict=False)) if a != b), min(len(want), len(got)))
            a, b = (rows[n] if n < len(rows) else "nothing" for rows in (want, got))
            return f"{what} {n}: the model has {a}, the circuit {b}"
    if expected.cycles != seen.cycles:
        return f"the model takes {expected.cycles} cycles, the circuit {seen.cycles}"
    return None
