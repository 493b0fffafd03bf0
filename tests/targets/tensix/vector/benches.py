# SPDX-License-Identifier: Apache-2.0
"""Vector units with random contents, and words on them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from tests.targets.tensix.vector.words import patterns

from polyloom._native import tensix

ALL = 0xFFFFFFFF
L = range(32)


def bench(seed: int, blackhole: bool = False) -> tensix.VectorBench:
    made = tensix.VectorBench(blackhole)
    random = np.random.default_rng(seed)
    made.registers[:8] = patterns(random, (8, 32))
    made.dst[:] = random.integers(0, 1 << 16, (1024, 16), np.uint16)
    made.seed(int(random.integers(1, 1 << 32)))
    return made


def run(made: tensix.VectorBench, *words: int) -> list[str]:
    return [kind for kind, _, _ in made.run(np.array(words, np.uint32))]


def lane_values(lanes: NDArray[np.integer[Any]]) -> list[int]:
    return [int(v) for v in lanes]
