# SPDX-License-Identifier: Apache-2.0
"""Families of flow graphs by size: structured ones, and those on which some dominator algorithm takes quadratic time
(Georgiadis, Tarjan and Werneck 2006).

A family is a function from n to edges, int32 (m, 2), of a graph on n >= 4 nodes with the root 0; the same n gives the
same graph.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from random import Random
from typing import Final

import numpy as np
import numpy.typing as npt

Edges = npt.NDArray[np.int32]
Region = tuple[int, int, int]  # its entry and the block after it, which exist already, and how many more blocks it has
_JUMPS: Final = 0.02  # share of blocks that also jump anywhere


def cfg(n: int) -> Edges:
    """A structured program: sequences, if, if-else and while, nested at random; and a few jumps to anywhere."""
    random = Random(n)
    edges: list[tuple[int, int]] = []
    made = 2
    # A worklist instead of recursion: nesting may be thousands deep.
    work = [(0, 1, n - 2)]
    while work:
        entry, after, count = work.pop()
        if count < 2:
            path = [entry, *range(made, made + count), after]
            edges += pairwise(path)
            made += count
        else:
            new, regions = _construct(random, (entry, after, count), made)
            made += 2
            edges += new
            work += regions
    edges += [(random.randrange(n), random.randrange(n)) for _ in range(int(_JUMPS * n))]
    return np.array(edges, np.int32).reshape(-1, 2)


def _construct(random: Random, region: Region, a: int) -> tuple[list[tuple[int, int]], list[Region]]:
    """A region: edges, and the regions in it (the last one first); its first two blocks are a and a + 1."""
    entry, after, count = region
    b, rest = a + 1, count - 2
    part = random.randint(0, rest)
    match random.choice(("sequence", "sequence", "if", "if-else", "while")):
        case "if":
            return [(entry, a), (entry, b)], [(b, after, rest - part), (a, b, part)]
        case "if-else":
            return [(entry, a), (entry, b)], [(b, after, rest - part), (a, after, part)]
        case "while":
            return [(entry, a), (a, b), (a, after)], [(b, a, rest)]
        case _:
            return [(a, b)], [(b, after, rest - part), (entry, a, part)]


def chain_with_back_edges(n: int) -> Edges:
    """A chain, and from its second half an edge back to each node of the first: walks from scratch are long."""
    half = np.arange(n // 2)
    return _edges(_chain(0, n), (n - n // 2 + half, half))


def snca(n: int) -> Edges:
    """A chain, and nodes that both its ends lead to: the last climb of the semi-NCA algorithm is long."""
    k = n // 2
    leaves = np.arange(k + 1, n)
    return _edges(_chain(0, k + 1), (0 * leaves, leaves), (0 * leaves + k, leaves))


def irr(n: int) -> Edges:
    """Two opposing chains with edges across both ways: irreducible, long walks for intersecting dominators."""
    k = n // 2
    up = np.arange(1, k)
    down = n - up
    ends = np.array([1, k + 1])
    return _edges((0 * ends, ends), _chain(1, k + 1), _chain(k + 1, n), (up, down), (down, up))


def nest(n: int) -> Edges:
    """Loops nested n/2 deep whose bodies end together: dominance frontiers of quadratic size."""
    k = n // 2
    tails = np.arange(k, n)
    return _edges(_chain(0, n), (tails, n - 1 - tails))


def _chain(start: int, stop: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    return np.arange(start, stop - 1), np.arange(start + 1, stop)


def _edges(*parts: tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]) -> Edges:
    return np.concatenate([np.stack(part, axis=1) for part in parts]).astype(np.int32)


FAMILIES: Final[dict[str, Callable[[int], Edges]]] = {
    "cfg": cfg,
    "nest": nest,
    "back": chain_with_back_edges,
    "snca": snca,
    "irr": irr,
}
