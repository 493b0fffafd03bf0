# SPDX-License-Identifier: Apache-2.0
"""Plans of blocks: what they mean, how they print, and what is refused.

The oracle is the nest's own interpreter, which knows neither plans nor blocks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from tests.conftest import Golden
from tests.made_up import random_inputs

import polyloom as pl
from polyloom import frontend
from polyloom.diagnostics import PolyloomError
from polyloom.frontend.pla.plan import parse_plan
from polyloom.frontend.source import Source
from polyloom.ir import nest_interpret, plan_interpret, plan_verify
from polyloom.ir.arguments import array_shape
from polyloom.ir.nest import Nest, loop_nodes
from polyloom.ir.numbers import NUMPY
from polyloom.ir.pla import Array
from polyloom.ir.plan import Phase, Plan
from polyloom.ir.plan_text import print_plan
from polyloom.ir.steps import Steps, leaves, map_leaves
from polyloom.sets import Affine
from polyloom.transform import blocks
from polyloom.transform.blocks import plan_blocks

ROOT = Path(__file__).parents[2]
N, M = pl.sizes("N M")
Sizes = Mapping[str, int]


def source_of(name: str) -> Source:
    return frontend.load(str(ROOT / name))


def assert_equal(source: Source, plan: Plan, values: Sizes) -> None:
    assert source.nest is not None
    inputs = random_inputs(source.plan, values, seed=3)
    # Entry values that show nowhere are no inputs of a plan.
    rest = {s.name: array_shape(Array(s.name, s.dtype, s.shape), values) for s in source.nest.storage if s.shape}
    zeros = {n: np.zeros(shape, NUMPY[source.nest[n].dtype]) for n, shape in rest.items()}
    arguments = {s.name for s in source.nest.storage if s.role == "argument"}
    want = nest_interpret.interpret(source.nest, values, {n: a for n, a in zeros.items() if n in arguments} | inputs)
    got = plan_interpret.interpret(plan, values, inputs)
    assert got.keys() <= want.keys()
    assert all(got[name].tobytes() == want[name].tobytes() for name in got)


def nest_of(source: Source) -> Nest:
    assert source.nest is not None
    return source.nest


CASES: dict[str, tuple[str, Sizes, Sizes]] = {
    "a product": ("examples/kernels/gemm.py", {"i": 3, "j": 4, "k": 5}, {"NI": 7, "NJ": 8, "NK": 11}),
    "one loop of three": ("examples/kernels/gemm.py", {"k": 5}, {"NI": 3, "NJ": 4, "NK": 11}),
    "a sum in a local": ("tests/kernels/blocks/matmul.py", {"i": 3, "j": 4, "k": 5}, {"N": 7, "M": 8, "K": 11}),
    "two nests": ("examples/kernels/bicg.py", {"i": 3, "j": 4}, {"N": 8, "M": 7}),
    "a triangle": ("examples/kernels/syrk.py", {"i": 3, "j": 4, "k": 3}, {"N": 8, "M": 7}),
    "a lower triangle": ("examples/kernels/trmm.py", {"i": 3, "j": 4, "k": 3}, {"N": 8, "M": 7}),
    "windows that move backwards": ("examples/kernels/fir.py", {"i": 3, "j": 2}, {"N": 11, "T": 5}),
    "steps around blocks": ("examples/kernels/jacobi2d.py", {"i": 3, "j": 4}, {"TSTEPS": 2, "N": 9}),
    "windows that overlap": ("examples/kernels/conv2d.py", {"i": 3, "j": 4}, {"N": 9, "M": 8}),
    "an array read in two ways": ("examples/kernels/mvt.py", {"i": 3, "j": 4}, {"N": 10}),
}


@pytest.mark.parametrize("case", CASES)
def test_blocks_mean_what_the_nest_means(case: str) -> None:
    path, sizes, values = CASES[case]
    source = source_of(path)
    plan = plan_blocks(nest_of(source), source.plan, sizes)
    plan_verify.verify(plan)
    for shrunk in (values, dict.fromkeys(values, 0), dict.fromkeys(values, 1), dict.fromkeys(values, 6)):
        assert_equal(source, plan, shrunk)
    assert parse_plan(print_plan(plan)).parameters == plan.parameters
    assert print_plan(parse_plan(print_plan(plan))) == print_plan(plan)


def test_golden(golden: Golden) -> None:
    source = source_of("tests/kernels/blocks/matmul.py")
    golden("blocks", print_plan(plan_blocks(nest_of(source), source.plan, {"i": 32, "j": 32, "k": 64})))


def test_a_product_has_one_configuration_for_all_whole_blocks() -> None:
    source = source_of("examples/kernels/gemm.py")
    plan = plan_blocks(nest_of(source), source.plan, {"i": 4, "j": 4, "k": 4})
    assert all({*phase.program.parameters} <= {"i_size", "j_size", "j_2_size", "k_size"} for phase in plan.phases)


# Sabotage: a window, an argument or a stride that is another one shows in the results.


def _changed(plan: Plan) -> list[Plan]:
    def with_phases(change: Callable[[Phase], Phase]) -> Plan:
        return replace(plan, body=map_leaves(plan.body, change))

    def moved(phase: Phase, at: int) -> Phase:
        name, origin = phase.windows[at]
        return replace(
            phase, windows=(*phase.windows[:at], (name, (origin[0] + 1, *origin[1:])), *phase.windows[at + 1 :])
        )

    def shorter(phase: Phase, at: int) -> Phase:
        bounds = tuple(b - 1 for b in phase.arguments[at])
        return replace(phase, arguments=(*phase.arguments[:at], bounds, *phase.arguments[at + 1 :]))

    last = [phase for phase, _ in leaves(plan.body)][-1]
    windows = [with_phases(lambda p, n=n: moved(p, n) if p is last else p) for n in range(len(last.windows))]
    sizes = [with_phases(lambda p, n=n: shorter(p, n) if p is last else p) for n in range(len(last.arguments))]
    return windows + sizes


def test_sabotaged_blocks_are_noticed() -> None:
    source, values = source_of("examples/kernels/gemm.py"), {"NI": 7, "NJ": 8, "NK": 11}
    plan = plan_blocks(nest_of(source), source.plan, {"i": 3, "j": 4, "k": 5})
    changed = _changed(plan)
    assert len(changed) >= 6
    for wrong in changed:
        with pytest.raises((AssertionError, PolyloomError)):
            assert_equal(source, wrong, values)


def test_the_order_of_blocks_is_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the check a stencil in place would compute something else."""
    source = source_of_kernel(in_place)
    with pytest.raises(PolyloomError):
        plan_blocks(nest_of(source), source.plan, {"t": 2, "i": 3})
    monkeypatch.setattr(blocks, "check_order", _accept)
    with pytest.raises(AssertionError):
        assert_equal(source, plan_blocks(nest_of(source), source.plan, {"t": 2, "i": 3}), {"N": 9, "M": 4})


