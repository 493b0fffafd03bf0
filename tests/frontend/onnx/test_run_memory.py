# SPDX-License-Identifier: Apache-2.0
"""Memory of a run: weights exist once as they were read and once in the machine's model, whatever a run is compared
with; nobody changes what others see.
"""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from onnx import helper
from tests.frontend.onnx.models import model, value

import polyloom as pl
from polyloom.frontend.array_source import ArraySource
from polyloom.ir import interpret
from polyloom.ir.arguments import read_only_arrays
from polyloom.targets.tensix.map.oracle import evaluate

SIZE = 768
WEIGHTS = 4 * SIZE * SIZE


@pytest.fixture(scope="module")
def read(tmp_path_factory: pytest.TempPathFactory) -> ArraySource:
    """`y = x w`, with weights of 2.4 MB, so many that the interpreter of SSA form does not begin."""
    w = (np.arange(SIZE * SIZE) % 17 - 8).reshape(SIZE, SIZE).astype(np.float32)
    node = helper.make_node("MatMul", ["x", "w"], ["y"])
    of = model([node], [value("x", [1, SIZE])], [value("y", [1, SIZE])], {"w": w})
    path = Path(tmp_path_factory.mktemp("memory")) / "m.onnx"
    path.write_bytes(of.SerializeToString())
    return pl.model(str(path))


# In multiples of the weights, which are read before: the array's banks are filled from Python, the memories of all
# other machines are native.
@pytest.mark.parametrize(
    ("on", "most"),
    [
        ("riscv", 0.8),
        ("belt", 0.2),
        ("minion:32", 1.3),
        pytest.param("tcpa:4x4", 3.0, marks=pytest.mark.long),
        pytest.param("tensix", 2.0, marks=pytest.mark.long),
    ],
)
def test_a_run_holds_no_further_copies_of_weights(
    on: str, most: float, read: ArraySource, monkeypatch: pytest.MonkeyPatch
) -> None:
    # What is converted at once takes megabytes, which are little beside weights that matter.
    monkeypatch.setattr(interpret, "BLOCK", 1 << 14)
    monkeypatch.setattr(evaluate, "_PART", 1 << 14)
    compiled = pl.compile(read, on=on)
    x = np.ones((1, SIZE), np.float32)
    # Modules are loaded and tables made by a run before.
    compiled.run(x=x)
    tracemalloc.start()
    try:
        compiled.run(x=x)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < most * WEIGHTS


def test_an_oracle_or_a_machine_cannot_change_what_others_see(read: ArraySource) -> None:
    given = {"x": np.ones((1, SIZE), np.float32), "w": read.data["w"][:, ::2]}
    views = read_only_arrays(given)
    for array in views.values():
        with pytest.raises(ValueError, match="read-only"):
            array[0, 0] = 2
    # What lies in memory as it is is shared, and stays the caller's to change.
    assert np.shares_memory(views["x"], given["x"]) and given["x"].flags.writeable
    assert views["w"].flags.c_contiguous
