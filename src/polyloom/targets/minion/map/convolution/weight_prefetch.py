# SPDX-License-Identifier: Apache-2.0
"""Prefetching of weights into the L2 of each shire before the first tile: all tiles of a shire need them at the same
time.
"""

from __future__ import annotations

from polyloom.targets.minion.map.cache_operations import MOST, prefetch_array
from polyloom.targets.minion.map.convolution.shape import Shape
from polyloom.targets.minion.map.frame import Team
from polyloom.targets.minion.map.product.tensor_assembly import PREFETCHED, wait
from polyloom.targets.minion.words.tiles import TILE


def prefetch_weights(s: Shape, team: Team, prefix: str) -> list[str]:
    """Prefetch of all weights, where they are at least a tile and at most half of L2. A wait ends it, because the
    result may lie behind the weights in the last group of lines.
    """
    if s.weight_bytes < TILE or s.weight_bytes > MOST:
        return []
    return [*prefetch_array(s.weights, s.weight_bytes, team, prefix), wait(PREFETCHED)]