def _accept(nest: Nest, placed: object, crossing: object) -> None:
    del nest, placed, crossing


@pl.kernel
def in_place(a: pl.i32[N], b: pl.i32[M]) -> None:
    for t in range(M):
        for i in range(1, N - 1):
            a[i] = a[i - 1] + a[i + 1] * 3 + b[t]


@pl.kernel
def skewed(a: pl.i32[N], b: pl.i32[M]) -> None:
    for t in range(M):
        for i in range(t + 1, t + N - 1):
            a[i - t] = a[i - t - 1] + a[i - t + 1] * 3 + b[t]


def source_of_kernel(kernel: Any) -> Source:
    return frontend.nest_source(kernel.nest, kernel.reference, kernel.path)


def test_skewing_makes_blocks_legal() -> None:
    source = source_of_kernel(skewed)
    plan = plan_blocks(nest_of(source), source.plan, {"t": 2, "i": 3})
    for values in ({"N": 9, "M": 4}, {"N": 3, "M": 5}, {"N": 12, "M": 1}):
        assert_equal(source, plan, values)


@pl.kernel
def carried(a: pl.i32[N, M], b: pl.i32[N]) -> None:
    last = 0
    for i in range(N):
        for j in range(M):
            last = last + a[i, j]
        b[i] = last


@pl.kernel
def read_behind(a: pl.i32[N + 1], b: pl.i32[M], c: pl.i32[N]) -> None:
    for i in range(N):
        for k in range(M):
            a[i] += b[k]
        c[i] = a[i + 1]


@pl.kernel
def read_before(a: pl.i32[N + 1], b: pl.i32[M], c: pl.i32[N]) -> None:
    for i in range(N):
        c[i] = a[i]
        for k in range(M):
            a[i + 1] += b[k]


@pytest.mark.parametrize("kernel", [read_behind, read_before], ids=["behind", "before"])
def test_a_loop_around_blocks_runs_in_steps_where_its_iterations_may_not_be_parted(kernel: Any) -> None:
    source = source_of_kernel(kernel)
    plan = plan_blocks(nest_of(source), source.plan, {"k": 3})
    assert [loop.stride for loop in plan.loops] == [1, 3]
    assert_equal(source, plan, {"N": 5, "M": 7})


@pl.kernel
def numbered(A: pl.f32[N], B: pl.f32[N], C: pl.f32[M]) -> None:
    for i in range(N):
        A[i] = A[i] + 1
    for i in range(N):
        B[i] = A[i] * 2
    for i_1 in range(M):
        C[i_1] = C[i_1] * 3


def test_names_are_those_of_the_source() -> None:
    nest = nest_of(source_of_kernel(numbered))
    names = [loop.name for loop in loop_nodes(nest.body)]
    assert len({*names}) == 3
    assert names[0] == "i"
    # All loops that the source calls so, whatever numbers the nest's names have.
    assert blocks.loop_sizes(nest, {"i": 3}) == dict.fromkeys(names[:2], 3)
    assert blocks.loop_sizes(nest, {"i_1": 4}) == {names[2]: 4}
    assert blocks.loop_sizes(nest, {"i_1": 4, "i": 3}) == {**dict.fromkeys(names[:2], 3), names[2]: 4}
    # The nest's own name of one loop takes precedence.
    assert blocks.loop_sizes(nest, {names[1]: 5, "i": 3}) == {"i": 3, names[1]: 5}


