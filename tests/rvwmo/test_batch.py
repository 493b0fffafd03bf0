# SPDX-License-Identifier: Apache-2.0
"""The classes of the last location judged all at once agree with those judged one by one."""

from __future__ import annotations

import pytest

from polyloom.cli.bench.litmus import generated
from polyloom.targets.riscv.rvwmo import Verdict, executions, judge

LEAST = {"all at once": 1, "one by one": 1 << 60}


def verdicts(harts: int, operations: int, locations: int, fences: float, monkeypatch: pytest.MonkeyPatch) -> list[list[Verdict]]:
    """By the least number of classes for which arrays are used, the verdicts of generated tests."""
    made: list[list[Verdict]] = []
    for least in LEAST.values():
        monkeypatch.setattr(executions, "_MANY", least)
        made.append([judge(generated(harts, operations, locations, fences, seed)) for seed in range(12)])
    return made


@pytest.mark.parametrize("kind", [(2, 4, 3, 0.5), (2, 6, 2, 0.3), (3, 4, 3, 0.5), (4, 3, 2, 1.0)])
def test_agree(kind: tuple[int, int, int, float], monkeypatch: pytest.MonkeyPatch) -> None:
    together, single = verdicts(*kind, monkeypatch)
    assert together == single


@pytest.mark.long
@pytest.mark.parametrize("fences", [0.0, 0.3, 1.0])
def test_agree_on_four_harts_of_six_operations(fences: float, monkeypatch: pytest.MonkeyPatch) -> None:
    together, single = verdicts(4, 6, 4, fences, monkeypatch)
    assert together == single


def test_counts_beyond_64_bits() -> None:
    """Integers of any size are counted exactly."""
    found = {(0, 1): {"a": 1 << 63, "b": 3}, (2, 0): {"a": 1 << 62}, (2, 1): {"cyclic": 7}}
    assert executions.Batch([0, 1], found).fitting([0, 0]) == {"a": 3 << 62, "b": 3}
    assert executions.Batch([0, 1], found).fitting([2, 0]) == {"a": 1 << 62}


def test_rule_12_names_operations_of_other_locations() -> None:
    """What precedes an operation of another location, which a class puts before one of this location, precedes that one too."""
    batch = executions.Batch([0, 1], {(1 << 5, 0): {"through 5": 1}, (0, 0): {"free": 1}})
    assert batch.fitting([0, 0, 0, 0, 0, 1 << 0]) == {"free": 1}
    assert batch.fitting([0, 1, 0, 0, 0, 1 << 1]) == {"free": 1}
    assert batch.fitting([0, 0, 0, 0, 0, 1 << 1]) == {"through 5": 1, "free": 1}
