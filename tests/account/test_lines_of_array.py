# SPDX-License-Identifier: Apache-2.0
"""Iterations by line on the array: what is counted from the dimensions of a condition alone is what enumerating all
iterations of the tiles gives."""

from __future__ import annotations

from math import prod
from pathlib import Path
from typing import cast

import numpy as np
import pytest

import polyloom as pl
from polyloom.targets.tcpa.run.account_folds.account_lines import Tiles
from polyloom.targets.tcpa.run.phases.step_sequence import run
from polyloom.targets.tcpa.words import concrete_file, event_resolution
from polyloom.targets.tcpa.words.concrete import Concrete
from polyloom.targets.tcpa.words.event_resolution import Known, evaluate_condition, tile_iterations

_KERNELS = Path(__file__).parents[2] / "examples" / "kernels"


def enumerated(concrete: Concrete, known: Known, places: list[tuple[int, int]], condition: int) -> int:
    """Iterations of a condition, one by one."""
    steps = prod(max(extent, 1) for extent in concrete.extents)
    step = np.tile(np.arange(steps, dtype=np.int64), len(places))
    rows, columns = (np.repeat(np.array(axis, np.int64), steps) for axis in zip(*places, strict=True))
    points, inside = tile_iterations(step, rows, columns, concrete, known)
    return int((inside & evaluate_condition(condition, points, known)).sum())


@pytest.mark.parametrize(("kernel", "sizes"), [("gemm.py", {"NI": 6, "NJ": 5, "NK": 4}), ("trisolv.py", {"N": 9})])
def test_conditions_are_counted(kernel: str, sizes: dict[str, int]) -> None:
    instance = pl.compile(_KERNELS / kernel, on="tcpa:2x2").instantiate(**sizes)
    (step,) = run(instance.data).steps
    concrete = concrete_file.decode(step.data)
    known = cast(Known, event_resolution.find_origin(concrete))
    places = [(r, c) for r, row in enumerate(concrete.element_class) for c, own in enumerate(row) if own >= 0]
    tiles = Tiles(concrete, known, tuple(places))
    counts = [enumerated(concrete, known, places, n) for n in range(len(known.symbolic.conditions))]
    assert [tiles.count_iterations(known, n) for n in range(len(counts))] == counts
    assert len(set(counts)) > 2
