# SPDX-License-Identifier: Apache-2.0
"""Index-set splitting and triangular loops: the loops that become parallel, and the same bits in the new order."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from polyloom import frontend
from polyloom.analysis.loop_dependences import LoopDependences
from polyloom.ir.nest import Loop, Nest, loop_nodes
from polyloom.ir.nest_interpret import interpret, nest_signature
from polyloom.transform.parallel.index_set_splitting import split_index_sets
from polyloom.transform.parallel.specialization import specialize
from polyloom.transform.parallel.triangular_loops import sink_parallel_loops, substitute_by_columns

KERNELS = Path(__file__).parents[3] / "examples" / "kernels"
PASSES: tuple[Callable[[Nest], Nest], ...] = (split_index_sets, substitute_by_columns, sink_parallel_loops)


def nest_of(kernel: str, **values: int) -> Nest:
    nest, _ = frontend.python_nest(str(KERNELS / f"{kernel}.py"), frontend.Options())
    return specialize(nest, values)


def parallel(nest: Nest) -> list[str]:
    dependences = LoopDependences(nest)
    return [n.name for n in loop_nodes(nest.body) if dependences.carried_dependence(n.name, frozenset()) is None]


def same_bits(nest: Nest, made: Nest, seed: int = 0) -> bool:
    rng = np.random.default_rng(seed)
    given = {
        a.name: rng.integers(1, 9, tuple(e.constant for e in a.shape)).astype(
            np.int32 if a.dtype == "i32" else np.float32
        )
        for a in nest_signature(nest).inputs
    }
    before, after = (interpret(each, {}, given) for each in (nest, made))
    return all(before[name].tobytes() == after[name].tobytes() for name in before)


def test_loops_are_split_where_one_iteration_carries_all() -> None:
    nest = nest_of("floyd_warshall", N=6)
    assert parallel(nest) == []
    made = split_index_sets(nest)
    # Three parts of i, each with three of j, of which the middle ones have one iteration.
    assert len(list(loop_nodes(made.body))) == 1 + 3 + 9 and len(parallel(made)) == 12
    assert same_bits(nest, made)


def test_loops_without_a_parallel_part_stay() -> None:
    nest = nest_of("seidel2d", TSTEPS=2, N=6)
    assert split_index_sets(nest) == nest


@pytest.mark.parametrize("kernel", ["lu", "cholesky"])
def test_substitutions_go_by_columns(kernel: str) -> None:
    nest = nest_of(kernel, N=7)
    made = substitute_by_columns(nest)
    assert made != nest and len(parallel(made)) > len(parallel(nest)) and same_bits(nest, made)


def test_a_sum_that_reads_what_is_made_between_stays() -> None:
    text = """
def late(x: pl.f32[9], L: pl.f32[9, 9]) -> None:
    for j in range(9):
        for k in range(j):
            x[j] -= L[j, k] * x[8 - k]
        x[j] /= L[j, j]
"""
    nest = nest_of_text(text)
    assert substitute_by_columns(nest) == nest


def test_ragged_sums_become_loops_over_neighbours() -> None:
    nest = nest_of("fir", N=9, T=4)
    made = sink_parallel_loops(nest)
    outer = [loop.name for loop in made.body if isinstance(loop, Loop)]
    assert outer == ["i", "j.1"] and same_bits(nest, made)


def nest_of_text(text: str) -> Nest:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "kernel.py"
        file.write_text(f"import polyloom as pl\n\n\n@pl.kernel\n{text.strip()}\n")
        return specialize(frontend.python_nest(str(file), frontend.Options())[0], {})


INDICES = ("A[i, j]", "A[i, k]", "A[k, j]", "A[j, k]", "A[j, i]", "A[i, 8 - k]", "v[j]", "v[k]", "B[i, j]")
BOUNDS = ("range(k, 9)", "range(k + 1, 9)", "range(9)", "range(i)", "range(i + 1)", "range(9 - i, 9)")


@settings(max_examples=25, deadline=None, phases=[Phase.explicit, Phase.generate])
@given(st.sampled_from(INDICES), st.lists(st.sampled_from(INDICES), min_size=2, max_size=2),
       st.sampled_from(BOUNDS), st.sampled_from(INDICES[:5]), st.booleans())  # fmt: skip
def test_random_loops_keep_their_bits(target: str, reads: list[str], bounds: str, behind: str, has_tail: bool) -> None:
    tail = f"            {behind} += 1.0\n" if has_tail else ""
    text = (
        "def nest(A: pl.f32[9, 9], B: pl.f32[9, 9], v: pl.f32[9]) -> None:\n    for k in range(9):\n"
        f"        for i in range(9):\n            for j in {bounds}:\n"
        f"                {target} = {reads[0]} - {reads[1]}\n{tail.replace('j', 'k')}"
    )
    nest = nest_of_text(text)
    for change in PASSES:
        assert same_bits(nest, change(nest)), text
