# SPDX-License-Identifier: Apache-2.0
"""Random kernels whose accesses meet at a stride (`strided.py`): they run on the array as their sources do, or are
refused for a reason that is in a golden text; and it refuses no more than a few that other machines take."""

from __future__ import annotations

from pathlib import Path
from time import process_time

import pytest
from tests.conftest import Golden
from tests.kernels.strided import Writer

import polyloom as pl
from polyloom.diagnostics import PolyloomError

pytestmark = pytest.mark.usefixtures("roughly_scheduled")
KERNELS = range(33)
BLOCKS = (range(5), range(5, 11), range(11, 22), range(22, 33))
"""The first one is of the default run."""
LEAST = 31
"""Of the kernels that run on the array."""
SECONDS = 20.0
"""Of this process, for one kernel with all its runs."""
SIZES = (3, 4, 6, 7)
REGIONS = ((2, 2), (1, 3), (3, 1), (2, 3))
RAN = "runs"


def written(seed: int, folder: Path) -> Path:
    path = folder / f"kernel{seed}.py"
    path.write_text(Writer(seed).kernel(), encoding="utf-8")
    return path


def on_array(path: Path) -> str:
    """`RAN`, or why the kernel is refused: results that differ from the source are an error of the test."""
    start = process_time()
    try:
        made = pl.compile(path, on="tcpa:wide")
        for size, pes in zip(SIZES, REGIONS, strict=True):
            result = made.instantiate(N=size, pes=pes).run()
            assert result.verified
            assert "source" in result.outcome.compared_with
    except PolyloomError as error:
        assert error.exit_code in (1, 3)
        return f"{error.diagnostics[0].code} {error.diagnostics[0].message}"
    assert process_time() - start < SECONDS
    return RAN


def elsewhere(path: Path, target: str) -> str:
    try:
        made = pl.compile(path, on=target)
        assert all(made.run(N=size).verified for size in SIZES)
    except PolyloomError as error:
        return error.diagnostics[0].code
    return RAN


@pytest.mark.parametrize("block", [0, *(pytest.param(n, marks=pytest.mark.long) for n in range(1, len(BLOCKS)))])
def test_strides_on_the_array(block: int, tmp_path: Path, golden: Golden) -> None:
    outcomes = [f"{seed}: {on_array(written(seed, tmp_path))}\n" for seed in BLOCKS[block]]
    golden(f"strided_{block}", "".join(outcomes))


def test_most_run_on_the_array() -> None:
    """As the golden texts say, which the test above keeps true, of the blocks after the first where long tests run."""
    folder = Path(__file__).parent / "golden"
    texts = [(folder / f"strided_{n}.txt").read_text(encoding="utf-8") for n in range(len(BLOCKS))]
    assert sum(text.count(f": {RAN}\n") for text in texts) >= LEAST


@pytest.mark.long
@pytest.mark.parametrize("target", ["riscv:rv64gc", "belt:silver"])
def test_strides_elsewhere(target: str, tmp_path: Path) -> None:
    """Who takes fewer kernels than the array takes has lost some, since they have no order to look for."""
    outcomes = [elsewhere(written(seed, tmp_path), target) for seed in KERNELS]
    print(f"{target}: {outcomes.count(RAN)} of {len(KERNELS)}")
    assert outcomes.count(RAN) >= LEAST


@pytest.mark.long
@pytest.mark.parametrize("block", range(10))
def test_many_strides_on_the_array(block: int, tmp_path: Path) -> None:
    seeds = range(100 + 30 * block, 130 + 30 * block)
    outcomes = [on_array(written(seed, tmp_path)) for seed in seeds]
    print("\n".join(f"{seed}: {outcome}" for seed, outcome in zip(seeds, outcomes, strict=True) if outcome != RAN))
    assert 4 * outcomes.count(RAN) >= 3 * len(seeds)
