# SPDX-License-Identifier: Apache-2.0
"""Candidate selection: which (allocation, scan order, schedule) triples a symbolic configuration keeps.

Every legal triple is judged by its latency (the array paper, section 5.2),

    |lambda_K| . (t - 1) + lambda_J . (p - 1) + length,

on a fixed sample of loop bounds and regions, all scan orders of one allocation at a time. Kept are, greedily, those
that bring the best latency over the samples down most; one whose schedule is valid for tiles of any size; then those
that need the least FIFO depth. A candidate that is nowhere the best is dominated and dropped, but where conditions are
half-spaces, which take many control signals, another allocation that is nearly as fast may need fewer. Instantiation
chooses among the kept ones (as in Witterauf et al. 2016).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache

import numpy as np
import numpy.typing as npt

from polyloom.ir.rdg import Graph
from polyloom.targets.tcpa.map.allocate import Allocation, Order
from polyloom.targets.tcpa.map.rare_operations import has_collision
from polyloom.targets.tcpa.map.schedule import Scheduled
from polyloom.targets.tcpa.map.wavefront_skew import minimize_skew
from polyloom.targets.tcpa.words.symbolic import Schedule

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Region = tuple[int, int]

REGIONS: tuple[Region, ...] = ((4, 4), (1, 8), (8, 1), (1, 1))
WORTH_KEEPING = 0.05
"""A candidate must bring the sum of relative latencies down by this share of one sample."""
INVALID = 4.0
"""What a sample counts for that a candidate is invalid for, in multiples of the best latency."""
MOVING_RESULTS = 0.2
"""What a channel of computed values counts for: partial results that stay need fewer classes."""

_JUDGED = 4
"""Of more dimensions, whose scan orders are many, rare operations are taken never to collide."""
NEARLY = 1.25
"""What another allocation may take of the best latency to be kept for its control signals."""


@dataclass(frozen=True, slots=True)
class Triple:
    """A candidate before registers and routes; `schedule` indexes the schedules that were judged."""

    allocation: Allocation
    order: Order
    schedule: int


@dataclass(frozen=True, slots=True)
class _Scans:
    """Scan orders as arrays [order, dimension]: dimensions innermost first, and the sign of every dimension."""

    orders: Integers
    signs: Integers


@dataclass(frozen=True, slots=True)
class _Sample:
    extents: tuple[int, ...]
    region: Region


def rank_candidates(
    graph: Graph,
    hop_delay: int,
    allocations: Sequence[Allocation],
    orders: Sequence[Order],
    schedules: Sequence[Scheduled],
    at_most: int,
    fits: Callable[[Triple], bool],
) -> tuple[Triple, ...]:
    """Candidate ranking: at most `at_most` triples that fit the machine, the most useful first; none when none fits.

    `fits` is asked only of triples that would be kept. What it says holds for all scan orders with the same
    reflections.
    """
    triples, latency, depth = _evaluate_triples(graph, hop_delay, allocations, orders, schedules)
    best = latency.min(axis=0)
    # Relative to the best of each sample: otherwise large samples would decide alone.
    relative = np.where(np.isfinite(best), latency / np.where(np.isfinite(best), best, 1.0), 1.0)
    penalties = {a: 1.0 + MOVING_RESULTS * _moving_results(graph, a) for a in allocations}
    penalty = np.array([penalties[t.allocation] for t in triples])
    relative = np.minimum(relative * penalty[:, None], INVALID)
    alive = np.ones(len(triples), dtype=bool)
    kept: list[int] = []

    def keep(chosen: int) -> None:
        if fits(triples[chosen]):
            kept.append(chosen)
            alive[chosen] = False
        else:
            # Registers and routes do not depend on the scan order: all orders of this triple fail alike.
            alive[[_binding_key(t) == _binding_key(triples[chosen]) for t in triples]] = False

    # The first has two dimensions where the program has, because such an allocation serves regions of every shape.
    planar = np.array([t.allocation.rows is not None and t.allocation.columns is not None for t in triples])
    safe = np.array([schedules[t.schedule].safe for t in triples])
    # Greedy cover: each round keeps the triple that improves most on what is served already. One place stays for a safe
    # schedule.
    while len(kept) < at_most - bool(safe.any()) and alive.any():
        # What the kept candidates give on each sample, if instantiation takes the best of them.
        served = relative[kept].min(axis=0, initial=INVALID)
        open_to = alive & planar if not kept and (alive & planar).any() else alive
        gain = np.where(open_to, np.maximum(served - relative, 0.0).sum(axis=1), -1.0)
        chosen = _select_greatest(gain, relative)
        # Each further candidate makes the file longer, and the choice at run time slower.
        if kept and gain[chosen] < WORTH_KEEPING:
            break
        keep(chosen)
    while len(kept) < at_most and not safe[kept].any() and (alive & safe).any():
        keep(min(np.flatnonzero(alive & safe).tolist(), key=lambda n: (float(relative[n].sum()), n)))
    while kept and len(kept) < at_most and alive.any():
        # Then for memory: a candidate that halves the deepest FIFO on average may fit where the fast ones do not.
        least = depth[kept].min(axis=0)
        gain = np.where(
            alive & (relative.max(axis=1) < INVALID),
            np.maximum(np.log2(least) - np.log2(depth), 0.0).mean(axis=1),
            -1.0,
        )
        chosen = _select_greatest(gain, relative)
        if gain[chosen] < 1.0:
            break
        keep(chosen)
    for n in _select_near_optimal(graph, latency, planar) if kept and _has_half_spaces(graph) else ():
        if (
            len(kept) < at_most
            and alive[n]
            and _allocated_dimensions(triples[n]) not in {_allocated_dimensions(triples[k]) for k in kept}
        ):
            keep(n)
    return tuple(triples[n] for n in kept)


def _select_near_optimal(graph: Graph, latency: Floats, planar: npt.NDArray[np.bool_]) -> list[int]:
    """Triples of two dimensions that take at most `NEARLY` of the least latency on regions of rows and columns, the
    fastest first."""
    square = latency[:, [min(s.region) > 1 for s in _samples(len(graph.program.dimensions))]]
    valid = np.flatnonzero(planar & np.isfinite(square).all(axis=1))
    share = (square[valid] / square.min(axis=0)).mean(axis=1)
    near = sorted((s, n) for s, n in zip(share.tolist(), valid.tolist(), strict=True) if s <= NEARLY * share.min())
    return [n for _, n in near]


def _allocated_dimensions(triple: Triple) -> frozenset[int | None]:
    """The dimensions that are distributed, whichever runs along rows."""
    return frozenset((triple.allocation.rows, triple.allocation.columns))


def _has_half_spaces(graph: Graph) -> bool:
    """Whether a condition relates dimensions to each other."""
    dimensions = {*graph.program.dimensions}
    constraints = (c for e in graph.equations for piece in e.condition.pieces for c in piece.constraints)
    return any(len(c.symbols & dimensions) > 1 for c in constraints)


def _binding_key(triple: Triple) -> tuple[Allocation, tuple[bool, ...], int]:
    """What registers and routes depend on."""
    return triple.allocation, triple.order.reflected, triple.schedule


def _moving_results(graph: Graph, allocation: Allocation) -> int:
    """How many uses send results of operations other than moves to another element."""
    axes = [m for m in (allocation.rows, allocation.columns) if m is not None]
    # A use whose distance has a component along an allocated dimension crosses elements.
    sent = (u for u in graph.uses if any(u.distance[m] for m in axes))
    return sum(any(graph.equations[w.node].operation != "move" for w in u.writers) for u in sent)


def _select_greatest(gain: Floats, relative: Floats) -> int:
    """The row of greatest gain; ties go to the lower total, then to the first."""
    ties = np.flatnonzero(gain >= gain.max() - 1e-9)
    return int(ties[np.argmin(relative[ties].sum(axis=1))])


def _samples(dimensions: int) -> tuple[_Sample, ...]:
    """A cube, one long dimension at a time, and degenerate spaces where small tiles invalidate schedules."""
    cubes = [(16,) * dimensions]
    long = [tuple(64 if m == n else 8 for n in range(dimensions)) for m in range(dimensions)] if dimensions > 1 else []
    tiny = [(size,) * dimensions for size in (1, 2, 3)]
    wide = [_Sample(e, r) for e in cubes + long for r in REGIONS]
    return (*wide, *(_Sample(e, (1, 1)) for e in tiny))


def _evaluate_triples(
    graph: Graph,
    hop_delay: int,
    allocations: Sequence[Allocation],
    orders: Sequence[Order],
    schedules: Sequence[Scheduled],
) -> tuple[list[Triple], Floats, Floats]:
    """Cost model: (triples, latency [triple, sample], FIFO depth [triple, sample]); an invalid combination has latency
    infinity.
    """
    samples = _samples(len(graph.program.dimensions))
    triples: list[Triple] = []
    latencies: list[Floats] = []
    depths: list[Floats] = []
    for number, scheduled in enumerate(schedules):
        # A schedule that is not safe holds for the innermost dimensions that it was solved for, and no others.
        mine = [o for o in orders if scheduled.safe or o.order[0] in scheduled.innermost]
        if not mine:
            continue
        edges = _edges(graph, scheduled.schedule)
        scans = _Scans(
            np.array([o.order for o in mine]), np.array([[-1 if r else 1 for r in o.reflected] for o in mine])
        )
        for allocation in allocations:
            columns = [_evaluate_stretched(edges, hop_delay, allocation, scans, scheduled.schedule, s) for s in samples]
            triples += [Triple(allocation, o, number) for o in mine]
            latencies.append(np.stack([c[0] for c in columns], axis=1))
            depths.append(np.stack([c[1] for c in columns], axis=1))
    return triples, np.concatenate(latencies), np.concatenate(depths)


def _edges(graph: Graph, schedule: Schedule) -> tuple[Integers, Integers]:
    """Dependence edges: distances and gaps (ready offset of the producer - offset of the consumer, in cycles), the
    greatest gap of each distance.
    """
    gaps: dict[tuple[int, ...], int] = {}
    for use in graph.uses:
        for writer in use.writers:
            if not use.is_local:
                gap = schedule.tau[writer.node] + schedule.latency[writer.node] - schedule.tau[use.consumer]
                gaps[use.distance] = max(gaps.get(use.distance, gap), gap)
    distances = np.array(list(gaps), dtype=np.int64).reshape(len(gaps), len(graph.program.dimensions))
    return distances, np.array(list(gaps.values()), dtype=np.int64)


def _evaluate_stretched(
    edges: tuple[Integers, Integers],
    hop_delay: int,
    allocation: Allocation,
    scans: _Scans,
    schedule: Schedule,
    sample: _Sample,
) -> tuple[Floats, Floats]:
    """`_evaluate` in the least multiple of the interval that is valid, as instantiation chooses it."""
    latency, depth = _evaluate(edges, hop_delay, allocation, scans, schedule, sample)
    # An interval as long as the operation holds its unit: then no two iterations can meet there, and more would not
    # help.
    most = max((schedule.latency[one.first] for one in schedule.apart), default=0)
    for interval in range(2 * schedule.initiation_interval, most + 1, schedule.initiation_interval):
        if np.isfinite(latency).all():
            break
        slower = replace(schedule, initiation_interval=interval)
        rest = _evaluate(edges, hop_delay, allocation, scans, slower, sample)
        depth = np.where(np.isfinite(latency), depth, rest[1])
        latency = np.where(np.isfinite(latency), latency, rest[0])
    return latency, depth


def _evaluate(
    edges: tuple[Integers, Integers],
    hop_delay: int,
    allocation: Allocation,
    scans: _Scans,
    schedule: Schedule,
    sample: _Sample,
) -> tuple[Floats, Floats]:
    """Latency in cycles and greatest FIFO depth in tokens of every order for one allocation and sample (the array
    paper, section 5.2; depth as in section 6, step 1).
    """
    distances, gaps = edges
    axes = [
        m
        for m, t in ((allocation.rows, sample.region[0]), (allocation.columns, sample.region[1]))
        if m is not None and t > 1
    ]
    counts = {allocation.rows: sample.region[0], allocation.columns: sample.region[1]}
    sizes = [
        max(-(-e // counts.get(m, 1)), int(np.abs(distances[:, m]).max(initial=1)) if m in axes else 1)
        for m, e in enumerate(sample.extents)
    ]
    vectors = _scan_vectors(scans.orders, np.array(sizes), schedule.initiation_interval)
    moved = distances[None, :, :] * scans.signs[:, None, :]
    steps = (vectors * scans.signs) @ distances.T
    # A distance that leaves the tile in some dimension is a matter of lambda_K, not of this inequality.
    inside = (np.abs(distances) < np.array(sizes)).all(axis=1)
    # lambda_J . d >= tau(producer) + latency - tau(consumer): the operand is ready when it is read.
    valid: npt.NDArray[np.bool_] = np.all((steps >= gaps) | ~inside, axis=1)
    if schedule.apart and len(sizes) <= _JUDGED:
        held = [_has_collision(schedule, scans, n, sizes) if valid[n] else True for n in range(len(valid))]
        valid = ~np.array(held)
    length = max(start + cycles for start, cycles in zip(schedule.tau, schedule.latency, strict=True))
    latency = (vectors * (np.array(sizes) - 1)).sum(axis=1).astype(np.float64) + length
    # One token enters per interval: a value that waits `steps` cycles has steps / pi younger ones behind it (section
    # 6).
    depth = np.maximum(1.0, (steps * inside).max(axis=1, initial=0) / schedule.initiation_interval)
    latency[~valid] = np.inf
    axis_sizes = (
        sample.region[0] if allocation.rows in axes else 1,
        sample.region[1] if allocation.columns in axes else 1,
    )
    if axes:
        demands = _demands(allocation, axis_sizes, moved, gaps, steps, vectors, sizes, hop_delay)
        latency += _skew_costs(demands, axis_sizes)
    return latency, depth


def _has_collision(schedule: Schedule, scans: _Scans, number: int, sizes: Sequence[int]) -> bool:
    """Whether rare operations would meet in their unit in this order."""
    order, signs = (tuple(map(int, of[number])) for of in (scans.orders, scans.signs))
    return _collides(schedule, order, signs, tuple(sizes))


@lru_cache(1 << 14)
def _collides(schedule: Schedule, order: tuple[int, ...], signs: tuple[int, ...], sizes: tuple[int, ...]) -> bool:
    """Many allocations have tiles of one size."""
    return has_collision(schedule, order, signs, sizes, None)


def _scan_vectors(orders: Integers, sizes: Integers, interval: int) -> Integers:
    """Schedule vectors lambda_J of all scan orders: the initiation interval times the sizes of all dimensions further
    in (the array paper, section 5.2).
    """
    # lambda_J of a dimension is pi times the sizes of all dimensions scanned further in (5.2).
    inner = np.cumprod(sizes[orders], axis=1)
    strides = interval * np.concatenate((np.ones((len(orders), 1), dtype=np.int64), inner[:, :-1]), axis=1)
    vectors = np.empty_like(strides)
    np.put_along_axis(vectors, orders, strides, axis=1)
    return vectors


_THETAS: tuple[Region, ...] = ((1, 0), (0, 1), (1, 1), (-1, 0), (0, -1), (1, -1), (-1, 1), (-1, -1))
_NOTHING = -(2**62)


def _demands(
    allocation: Allocation,
    counts: Region,
    moved: Integers,
    gaps: Integers,
    steps: Integers,
    vectors: Integers,
    sizes: Sequence[int],
    hop_delay: int,
) -> Integers:
    """What every displacement of `_THETAS` demands of lambda_K in every order (docs/targets/tcpa.md, Mapping to time):
    the greatest bound over the dependences that reach so far, or `_NOTHING`."""
    axes = (allocation.rows, allocation.columns)
    found = np.full((len(vectors), len(_THETAS)), _NOTHING)
    for k, theta in enumerate(_THETAS):
        if any(c and t == 1 for c, t in zip(theta, counts, strict=True)):
            continue
        if any(c and (m is None or not (np.sign(moved[:, :, m]) == c).any()) for c, m in zip(theta, axes, strict=True)):
            continue
        reaches = np.ones(moved.shape[:2], dtype=bool)
        bound = gaps[None, :] + hop_delay * (abs(theta[0]) + abs(theta[1])) - steps
        for c, m in zip(theta, axes, strict=True):
            if c and m is not None:
                reaches &= np.sign(moved[:, :, m]) == c
                # d - P theta within the neighbouring tile: one whole tile in this dimension has been crossed.
                bound = bound + (c * vectors[:, m] * sizes[m])[:, None]
        found[:, k] = np.where(reaches, bound, _NOTHING).max(axis=1, initial=_NOTHING)
    return found


def _skew_costs(demands: Integers, counts: Region) -> Floats:
    """`_skew_cost` of every order. Where no displacement is negative the optimum is plain: each axis meets its own
    demand, and what a diagonal demands beyond their sum goes to the shorter axis."""
    if (demands[:, 3:] == _NOTHING).all():
        row, column = np.maximum(demands[:, 0], 0), np.maximum(demands[:, 1], 0)
        # The diagonal demands row + column together. The shorter axis multiplies the skew by fewer elements.
        both = np.maximum(demands[:, 2] - row - column, 0)
        return (row * (counts[0] - 1) + column * (counts[1] - 1) + both * (min(counts) - 1)).astype(np.float64)
    return np.array([_skew_cost(tuple(d), counts) for d in demands.tolist()])


@cache
def _skew_cost(demands: tuple[int, ...], counts: Region) -> float:
    """The cycles that the wavefront adds, or infinity when no lambda_K meets the demands."""
    found = minimize_skew(((*theta, d) for theta, d in zip(_THETAS, demands, strict=True) if d != _NOTHING), *counts)
    return np.inf if found is None else abs(found[0]) * (counts[0] - 1) + abs(found[1]) * (counts[1] - 1)
