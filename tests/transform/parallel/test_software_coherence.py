# SPDX-License-Identifier: Apache-2.0
"""Shared work on caches that are not coherent: no worker reads what is old, and whoever leaves out an eviction or a
barrier does."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from tests.kernels.nests import kernel
from tests.transform.parallel import kernels
from tests.transform.parallel.caches import execute

from polyloom import frontend
from polyloom.diagnostics import PolyloomError
from polyloom.frontend.source import Options
from polyloom.ir.nest import Nest
from polyloom.transform.parallel import software_coherence
from polyloom.transform.parallel.arrangement import arrange_loops
from polyloom.transform.parallel.machine import Machine
from polyloom.transform.parallel.software_coherence import Coherence
from polyloom.transform.parallel.specialization import specialize
from polyloom.transform.parallel.work_sharing import Work, share_work

FIVE = Machine(workers=5, lanes=4, line=16)
EXAMPLES = Path(__file__).parents[3] / "examples" / "kernels"
SMALL = (
    "atax",
    "bicg",
    "gemver",
    "lu",
    "trisolv",
    "jacobi1d",
    "jacobi2d",
    "fdtd2d",
    "covariance",
    "gramschmidt",
    "mvt",
)


def wrong(nest: Nest, machine: Machine) -> list[str]:
    made = arrange_loops(nest, machine, reassociate=True)
    return execute(made, share_work(made, machine), machine).wrong


def _no_evictions(coherence: Coherence, work: Work) -> frozenset[str]:
    del coherence, work
    return frozenset()


def _no_conflict(one: Work, other: Work) -> bool:
    del one, other
    return False


def example(name: str) -> Nest:
    nest, _ = frontend.python_nest(str(EXAMPLES / f"{name}.py"), Options())
    return specialize(nest, {name: 7 if name != "TSTEPS" else 2 for name in nest.parameters})


@pytest.mark.parametrize("name", SMALL)
def test_examples(name: str) -> None:
    for sharers in (1, 2):
        assert wrong(example(name), Machine(workers=6, lanes=4, line=16, sharers=sharers)) == []


@pytest.mark.parametrize("seed", range(30))
def test_random_nests_on_random_machines(seed: int, tmp_path: Path) -> None:
    rng, path = Random(seed), tmp_path / "nest.py"
    path.write_text(kernel(seed), encoding="utf-8")
    try:
        nest, _ = frontend.python_nest(str(path), Options())
    except PolyloomError as error:
        assert error.code == "PL0242", "no iteration of a random nest may write an argument"
        return
    sharers, pairs = rng.choice([1, 2]), rng.randint(1, 3)
    machine = Machine(sharers * pairs, rng.choice([1, 4]), rng.choice([8, 16, 64]), sharers)
    assert wrong(specialize(nest, dict.fromkeys(nest.parameters, rng.randint(2, 7))), machine) == []


@pytest.mark.parametrize("name", ["atax", "jacobi2d", "gramschmidt"])
def test_a_missing_eviction_is_noticed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Coherence, "evictions", _no_evictions)
    assert any("old" in each for each in wrong(example(name), FIVE))


@pytest.mark.parametrize("name", ["atax", "jacobi2d", "gramschmidt"])
def test_a_missing_barrier_is_noticed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(software_coherence, "is_conflict", _no_conflict)
    assert any("does not wait" in each for each in wrong(example(name), FIVE))


def test_blocks_of_other_lines_share_a_line() -> None:
    """Work that is shared out for lines of 16 bytes, on a machine whose lines have 64."""
    nest = specialize(kernels.doubled.nest, {"N": 40})
    shared = share_work(nest, FIVE)
    assert execute(nest, shared, FIVE).wrong == []
    wider = Machine(workers=5, lanes=4, line=64)
    assert any("modified" in each for each in execute(nest, shared, wider).wrong)
