# SPDX-License-Identifier: Apache-2.0
"""Whether two executions of rare operations meet in a tile: every difference within the tile whose cycles are few is
tried, outermost dimension first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tests.targets.tcpa.instantiate.oracle.concretize import Tiling

from polyloom.targets.tcpa.words.symbolic import Apart, Row


def held(tiling: Tiling, inner: tuple[int, ...]) -> int | None:
    """The node whose unit may be held by another one; None if there is none."""
    return next((pair.second for pair in tiling.schedule.apart if _meet(tiling, inner, pair)), None)


def stretches(tiling: Tiling) -> bool:
    """Whether the next multiple of the interval is tried, where this one is invalid."""
    schedule, one = tiling.schedule, tiling.schedule.initiation_interval // tiling.factor
    return any(schedule.initiation_interval + one <= schedule.latency[pair.first] for pair in schedule.apart)


def longer(t: Tiling) -> Iterator[Tiling]:
    """With tiles longer by one along the innermost dimension, alone and with the other tiled one, on as many elements:
    rows of a tile are then further apart."""
    inner = t.candidate.order[0]
    axes = (t.candidate.rows, t.candidate.columns)
    if not t.schedule.apart or inner not in axes or t.tiles[inner] == 1:
        return
    several = all(m is not None and t.tiles[m] > 1 for m in axes)
    for longer in ((inner,), axes) if several else ((inner,),):
        made = replace(t, sizes=tuple(p + (m in longer) for m, p in enumerate(t.sizes)))
        if made.tiles == t.tiles:
            yield made


def _meet(tiling: Tiling, inner: tuple[int, ...], pair: Apart) -> bool:
    tau, latency = tiling.schedule.tau, tiling.schedule.latency
    shift = tau[pair.second] - tau[pair.first]
    # Both exclusive: one is issued less than a latency before, or after, the other.
    low, high = -latency[pair.second] - shift, latency[pair.first] - shift
    return any(
        (pair.first != pair.second or any(d)) and any(all(_value(row, tiling, d) >= 0 for row in p) for p in pair.where)
        for d in _between(tiling, inner, tiling.candidate.order[::-1], low, high)
    )


def _between(
    tiling: Tiling, inner: tuple[int, ...], left: tuple[int, ...], low: int, high: int
) -> Iterator[tuple[int, ...]]:
    """The d, in the candidate's coordinates, that are 0 but in the dimensions `left`, with low < inner . d < high."""
    if not left:
        if low < 0 < high:
            yield (0,) * len(inner)
        return
    m, *rest = left
    most = sum(inner[k] * (tiling.sizes[k] - 1) for k in rest)
    for d in range(1 - tiling.sizes[m], tiling.sizes[m]):
        if low - most < inner[m] * d < high + most:
            for found in _between(tiling, inner, tuple(rest), low - inner[m] * d, high - inner[m] * d):
                yield (*found[:m], d, *found[m + 1 :])


def _value(row: Row, tiling: Tiling, d: tuple[int, ...]) -> int:
    signed = (-x if down else x for x, down in zip(d, tiling.candidate.reflected, strict=True))
    given = sum(a * x for a, x in zip(row.params, tiling.values, strict=True))
    return sum(a * x for a, x in zip(row.dims, signed, strict=True)) + given + row.constant
