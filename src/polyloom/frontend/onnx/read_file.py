# SPDX-License-Identifier: Apache-2.0
"""Reading a model file: its protocol buffer, what it may be, and the data that lie beside it.

No file is opened but the model and those that `--data` names. Large initializers are not copied: the process that
checks the model and infers shapes gets their types alone.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from polyloom import files, memory
from polyloom.diagnostics import USAGE, Diagnostic, PolyloomError, input_error, nearest
from polyloom.extras import install_command
from polyloom.frontend.onnx.large_tensors import read_light_model
from polyloom.frontend.onnx.node import node_label, node_spans
from polyloom.frontend.onnx.tensors import Known

if TYPE_CHECKING:
    from onnx import ModelProto, TensorProto

Prepare = Callable[[bytes, Sequence[str]], bytes]
"""What `child.prepare` is, wherever it runs."""
CHILD: Final = str(Path(__file__).with_name("child.py"))
_LARGE: Final = 1024
"""Elements from which on shape inference does not see an initializer: no shape has so many axes."""
_DIGITS: Final = 18
"""Of an offset in a file, which fits into 64 bits."""
_SECONDS: Final = 60
_ROOM: Final = 4 << 30


def require_package() -> Any:
    """The package `onnx`. Errors: PL0180."""
    try:
        import onnx
    except ImportError:
        help = f"install it: `{install_command('onnx')}`"
        raise PolyloomError(
            Diagnostic("PL0180", "the package onnx is not installed; it reads ONNX models", USAGE, help=help)
        ) from None
    return onnx


@dataclass(frozen=True, slots=True)
class FileModel:
    """A model as it is written, but for the elements of large initializers: these are `large`, flat, by number."""

    model: ModelProto
    large: Mapping[int, Known]


def read_model(path: str) -> FileModel:
    """The model of a file. Errors: PL0180, PL0181, PL0605, PL0807."""
    onnx = require_package()
    from google.protobuf.message import DecodeError

    try:
        light = read_light_model(path)
    except (OSError, ValueError):  # which reading the file as a whole explains
        light = None
    model = onnx.ModelProto()
    try:
        model.ParseFromString(files.read(path) if light is None else light.content)
    except (DecodeError, RecursionError, ValueError):
        model = None
    if model is None or not model.HasField("graph") or not model.ir_version:
        help = "write it again with `onnx.save`: the file is cut, or of another format"
        raise input_error("PL0181", f"'{path}' is no ONNX model", help=help)
    _check_names(path, model)
    _check_versions(path, model, onnx)
    return FileModel(model, {} if light is None else light.elements)


def _check_names(path: str, model: ModelProto) -> None:
    """Errors: PL0181 for a name that is no text: protocol buffers of this version hold any bytes."""
    graph = model.graph
    names: list[object] = [
        n for node in graph.node for n in (node.op_type, node.domain, node.name, *node.input, *node.output)
    ]
    names += [each.name for each in (*graph.input, *graph.output, *graph.initializer)]
    names += [dim.dim_param for each in graph.input for dim in each.type.tensor_type.shape.dim]
    names += [graph.name, *(each.domain for each in model.opset_import)]
    if any(not isinstance(each, str) for each in names):
        raise input_error(
            "PL0181", f"'{path}' has a name that is no text", help="write the model again with `onnx.save`"
        )


def _check_versions(path: str, model: ModelProto, onnx: Any) -> None:
    """Errors: PL0181 for what the package does not know yet."""
    newest = onnx.defs.onnx_opset_version()
    for each in model.opset_import:
        if each.domain in ("", "ai.onnx") and not 1 <= each.version <= newest:
            help = f"export it with an operator set up to {newest}, or install a newer package onnx"
            raise input_error("PL0181", f"'{path}' needs operator set {each.version}", help=help)
    if model.ir_version > onnx.IR_VERSION:
        help = f"save it with an IR version up to {onnx.IR_VERSION}, or install a newer package onnx"
        raise input_error("PL0181", f"'{path}' has IR version {model.ir_version}", help=help)


def initializers(path: str, found: FileModel, named: Sequence[str]) -> dict[str, Known]:
    """Elements of all initializers; those outside of the file come from the files `named`. Errors: PL0181, PL0187."""
    model = found.model
    if model.graph.sparse_initializer:
        help = "store it as a dense tensor"
        raise input_error("PL0185", f"'{path}' has a sparse initializer", help=help)
    beside = {PurePath(file).name: file for file in named}
    numbered = enumerate(model.graph.initializer)
    return {t.name: tensor_elements(path, t, beside, found.large.get(n)) for n, t in numbered}


def tensor_elements(path: str, tensor: TensorProto, beside: Mapping[str, str], large: Known | None = None) -> Known:
    """Elements of one tensor, of a large one those that were read apart. Errors: PL0181, PL0185, PL0187."""
    onnx = require_package()
    count = int(np.prod([*map(int, tensor.dims)], dtype=object))
    if min(tensor.dims, default=0) < 0:
        raise _broken_tensor(path, tensor.name)
    if tensor.data_location == onnx.TensorProto.EXTERNAL:
        return _external_elements(path, tensor, beside, count)
    if large is not None:
        if large.size != count:
            raise _broken_tensor(path, tensor.name)
        return large.reshape([*map(int, tensor.dims)])
    # Integers of two bits are the smallest elements, four per byte. The package would enlarge the array to its shape.
    if tensor.raw_data and count > 4 * len(tensor.raw_data):
        raise _broken_tensor(path, tensor.name)
    try:
        return onnx.numpy_helper.to_array(tensor)
    except (ValueError, TypeError, KeyError, NotImplementedError):
        raise _broken_tensor(path, tensor.name) from None


def _broken_tensor(path: str, name: str) -> PolyloomError:
    help = "write the model again with `onnx.save`"
    return input_error("PL0181", f"the tensor `{name}` of '{path}' has other elements than its shape says", help=help)


def _external_elements(path: str, tensor: TensorProto, beside: Mapping[str, str], count: int) -> Known:
    """Elements that lie in another file, from the file of this name that the user gave."""
    onnx = require_package()
    entries = {each.key: each.value for each in tensor.external_data}
    name = PurePath(entries.get("location", "").replace("\\", "/")).name
    if name not in beside:
        message = f"the tensor `{tensor.name}` of '{path}' lies in another file, '{name}'"
        raise input_error("PL0187", message, help=f"name the file: `--data {name or 'FILE'}`")
    try:
        held = onnx.helper.tensor_dtype_to_np_dtype(tensor.data_type)
    except KeyError:
        help = "write the model again with `onnx.save`"
        raise input_error("PL0181", f"the tensor `{tensor.name}` of '{path}' has an unknown type", help=help) from None
    text = entries.get("offset", "0")
    memory.require_memory(count * held.itemsize, f"the tensor `{tensor.name}` of '{path}'", "use a smaller model")
    # Elements alone are read: the file has those of many tensors.
    is_offset = text.isdecimal() and len(text) <= _DIGITS
    content = files.read_part(beside[name], int(text), count * held.itemsize) if is_offset else b""
    found = np.frombuffer(content, held) if len(content) == count * held.itemsize else None
    if found is None:
        message = f"the tensor `{tensor.name}` of '{path}' is not in '{beside[name]}', which is too short"
        raise input_error("PL0187", message, help="give the file that was saved with the model")
    return found.reshape([*map(int, tensor.dims)])


def infer_shapes(path: str, model: ModelProto, operators: Iterable[str], prepare: Prepare | None = None) -> ModelProto:
    """The model checked, with functions inlined and shapes inferred; without the elements of large initializers.
    Errors: PL0182, PL0183."""
    onnx = require_package()
    light = onnx.ModelProto()
    light.CopyFrom(_strip_elements(model, onnx))
    try:
        found = (prepare or _run_child)(light.SerializeToString(), [*operators])
    except PolyloomError:
        raise
    except Exception as error:  # the package raises errors of several modules, which are about the model
        raise refused_model(path, model, str(error)) from None
    result = onnx.ModelProto()
    result.ParseFromString(found)
    return result


def _strip_elements(model: ModelProto, onnx: Any) -> ModelProto:
    """The model in which large initializers are inputs of their type."""
    light = onnx.ModelProto(ir_version=model.ir_version, domain=model.domain)
    light.opset_import.extend(model.opset_import)
    light.functions.extend(model.functions)
    graph, inputs = model.graph, {each.name for each in model.graph.input}
    light.graph.name = graph.name or "graph"
    light.graph.node.extend(graph.node)
    light.graph.input.extend(graph.input)
    light.graph.output.extend(graph.output)
    for tensor in graph.initializer:
        count = int(np.prod([*map(int, tensor.dims)], dtype=object))
        if count <= _LARGE and tensor.data_location != onnx.TensorProto.EXTERNAL:
            light.graph.initializer.append(tensor)
        elif tensor.name not in inputs:
            light.graph.input.append(
                onnx.helper.make_tensor_value_info(tensor.name, tensor.data_type, [*map(int, tensor.dims)])
            )
    return light


class ModelRefusal(Exception):
    """What the package says of a model that it refuses."""


def _run_child(model: bytes, operators: Sequence[str]) -> bytes:
    """`child.prepare` in another process. Raises `ModelRefusal`."""
    room = min(memory.available_bytes(), _ROOM)
    command = [sys.executable, "-P", CHILD]
    # The child finds the package where this process does.
    # Where this process has found the packages, and not in the current folder, where files of strangers may lie.
    found = [Path(each.__file__ or "").parents[1] for each in (require_package(), np)]
    folders = list(dict.fromkeys(map(str, found)))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(folders)}
    try:
        done = subprocess.run(
            [*command, str(room), str(_SECONDS), ",".join(operators)],
            input=model,
            capture_output=True,
            env=environment,
            timeout=2 * _SECONDS,
        )
    except subprocess.TimeoutExpired:
        raise ModelRefusal("it takes too long to infer shapes") from None
    if done.returncode == 0:
        return done.stdout
    text = done.stderr.decode("utf-8", "replace")
    raise ModelRefusal(text if done.returncode == 3 else "the package ends without an answer")


def check_operators(path: str, model: ModelProto) -> None:
    """Errors: PL0183 for a node whose operator neither ONNX nor the model defines."""
    onnx, own = require_package(), {(f.domain, f.name) for f in model.functions}
    versions = {each.domain if each.domain != "ai.onnx" else "": each.version for each in model.opset_import}
    for number, node in enumerate(model.graph.node):
        domain = "" if node.domain == "ai.onnx" else node.domain
        if (node.domain, node.op_type) in own or onnx.defs.has(node.op_type, versions.get(domain, 1), domain):
            continue
        known = {s.name for s in onnx.defs.get_all_schemas() if s.domain == domain}
        help = nearest(node.op_type, sorted(known), "operator")
        if onnx.defs.has(node.op_type, onnx.defs.onnx_opset_version(), domain):
            help = f"it is of a later operator set than {versions.get(domain, 1)}: export the model with that"
        message = f"{node_label(number, node)}: there is no operator {node.op_type}"
        raise input_error("PL0183", message, span=node_spans(path, model)[number], help=help)


def refused_model(path: str, model: ModelProto, said: str) -> PolyloomError:
    """PL0182, with the node that the package's message is about, if it says so."""
    named = re.search(r"op_type:(\w+)(?:, node name: ([^)]*))?\)", said) or re.search(
        r"node: (?:name: )?(?P<name>.*?) ?OpType: (?P<type>\w+)", said
    )
    text = re.sub(r"\s+", " ", re.sub(r"==> Context:.*", "", said, flags=re.DOTALL)).strip()
    text = re.split(r"\[\w+Error\]", text)[-1].strip()[:300]
    if named is not None:
        kind, name = (named[1], named[2]) if "name" not in named.groupdict() else (named["type"], named["name"])
        for number, node in enumerate(model.graph.node):
            if node.op_type == kind and node.name == (name or ""):
                span, help = node_spans(path, model)[number], "correct the model: its inputs do not fit the operator"
                return input_error("PL0182", f"{node_label(number, node)}: {text}", span=span, help=help)
    help = "correct the model: `onnx.checker.check_model(model, full_check=True)` says the same"
    return input_error("PL0182", f"'{path}' is no valid model: {text}", help=help)
