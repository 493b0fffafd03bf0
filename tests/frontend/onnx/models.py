# SPDX-License-Identifier: Apache-2.0
"""Models for tests: of nodes in a few words, and read without a file or a process."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from polyloom.frontend.array_source import ArraySource
from polyloom.frontend.onnx import lower_model
from polyloom.frontend.onnx.child import prepare
from polyloom.frontend.onnx.settings import Settings

FLOAT = TensorProto.FLOAT
Node = onnx.NodeProto


def value(name: str, shape: Sequence[int | str] | None, kind: int = FLOAT) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, kind, shape)


def model(
    nodes: Sequence[Node],
    inputs: Sequence[onnx.ValueInfoProto],
    outputs: Sequence[onnx.ValueInfoProto],
    constants: Mapping[str, Any] | None = None,
    version: int = 21,
) -> onnx.ModelProto:
    """A graph called `graph`, with constants as initializers."""
    held = [numpy_helper.from_array(np.asarray(array), name) for name, array in (constants or {}).items()]
    graph = helper.make_graph(nodes, "graph", inputs, outputs, held)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", version)], ir_version=10)


def one_node(operator: str, inputs: Mapping[str, Any], version: int = 21, outputs: int = 1, **attributes: Any) -> Any:
    """A node whose inputs are arrays: floats are data, integers of 64 bits constants of the model."""
    names = [f"y{n}" if n else "y" for n in range(outputs)]
    node = helper.make_node(operator, [*inputs], names, **attributes)
    held = {n: np.asarray(a) for n, a in inputs.items() if np.asarray(a).dtype == np.int64}
    given = {n: np.asarray(a) for n, a in inputs.items() if n not in held}
    types = [value(n, a.shape, helper.np_dtype_to_tensor_dtype(a.dtype)) for n, a in given.items()]
    made = model([node], types, [helper.make_empty_tensor_value_info(n) for n in names], held, version)
    return onnx.shape_inference.infer_shapes(made), given


def read(of: onnx.ModelProto, settings: Settings | None = None) -> ArraySource:
    """The program of a model, without a process of its own."""
    return lower_model("m.onnx", of, (), settings or Settings(), prepare)


def layer() -> onnx.ModelProto:
    """A layer of 12 operators over a batch of any size."""
    random = np.random.default_rng(1)
    weights = {f"w{n}": random.standard_normal((8, 8)).astype(np.float32) for n in range(3)}
    bias = {"b": random.standard_normal(8).astype(np.float32), "g": np.ones(8, np.float32)}
    nodes = [
        helper.make_node("LayerNormalization", ["x", "g", "b"], ["n"], name="norm"),
        helper.make_node("MatMul", ["n", "w0"], ["q"], name="query"),
        helper.make_node("Add", ["q", "b"], ["qb"]),
        helper.make_node("Relu", ["qb"], ["r"]),
        helper.make_node("MatMul", ["r", "w1"], ["u"], name="up"),
        helper.make_node("Sigmoid", ["u"], ["s"]),
        helper.make_node("Mul", ["u", "s"], ["v"]),
        helper.make_node("MatMul", ["v", "w2"], ["d"], name="down"),
        helper.make_node("Add", ["d", "x"], ["a"]),
        helper.make_node("Tanh", ["a"], ["t"]),
        helper.make_node("Softmax", ["t"], ["p"], axis=-1),
        helper.make_node("Transpose", ["p"], ["y"], perm=[1, 0]),
    ]
    return model(nodes, [value("x", ["batch", 8])], [value("y", [8, "batch"])], {**weights, **bias})
