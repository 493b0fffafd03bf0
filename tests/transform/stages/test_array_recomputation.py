# SPDX-License-Identifier: Apache-2.0
"""Arrays that are read at other places than they are stored at: stages for each place, down to views of arguments."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.conftest import Golden

from polyloom.analysis.dataflow import Unlike
from polyloom.frontend.python import load_kernel
from polyloom.frontend.source import Reference
from polyloom.ir import stage_interpret, stage_verify
from polyloom.ir.arrays.program import Program
from polyloom.ir.arrays.text import print_arrays
from polyloom.ir.stage_text import print_stages, read_stages
from polyloom.targets.tensix.map.loops.form import TILE
from polyloom.targets.tensix.words.arrays.views import view_arrays
from polyloom.transform.stages.array_recomputation import recomputed_formulas
from polyloom.transform.stages.array_statements import straighten
from polyloom.transform.stages.stage_cutting import cut_stages

HEAD = "import numpy as np\nimport polyloom as pl\n\nN, S = pl.sizes('N S')\n\n\n@pl.kernel\n"
KERNELS = {
    # Heads of 4 channels: a product for each head, of columns of the weights.
    "heads": "def f(x: pl.f32[N, 8], w: pl.f32[8, 8], y: pl.f32[N, N]) -> None:\n"
    "    q = (x @ w).reshape(N, 2, 4)\n"
    "    y[:, :] = np.einsum('hij,jhd->ihd', np.einsum('ihd,jhd->hij', q, q), q).reshape(N, 8) @ w @ x.T\n",
    # Neighbouring channels are turned: the store has steps, and the reads, too.
    "turns": "def f(x: pl.f32[N, 8], w: pl.f32[8, 8], c: pl.f32[N, 4], y: pl.f32[N, 8]) -> None:\n"
    "    q = x @ w\n"
    "    even, odd = q[:, 0::2], q[:, 1::2]\n"
    "    y[:, :] = np.stack([even * c - odd, even + odd * c], axis=-1).reshape(N, 8)\n",
    # A cache: rows behind those that there are.
    "cache": "def f(x: pl.f32[N, 8], w: pl.f32[8, 8], k: pl.f32[S + N, 8], y: pl.f32[N, S + N]) -> None:\n"
    "    k[S:] = x @ w\n"
    "    y[:, :] = x @ k.T\n",
    "softmax": "def f(x: pl.f32[N, 8], w: pl.f32[8, 8], y: pl.f32[N, 8]) -> None:\n"
    "    e = np.exp(x @ w - (x @ w).max(axis=-1, keepdims=True))\n"
    "    y[:, :] = (e / e.sum(axis=-1, keepdims=True)) @ w\n",
}
SIZES = {"N": 3, "S": 2}


def program(name: str, folder: Path) -> tuple[Program, Reference]:
    file = folder / "f.py"
    file.write_text(HEAD + KERNELS[name])
    kernel = load_kernel(str(file))
    assert kernel.program is not None
    return kernel.program, kernel.reference


@pytest.mark.parametrize("name", KERNELS)
def test_stages_mean_what_the_program_means(name: str, tmp_path: Path) -> None:
    arrays, reference = program(name, tmp_path)
    made = recomputed_formulas(arrays, tuple(straighten(arrays)))
    stages = cut_stages(made.formulas, replace(TILE, folds=True))
    stage_verify.verify(stages)
    assert read_stages(print_stages(stages)) == stages
    rng, inputs = np.random.default_rng(1), dict[str, np.ndarray]()
    for storage in (s for s in arrays.storage if s.role == "argument"):
        inputs[storage.name] = rng.random(tuple(e.evaluate(SIZES) for e in storage.shape), np.float32)
    values = {name: SIZES[name] for name in arrays.parameters}
    found = stage_interpret.interpret(stages, values, view_arrays(made.views, values, inputs))
    expected = reference(values, {n: x.copy() for n, x in inputs.items()})
    for output, array in expected.items():
        assert np.allclose(found[output], array, rtol=1e-5), output


def test_the_stages_of_heads(golden: Golden, tmp_path: Path) -> None:
    arrays, _ = program("heads", tmp_path)
    made = recomputed_formulas(arrays, tuple(straighten(arrays)))
    stages = cut_stages(made.formulas, TILE)
    golden("recomputed-heads", f"{print_arrays(made.views)}\n{print_stages(stages)}")


def test_many_products_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "f.py"
    text = "def f(x: pl.f32[N, 8, 8], y: pl.f32[N, 8, 8]) -> None:\n    y[:] = x @ x\n"
    file.write_text(HEAD + text)
    arrays = load_kernel(str(file)).program
    assert arrays is not None
    with pytest.raises(Unlike, match="many products, not one"):
        recomputed_formulas(arrays, tuple(straighten(arrays)))
