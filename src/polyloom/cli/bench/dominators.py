# SPDX-License-Identifier: Apache-2.0
"""Time from a graph to its dominators, in milliseconds, against networkx, rustworkx and igraph in the same run
(Lengauer and Tarjan 1979; Cooper, Harvey and Kennedy 2001).

Ours begin with an edge array, the building of their graph included; a peer's own graph is built before its clock
starts. Medians of CPU time (all are single-threaded), so that other work on the machine counts for nobody. Every result
is compared with ours. A peer that took more than 60 s on a graph is not asked for larger ones of the family, whose rows
say so. The last columns tell whether we are faster than every peer and `AHEAD` times as fast as igraph, and whether an
edge takes at most `GROWTH` times as long as in the family's graph of 10^4 nodes.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from statistics import median
from time import thread_time
from typing import Final

import numpy as np

from polyloom import temporary
from polyloom.analysis.dominators import Nodes, Strategy, dominators
from polyloom.cli.bench import peers
from polyloom.cli.bench.graphs import FAMILIES

SIZES: Final = (10**3, 10**4, 10**5, 10**6)
STRATEGIES: Final[tuple[Strategy, ...]] = ("cached", "balanced")
AHEAD: Final = 5
GROWTH: Final = 4
BASE: Final = 10**4
_SLOW: Final = f"> {peers.LIMIT_SECONDS} s"


def rows() -> Iterator[dict[str, object]]:
    peers.require()
    with temporary.temporary_folder() as folder:
        for family in FAMILIES:
            yield from measure_family(family, SIZES, folder)


def measure_family(family: str, sizes: tuple[int, ...], folder: Path) -> Iterator[dict[str, object]]:
    """A row for each size, which rises; `folder` is for exchange with the peers' processes."""
    slow: dict[str, str] = {}
    base: dict[str, float] = {}
    for n in sizes:
        edges = FAMILIES[family](n)
        times = 5 if n >= 10**5 else 25
        ours = {str(strategy): _seconds(n, edges, strategy, times) for strategy in STRATEGIES}
        theirs = slow | {peer: _peer(peer, n, edges, times, folder) for peer in peers.PEERS if peer not in slow}
        # Quadratic families would take days at the next size.
        slow |= {peer: f"{_SLOW} at n = {n}" for peer, found in theirs.items() if found == _SLOW}
        an_edge = {strategy: seconds / len(edges) for strategy, seconds in ours.items()}
        base = base or (an_edge if n == BASE else {})
        yield {"graph": family, "n": n} | _peer_columns(ours, theirs) | _growth(an_edge, base)


def _peer_columns(ours: dict[str, float], theirs: dict[str, float | str]) -> dict[str, object]:
    slowest = max(ours.values())
    timed = {peer: seconds for peer, seconds in theirs.items() if isinstance(seconds, float)}
    ahead = timed["igraph"] / slowest if "igraph" in timed else None
    return {
        **{strategy: 1e3 * seconds for strategy, seconds in ours.items()},
        **{peer: 1e3 * timed[peer] if peer in timed else theirs[peer] for peer in peers.PEERS},
        "fastest": all(seconds > slowest for seconds in timed.values()),
        "times igraph": ahead,
        f"{AHEAD} times": None if ahead is None else ahead >= AHEAD,
    }


def _growth(an_edge: dict[str, float], base: dict[str, float]) -> dict[str, object]:
    # A constant time per edge shows that no family is quadratic; caches alone may cost a factor.
    growth = max((an_edge[strategy] / base[strategy] for strategy in base), default=None)
    return {
        **{f"{strategy} ns/edge": 1e9 * seconds for strategy, seconds in an_edge.items()},
        "over 10^4": growth,
        f"at most {GROWTH}": None if growth is None else growth <= GROWTH,
    }


def _seconds(n: int, edges: Nodes, strategy: Strategy, times: int) -> float:
    def timed_run() -> float:
        start = thread_time()
        dominators(n, edges, strategy=strategy)
        return thread_time() - start

    return median(timed_run() for _ in range(times))


def _peer(peer: str, n: int, edges: Nodes, times: int, folder: Path) -> float | str:
    timing = peers.measure_peer(peer, n, edges, times, folder)
    if timing.idom is not None and not np.array_equal(timing.idom, dominators(n, edges)):
        raise AssertionError(f"{peer} has other dominators for {n} nodes")
    return _SLOW if timing.seconds is None else timing.seconds
