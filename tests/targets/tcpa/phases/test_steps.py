# SPDX-License-Identifier: Apache-2.0
"""Loops of steps: what they mean, that every wrong one is noticed, their files, and nests that nobody chose.

The oracle of a plan is the nest's own interpreter, which knows nothing of plans.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any, cast

import numpy as np
import pytest
from tests.made_up import random_inputs
from tests.targets.tcpa.phases.test_files import code_of, repaired

import polyloom as pl
from polyloom import frontend
from polyloom.diagnostics import PolyloomError
from polyloom.frontend.source import Source
from polyloom.ir import nest_interpret, plan_interpret, plan_verify
from polyloom.ir.plan import Phase, Plan
from polyloom.ir.steps import Steps, Tree, leaves, walk_steps
from polyloom.sets import Affine
from polyloom.targets.tcpa.run import program
from polyloom.targets.tcpa.run.phases.step_sequence import run
from polyloom.targets.tcpa.words.phases import phase_file, steps_file
from polyloom.targets.tcpa.words.phases.phase_file import SYMBOLIC

pytestmark = pytest.mark.usefixtures("roughly_scheduled")

N = pl.size("N")


@pl.kernel
def paths(d: pl.i32[N, N]) -> None:
    for k in range(N):
        for i in range(N):
            for j in range(N):
                d[i, j] = min(d[i, j], d[i, k] + d[k, j])


@pl.kernel
def solved(r: pl.i32[N], y: pl.i32[N]) -> None:
    for k in range(1, N):
        total = r[k]
        for i in range(k):
            total += r[k - i - 1] * y[i]
        for i in range(k):
            y[i] = y[i] + total * y[k - i - 1]
        y[k] = total + y[k - 1]


def source_of(kernel: Any) -> Source:
    return frontend.nest_source(kernel.nest, kernel.reference, kernel.path)


SOURCES = {kernel.name: source_of(kernel) for kernel in (paths, solved)}


@pytest.mark.parametrize("name", SOURCES)
@pytest.mark.parametrize("size", [0, 1, 2, 5])
def test_a_plan_means_what_the_nest_means(name: str, size: int) -> None:
    source = SOURCES[name]
    assert source.plan.loops
    assert source.nest is not None
    inputs = random_inputs(source.plan, {"N": size}, seed=size)
    want = nest_interpret.interpret(source.nest, {"N": size}, inputs)
    got = plan_interpret.interpret(source.plan, {"N": size}, inputs)
    assert got.keys() == want.keys()
    assert all(np.array_equal(got[n], want[n]) for n in want)


# Sabotage: every change of the tree is seen in the results.


def _changed(tree: Tree[Phase]) -> Iterator[Tree[Phase]]:
    """A step too few at either end, the other direction, a phase too few, two phases in another order."""
    for at, node in enumerate(tree):
        if len(tree) > 1:
            yield (*tree[:at], *tree[at + 1 :])
        if at:
            yield (*tree[: at - 1], node, tree[at - 1], *tree[at + 1 :])
        if isinstance(node, Steps):
            loops = [
                replace(node, lower=(*node.lower, *(b + 1 for b in node.lower))),
                replace(node, upper=tuple(b - 1 for b in node.upper)),
                replace(node, step=-node.step),
                *(replace(node, body=body) for body in _changed(node.body)),
            ]
            yield from ((*tree[:at], loop, *tree[at + 1 :]) for loop in loops)


@pytest.mark.parametrize("name", SOURCES)
def test_sabotaged_steps_are_noticed(name: str) -> None:
    source, values = SOURCES[name], {"N": 6}
    inputs = random_inputs(source.plan, values, seed=7)
    want = source.reference(values, inputs)
    plans = [replace(source.plan, body=body) for body in _changed(source.plan.body)]
    assert len(plans) >= 3
    kept = [plan for plan in plans if _same(plan_interpret.interpret(plan, values, inputs), want)]
    assert not kept


def _same(got: Any, want: Any) -> bool:
    return all(np.array_equal(got[name], want[name]) for name in want)


def _wrong(plan: Plan) -> Iterator[tuple[Plan, str]]:
    """Plans that break a rule, and its code."""
    (loop,) = plan.body
    assert isinstance(loop, Steps)
    yield replace(plan, body=()), "PL0242"
    yield replace(plan, body=(replace(loop, body=()),)), "PL0242"
    yield replace(plan, body=(replace(loop, upper=()),)), "PL0215"
    yield replace(plan, body=(replace(loop, upper=(Affine.symbol("M"),)),)), "PL0204"
    yield replace(plan, body=(replace(loop, lower=(Affine.symbol("k"),)),)), "PL0204"
    yield replace(plan, body=loop.body), "PL0204"
    yield replace(plan, body=(loop, loop)), "PL0202"
    yield replace(plan, outputs=(replace(plan.outputs[0], dtype="f32"),)), "PL0208"
    yield replace(plan, inputs=(), outputs=()), "PL0204"


def test_the_verifier_sees_what_is_wrong() -> None:
    plan = SOURCES["paths"].plan
    plan_verify.verify(plan)
    for wrong, code in _wrong(plan):
        with pytest.raises(PolyloomError) as refused:
            plan_verify.verify(wrong)
        assert refused.value.diagnostics[0].code == code


# Files.


@pytest.fixture(scope="module")
def made() -> pl.Instance:
    return pl.compile(SOURCES["paths"], on="tcpa:wide").instantiate(N=5, pes=(2, 2))


def test_files_of_steps_come_back(made: pl.Instance) -> None:
    bound = steps_file.decode(made.data)
    assert steps_file.encode(bound) == made.data
    phased = phase_file.decode(SYMBOLIC, bound.symbolic)
    assert phase_file.encode(SYMBOLIC, phased) == bound.symbolic
    assert (bound.values, bound.rows, bound.columns) == ((5,), 2, 2)
    assert phased.counters == ("k",)


def test_a_step_is_what_its_phase_is_instantiated_to(made: pl.Instance) -> None:
    bound = steps_file.decode(made.data)
    (stage,) = phase_file.decode(SYMBOLIC, bound.symbolic).stages
    steps = run(made.data).steps
    assert [step.data for step in steps] == [
        program.instantiate(stage.data, {"N": 5, "k": k}, (2, 2), None) for k in range(5)
    ]


def test_equal_steps_are_instantiated_once() -> None:
    T = pl.size("T")

    @pl.kernel
    def sweeps(a: pl.i32[N], b: pl.i32[N]) -> None:
        for _t in range(T):
            for i in range(1, N):
                b[i] = b[i - 1] + a[i]
            for j in range(N - 2, -1, -1):
                a[j] = a[j + 1] + b[j]

    result = pl.compile(sweeps).instantiate(T=6, N=5, pes=(1, 2)).run()
    rows = cast("list[dict[str, int]]", result.data["phases"])
    assert [row["steps"] for row in rows] == [6, 6]
    assert result.data["instantiations"] == 2
    assert result.cycles == sum(row["cycles"] + row["transfer_cycles"] for row in rows)


def test_no_steps_at_all_leave_the_arrays(made: pl.Instance) -> None:
    nothing = pl.compile(SOURCES["paths"]).instantiate(N=0, pes=(2, 2)).run()
    assert nothing.cycles == 0
    assert nothing.data["phases"] == []
    assert nothing.data["instantiations"] == 0


def test_no_change_of_a_byte_ends_in_a_traceback(made: pl.Instance) -> None:
    data, random, found = made.data, Random(5), set[str | None]()
    for _ in range(150):
        at = random.randrange(16, len(data))
        found.add(code_of(repaired(data[:at] + bytes([random.randrange(256)]) + data[at + 1 :])))
    assert found <= {None, "PL0701", "PL0702", "PL0703", "PL0704", "PL0705", "PL0706"}


def test_a_loop_that_never_ends_is_refused(made: pl.Instance) -> None:
    bound = steps_file.decode(made.data)
    phased = phase_file.decode(SYMBOLIC, bound.symbolic)
    (loop,) = phased.looped
    assert isinstance(loop, Steps)
    empty = Steps("m", (Affine((), 1),), (Affine(),), loop.body)
    endless = replace(loop, upper=(Affine((), 1 << 40),), body=(empty,))
    symbolic = phase_file.encode(SYMBOLIC, replace(phased, counters=("k", "m"), looped=(endless,)))
    with pytest.raises(PolyloomError) as refused:
        run(steps_file.encode(replace(bound, symbolic=symbolic)))
    assert refused.value.diagnostics[0].code == "PL0521"


def test_a_bound_may_not_use_an_inner_counter(made: pl.Instance) -> None:
    bound = steps_file.decode(made.data)
    phased = phase_file.decode(SYMBOLIC, bound.symbolic)
    (loop,) = phased.looped
    assert isinstance(loop, Steps)
    wrong = replace(phased, looped=(replace(loop, upper=(Affine.symbol("k"),)),))
    assert code_of(phase_file.encode(SYMBOLIC, wrong)) == "PL0705"
    outside = replace(phased, looped=(*phased.looped, 1), stages=(*phased.stages, *phased.stages))
    assert code_of(phase_file.encode(SYMBOLIC, outside)) == "PL0705"


def test_a_failing_step_is_named() -> None:
    compiled = pl.compile(SOURCES["paths"], on="tcpa:wide")
    with pytest.raises(PolyloomError) as refused:
        compiled.instantiate(N=5, pes=(2, 2), candidate=99)
    assert refused.value.diagnostics[0].code == "PL0815"
    divided = pl.compile(quotients).instantiate(N=3, pes=(1, 1))
    with pytest.raises(PolyloomError) as faulty:
        divided.run(a=np.array([1, 0, 2], np.int32), b=np.zeros(3, np.int32))
    (found,) = faulty.value.diagnostics
    assert (found.code, found.notes) == ("PL0233", ("in the step of k = 1, i = 0",))


@pl.kernel
def quotients(a: pl.i32[N], b: pl.i32[N]) -> None:
    for k in range(N):
        for i in range(N):
            b[i] = b[N - 1 - i] // a[k]


# Nests that nobody chose.

_HEADS = ("for k in range(N):", "for k in range(1, N):", "for k in range(N - 1, -1, -1):", "for k in range(-1, N - 1):")
_LINES = (
    ("for i in range(N):", "a[i] = a[N - 1 - i] + b[i]"),
    ("for i in range(N):", "b[i] = max(b[i], a[N - 1 - i]) + 1"),
    ("for i in range(1, N):", "a[i] = a[i - 1] - b[N - 1 - i]"),
    ("for i in range(N - 2, -1, -1):", "b[i] = b[i + 1] ^ a[i]"),
    ("for i in range(k + 1, N):", "a[i] = a[i] + b[i] * k"),
    ("for i in range(k):", "c[i, k + 1] = c[k + 1, i] + a[i]"),
    ("for i in range(N):", "for j in range(N):", "c[i, j] = min(c[i, j], c[i, k + 1] + c[k + 1, j])"),
    ("for i in range(N):", "for j in range(N):", "a[i] = a[i] + c[j, i]"),
    ("if 2 * k < N:", "for i in range(N):", "s = s + a[i]"),
    ("for i in range(N):", "b[i] = b[i] + s"),
)


def _text(random: Random) -> str:
    """A kernel with one or two loops of steps, of lines that often need everything of the step before."""
    lines = ["import polyloom as pl", 'N = pl.size("N")', "@pl.kernel"]
    lines += ["def made(a: pl.i32[N], b: pl.i32[N], c: pl.i32[N + 1, N + 1]) -> None:", "    s = 0"]
    for _ in range(random.randint(1, 2)):
        head = random.choice(_HEADS)
        lines.append(f"    {head}")
        for group in random.sample(_LINES, random.randint(1, 3)):
            lines += [f"{' ' * 4 * (depth + 2)}{line}" for depth, line in enumerate(group)]
    return "\n".join(lines) + "\n"


def _outcome(folder: Path, seed: int) -> int:
    """The loops of steps of a kernel, whose results are compared with the equations and its source."""
    path = folder / f"made{seed}.py"
    path.write_text(_text(Random(seed)), encoding="utf-8")
    source = frontend.load(str(path))
    assert source.nest is not None
    for size in (0, 1, 4):
        inputs = random_inputs(source.plan, {"N": size}, seed)
        want = source.reference({"N": size}, inputs)
        assert _same(plan_interpret.interpret(source.plan, {"N": size}, inputs), want)
    assert pl.compile(source).instantiate(N=4, pes=(2, 2)).run().verified
    return len(source.plan.loops)


@pytest.mark.parametrize("block", range(2))
def test_random_nests_of_steps(block: int, tmp_path: Path) -> None:
    assert sum(_outcome(tmp_path, seed) > 0 for seed in range(4 * block, 4 * block + 4)) >= 2


@pytest.mark.long
@pytest.mark.parametrize("block", range(10))
def test_hundreds_of_nests_of_steps(block: int, tmp_path: Path) -> None:
    for seed in range(100 + 20 * block, 120 + 20 * block):
        _outcome(tmp_path, seed)


def test_walking_gives_the_values_of_the_counters() -> None:
    inner = Steps("j", (Affine.symbol("i"),), (Affine((), 3), Affine.symbol("N")), ("x",), -1)
    outer = Steps("i", (Affine((), 0), Affine((), -4)), (Affine.symbol("N"),), (inner, "y"))
    found = [
        (leaf, *(v for n, v in sorted(values.items()) if n != "N")) for leaf, values in walk_steps((outer,), {"N": 2})
    ]
    assert found == [("x", 0, 1), ("x", 0, 0), ("y", 0), ("x", 1, 1), ("y", 1)]
    assert [leaf for leaf, _ in leaves((outer,))] == ["x", "y"]
