# SPDX-License-Identifier: Apache-2.0
"""Which candidate, on which part of the region: intra-tile and inter-tile schedule vectors and the latency they
predict.

lambda_J follows from the scan order: pi for the innermost dimension, times the tile size for each next one. A
dependence that stays within a tile and has instances must have a slack of at least 0 (else the candidate is invalid
here); one that crosses tiles bounds lambda_K, which is then the best of an exact two-variable integer program (section
5.2; docs: Mapping to time). The latency of a tiling is the envelope lambda_K.(T - 1) + lambda_J.(p - 1) + max(tau +
latency).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tests.targets.tcpa.instantiate.oracle.apart import held
from tests.targets.tcpa.instantiate.oracle.concretize import Element, Tiling

from polyloom.targets.tcpa.map.wavefront_skew import minimize_skew
from polyloom.targets.tcpa.words.symbolic import Kind, Link


@dataclass(frozen=True, slots=True)
class Timing:
    """lambda_J by dimension, lambda_K of rows and columns, and the envelope of the latency, all in cycles."""

    inner: tuple[int, ...]
    outer: Element
    latency: int


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a tiling is invalid: the use, its slack (negative) or None where no lambda_K fits; or the node whose unit is
    held."""

    use: int
    slack: int | None
    is_node: bool = False


def slack(tiling: Tiling, inner: tuple[int, ...], outer: Element, use: int, link: Link) -> int:
    """Cycles from the readiness of the value to its use, over a link (docs: Mapping to time)."""
    symbolic, schedule = tiling.symbolic, tiling.schedule
    u = symbolic.uses[use]
    writer = u.writers[0].node
    ready = schedule.tau[writer] + schedule.latency[writer]
    hops = len(tiling.candidate.routes[link.register].hops) if link.kind is Kind.CHANNEL else 0
    theta = [0] * len(inner)
    for m, k in ((tiling.candidate.rows, link.displacement[0]), (tiling.candidate.columns, link.displacement[1])):
        if m is not None:
            theta[m] = k
    within = sum(a * (d - p * k) for a, d, p, k in zip(inner, tiling.distances[use], tiling.sizes, theta, strict=True))
    across = outer[0] * link.displacement[0] + outer[1] * link.displacement[1]
    return within + across + schedule.tau[u.consumer] - ready - symbolic.limits.hop_delay * hops


def time(tiling: Tiling) -> Timing | Refusal:
    """The schedule vectors of a tiling, or why there are none."""
    inner = _inner(tiling)
    node = held(tiling, inner)
    if node is not None:
        return Refusal(node, None, is_node=True)
    bounds: list[tuple[int, int, int]] = []
    last = 0
    for use, link in _instances(tiling):
        least = slack(tiling, inner, (0, 0), use, link)
        if link.displacement == (0, 0):
            if least < 0:
                return Refusal(use, least)
        else:
            bounds.append((*link.displacement, -least))
            last = use
    counts = tiling.tiles_of(tiling.candidate.rows), tiling.tiles_of(tiling.candidate.columns)
    outer = minimize_skew(bounds, *counts)
    if outer is None:
        return Refusal(last, None)
    schedule = tiling.schedule
    latency = max(a + b for a, b in zip(schedule.tau, schedule.latency, strict=True))
    latency += sum(abs(a) * (t - 1) for a, t in zip(outer, counts, strict=True)) + sum(
        a * (p - 1) for a, p in zip(inner, tiling.sizes, strict=True)
    )
    return Timing(inner, outer, latency)


def _inner(tiling: Tiling) -> tuple[int, ...]:
    inner = [0] * len(tiling.sizes)
    weight = tiling.schedule.initiation_interval
    for m in tiling.candidate.order:
        inner[m] = weight
        weight *= tiling.sizes[m]
    return tuple(inner)


def _instances(tiling: Tiling) -> Iterator[tuple[int, Link]]:
    """The uses and links that a value may take in this tiling."""
    candidate = tiling.candidate
    for use, links in enumerate(candidate.links):
        d = tiling.distances[use]
        if not tiling.symbolic.uses[use].writers:
            continue
        for link in links:
            theta = {candidate.rows: link.displacement[0], candidate.columns: link.displacement[1]}
            stays = all(abs(x) < p for m, (x, p) in enumerate(zip(d, tiling.sizes, strict=True)) if not theta.get(m))
            crosses = all(m is not None and tiling.tiles[m] > 1 for m, k in theta.items() if k)
            if stays and crosses:
                yield use, link
