# SPDX-License-Identifier: Apache-2.0
"""Damaged ONNX models: bytes, and graphs whose operators, operands, attributes, types and extents are others.

The package's native code runs in a forked process, as it runs in a process of its own behind a command.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from random import Random

import onnx
from tests.frontend.onnx import models
from tests.fuzz import damage

from polyloom.diagnostics import PolyloomError
from polyloom.frontend.onnx import load_model
from polyloom.frontend.onnx.child import prepare
from polyloom.frontend.onnx.operators import NAMES
from polyloom.frontend.onnx.read_file import ModelRefusal
from polyloom.frontend.source import Options

_NUMBERS = (-(2**63), -2, -1, 0, 1, 2, 3, 7, 1 << 20, 2**31, 2**62)


@cache
def onnx_seeds() -> Sequence[bytes]:
    """A layer, a convolution with pooling, shapes that are computed, attention, and quantization."""
    return [each.SerializeToString() for each in models.varied()]


def names_decoy() -> bytes:
    """A model whose weights lie in a file that no command names."""
    model = onnx.ModelProto()
    model.ParseFromString(onnx_seeds()[0])
    held = model.graph.initializer[0]
    held.ClearField("raw_data")
    held.data_location = onnx.TensorProto.EXTERNAL
    held.external_data.add(key="location", value="../decoy")
    return model.SerializeToString()


def damage_model(data: bytes, random: Random) -> bytes:
    """Bytes in a quarter of all cases, else one to three changes of the graph."""
    if random.randrange(4) == 0:
        return damage.of_bytes(data, random)
    model = onnx.ModelProto()
    model.ParseFromString(data)
    for _ in range(random.randint(1, 3)):
        random.choice(_CHANGES)(model.graph, random)
    return model.SerializeToString()


def _operator(graph: onnx.GraphProto, random: Random) -> None:
    random.choice(graph.node).op_type = random.choice(sorted(NAMES))


def _operand(graph: onnx.GraphProto, random: Random) -> None:
    node = random.choice(graph.node)
    known = ["", *(n for other in graph.node for n in (*other.input, *other.output))]
    if node.input:
        node.input[random.randrange(len(node.input))] = random.choice(known)


def _fewer_operands(graph: onnx.GraphProto, random: Random) -> None:
    node = random.choice(graph.node)
    del node.input[random.randint(0, len(node.input)) :]


def _attribute(graph: onnx.GraphProto, random: Random) -> None:
    held = [each for node in graph.node for each in node.attribute]
    if not held:
        return
    chosen = random.choice(held)
    if chosen.type == onnx.AttributeProto.INT:
        chosen.i = random.choice(_NUMBERS)
    elif chosen.ints:
        chosen.ints[random.randrange(len(chosen.ints))] = random.choice(_NUMBERS)
    else:
        chosen.name = random.choice(["axis", "axes", "mode", "value"])


def _extent(graph: onnx.GraphProto, random: Random) -> None:
    dims = random.choice(graph.input).type.tensor_type.shape.dim
    if dims:
        random.choice(dims).dim_value = random.choice(_NUMBERS)


def _elements(graph: onnx.GraphProto, random: Random) -> None:
    if not graph.initializer:
        return
    tensor = random.choice(graph.initializer)
    if random.randrange(2):
        tensor.raw_data = damage.of_bytes(tensor.raw_data, random)
    elif tensor.dims:
        tensor.dims[0] = random.choice(_NUMBERS)


def _type(graph: onnx.GraphProto, random: Random) -> None:
    random.choice(graph.input).type.tensor_type.elem_type = random.randrange(26)


_CHANGES: Sequence[Callable[[onnx.GraphProto, Random], None]] = (
    _operator,
    _operand,
    _fewer_operands,
    _attribute,
    _extent,
    _elements,
    _type,
)


def read_damaged(path: str) -> None:
    """A model as a nest, or an error of Polyloom's."""
    with suppress(PolyloomError):
        source = load_model(path, Options(), prepare_forked)
        if source.program.body:
            _ = source.indirect


def prepare_forked(model: bytes, operators: Sequence[str]) -> bytes:
    """`prepare` in a forked process. Raises `ModelRefusal`."""
    end, begin = os.pipe()
    child = os.fork()
    if not child:
        os.close(end)
        with os.fdopen(begin, "wb") as file:
            try:
                file.write(b"\0" + prepare(model, operators))
            except Exception as error:
                file.write(b"\1" + str(error).encode("utf-8", "replace"))
            file.flush()
            os._exit(0)
    os.close(begin)
    with os.fdopen(end, "rb") as file:
        answer = file.read()
    os.waitpid(child, 0)
    if answer[:1] != b"\0":
        raise ModelRefusal(answer[1:].decode("utf-8", "replace") or "the package ends without an answer")
    return answer[1:]
