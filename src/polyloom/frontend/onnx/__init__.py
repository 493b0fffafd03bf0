# SPDX-License-Identifier: Apache-2.0
"""ONNX models as programs of whole arrays (docs/onnx.md): `load_model` on a page.

file -> ModelProto        read_file.py: the protocol buffer, its versions, data beside it
     -> inferred model    child.py, in a process of its own: check, functions inlined, shapes
     -> ir.arrays         graph.py: names, sizes, nodes in their order; fold_integers.py: what is known then;
                          operators.py: the table from operators to expressions of arrays, one file per family
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from polyloom.frontend.array_source import ArraySource
from polyloom.frontend.onnx.graph import check_inputs, lower_graph
from polyloom.frontend.onnx.operators import NAMES
from polyloom.frontend.onnx.read_file import FileModel, Prepare, check_operators, infer_shapes, initializers, read_model
from polyloom.frontend.onnx.settings import Settings, read_settings
from polyloom.frontend.source import Options
from polyloom.recursion import with_deep_stack

if TYPE_CHECKING:
    from onnx import ModelProto

__all__ = ["load_model", "lower_model"]


def load_model(path: str, options: Options, prepare: Prepare | None = None) -> ArraySource:
    """The program that the model in a file is; `prepare` stands for the process of its own. Errors: PL018x."""
    found = read_model(path)
    return _lower_file(path, found, options.data, read_settings(path, found.model, options.values), prepare)


def lower_model(
    path: str, model: ModelProto, files: Sequence[str], settings: Settings, prepare: Prepare | None = None
) -> ArraySource:
    """The program of a model; `files` may have data of it. Errors: PL0181 to PL0188."""
    return _lower_file(path, FileModel(model, {}), files, settings, prepare)


def _lower_file(
    path: str, found: FileModel, files: Sequence[str], settings: Settings, prepare: Prepare | None
) -> ArraySource:
    model, elements = found.model, initializers(path, found, files)
    check_inputs(path, model, elements, settings)
    check_operators(path, model)
    inferred = infer_shapes(path, model, sorted(NAMES), prepare)
    return with_deep_stack(lower_graph)(path, inferred, elements, settings)
