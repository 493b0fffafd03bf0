# SPDX-License-Identifier: Apache-2.0
"""What the compiler finds out of nests, and the oracle that runs them: beside interpreters that know nothing of it."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.targets.minion.loops import kernels

from polyloom import frontend
from polyloom.frontend.pla import parse
from polyloom.frontend.python.kernel import Kernel
from polyloom.frontend.source import Options
from polyloom.ir import interpret as equations
from polyloom.ir.nest import Loop, Nest
from polyloom.ir.nest_interpret import interpret
from polyloom.ir.numbers import NUMPY
from polyloom.ir.pla import Reference
from polyloom.sets import Affine
from polyloom.transform.loop_generation import Equations
from polyloom.transform.parallel.block_partition import Blocks, along
from polyloom.transform.parallel.lane_interpreter import computed
from polyloom.transform.parallel.parallel_reductions import reduced
from polyloom.transform.parallel.specialization import concrete
from polyloom.transform.parallel.work_sharing import phased

ROOT = Path(__file__).parents[4]
EXAMPLES = sorted((ROOT / "examples" / "kernels").glob("*.py"))
PLA = [p for p in sorted((ROOT / "examples").glob("*.pla")) if p.stem not in ("conv", "matmul")]


def _inputs(nest: Nest, seed: int = 0) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    made: dict[str, Any] = {}
    for s in nest.storage:
        if s.role == "argument":
            shape = tuple(e.constant for e in s.shape)
            values = rng.random(shape) * 4 - 2 if s.dtype in ("f32", "f16") else rng.integers(0, 9, shape)
            made[s.name] = np.asarray(values).astype(NUMPY[s.dtype])
    return made


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_the_oracle_computes_what_the_source_says(path: Path) -> None:
    """Without denormals the machine's arithmetic is that of `ir.semantics`."""
    nest, _ = frontend.python_nest(str(path), Options())
    made = concrete(nest, {name: 9 - n for n, name in enumerate(nest.parameters)}, "strict")
    inputs = _inputs(made)
    found = computed(made, inputs)
    for name, expected in interpret(made, {}, inputs).items():
        assert np.array_equal(found[name], expected, equal_nan=True)


@pytest.mark.parametrize("kernel", [kernels.sums, kernels.dot], ids=lambda kernel: kernel.name)
@pytest.mark.parametrize("sizes", [(1, 1), (7, 9), (40, 33), (257, 8)])
def test_reductions_lose_nothing(kernel: Kernel, sizes: tuple[int, int]) -> None:
    made = concrete(kernel.nest, dict(zip(("N", "M"), sizes, strict=True)), "reassociate")
    inputs = _inputs(made)
    if kernel is kernels.dot:
        inputs |= {name: np.rint(array) for name, array in inputs.items()}
    expected = interpret(made, {}, inputs)
    for harts in (1, 2, 8, 64):
        found = computed(reduced(made, harts, "reassociate"), inputs)
        assert all(np.array_equal(found[name], array) for name, array in expected.items())


@pytest.mark.parametrize("path", PLA, ids=lambda path: path.stem)
def test_equations_become_a_nest_that_computes_the_same(path: Path) -> None:
    program = parse(path.read_text(encoding="utf-8"), path.name)
    values = {name: 8 - n for n, name in enumerate(program.parameters)}
    nest = Equations(program).nest(values, {})
    inputs = {name: array for name, array in _inputs(nest).items() if name in {a.name for a in program.inputs}}
    found = interpret(nest, {}, inputs)
    for name, expected in equations.interpret(program, values, inputs).items():
        assert np.array_equal(found[name], expected, equal_nan=True)


@pytest.mark.parametrize(("step", "width"), list(product((1, 2, 4, -1, -2, 16, 32), (1, 2, 4))))
def test_blocks_begin_where_lines_do(step: int, width: int) -> None:
    elements = 64 // width
    for constant in range(-elements, elements, 5):
        target = Reference("x", (Affine.of({"i": step}, constant),))
        found = along("i", target, width, frozenset())
        if found is None:
            continue
        blocks = found[1]
        for i in range(-50, 50):
            is_new = (step * i + constant) // elements != (step * (i - 1) + constant) // elements
            if (i - blocks.offset) % blocks.unit == 0:
                assert is_new


def test_rows_may_be_cut_anywhere() -> None:
    target = Reference("x", (Affine.of({"i": 1}, 3), Affine.symbol("j")))
    found = along("i", target, 4, frozenset())
    assert found is not None
    assert found[1] == Blocks()


def test_which_loops_are_shared_out_and_vectorized() -> None:
    nest = concrete(kernels.product.nest, {"N": 64, "M": 64}, "contract")
    (work,) = phased(nest, 8).items
    assert isinstance(nest.body[0], Loop)
    assert getattr(work, "loop", None) is nest.body[0]
    assert getattr(work, "vectors", None) == {"j"}
    assert getattr(work, "registers", None) == {"t"}