WRONG: dict[str, tuple[Any, dict[str, int]]] = {
    "order": (in_place, {"t": 2, "i": 3}),
    "local": (carried, {"i": 2, "j": 3}),
    "name": (skewed, {"tt": 2}),
    "size": (skewed, {"t": 0}),
}


@pytest.mark.parametrize("case", WRONG)
def test_errors(case: str, golden: Golden) -> None:
    kernel, sizes = WRONG[case]
    source = source_of_kernel(kernel)
    with pytest.raises(PolyloomError) as refused:
        plan_blocks(nest_of(source), source.plan, sizes)
    golden(f"error-block-{case}", str(refused.value).replace(f"{ROOT}/", ""))


# Nests that nobody chose.

_LINES = (
    "c[i, j] = c[i, j] + a[i, k] * b[k, j]",
    "c[i, j] += 1",
    "a[i, j] = c[i, j] - 2",
    "d[i] = d[i] + c[i, k]",
    "d[i + 1] = d[i + 1] + d[i]",
    "d[i] = d[i + 1] * 3",
    "s = s + b[i, j]",
    "d[j] = d[j] * 3 + s",
    "c[i, j] = c[i, j] + d[i + 1] * j",
    "b[i, j] = b[i, j] + c[j, i]",
)


def _text(random: Random) -> str:
    """A kernel of three loops with statements before, between and behind them."""
    lines = ["import polyloom as pl", 'N, M = pl.sizes("N M")', "@pl.kernel"]
    lines += [
        "def made(a: pl.i32[N + 1, N + 1], b: pl.i32[N + 1, N + 1], c: pl.i32[N + 1, N + 1], d: pl.i32[N + 2]) -> None:"
    ]
    heads = random.choice((("i", "j", "k"), ("j", "i", "k"), ("i", "k", "j")))
    bounds = {"i": "N", "j": random.choice(("N", "i + 1")) if heads[0] == "i" else "N", "k": "N"}
    behind: list[str] = []
    for depth, loop in enumerate(heads):
        margin = " " * 4 * (depth + 1)
        lines.append(f"{margin}for {loop} in range({bounds[loop]}):")
        known = {*heads[: depth + 1]}
        legal = [line for line in _LINES if {n for n in "ijk" if n in _indices(line)} <= known]
        if depth == 1:
            lines.append(f"{margin}    s = 0")
        lines += [
            f"{margin}    {line}" for line in random.sample(legal, min(len(legal), random.randint(depth == 2, 2)))
        ]
        if depth < 2 and legal and random.random() < 0.5:
            behind.insert(0, f"{margin}    {random.choice(legal)}")
    return "\n".join([*lines, *behind]) + "\n"


def _indices(line: str) -> str:
    return "".join(c for c in line if c in "ijk")


def _outcome(folder: Path, seed: int) -> bool:
    """Whether a kernel has a plan in blocks; one that it has means what the nest means."""
    random = Random(seed)
    path = folder / f"made{seed}.py"
    path.write_text(_text(random), encoding="utf-8")
    try:
        source = frontend.load(str(path))
    except PolyloomError as error:
        assert error.exit_code in (1, 3)
        return False
    sizes = {name: random.randint(1, 4) for name in random.sample("ijk", random.randint(1, 3))}
    try:
        plan = plan_blocks(nest_of(source), source.plan, sizes)
    except PolyloomError as error:
        assert error.exit_code in (1, 3)
        return False
    for size in (1, 5):
        assert_equal(source, plan, dict.fromkeys(source.plan.parameters, size))
    return True


# What a read-only argument holds may show nowhere; a local crosses in some blocks only, or within a triangle; arrays
# between phases of a block grow with the block's number.
@pytest.mark.parametrize("seed", [1002, 1007, 1147, 1374])
def test_nests_that_were_wrong_once(seed: int, tmp_path: Path) -> None:
    assert _outcome(tmp_path, seed)


def test_random_nests_in_blocks(tmp_path: Path) -> None:
    assert sum(_outcome(tmp_path, seed) for seed in range(8)) >= 2


@pytest.mark.long
@pytest.mark.parametrize("part", range(10))
def test_hundreds_of_nests_in_blocks(part: int, tmp_path: Path) -> None:
    for seed in range(100 + 50 * part, 150 + 50 * part):
        _outcome(tmp_path, seed)


def test_strides_walk_from_the_lowest_value() -> None:
    up = Steps("i", (Affine((), 1),), (Affine.symbol("N"),), ("x",), stride=3)
    assert list(up.values({"N": 9})) == [1, 4, 7]
    assert list(replace(up, step=-1).values({"N": 9})) == [7, 4, 1]
    assert np.prod([len(up.values({"N": n})) for n in (0, 1)]) == 0
