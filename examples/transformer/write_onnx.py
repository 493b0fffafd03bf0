# SPDX-License-Identifier: Apache-2.0
"""Writes a transformer layer as a model in ONNX: `python write_onnx.py FILE CHANNELS HEADS HIDDEN`.

The operators are those of operator set 23: RMSNormalization, RotaryEmbedding with neighbouring pairs, causal Attention.
The model has one sequence of `T` tokens, and random weights as initializers: those of `weights.py`.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import onnx
from onnx import TensorProto, helper, numpy_helper
from weights import WEIGHTS, Arrays, layer_inputs


def layer_model(data: Arrays, heads: int) -> onnx.ModelProto:
    """The layer with the weights of `data`; inputs x [1, T, channels], cos and sin [1, T, half a head]."""
    channels = data["wq"].shape[0]
    half = channels // heads // 2
    make = helper.make_node
    rotary: dict[str, Any] = {"interleaved": 1, "num_heads": heads}
    attention: dict[str, Any] = {"is_causal": 1, "q_num_heads": heads, "kv_num_heads": heads}
    nodes = [
        make("RMSNormalization", ["x", "norm1"], ["h1"], axis=-1, epsilon=1e-5),
        *(make("MatMul", ["h1", f"w{p}"], [f"{p}0"], name=f"project_{p}") for p in "qkv"),
        *(make("RotaryEmbedding", [f"{p}0", "cos", "sin"], [f"{p}1"], name=f"rotate_{p}", **rotary) for p in "qk"),
        make("Attention", ["q1", "k1", "v0"], ["o"], **attention),
        make("MatMul", ["o", "wo"], ["p"]),
        make("Add", ["x", "p"], ["x1"]),
        make("RMSNormalization", ["x1", "norm2"], ["h2"], axis=-1, epsilon=1e-5),
        make("MatMul", ["h2", "gate"], ["g"]),
        make("Sigmoid", ["g"], ["s"]),
        make("Mul", ["g", "s"], ["silu"]),
        make("MatMul", ["h2", "up"], ["u"]),
        make("Mul", ["silu", "u"], ["gated"]),
        make("MatMul", ["gated", "down"], ["d"]),
        make("Add", ["x1", "d"], ["result"]),
    ]
    shapes = {"x": [1, "T", channels], "cos": [1, "T", half], "sin": [1, "T", half]}
    inputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in shapes.items()]
    result = helper.make_tensor_value_info("result", TensorProto.FLOAT, shapes["x"])
    weights = [numpy_helper.from_array(data[name], name) for name in WEIGHTS]
    graph = helper.make_graph(nodes, "layer", inputs, [result], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 23)], ir_version=10)


if __name__ == "__main__":
    path, channels, heads, hidden = Path(sys.argv[1]), *map(int, sys.argv[2:5])
    path.write_bytes(layer_model(layer_inputs(1, channels, heads, hidden), heads).SerializeToString())
