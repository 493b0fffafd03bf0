# SPDX-License-Identifier: Apache-2.0
"""Compile time of every example, in seconds, all candidates included; then that of front ends alone.

These read graphs of twelve operators, as a model in ONNX and as a module of MLIR, from the file to the loop nest. No
package is imported while the clock runs, and shapes are inferred in this process: starting one of its own takes as long
as importing `onnx` does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

import numpy as np

from polyloom import api
from polyloom.cli import examples
from polyloom.cli.bench.timing import median_cpu_seconds, median_seconds
from polyloom.frontend.mlir import load_mlir
from polyloom.frontend.onnx import load_model
from polyloom.frontend.source import Options

if TYPE_CHECKING:
    from onnx import ModelProto

PLACES = (
    ("bits", "paper"),
    ("fir", "wide"),
    ("matmul", "wide"),
    ("conv", "wide"),
    ("lcs", "unit"),
    ("jacobi1d", "unit"),
    ("matvec", "wide"),
)
_MATRIX: Final = "tensor<8x8xf32>"
_OPERATIONS: Final = (
    *("matmul", "add", "exp", "matmul", "max"),
    *("matmul", "mul", "sub", "matmul", "add"),
    "tanh",
    "abs",
)
"""Twelve operations of linalg, each on the result before it."""
_UNARY: Final = frozenset(("exp", "tanh", "abs"))


def rows() -> Iterator[dict[str, object]]:
    yield from (_row(kernel, f"tcpa:{member}") for kernel, member in PLACES)
    yield from front_end_rows()


def _row(kernel: str, on: str) -> dict[str, object]:
    seconds = median_seconds(lambda: api.compile(examples.path(kernel), on=on), times=3)
    return {"kernel": kernel, "on": on, "seconds": round(seconds, 3)}


def front_end_rows(times: int = 5) -> Iterator[dict[str, object]]:
    """CPU seconds of each front end whose package is installed."""
    with TemporaryDirectory() as folder:
        if find_spec("onnx") is not None:
            from polyloom.frontend.onnx.child import prepare

            model = Path(folder, "layer.onnx")
            model.write_bytes(layer_model().SerializeToString())
            yield _front_end_row("ONNX", lambda: load_model(str(model), Options(), prepare).nest, times)
        if find_spec("xdsl") is not None:
            module = Path(folder, "chain.mlir")
            module.write_text(chain_module(), encoding="utf-8")
            yield _front_end_row("MLIR", lambda: load_mlir(str(module), None).nest, times)


def _front_end_row(language: str, read: Callable[[], object], times: int) -> dict[str, object]:
    read()  # imports what is imported when it is used
    seconds = median_cpu_seconds(read, times)
    return {"kernel": f"12 operators in {language}", "on": "the front end alone", "seconds": round(seconds, 3)}


def layer_model() -> ModelProto:
    """A layer of 12 operators over a batch of any size, of operator set 21."""
    from onnx import TensorProto, helper, numpy_helper

    random, make = np.random.default_rng(1), helper.make_node
    weights = {f"w{n}": random.standard_normal((8, 8)).astype(np.float32) for n in range(3)}
    vectors = {"b": random.standard_normal(8).astype(np.float32), "g": np.ones(8, np.float32)}
    nodes = [
        make("LayerNormalization", ["x", "g", "b"], ["n"], name="norm"),
        make("MatMul", ["n", "w0"], ["q"], name="query"),
        make("Add", ["q", "b"], ["qb"]),
        make("Relu", ["qb"], ["r"]),
        make("MatMul", ["r", "w1"], ["u"], name="up"),
        make("Sigmoid", ["u"], ["s"]),
        make("Mul", ["u", "s"], ["v"]),
        make("MatMul", ["v", "w2"], ["d"], name="down"),
        make("Add", ["d", "x"], ["a"]),
        make("Tanh", ["a"], ["t"]),
        make("Softmax", ["t"], ["p"], axis=-1),
        make("Transpose", ["p"], ["y"], perm=[1, 0]),
    ]
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", 8])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [8, "batch"])
    held = [numpy_helper.from_array(array, name) for name, array in {**weights, **vectors}.items()]
    graph = helper.make_graph(nodes, "graph", [x], [y], held)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


def chain_module() -> str:
    """A function of 12 operations of linalg on tensors of 8 x 8."""
    lines = [f"func.func @chain(%v0: {_MATRIX}, %w: {_MATRIX}, %e: {_MATRIX}) -> {_MATRIX} {{"]
    for n, name in enumerate(_OPERATIONS):
        values = (f"%v{n}",) if name in _UNARY else (f"%v{n}", "%w")
        types = ", ".join([_MATRIX] * len(values))
        given = f"ins({', '.join(values)} : {types}) outs(%e : {_MATRIX})"
        lines.append(f"  %v{n + 1} = linalg.{name} {given} -> {_MATRIX}")
    return "\n".join([*lines, f"  return %v{len(_OPERATIONS)} : {_MATRIX}", "}", ""])
