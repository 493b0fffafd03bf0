# SPDX-License-Identifier: Apache-2.0
"""Derived figures of a run's costs and the source's work, by the formulas of docs/compare.md, alike for all machines.

The unit bound: operations of a set S of classes can start only in units that execute one of S, so that no schedule
takes less than (work of S) / (what those units start per cycle) cycles; the bound is the greatest over all sets (the
condition of Hall 1935, with weights).

The memory bound: no schedule moves the bytes of the run in less than (bytes) / (what the boundary passes per cycle)
cycles. The greater of both bounds is the ceiling of the roofline model (Williams, Waterman, Patterson 2009).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final

from polyloom.ir.work import Class, Work, total_operations
from polyloom.targets.costs import Costs, Units

_FUSED: Final = "madd"
_PARTS: Final = ("mul", "add")
_MANY: Final = 10
"""Classes of which every set is looked at; of more, single classes and all together."""


@dataclass(frozen=True, slots=True)
class Figures:
    """None where something that it is made of is not known."""

    work: int | None = None
    units: int | None = None
    unit_bound_cycles: float | None = None
    work_per_cycle: float | None = None
    share_of_unit_bound: float | None = None
    unit_cycles_per_operation: float | None = None
    work_per_byte: float | None = None
    memory_bound_cycles: float | None = None
    share_of_memory_bound: float | None = None
    stated_seconds: float | None = None
    stated_picojoules: float | None = None


def figures(cycles: int | None, costs: Costs, work: Work | None) -> Figures:
    """Derived figures of a row (docs/compare.md)."""
    done = None if work is None else total_operations(work)
    known = None if costs.units is None or work is None else split_fused_work(costs.units, work)
    units = None if costs.units is None or known is None else count_units(costs.units, known) or None
    bound = None if costs.units is None or known is None else unit_bound(costs.units, known)
    crossing = _ratio(costs.moved, costs.bandwidth)
    return Figures(
        done,
        units,
        bound,
        _ratio(done, cycles),
        _ratio(bound, cycles),
        _ratio(None if cycles is None or units is None else cycles * units, done),
        _ratio(done, costs.moved),
        crossing,
        _ratio(crossing, cycles),
        _seconds(cycles, costs),
        _energy(costs),
    )


def split_fused_work(units: Sequence[Units], work: Work) -> Work:
    """Work as the machine starts it: a fused multiply-add that none of its units executes is a multiplication and an
    addition.
    """
    made: Counter[Class] = Counter()
    for (operation, dtype), count in work.items():
        is_split = operation == _FUSED and not any((operation, dtype) in each.executes for each in units)
        for name in _PARTS if is_split else (operation,):
            made[name, dtype] += count
    return made


def count_units(units: Sequence[Units], work: Work) -> int:
    """Unit count: the units that execute an operation of the work on its type; those of a fused multiply-add count
    twice.
    """
    able = [[known for known in work if known in each.executes] for each in units]
    return sum(
        each.count * (2 if any(name == _FUSED for name, _ in known) else 1)
        for each, known in zip(units, able, strict=True)
        if known
    )


def unit_bound(units: Sequence[Units], work: Work) -> float | None:
    """Unit bound: the least cycles that units allow (docs/compare.md); None without work, and where a class of it has
    no unit that executes it.
    """
    if not work or any(all(known not in each.executes for each in units) for known in work):
        return None
    return max(_set_bound(units, work, chosen) for chosen in _sets(list(work)))


def _sets(classes: list[Class]) -> Iterator[tuple[Class, ...]]:
    if len(classes) <= _MANY:
        for size in range(1, len(classes) + 1):
            yield from combinations(classes, size)
    else:
        # 2**n sets are too many for more classes; a bound from fewer sets is lower, and still a bound.
        yield from ((known,) for known in classes)
        yield tuple(classes)


def _set_bound(units: Sequence[Units], work: Work, chosen: Sequence[Class]) -> float:
    """Each operation holds its unit for the interval of the quickest unit that there is for it."""
    able_ones = [each for each in units if any(known in each.executes for known in chosen)]
    held = sum(work[known] * min(each.executes[known] for each in units if known in each.executes) for known in chosen)
    return held / sum(each.count for each in able_ones)


def _ratio(a: float | None, b: float | None) -> float | None:
    return None if a is None or not b else a / b


def _seconds(cycles: int | None, costs: Costs) -> float | None:
    clock, whole = costs.stated.clock_mhz, costs.whole_time
    taken = cycles if whole is None else whole["total"]
    return None if taken is None or clock is None else taken / (clock * 1e6)


def _energy(costs: Costs) -> float | None:
    """Of what the user's file gives an energy for; None where the count of one of these events is not known."""
    parts = [(costs.stated.operation_pj, costs.issued), (costs.stated.byte_pj, costs.moved)]
    stated = [(each, count) for each, count in parts if each is not None]
    if not stated or any(count is None for _, count in stated):
        return None
    return sum(each * (count or 0) for each, count in stated)


def classes(work: Work | None) -> Mapping[str, int] | None:
    """For JSON: `mul f32` to its count."""
    return None if work is None else {f"{operation} {dtype}": count for (operation, dtype), count in work.items()}
