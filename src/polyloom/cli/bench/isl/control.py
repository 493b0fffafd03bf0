# SPDX-License-Identifier: Apache-2.0
"""Control signals: codes of branch targets, and the greedy colouring of partial signals (section 6.2)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import reduce

import islpy as isl


@dataclass(slots=True)
class Palette:
    """The global signals so far: where each must be 1 and where 0. A partial signal joins the first that it does not
    interfere with."""

    ones: list[isl.Set] = field(default_factory=list[isl.Set])
    zeros: list[isl.Set] = field(default_factory=list[isl.Set])

    def encode(self, edges: dict[int, isl.Set]) -> tuple[tuple[int, ...], dict[int, int]]:
        """Of a node with several successors: its global signals, and the code of every successor."""
        bits = (len(edges) - 1).bit_length()
        codes = {w: code for code, w in enumerate(edges)}
        return tuple(self._place(*_partial(edges, codes, bit)) for bit in range(bits)), codes

    def _place(self, one: isl.Set, zero: isl.Set) -> int:
        # Greedy colouring: two partial signals share a bit if none of them must be 1 where the other must be 0.
        for colour, (ones, zeros) in enumerate(zip(self.ones, self.zeros, strict=True)):
            if one.is_disjoint(zeros) and zero.is_disjoint(ones):
                self.ones[colour], self.zeros[colour] = ones.union(one).coalesce(), zeros.union(zero).coalesce()
                return colour
        self.ones.append(one)
        self.zeros.append(zero)
        return len(self.ones) - 1


def _partial(edges: dict[int, isl.Set], codes: dict[int, int], bit: int) -> tuple[isl.Set, isl.Set]:
    return _union(d for w, d in edges.items() if codes[w] >> bit & 1), _union(
        d for w, d in edges.items() if not codes[w] >> bit & 1
    )


def _union(domains: Iterable[isl.Set]) -> isl.Set:
    return reduce(isl.Set.union, domains).coalesce()
