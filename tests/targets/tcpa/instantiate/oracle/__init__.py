# SPDX-License-Identifier: Apache-2.0
"""The oracle of the library: instantiation in Python. A symbolic configuration, parameter values and a region become a
concrete configuration (paper section 6).

`_build` is the pipeline for one candidate on one region. `instantiate` tries candidates in the order of their predicted
latency. A candidate that small tiles make invalid, or that exceeds a limit of the machine, is also tried on fewer
elements.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from heapq import heappop, heappush

import numpy as np
from tests.targets.tcpa.instantiate.oracle import control, generators, interconnect, program
from tests.targets.tcpa.instantiate.oracle.apart import longer, stretches
from tests.targets.tcpa.instantiate.oracle.choose import Refusal, Timing, time
from tests.targets.tcpa.instantiate.oracle.classes import Classes, Traffic, classify
from tests.targets.tcpa.instantiate.oracle.concretize import Tiles, Tiling, space_bounds, tiling
from tests.targets.tcpa.instantiate.oracle.fifo import Depths
from tests.targets.tcpa.instantiate.oracle.kernels import Graph, control_flow

from polyloom.diagnostics import INFEASIBLE, PolyloomError, infeasible
from polyloom.targets.tcpa.run.predict import predicted_cycles
from polyloom.targets.tcpa.words.concrete import Concrete, Controller, ElementProgram
from polyloom.targets.tcpa.words.request import check_parameters, check_region, signature
from polyloom.targets.tcpa.words.symbolic import Symbolic

__all__ = ["instantiate", "predicted_cycles"]

_TRIES = 24
"""Configurations that are built before instantiation gives up."""
_FAR = 2.5
"""Where a region needs that many times the control signals that there are, only half of it is tried next."""


def instantiate(
    symbolic: Symbolic,
    parameters: Mapping[str, int],
    rows: int,
    columns: int,
    *,
    candidate: int | None = None,
    sizes: Sequence[int] | None = None,
) -> Concrete:
    """The configuration of `symbolic` for these parameter values on `rows` x `columns` elements.

    `candidate` restricts the choice to one; `sizes` overrides the tile sizes, by dimension. The configuration names the
    rectangle that it really uses. Raises `PolyloomError`: PL0230, PL0505 and PL0506 for wrong input, PL0510 to PL0520
    where no candidate fits the machine (exit 3; the binding limit of the best candidate is named).
    """
    values = check_parameters(signature(symbolic), parameters)
    check_region(symbolic, rows, columns)
    bounds = space_bounds(symbolic, values)
    if bounds is None:
        return _empty(symbolic, values, rows, columns)
    numbers = range(len(symbolic.candidates)) if candidate is None else (candidate,)
    search = _Search()
    for n in numbers:
        search.offer(tiling(symbolic, n, values, bounds, (rows, columns), sizes), shrink=sizes is None)
    failures: list[PolyloomError] = []
    crowded: list[tuple[Tiling, bool]] = []
    while search.queue and len(failures) < _TRIES:
        plan = search.pop()
        t = plan.tiling
        far = next((far for other, far in crowded if _says(other, far and len(failures) >= _TRIES // 2, t)), None)
        if far is not None:
            search.fewer(plan.tiling, halve=far)
            continue
        try:
            return _build(plan.tiling, plan.timing)
        except PolyloomError as error:
            if error.exit_code != INFEASIBLE:
                raise
            failures.append(error)
            excess = error.excess if isinstance(error, control.SignalsExceeded) else 0.0
            if excess:
                crowded.append((t, excess > _FAR))
            if sizes is None and excess:
                search.offer(tiling(symbolic, t.number, values, bounds, (t.rows, t.columns), None, couple=False))
            if sizes is None and error.diagnostics[0].code != "PL0517":
                search.fewer(plan.tiling, halve=excess > _FAR)
    raise failures[0] if failures else _no_candidate(symbolic, search)


def _says(other: Tiling, far: bool, t: Tiling) -> bool:
    """Whether a tiling that needs too many signals says that `t` does: on the same elements; where operations are rare,
    the same tiling, and if it is `far` from fitting, with half of the tries spent, all on more than half of its
    elements."""
    if t.schedule.apart and far:
        within = t.rows <= other.rows and t.columns <= other.columns
        return within and 2 * t.rows * t.columns > other.rows * other.columns
    here = (other.rows, other.columns) == (t.rows, t.columns)
    return here and (not t.schedule.apart or (other.number, other.sizes) == (t.number, t.sizes))


@dataclass(frozen=True, slots=True)
class _Plan:
    tiling: Tiling
    timing: Timing


class _Search:
    """Tilings by predicted latency; of an invalid one, tilings on fewer elements take its place."""

    def __init__(self) -> None:
        self.queue: list[tuple[int, int, int]] = []
        self.refused: list[tuple[Tiling, Refusal]] = []
        self._plans: list[_Plan] = []
        self._seen: set[tuple[int, tuple[int, ...], int, int, int]] = set()

    def offer(self, candidate: Tiling, *, shrink: bool = True) -> None:
        pending = [candidate]
        while pending:
            t = pending.pop()
            key = (t.number, t.sizes, t.rows, t.columns, t.factor)
            if key in self._seen:
                continue
            self._seen.add(key)
            timing = time(t)
            if isinstance(timing, Timing):
                heappush(self.queue, (timing.latency, t.number, len(self._plans)))
                self._plans.append(_Plan(t, timing))
            else:
                self.refused.append((t, timing))
                pending += list(_smaller(t)) if shrink else []
                pending += [replace(t, factor=t.factor + 1)] if stretches(t) else []
                pending += longer(t) if shrink else ()

    def fewer(self, failed: Tiling, *, halve: bool) -> None:
        for t in _smaller(failed, halve):
            self.offer(t)

    def pop(self) -> _Plan:
        return self._plans[heappop(self.queue)[2]]


def _smaller(t: Tiling, halve: bool = False) -> Iterator[Tiling]:
    """The same candidate with the next larger tiles (unless `halve`), and on half of the elements, along rows and along
    columns."""
    bounds = t.lower, t.upper
    for axis, m in enumerate((t.candidate.rows, t.candidate.columns)):
        if m is not None and t.tiles[m] > 1:
            extent, p = t.upper[m] - t.lower[m] + 1, t.sizes[m]
            for count in sorted(
                {t.tiles[m] // 2 if halve else min(-(-extent // (p + 1)), t.tiles[m] - 1), t.tiles[m] // 2}
            ):
                region = (count, t.columns) if axis == 0 else (t.rows, count)
                yield tiling(t.symbolic, t.number, t.values, bounds, region, None)


def _build(t: Tiling, timing: Timing) -> Concrete:
    symbolic, limits = t.symbolic, t.symbolic.limits
    tiles = Tiles(t)
    traffic = Traffic(tiles)
    if not traffic.occupied.any():
        return _empty(symbolic, t.values, t.rows, t.columns)
    terminals = interconnect.terminals(traffic)
    _check_channels(traffic, terminals)
    classes = classify(tiles, traffic)
    graphs = _graphs(classes, t)
    signals, branchings = control.allocate(graphs, limits)
    words = [program.generate(graph, b, limits.instruction_words) for graph, b in zip(graphs, branchings, strict=True)]
    depths = Depths(traffic, timing)
    elements = [
        ElementProgram(tuple(words[n] if n >= 0 else () for n in programs), *depths.of_class(g))
        for programs, g in zip(classes.programs, classes.groups, strict=True)
    ]
    arrays = generators.layouts(symbolic, t.values)
    start = generators.start_of(t, timing, terminals)
    epilogue = max((g.epilogue for g in graphs), default=0)
    wrappers, wrapper = interconnect.wire(traffic, terminals)
    distinct, element_class = _numbered(elements, classes)
    return Concrete(
        kernel=symbolic.kernel,
        machine=symbolic.machine,
        program=symbolic.program,
        machine_hash=symbolic.machine_hash,
        initiation_interval=t.schedule.initiation_interval,
        rows=t.rows,
        columns=t.columns,
        extents=t.extents,
        controller=generators.controller(traffic, timing, start, epilogue, signals),
        classes=distinct,
        element_class=element_class,
        wrappers=wrappers,
        wrapper=wrapper,
        generators=generators.generate(traffic, timing, terminals, arrays, start),
        arrays=arrays,
    )


def _graphs(classes: Classes, t: Tiling) -> list[Graph]:
    """The control flow of every distinct unit tree."""
    limits = t.symbolic.limits
    names = {
        n: name
        for programs in reversed(classes.programs)
        for n, name in zip(reversed(programs), reversed(limits.units), strict=True)
    }
    interval, targets = t.schedule.initiation_interval, 1 << limits.branch_flags
    return [control_flow(unit, interval, t.extents, targets, names[n]) for n, unit in enumerate(classes.units)]


def _numbered(
    elements: Sequence[ElementProgram], classes: Classes
) -> tuple[tuple[ElementProgram, ...], tuple[tuple[int, ...], ...]]:
    """Equal programs become one class: trees may differ where the words do not."""
    distinct: dict[ElementProgram, int] = {}
    renamed = np.array([distinct.setdefault(e, len(distinct)) for e in elements] + [-1], dtype=np.int64)
    return tuple(distinct), tuple(tuple(int(c) for c in line) for line in renamed[classes.element])


def _check_channels(traffic: Traffic, terminals: tuple[interconnect.Terminal, ...]) -> None:
    """PL0517 where accesses need more channels, hence banks, a side than there are."""
    t = traffic.tiles.tiling
    limit, needed = t.symbolic.limits.channels, interconnect.channels(terminals)
    if limit is None or needed <= limit:
        return
    square = next((s for s in range(min(t.rows, t.columns), 0, -1) if _channels_of_square(t, s) <= limit), None)
    fits = f"ask for at most {square}x{square}, or use" if square else "use"
    raise infeasible(
        "PL0517",
        f"input and output of {t.rows}x{t.columns} elements need {needed} channels and banks per side, the machine has "
        f"{limit}",
        help=f"{fits} a machine with channels = {needed}",
    )


def _channels_of_square(t: Tiling, size: int) -> int:
    smaller = tiling(t.symbolic, t.number, t.values, (t.lower, t.upper), (size, size), None)
    return interconnect.channels(interconnect.terminals(Traffic(Tiles(smaller))))


def _no_candidate(symbolic: Symbolic, search: _Search) -> PolyloomError:
    t, refusal = search.refused[0]
    tile = "x".join(map(str, t.sizes))
    if refusal.is_node:
        name = symbolic.node_names[refusal.use]
        return infeasible(
            "PL0510",
            f"with tiles of {tile} the unit of {name} may still be held by another operation",
            help="leave the choice of the candidate to the compiler, or ask for a smaller region or larger bounds",
        )
    use = symbolic.uses[refusal.use]
    name = symbolic.node_names[use.consumer] if symbolic.node_names else f"node {use.consumer}"
    lack = (
        "has no wavefront that serves all tiles"
        if refusal.slack is None
        else f"comes {-refusal.slack} cycles too early"
    )
    return infeasible(
        "PL0510",
        f"with tiles of {tile} the dependence of {name} at distance {use.distance} {lack}, in every stored candidate",
        help="ask for a smaller region, so that tiles become larger, or use larger loop bounds",
    )


def _empty(symbolic: Symbolic, values: tuple[int, ...], rows: int, columns: int) -> Concrete:
    """Nothing to do: every element idles, 0 cycles. All that has no meaning then is 0, the initiation interval 1."""
    return Concrete(
        kernel=symbolic.kernel,
        machine=symbolic.machine,
        program=symbolic.program,
        machine_hash=symbolic.machine_hash,
        initiation_interval=1,
        rows=rows,
        columns=columns,
        extents=(0,) * len(symbolic.dimensions),
        controller=Controller(south=False, east=False, start=0, row_delay=0, column_delay=0, steps=0, signals=()),
        classes=(),
        element_class=((-1,) * columns,) * rows,
        wrappers=((),),
        wrapper=((0,) * columns,) * rows,
        generators=(),
        arrays=generators.layouts(symbolic, values),
    )
