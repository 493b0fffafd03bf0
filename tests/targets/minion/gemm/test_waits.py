# SPDX-License-Identifier: Apache-2.0
"""Waits of compiled products: one in a step, and every one is needed. Without any one of them, the model reports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import Golden

import polyloom as pl
from polyloom.diagnostics import PolyloomError
from polyloom.targets.minion import compile as compiling
from polyloom.targets.minion.map.assembly import executable
from polyloom.targets.minion.map.frame import Part
from polyloom.targets.minion.map.product import patch_prefetch, tile_selection
from polyloom.targets.minion.words.note import Note

MATMUL = str(Path(__file__).parents[4] / "examples" / "matmul.pla")
TRANSPOSED = """parameter N >= 0, M >= 0, K >= 0
input A[K, N]: i8, B[M, K]: i8
output C[N, M]: i32

for 0 <= i < N, 0 <= j < M, 0 <= k < K do
  c[i, j, k] = to_i32(A[k, i]) * to_i32(B[j, k])                 if k = 0
  c[i, j, k] = c[i, j, k-1] + to_i32(A[k, i]) * to_i32(B[j, k]) if k >= 1
  C[i, j] = c[i, j, k]                                           if k = K - 1
"""


def programs(tmp_path: Path) -> dict[str, tuple[str, str, dict[str, int]]]:
    """A source, a place and sizes: loads of each minion's own, packing before, staging by second
    harts, some of which have nothing to load."""
    packed = tmp_path / "packed.pla"
    packed.write_text(TRANSPOSED)
    return {
        "own": (MATMUL, "minion:2", {"N": 40, "M": 20, "K": 40}),
        "packed": (str(packed), "minion:3", {"N": 40, "M": 20, "K": 140}),
        "staged": (MATMUL, "minion:8", {"N": 64, "M": 40, "K": 200}),
        "idle": (MATMUL, "minion:32", {"N": 16, "M": 520, "K": 640}),
    }


@pytest.fixture
def without_near(monkeypatch: pytest.MonkeyPatch) -> None:
    """Short products as long ones are compiled: their operands are not brought into L2 first."""

    def no_candidates(*_: object) -> tuple[()]:
        return ()

    monkeypatch.setattr(tile_selection, "prefetched_problems", no_candidates)


class Edit:
    """In place of `assembly.executable`: leaves the line of this number among waits out, and keeps all lines."""

    def __init__(self, without: int | None = None) -> None:
        self.without = without
        self.lines: list[str] = []

    def __call__(self, parts: list[Part], note: Note) -> bytes:
        count = 0
        made = list[Part]()
        for part in parts:
            lines = list[str]()
            for line in part.lines:
                self.lines.append(line)
                # A wait that paces prefetches is for time, not for results.
                if "tensor_wait" in line and line != patch_prefetch.PACE:
                    count += 1
                    if count - 1 == self.without:
                        continue
                lines.append(line)
            made.append(replace(part, lines=tuple(lines)))
        return executable(made, note)

    @property
    def waits(self) -> int:
        return sum("tensor_wait" in line and line != patch_prefetch.PACE for line in self.lines)


def run(monkeypatch: pytest.MonkeyPatch, edit: Edit, kernel: pl.Compiled, sizes: Mapping[str, Any]) -> pl.Result:
    """The code is made anew for each run, the analysis of the source is not."""
    monkeypatch.setattr(compiling, "executable", edit)
    return replace(kernel, _made={}).run(**sizes)


def waits_that_no_one_needs(
    monkeypatch: pytest.MonkeyPatch, kernels: Sequence[pl.Compiled], sizes: Mapping[str, Any]
) -> list[int]:
    """Those without which the model reports nothing on any of the places that a program was compiled for."""
    whole = Edit()
    assert run(monkeypatch, whole, kernels[0], sizes).data["hazards"] == []
    return [
        n for n in range(whole.waits) if not any(_is_found(monkeypatch, Edit(n), kernel, sizes) for kernel in kernels)
    ]


def _is_found(monkeypatch: pytest.MonkeyPatch, edit: Edit, kernel: pl.Compiled, sizes: Mapping[str, Any]) -> bool:
    try:
        result = run(monkeypatch, edit, kernel, sizes)
    except PolyloomError as error:
        assert (error.code, error.exit_code) == ("PL1380", 70)
        return True
    assert result.data["hazards"] == []
    return False


@pytest.mark.parametrize(("name", "others"), [("own", []), ("packed", []), ("staged", [1, 2])])
@pytest.mark.usefixtures("without_near")
def test_every_wait_is_needed(name: str, others: list[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`others` are needed by harts that stage nothing for a whole ring, as the test of `idle` shows."""
    path, place, sizes = programs(tmp_path)[name]
    assert waits_that_no_one_needs(monkeypatch, [pl.compile(path, on=place)], sizes) == others


@pytest.mark.parametrize("name", ["own", "packed", "staged"])
def test_every_wait_is_needed_of_short_products(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, place, sizes = programs(tmp_path)[name]
    kernel = pl.compile(path, on=place)
    assert kernel.run(**sizes).data["counters"]["tensor_load_l2"] == 0  # type: ignore[index]
    assert waits_that_no_one_needs(monkeypatch, [kernel], sizes) == []


@pytest.mark.usefixtures("without_near")
def test_a_hart_that_stages_nothing_for_a_whole_ring_needs_its_waits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, place, sizes = programs(tmp_path)["idle"]
    # The first wait is that of minions without a block, of which `staged` shows that it is needed.
    assert waits_that_no_one_needs(monkeypatch, [pl.compile(path, on=place)], sizes) == [0]


def test_a_step_is_three_tensor_operations_and_one_wait(
    golden: Golden, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    edit = Edit()
    path, place, sizes = programs(tmp_path)["own"]
    run(monkeypatch, edit, pl.compile(path, on=place), sizes)
    step = edit.lines[edit.lines.index("p0.step:") : edit.lines.index("bnez a0, p0.step") + 1]
    assert sum("csrw tensor_" in line for line in step) == 3
    assert sum("tensor_wait" in line for line in step) == 1
    golden("step", "\n".join(step) + "\n")
