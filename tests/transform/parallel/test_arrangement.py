# SPDX-License-Identifier: Apache-2.0
"""Arranged loops compute what the source says, and are parallel; what may not be reordered is not."""

from __future__ import annotations

from pathlib import Path
from random import Random

import numpy as np
import pytest
from tests.kernels.nests import kernel as random_kernel
from tests.transform.parallel import kernels
from tests.transform.parallel.kernels import EIGHT_LANES, arguments

from polyloom import frontend
from polyloom.diagnostics import PolyloomError
from polyloom.frontend.python.kernel import Kernel
from polyloom.frontend.source import Options
from polyloom.ir.nest import Loop, Nest
from polyloom.ir.nest_interpret import interpret
from polyloom.passes import ALL, Watch
from polyloom.transform.parallel.arrangement import arrange_loops, arrangement_passes
from polyloom.transform.parallel.lane_interpreter import interpret_lanes
from polyloom.transform.parallel.machine import Machine
from polyloom.transform.parallel.parallel_reductions import parallelize_reductions
from polyloom.transform.parallel.specialization import specialize
from polyloom.transform.parallel.work_sharing import share_work, walk_works

EXAMPLES = sorted((Path(__file__).parents[3] / "examples" / "kernels").glob("*.py"))


def assert_equal(nest: Nest, arranged: Nest, seed: int = 0) -> None:
    """Both, by the interpreter that knows no parallel loops, and by the one that computes them together."""
    given = arguments(nest, seed)
    expected = interpret(nest, {}, given)
    for found in (interpret(arranged, {}, given), interpret_lanes(arranged, given)):
        for name, array in expected.items():
            assert np.array_equal(found[name], array, equal_nan=True)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_arrangement_keeps_the_order_of_values(path: Path) -> None:
    nest, _ = frontend.python_nest(str(path), Options())
    made = specialize(nest, {name: 9 - n for n, name in enumerate(nest.parameters)})
    assert_equal(made, arrange_loops(made, EIGHT_LANES))


@pytest.mark.parametrize("seed", range(24))
def test_random_nests_on_random_machines(seed: int, tmp_path: Path) -> None:
    rng, path = Random(seed), tmp_path / "nest.py"
    path.write_text(random_kernel(seed), encoding="utf-8")
    try:
        nest, _ = frontend.python_nest(str(path), Options())
    except PolyloomError as error:
        assert error.code == "PL0242", "no iteration of a random nest may write an argument"
        return
    made = specialize(nest, dict.fromkeys(nest.parameters, rng.randint(2, 12)))
    machine = Machine(workers=rng.randint(1, 9), lanes=rng.choice([1, 2, 4, 8, 16]))
    assert_equal(made, arrange_loops(made, machine), seed)


@pytest.mark.parametrize("kernel", [kernels.sums, kernels.dot], ids=lambda kernel: kernel.name)
@pytest.mark.parametrize("sizes", [(1, 1), (7, 9), (40, 33), (257, 8)])
@pytest.mark.parametrize("lanes", [1, 4, 8])
def test_reductions_lose_nothing(kernel: Kernel, sizes: tuple[int, int], lanes: int) -> None:
    nest = specialize(kernel.nest, dict(zip(("N", "M"), sizes, strict=True)))
    given = arguments(nest)
    if kernel is kernels.dot:
        given = {name: np.rint(array) for name, array in given.items()}
    expected = interpret(nest, {}, given)
    for workers in (1, 2, 64):
        made = parallelize_reductions(nest, Machine(workers, lanes), reassociate=True)
        assert all(np.array_equal(interpret_lanes(made, given)[name], array) for name, array in expected.items())


def test_sums_of_floats_keep_their_order_unless_told_otherwise() -> None:
    nest = specialize(kernels.dot.nest, {"N": 3000})
    assert parallelize_reductions(nest, EIGHT_LANES, reassociate=False) == nest
    assert parallelize_reductions(nest, EIGHT_LANES, reassociate=True) != nest


def test_a_loop_is_split_and_interchanged() -> None:
    nest = specialize(kernels.two_parts.nest, {"N": 20, "M": 30})
    first, second = arrange_loops(nest, EIGHT_LANES).body
    assert isinstance(first, Loop) and isinstance(second, Loop)
    assert (first.name, second.name) == ("j", "i.1")
    shared = share_work(arrange_loops(nest, EIGHT_LANES), EIGHT_LANES)
    assert [work.blocks is not None for work in walk_works(shared.items)] == [True, True]


def test_a_carried_dependence_says_why() -> None:
    nest = arrange_loops(specialize(kernels.prefix.nest, {"N": 100}), EIGHT_LANES)
    shared = share_work(nest, EIGHT_LANES)
    assert shared.serial_reasons == {"i": "iterations of `i` share `b[i]` and `b[i - 1]`"}
    assert all(work.blocks is None for work in walk_works(shared.items))


def test_which_loops_are_shared_out_and_vectorized() -> None:
    nest = specialize(kernels.scaled.nest, {"N": 64, "M": 64})
    (work,) = walk_works(share_work(nest, EIGHT_LANES).items)
    assert work.loop is nest.body[0]
    assert (work.vectors, work.registers) == ({"j"}, {"t"})


def test_every_pass_prints() -> None:
    nest = specialize(kernels.two_parts.nest, {"N": 20, "M": 30})
    watch = Watch(after=frozenset({ALL}))
    arrange_loops(nest, EIGHT_LANES, watch=watch)
    assert [name for name, _ in watch.texts] == [
        each.name for each in arrangement_passes(EIGHT_LANES, reassociate=False)
    ]
    assert all("for (" in text for _, text in watch.texts)
