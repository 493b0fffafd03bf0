# SPDX-License-Identifier: Apache-2.0
"""The machine's arithmetic as the oracle of loops, beside the interpreter of nests."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.transform.parallel.kernels import arguments

import polyloom as pl
from polyloom import frontend
from polyloom.frontend.source import Options
from polyloom.ir.nest_interpret import interpret
from polyloom.targets.minion.map.simd.arithmetic import MachineScope, machine_function
from polyloom.transform.parallel.lane_interpreter import interpret_lanes
from polyloom.transform.parallel.specialization import specialize

EXAMPLES = sorted((Path(__file__).parents[4] / "examples" / "kernels").glob("*.py"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_the_oracle_computes_what_the_source_says(path: Path) -> None:
    """Without denormals the machine's arithmetic is that of `ir.semantics`."""
    nest, _ = frontend.python_nest(str(path), Options())
    made = specialize(nest, {name: 9 - n for n, name in enumerate(nest.parameters)})
    given = arguments(made)
    found = interpret_lanes(made, given, machine_function, MachineScope)
    for name, expected in interpret(made, {}, given).items():
        assert np.array_equal(found[name], expected, equal_nan=True)


N = pl.size("N")


@pl.kernel
def cut(x: pl.f32[N], y: pl.i32[N]) -> None:
    y[:] = x.astype(np.int8).astype(np.int32)


@pl.kernel
def saturate(v: pl.i32[N], z: pl.i32[N], b: pl.i8[N]) -> None:
    for i in range(N):
        z[i] = pl.to_i32(pl.sat8(v[i])) * 3
        b[i] = pl.sat8(v[i])


def test_signed_bytes_keep_their_signs() -> None:
    """FSAT8 leaves zeros above the byte: what is computed with it is extended, what is stored as a byte need not be."""
    numbers = np.arange(-300, 300, 30)
    cuts = np.clip(numbers, -128, 127)
    first = pl.compile(cut, on="minion:32").run(N=20, x=(numbers // 3).astype(np.float32))
    second = pl.compile(saturate, on="minion:32").run(N=20, v=numbers.astype(np.int32))
    found = {name: array.tolist() for run in (first, second) for name, array in run.outputs.items()}
    assert found == {"y": (numbers // 3).tolist(), "z": (3 * cuts).tolist(), "b": cuts.tolist()}
