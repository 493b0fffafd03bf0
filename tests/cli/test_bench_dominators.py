# SPDX-License-Identifier: Apache-2.0
"""How dominators are measured: rows, peers that are too slow or not there, and the exchange with their processes (peers
are stubs)."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from tests.cli.conftest import Call

import polyloom as pl
from polyloom import extras
from polyloom.cli.bench import dominators, graphs, peers


def test_rows(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked: list[tuple[str, int]] = []

    def measure(peer: str, n: int, edges: graphs.Edges, times: int, folder: Path) -> peers.Timing:
        assert times >= 5
        asked.append((peer, n))
        return peers.Timing(None, None) if peer == "rustworkx" else peers.Timing(1e3, pl.ssa.dominators(n, edges))

    monkeypatch.setattr(peers, "measure_peer", measure)
    small, large = dominators.measure_family("irr", (100, 200), tmp_path)
    assert (small["n"], large["n"]) == (100, 200)
    assert asked == [("networkx", 100), ("rustworkx", 100), ("igraph", 100), ("networkx", 200), ("igraph", 200)]
    assert (small["rustworkx"], large["rustworkx"]) == ("> 60 s", "> 60 s at n = 100")
    for row in (small, large):
        assert (row["igraph"], row["fastest"], row["5 times"], row["over 10^4"], row["at most 4"]) == (
            1e6,
            True,
            True,
            None,
            None,
        )


def test_growth_and_who_is_ahead_are_judged(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def measure(peer: str, n: int, edges: graphs.Edges, times: int, folder: Path) -> peers.Timing:
        return peers.Timing(1e-9, pl.ssa.dominators(n, edges))

    monkeypatch.setattr(peers, "measure_peer", measure)
    monkeypatch.setattr(dominators, "BASE", 10)
    monkeypatch.setattr(dominators, "GROWTH", 1e-9)
    row = list(dominators.measure_family("snca", (10, 1000), tmp_path))[1]
    assert (row["fastest"], row["5 times"], row["at most 1e-09"]) == (False, False, False)


def test_another_result_is_an_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def measure(peer: str, n: int, edges: graphs.Edges, times: int, folder: Path) -> peers.Timing:
        return peers.Timing(1.0, np.zeros(n, np.int32))

    monkeypatch.setattr(peers, "measure_peer", measure)
    with pytest.raises(AssertionError, match="networkx has other dominators"):
        list(dominators.measure_family("back", (100,), tmp_path))


def test_missing_peers(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(name: str) -> None:
        """As where the extra is not installed."""

    monkeypatch.setattr(peers, "find_spec", nothing)
    status, out, err = call("bench", "dominators")
    assert (status, out) == (2, "")
    assert (
        err.startswith("error[PL0967]: the peers networkx, rustworkx, igraph are not installed")
        and extras.install_command("bench") in err
    )


FOUND = {"networkx": {0: None, 1: 0, 2: 1}, "rustworkx": {0: 0, 1: 0, 2: 1}, "igraph": [-1, 0, 1, -2]}


@pytest.mark.parametrize("peer", peers.PEERS)
def test_what_peers_find_is_written_as_ours(
    peer: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    class Graph:
        """Stands for every peer's class."""

        def __init__(self, n: int = 0, edges: object = None, directed: bool = True) -> None:
            self.edges: object = edges

        def add_nodes_from(self, nodes: range) -> None:
            assert nodes == range(4)

        def add_edges_from(self, edges: list[list[int]]) -> None:
            self.edges = [tuple(edge) for edge in edges]

        add_edges_from_no_data = add_edges_from

        def dominator(self, root: int, mode: str) -> object:
            return FOUND[peer]

    def immediate_dominators(graph: Graph, root: int) -> object:
        assert graph.edges == [(0, 1), (1, 2)]
        return FOUND[peer]

    stub = SimpleNamespace(DiGraph=Graph, PyDiGraph=Graph, Graph=Graph, immediate_dominators=immediate_dominators)
    monkeypatch.setitem(sys.modules, peer, stub)  # pyright: ignore[reportArgumentType] # a stub of a module
    np.save(tmp_path / "edges.npy", np.array([(0, 1), (1, 2)], np.int32))
    peers.run_peer(peer, "4", "5", str(tmp_path / "edges.npy"), str(tmp_path / "idom.npy"))
    assert np.load(tmp_path / "idom.npy").tolist() == [-1, 0, 1, -1]
    assert len([float(line) for line in capsys.readouterr().out.split()]) == 5


def _leaf(n: int, edges: graphs.Edges) -> Callable[[], list[int]]:
    return lambda: [-1, 0]


def test_a_long_run_is_the_only_one(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(peers, "_LONG", 1e-12)
    monkeypatch.setattr(peers, "_igraph", _leaf)
    np.save(tmp_path / "edges.npy", np.array([(0, 1)], np.int32))
    peers.run_peer("igraph", "2", "5", str(tmp_path / "edges.npy"), str(tmp_path / "idom.npy"))
    assert len(capsys.readouterr().out.split()) == 1


CHILD = (
    f"import sys, {peers.__name__} as p; p.LIMIT_SECONDS = 0.2; p._igraph = lambda n, edges: lambda: "
    "max(iter(int, 1)); p.run_peer(*sys.argv[1:])"
)


def test_a_peer_that_takes_too_long_is_stopped(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(peers, "_CHILD", CHILD)
    assert peers.measure_peer("igraph", 2, np.array([(0, 1)], np.int32), 5, tmp_path) == peers.Timing(None, None)
