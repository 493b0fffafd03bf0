# SPDX-License-Identifier: Apache-2.0
"""Models for tests: of nodes in a few words, and read without a file or a process."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from polyloom.cli.bench.compilation import layer_model
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


def expected(of: onnx.ModelProto, given: Mapping[str, Any]) -> Any:
    """The first output by the package's own reference evaluator."""
    evaluator: Any = ReferenceEvaluator(of)
    return evaluator.run(None, dict(given))[0]


def varied() -> list[onnx.ModelProto]:
    """Small models of every family of operators."""
    n, random = helper.make_node, np.random.default_rng(2)
    kernel = random.standard_normal((4, 2, 3, 3)).astype(np.float32)
    image = [
        n("Conv", ["x", "w"], ["c"], pads=[1, 1, 1, 1], strides=[2, 1]),
        n("MaxPool", ["c"], ["m"], kernel_shape=[2, 2], ceil_mode=1),
        n("Pad", ["m", "p"], ["q"], mode="reflect"),
        n("GlobalAveragePool", ["q"], ["g"]),
        n("Flatten", ["g"], ["y"]),
    ]
    convolved = model(
        image,
        [value("x", [1, 2, 6, 5])],
        [value("y", [1, 4])],
        {"w": kernel, "p": np.array([0, 0, 1, 0, 0, 0, 0, 1])},
    )
    shaped = [
        n("Shape", ["x"], ["s"]),
        n("Gather", ["s", "zero"], ["b"]),
        n("Concat", ["b", "rest"], ["t"], axis=0),
        n("Reshape", ["x", "t"], ["r"]),
        n("Slice", ["r", "zero", "two", "one"], ["l"]),
        n("Gather", ["l", "places"], ["k"], axis=2),
        n("CumSum", ["k", "axis"], ["y"], reverse=1),
    ]
    held = {"zero": [0], "rest": [3, 4], "two": [2], "one": [1], "places": [3, 0, 1], "axis": 1}
    computed = model(
        shaped, [value("x", ["b", 12])], [value("y", ["b", 2, 3])], {k: np.array(v) for k, v in held.items()}
    )
    heads = [n("RotaryEmbedding", ["q", "c", "s"], ["r"]), n("Attention", ["r", "k", "v"], ["y"], is_causal=1)]
    angles = {name: random.standard_normal((1, 3, 2)).astype(np.float32) for name in ("c", "s")}
    attended = model(
        heads,
        [value(name, [1, count, 3, 4]) for name, count in (("q", 4), ("k", 2), ("v", 2))],
        [value("y", [1, 4, 3, 4])],
        angles,
        23,
    )
    steps = [
        n("QuantizeLinear", ["x", "scale", "point"], ["q"]),
        n("MatMulInteger", ["q", "w", "point", "low"], ["i"]),
        n("Cast", ["i"], ["f"], to=FLOAT),
        n("ReduceMean", ["f", "last"], ["m"]),
        n("Where", ["test", "f", "m"], ["y"]),
    ]
    quantized = model(
        steps,
        [value("x", [2, 4]), value("test", [2, 1], TensorProto.BOOL)],
        [value("y", [2, 3])],
        {
            "scale": np.float32(0.1),
            "point": np.uint8(9),
            "w": random.integers(-9, 9, (4, 3)).astype(np.int8),
            "low": np.int8(1),
            "last": np.array([-1]),
        },
    )
    return [layer_model(), convolved, computed, attended, quantized]
