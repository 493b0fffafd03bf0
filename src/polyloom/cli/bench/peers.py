# SPDX-License-Identifier: Apache-2.0
"""Other libraries' dominators, timed in a process of their own that ends when a run takes too much CPU time.

The process gets edges as a NumPy file, makes the peer's graph, prints the seconds of every run, and writes what it
found as our idom array, so that it can be compared. They are the extra `bench`, for measuring only: igraph is GPL.
"""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from time import thread_time
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from polyloom import extras
from polyloom.diagnostics import USAGE, Diagnostic, PolyloomError

PEERS: Final = ("networkx", "rustworkx", "igraph")
LIMIT_SECONDS: Final = 60
_LEAST: Final = 5
"""Runs unless one takes ten seconds; there are more, up to the number asked for, as long as they take less than a
second together."""
_LONG: Final = 10
_CHILD: Final = f"import sys; from {__name__} import run_peer; run_peer(*sys.argv[1:])"
Edges = npt.NDArray[np.int32]
Found = Sequence[int] | Mapping[int, int]


@dataclass(frozen=True, slots=True)
class Timing:
    """`seconds` is the median of the runs; None when one took longer than the limit, and then there is no `idom`."""

    seconds: float | None
    idom: npt.NDArray[np.int32] | None


def require() -> None:
    """Error PL0967 where a peer is not installed."""
    if missing := [peer for peer in PEERS if find_spec(peer) is None]:
        message = f"the peers {', '.join(missing)} are not installed"
        raise PolyloomError(
            Diagnostic("PL0967", message, USAGE, help=f"install them: `{extras.install_command('bench')}`")
        )


def measure_peer(peer: str, n: int, edges: Edges, times: int, folder: Path) -> Timing:
    """Time `peer` on a graph with the root 0; `folder` is for exchange."""
    given, found = folder / "edges.npy", folder / "idom.npy"
    np.save(given, edges)
    command = [sys.executable, "-c", _CHILD, peer, str(n), str(times), str(given), str(found)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    # The timer's signal has ended the process: it took more CPU time than the limit.
    if done.returncode == -signal.SIGPROF:
        return Timing(None, None)
    done.check_returncode()
    return Timing(median(map(float, done.stdout.split())), np.load(found))


def _networkx(n: int, edges: Edges) -> Callable[[], Found]:
    networkx: Any = import_module("networkx")
    graph = networkx.DiGraph()
    graph.add_nodes_from(range(n))
    graph.add_edges_from(edges.tolist())
    return lambda: networkx.immediate_dominators(graph, 0)


def _rustworkx(n: int, edges: Edges) -> Callable[[], Found]:
    rustworkx: Any = import_module("rustworkx")
    graph = rustworkx.PyDiGraph()
    graph.add_nodes_from(range(n))
    graph.add_edges_from_no_data([(u, v) for u, v in edges.tolist()])
    return lambda: rustworkx.immediate_dominators(graph, 0)


def _igraph(n: int, edges: Edges) -> Callable[[], Found]:
    igraph: Any = import_module("igraph")
    graph = igraph.Graph(n=n, edges=edges.tolist(), directed=True)
    return lambda: graph.dominator(0, mode="out")


def _as_array(n: int, found: Found) -> npt.NDArray[np.int32]:
    """A list (below 0: root or not reached) or a mapping of the reached nodes (the root: itself or None) as ours."""
    idom = [found.get(v, -1) for v in range(n)] if isinstance(found, Mapping) else found
    return np.array([-1, *(max(-1, u) for u in idom[1:])], np.int32)


def run_peer(peer: str, n: str, times: str, given: str, found: str) -> None:
    """What `measure_peer` does in another process."""
    run = {"networkx": _networkx, "rustworkx": _rustworkx, "igraph": _igraph}[peer](int(n), np.load(given))
    result: Found = ()
    seconds: list[float] = []
    while max(seconds, default=0) < _LONG and (
        len(seconds) < _LEAST or (len(seconds) < int(times) and sum(seconds) < 1)
    ):
        signal.setitimer(signal.ITIMER_PROF, LIMIT_SECONDS)  # its signal ends the process
        start = thread_time()
        result = run()
        seconds.append(thread_time() - start)
        signal.setitimer(signal.ITIMER_PROF, 0)
    print(*seconds, flush=True)
    np.save(found, _as_array(int(n), result))
