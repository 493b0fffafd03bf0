# SPDX-License-Identifier: Apache-2.0
"""What the user fixes when a model is read, by `--set NAME=VALUE`: sizes, and integer inputs that give shapes, axes or
indices, as numbers with commas between them or as a NumPy file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from polyloom import npy
from polyloom.diagnostics import USAGE, Diagnostic, PolyloomError, nearest
from polyloom.frontend.onnx.read_file import require_package
from polyloom.frontend.onnx.tensors import Known

if TYPE_CHECKING:
    from onnx import ModelProto, TypeProto


@dataclass(frozen=True, slots=True)
class Settings:
    """Values of sizes, and of inputs."""

    sizes: Mapping[str, int] = field(default_factory=dict[str, int])
    inputs: Mapping[str, Known] = field(default_factory=dict[str, Known])


def read_settings(path: str, model: ModelProto, texts: Sequence[str]) -> Settings:
    """Settings of texts `NAME=VALUE`. Errors: PL0801."""
    given = dict[str, str]()
    for text in texts:
        name, equals, value = text.rpartition("=") if "=" in text else (text, "", "")
        if not equals or not name or not value:
            raise _usage(f"'{text}' sets nothing", "write --set NAME=VALUE")
        given[name] = value
    inputs = {each.name: each.type for each in model.graph.input}
    dims = {d.dim_param for t in inputs.values() for d in t.tensor_type.shape.dim if d.dim_param}
    unknown = [name for name in given if name not in inputs and name not in dims]
    if unknown:
        help = nearest(unknown[0], sorted({*inputs, *dims}), "name")
        raise _usage(f"'{path}' has no size and no input `{unknown[0]}`", help)
    sizes = {name: _size(name, text) for name, text in given.items() if name in dims}
    return Settings(sizes, {n: _elements(n, t, inputs[n]) for n, t in given.items() if n not in dims})


def _usage(message: str, help: str) -> PolyloomError:
    return PolyloomError(Diagnostic("PL0801", message, USAGE, help=help))


def _size(name: str, text: str) -> int:
    if not text.isdecimal() or len(text) > 9:
        raise _usage(f"the size {name} is '{text[:40]}'", f"give a number from 0 on: --set {name}=16")
    return int(text)


def _elements(name: str, text: str, declared: TypeProto) -> Known:
    """Elements of an input: of a file, or of numbers; one without a comma is a scalar where the input is one."""
    onnx = require_package()
    held: np.dtype[Any] = np.dtype(onnx.helper.tensor_dtype_to_np_dtype(declared.tensor_type.elem_type))
    if held.kind not in "biuf":
        raise _usage(f"the input {name} has elements of the type {held}", f"give it when it runs: --in {name}=FILE.npy")
    if text.endswith(".npy"):
        return _check_shape(name, np.asarray(npy.read(text)).astype(held), declared)
    try:
        numbers = [(float if held.kind == "f" else int)(each) for each in text.split(",") if each]
        found = np.array(numbers, held)
    except (ValueError, OverflowError):
        raise _usage(f"the input {name} is '{text[:40]}'", f"write numbers: --set {name}=1,2,3") from None
    rank = len(declared.tensor_type.shape.dim) if declared.tensor_type.HasField("shape") else 1
    return _check_shape(name, found.reshape(()) if rank == 0 and found.size == 1 else found, declared)


def _check_shape(name: str, found: Known, declared: TypeProto) -> Known:
    """Elements in the shape that the model declares. Errors: PL0801."""
    if not declared.tensor_type.HasField("shape"):
        return found
    wanted = [int(dim.dim_value) if dim.HasField("dim_value") else -1 for dim in declared.tensor_type.shape.dim]
    is_free = len(wanted) == found.ndim and all(n in (-1, own) for n, own in zip(wanted, found.shape, strict=True))
    if is_free:
        return found
    if -1 not in wanted and found.ndim == 1 and int(np.prod(wanted)) == found.size:
        return found.reshape(wanted)
    shape = ", ".join("?" if n < 0 else str(n) for n in wanted)
    raise _usage(f"the input {name} has the shape [{shape}], not {[*found.shape]}", "give all of its elements")
