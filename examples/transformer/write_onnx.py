# SPDX-License-Identifier: Apache-2.0
"""Writes a transformer layer as a model in ONNX: `python write_onnx.py FILE CHANNELS HEADS HIDDEN [cache] [int8]`.

The operators are those of operator set 23: RMSNormalization, RotaryEmbedding with neighbouring pairs, causal Attention.
The model has one sequence of `T` tokens, and random weights as initializers: those of `weights.py`. With `cache`, they
follow the `S` tokens of a cache, [1, head, token, channel]; with `int8`, weights are integers with a scale per column.
"""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from weights import SCALES, WEIGHTS, Arrays, layer_inputs, quantized


def product(x: str, weight: str, result: str, name: str, is_quantized: bool) -> list[onnx.NodeProto]:
    """Nodes of a product by a weight. In int8, rows of x are scaled to 127 at run time, as `quantized_product` of
    layer.py does it."""
    make = helper.make_node
    if not is_quantized:
        return [make("MatMul", [x, weight], [result], name=name)]
    own = {part: f"{result}_{part}" for part in ("abs", "max", "step", "row", "i8", "sum", "real", "scaled")}
    return [
        make("Abs", [x], [own["abs"]]),
        make("ReduceMax", [own["abs"], "last"], [own["max"]]),
        make("Div", [own["max"], "most"], [own["step"]]),
        make("Squeeze", [own["step"]], [own["row"]]),
        make("QuantizeLinear", [x, own["row"]], [own["i8"]], axis=1, output_dtype=TensorProto.INT8),
        make("MatMulInteger", [own["i8"], weight], [own["sum"]], name=name),
        make("Cast", [own["sum"]], [own["real"]], to=TensorProto.FLOAT),
        make("Mul", [own["real"], own["step"]], [own["scaled"]]),
        make("Mul", [own["scaled"], f"{weight}_scale"], [result]),
    ]


def layer_model(data: Arrays, heads: int, has_cache: bool = False) -> onnx.ModelProto:
    """The layer with the weights of `data`, in int8 where these are; inputs x [1, T, channels], cos and sin [1, T, half
    a head], and past_keys and past_values [1, head, S, channel] of a cache."""
    channels = data["wq"].shape[0]
    half, is_quantized = channels // heads // 2, data["wq"].dtype == np.int8
    make, by = helper.make_node, partial(product, is_quantized=is_quantized)
    rotary: dict[str, Any] = {"interleaved": 1, "num_heads": heads}
    attention: dict[str, Any] = {"is_causal": 1, "q_num_heads": heads, "kv_num_heads": heads}
    cache = {f"past_{name}": [1, heads, "S", 2 * half] for name in ("keys", "values")} if has_cache else {}
    # The place of a mask is empty.
    given, made = (["", *cache], ["keys", "values"]) if has_cache else ([], [])
    nodes = [
        make("RMSNormalization", ["x", "norm1"], ["h1"], axis=-1, epsilon=1e-5),
        *(node for p in "qkv" for node in by("h1", f"w{p}", f"{p}0", f"project_{p}")),
        *(make("RotaryEmbedding", [f"{p}0", "cos", "sin"], [f"{p}1"], name=f"rotate_{p}", **rotary) for p in "qk"),
        make("Attention", ["q1", "k1", "v0", *given], ["o", *made], **attention),
        *by("o", "wo", "p", "project_o"),
        make("Add", ["x", "p"], ["x1"]),
        make("RMSNormalization", ["x1", "norm2"], ["h2"], axis=-1, epsilon=1e-5),
        *by("h2", "gate", "g", "project_gate"),
        make("Sigmoid", ["g"], ["s"]),
        make("Mul", ["g", "s"], ["silu"]),
        *by("h2", "up", "u", "project_up"),
        make("Mul", ["silu", "u"], ["gated"]),
        *by("gated", "down", "d", "project_down"),
        make("Add", ["x1", "d"], ["result"]),
    ]
    shapes = {"x": [1, "T", channels], "cos": [1, "T", half], "sin": [1, "T", half], **cache}
    results = {"result": shapes["x"], **{name: [1, heads, None, 2 * half] for name in made}}
    inputs, outputs = (
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in each.items()]
        for each in (shapes, results)
    )
    weights = [numpy_helper.from_array(array, name) for name, array in initializers(data, is_quantized).items()]
    graph = helper.make_graph(nodes, "layer", inputs, outputs, weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 23)], ir_version=10)


def initializers(data: Arrays, is_quantized: bool) -> Arrays:
    """Arrays that the model brings, by name: weights, and in int8 their scales and the constants of rows."""
    weights = {name: data[name] for name in WEIGHTS}
    if not is_quantized:
        return weights
    scales = {f"{name}_scale": data[scale] for name, scale in SCALES.items()}
    return {**weights, **scales, "last": np.array([-1], np.int64), "most": np.array(127, np.float32)}


if __name__ == "__main__":
    path, channels, heads, hidden = Path(sys.argv[1]), *map(int, sys.argv[2:5])
    data = layer_inputs(1, channels, heads, hidden)
    model = layer_model(quantized(data) if "int8" in sys.argv else data, heads, "cache" in sys.argv)
    path.write_bytes(model.SerializeToString())
