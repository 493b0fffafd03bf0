# SPDX-License-Identifier: Apache-2.0
"""Constant folding by interpretation: a node whose operands are all known is lowered to a program of its own, which
`ir.arrays.interpret` computes when the graph is compiled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod
from typing import Final

from polyloom.frontend.onnx.node import Graph, Node, Operator
from polyloom.frontend.onnx.tensors import NUMPY_KINDS, Tensor, as_number, extent
from polyloom.frontend.python.arrays.builder import Builder
from polyloom.ir.arrays.interpret import interpret
from polyloom.ir.arrays.program import Program, Read, Store, axes, dtype
from polyloom.ir.nest import Storage
from polyloom.names import fresh_name
from polyloom.sets import Condition, Polyhedron

_MOST: Final = 4096
"""Elements of a tensor that is folded, at most."""


def evaluate_constants(node: Node, lower: Operator) -> Sequence[Tensor | None] | None:
    """What a node of known operands gives; None where one is data, or large."""
    given = [each for each in node.operands if each is not None]
    # A source of numbers has no operands: what it gives may be large.
    if not given or any(each.known is None or each.known.dtype == object for each in given):
        return None
    if any(each.known is not None and each.known.size > _MOST for each in given):
        return None
    graph = Graph(Builder(set()))
    operands = tuple(None if each is None else replace(each, value=None) for each in node.operands)
    found = lower(replace(node, operands=operands, graph=graph, results=("y",) * len(node.results)))
    tensors: Sequence[Tensor | None] = (found,) if isinstance(found, Tensor) else found
    return None if any(_is_large(each) for each in tensors) else [_evaluate(each, graph) for each in tensors]


def _is_large(tensor: Tensor | None) -> bool:
    if tensor is None:
        return False
    sizes = [as_number(each) for each in tensor.shape]
    return any(size is None for size in sizes) or prod(size or 0 for size in sizes) > _MOST


def _evaluate(tensor: Tensor | None, graph: Graph) -> Tensor | None:
    if tensor is None or tensor.value is None:
        return tensor
    shape = tensor.shape or (extent(1),)
    name = fresh_name("result", graph.build.taken)
    result = Storage(name, dtype(tensor.value), shape)
    whole = Read(name, result.dtype, (extent(0),) if not tensor.shape else axes(len(shape)), tensor.shape)
    storage = (*graph.build.storage.values(), result)
    body = (*graph.build.statements, Store(whole, tensor.value))
    program = Program("constants", (), Condition((Polyhedron(),)), storage, body)
    found = interpret(program, {}, graph.constants)[name]
    sizes = [as_number(each) or 0 for each in tensor.shape]
    return Tensor(tensor.kind, tensor.shape, None, found.reshape(sizes).astype(NUMPY_KINDS[tensor.kind]))
