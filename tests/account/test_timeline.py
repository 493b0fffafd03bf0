# SPDX-License-Identifier: Apache-2.0
"""Account over time: parts of any lengths become at most 128 equal columns, in which no unit-cycle is lost."""

from __future__ import annotations

import numpy as np
import pytest

from polyloom.targets.account import CATEGORIES, Account, Row
from polyloom.targets.account_timeline import (
    COLUMNS,
    Parts,
    category_table,
    fold_timeline,
    join_parts,
    snapshot_parts,
    uniform_parts,
)


def random_parts(seed: int, units: int, lengths: int) -> Parts:
    """Parts of random lengths, whose unit-cycles are shared out among classes at random."""
    rng = np.random.default_rng(seed)
    cycles = rng.integers(1, lengths, 40)
    shares = rng.dirichlet(np.full(len(CATEGORIES), 0.3), len(cycles))
    counts = np.array([rng.multinomial(units * n, share) for n, share in zip(cycles, shares, strict=True)])
    return Parts(np.cumsum(cycles), counts)


@pytest.mark.parametrize("lengths", [3, 100, 5000])
@pytest.mark.parametrize("seed", range(3))
def test_columns_are_full_and_sum_to_the_parts(seed: int, lengths: int) -> None:
    parts = random_parts(seed, 7, lengths)
    found = fold_timeline(parts)
    assert found is not None
    cycles = int(parts.ends[-1])
    assert len(found.slices) == -(-cycles // found.step) <= COLUMNS
    whole = np.array([[column.get(name, 0) for name in CATEGORIES] for column in found.slices])
    assert (whole >= 0).all()
    assert (whole.sum(axis=0) == parts.counts.sum(axis=0)).all()
    lengths_of = np.diff(np.append(np.arange(0, cycles, found.step), cycles))
    assert (whole.sum(axis=1) == 7 * lengths_of).all()


def test_columns_that_end_with_parts_are_exact() -> None:
    parts = Parts(
        np.array([2, 4, 6]), np.array([[2, 0, 0], [0, 2, 0], [1, 0, 1]]) @ np.eye(3, len(CATEGORIES), dtype=int), 2
    )
    found = fold_timeline(parts)
    assert found is not None
    assert (found.step, found.slices) == (2, ({"work": 2}, {"dependence": 2}, {"work": 1, "full unit": 1}))
    assert fold_timeline(Parts(np.zeros(0, int), np.zeros((0, len(CATEGORIES)), int))) is None


def test_what_follows_the_last_snapshot_was_within_a_step() -> None:
    table = category_table(["work", "memory"])
    found = snapshot_parts(4, np.array([[3, 1], [5, 3]]), np.array([7, 4]), 20, table)
    assert found.ends.tolist() == [4, 8, 12, 20]
    assert (found.counts @ table.T).tolist() == [[3, 1], [2, 2], [2, 1], [0, 0]]
    # Snapshots behind the end of the run are left out.
    assert snapshot_parts(4, np.array([[3, 1], [5, 3]]), np.array([5, 2]), 7, table).ends.tolist() == [4, 7]


def test_runs_one_after_another() -> None:
    first = uniform_parts(Account(2, 3, (Row("work", "", 0, "", "u", 6),)))
    second = uniform_parts(Account(2, 1, (Row("memory", "", 0, "", "u", 2),)))
    found = fold_timeline(join_parts([first, second]))
    assert found is not None
    assert found.slices == ({"work": 2}, {"work": 2}, {"work": 2}, {"memory": 2})
