# SPDX-License-Identifier: Apache-2.0
"""Costs of a run on the array: all units of the region that was asked for, and what banks and elements exchange, both
read from the machine and from the words that ran.

A generator touches one word per step of its domain, so that the points of the domains are the words that cross the
border of the array, exactly. Each channel of each border port passes one word per cycle (the array paper, section 3.3).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby
from math import prod
from typing import Any, Final, cast

import numpy as np

from polyloom.ir.numbers import NUMPY
from polyloom.ir.work import Class
from polyloom.machine import stated_figures
from polyloom.targets.costs import Costs, Line, Units
from polyloom.targets.target import Execution, Program
from polyloom.targets.tcpa.machine import FunctionalUnit, Machine
from polyloom.targets.tcpa.place import Place, region
from polyloom.targets.tcpa.run.access_counts import energy_shares
from polyloom.targets.tcpa.run.phases import descriptions
from polyloom.targets.tcpa.run.phases.memory_traffic import measure_time
from polyloom.targets.tcpa.run.phases.plan_execution import Execution as Ran
from polyloom.targets.tcpa.run.phases.step_sequence import Own, run
from polyloom.targets.tcpa.run.program import load_machine
from polyloom.targets.tcpa.words import concrete_file
from polyloom.targets.tcpa.words.concrete import Concrete, ConvexSet

_BOUNDARY: Final = "words between banks and border elements"


def costs(program: Program, execution: Execution) -> Costs:
    """Of a file that ran."""
    found = run(program.data)
    where = cast("Place | None", program.place)
    known, _ = descriptions.facts(program.symbolic, program.data)
    rows, columns = _region(program, cast("list[int] | None", known["pes"]))
    machine = load_machine(found.steps[0].data, where.member if where else None) if found.steps else None
    read = {id(own): concrete_file.decode(own.data) for own in found.configurations}
    # A phase in a loop is one configuration that runs several times; its domains are counted once and multiplied.
    times = Counter(id(own) for own in found.steps)
    widest = max((_size(a.dtype) for made in read.values() for a in made.arrays), default=0)
    return Costs(
        time="cycle-exact",
        issued=execution.operations,
        issues="operations of units, moves included",
        units=None if machine is None else tuple(_units(machine, rows * columns)),
        moved=sum(_moved_bytes(made) * times[own] for own, made in read.items()),
        boundary=_BOUNDARY,
        bandwidth=_bandwidth(machine, rows, columns, widest),
        code_bytes=sum(concrete_file.size_without_names(own.data) for own in found.configurations),
        loop=tuple(_loop_lines(program, found.longest, execution)),
        stated=replace(stated_figures.read_stated(str(where or "")), clock_mhz=clock_mhz(machine, where)),
        energy_shares=None
        if machine is None or machine.energy is None
        else energy_shares(machine.energy, cast(Ran, execution.detail).counts),
        area=None if machine is None else machine.array_area(rows, columns),
        area_unit=None if machine is None or machine.area is None else machine.area.unit,
        whole_time=None
        if machine is None or not machine.has_whole_time
        else measure_time(found, machine, [phase.cycles for phase in cast(Ran, execution.detail).phases]).as_dict(),
    )


def clock_mhz(machine: Machine | None, where: Place | None) -> float | None:
    """The clock, where the machine's file states it as a key or among its stated figures."""
    own = None if machine is None else machine.clock_mhz
    return stated_figures.read_stated(str(where or "")).clock_mhz if own is None else own


def _region(program: Program, used: list[int] | None) -> tuple[int, int]:
    """What was asked for; of a file that was loaded, what it uses."""
    if program.options.pes is not None:
        return region(program.options.pes)
    if program.place is not None:
        return cast(Place, program.place).region
    return (used[0], used[1]) if used else (0, 0)


def _units(machine: Machine, elements: int) -> Iterator[Units]:
    """Units that are alike together."""
    for name, alike in groupby(machine.units, key=lambda unit: unit.name.rstrip("0123456789")):
        together = list(alike)
        yield Units(name, len(together) * elements, _executes(together[0]))


def _executes(unit: FunctionalUnit) -> dict[Class, float]:
    """A unit that is not pipelined is held for its latency."""
    return {(o, t): 1 if unit.pipelined else latency for (o, t), latency in unit.latencies.items()}


def _moved_bytes(concrete: Concrete) -> int:
    """Bytes that generators read and write in one run."""
    return sum(
        _size(concrete.arrays[g.array].dtype) * sum(_count_points(each) for each in g.domain)
        for g in concrete.generators
    )


def _size(dtype: Any) -> int:
    return NUMPY[dtype].itemsize


def _count_points(of: ConvexSet) -> int:
    """Point count of a convex set: digits that no half-space mentions multiply; the others are enumerated."""
    extents = [max(0, high - low + 1) for low, high in zip(of.lower, of.upper, strict=True)]
    bound = [m for m in range(len(extents)) if any(h.coefficients[m] for h in of.half_spaces)]
    free = prod(extent for m, extent in enumerate(extents) if m not in bound)
    if not bound:
        return free
    grid = np.ogrid[tuple(slice(of.lower[m], of.upper[m] + 1) for m in bound)]
    inside = np.ones([extents[m] for m in bound], bool)
    for h in of.half_spaces:
        inside &= sum((h.coefficients[m] * x for m, x in zip(bound, grid, strict=True)), np.int64(h.constant)) >= 0
    return free * int(inside.sum())


def _bandwidth(machine: Machine | None, rows: int, columns: int, widest: int) -> float | None:
    """Border bandwidth in bytes per cycle over all border ports, of words of the
    widest type; None where channels have no limit.
    """
    if machine is None or machine.channels is None:
        return None
    # Four borders are 2 (rows + columns) ports of `channels` channels each.
    return 2.0 * (rows + columns) * machine.channels * widest


def _loop_lines(program: Program, longest: tuple[Own, ...], execution: Execution) -> Iterator[Line]:
    """The schedule of the phase that computes lines of the source's hottest loop, of several the one that takes
    longest, slot by slot, with the line of each operation."""
    ran, hot = cast(Ran, execution.detail), execution.hot_lines
    reports = descriptions.list_reports(program.symbolic, program.data)

    def weight(n: int) -> tuple[bool, int]:
        # Phases that pass values on are often longer than the one that computes them.
        is_hot = any(o.provenance is not None and o.provenance.line in hot for o in reports[n].operations)
        return is_hot, ran.of_phase(longest[n].number)["cycles"]

    chosen = max(range(len(longest)), key=weight, default=None)
    found = reports[chosen].operations if chosen is not None else ()
    for each in sorted(found, key=lambda operation: operation.slot):
        origin = each.provenance
        reason = f"  ({origin.reason})" if origin is not None and origin.reason else ""
        yield Line(f"slot {each.slot}  {each.unit:8} {each.text}{reason}", origin.line if origin is not None else 0)
