# SPDX-License-Identifier: Apache-2.0
"""Nodes of a graph as operators see them: operands, attributes, its version, and the program that grows.

An operator is a function from a node to the tensors that it gives (`operators.py` has the table). Messages and
listings point into a text with a line per node, in ONNX's syntax without attributes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, NoReturn

import numpy as np

from polyloom.diagnostics import PolyloomError, Source, Span, input_error
from polyloom.frontend.onnx.tensors import (
    Known,
    Tensor,
    as_number,
    broadcast_shape,
    extent,
    held_type,
    is_free,
    spread,
    uniform_constant,
)
from polyloom.frontend.python.arrays.builder import Builder
from polyloom.ir.arrays.program import Read, Shape, Store, Value, dtype, element_view, read_array, shape
from polyloom.ir.nest import Storage
from polyloom.ir.numbers import NUMPY
from polyloom.ir.operations import ElementType
from polyloom.ir.pla import Constant
from polyloom.names import fresh_name
from polyloom.sets import Affine

if TYPE_CHECKING:
    from onnx import ModelProto, NodeProto

_SMALL = 2**31


@dataclass(slots=True)
class Graph:
    """The program that is being made: `build` has its arrays and statements, `constants` are the elements of arrays
    that the model brings (mutable)."""

    build: Builder
    constants: dict[str, Known] = field(default_factory=dict[str, Known])

    def constant_array(self, array: Known, name: str) -> Read:
        """An argument whose elements the model brings."""
        kind: ElementType = next(k for k, held in NUMPY.items() if held == array.dtype)
        storage = Storage(fresh_name(name, self.build.taken), kind, tuple(map(extent, array.shape)))
        self.build.storage[storage.name] = storage
        self.constants[storage.name] = array
        return read_array(storage)


@dataclass(frozen=True, slots=True)
class Node:
    """A node: `version` is that of its operator set, `results` the names of what it gives, "" where nobody reads it."""

    operator: str
    version: int
    operands: tuple[Tensor | None, ...]
    attributes: Mapping[str, Any]
    results: tuple[str, ...]
    graph: Graph
    span: Span | None = None
    label: str = ""

    def fail(self, code: str, message: str, help: str) -> NoReturn:
        raise self.error(code, message, help)

    def error(self, code: str, message: str, help: str) -> PolyloomError:
        return input_error(code, f"{self.label}: {message}", span=self.span, help=help)

    def refuse(
        self, what: str, help: str = "compute it with other operators, or leave it out of the model"
    ) -> NoReturn:
        """PL0184: the operator exists, and this use of it is not read."""
        self.fail("PL0184", what, help)

    # Operands

    def has_operand(self, number: int) -> bool:
        return number < len(self.operands) and self.operands[number] is not None

    def tensor(self, number: int = 0) -> Tensor:
        """An operand that must be there."""
        found = self.operands[number] if number < len(self.operands) else None
        if found is None:
            self.fail("PL0182", f"input {number} is missing", "give the operator all of its inputs")
        return found

    def value(self, number: int = 0) -> Value:
        """The elements of an operand."""
        return self.elements(self.tensor(number))

    def elements(self, of: Tensor) -> Value:
        """A tensor as an array value; what is known becomes a number, or an array that the model brings."""
        if of.value is not None:
            return of.value
        array, kind = self._held_array(of), held_type(of.kind)
        if array.size and bool(np.all(array == array.flat[0])):
            number = Constant(array.flat[0].item(), kind)
            return element_view(number, (), of.shape) if of.shape else number
        return self.graph.constant_array(array, f"{self.results[0] or 'constant'}_in")

    def _held_array(self, of: Tensor) -> Known:
        assert of.known is not None
        if of.known.dtype == object:
            help = "give the size when the model is read: `--set NAME=VALUE`"
            self.refuse("a size is used as data", help)
        if of.kind == "i64" and of.known.size and (of.known.min() < -_SMALL or of.known.max() >= _SMALL):
            self.refuse("integers of 64 bits are beyond those of 32", "store them as int32")
        return of.known.astype(NUMPY[held_type(of.kind)])

    def known_array(self, number: int) -> Known | None:
        """What an operand is known to be; None where it is data, or missing."""
        return self.tensor(number).known if self.has_operand(number) else None

    def integers(self, number: int, what: str) -> list[int] | None:
        """Integers that must be known when the graph is compiled; None where the operand is missing."""
        if not self.has_operand(number):
            return None
        found = self.known_array(number)
        if found is None:
            help = "make it a constant of the model, or an input that is bound when it is read: `--set NAME=1,2`"
            self.fail("PL0188", f"input {number}, the {what}, is data, and the program depends on it", help)
        numbers = [as_number(each) for each in found.reshape(-1)]
        if None in numbers:
            self.refuse(f"the {what} depend on sizes", "give the sizes when the model is read: `--set NAME=VALUE`")
        return [n for n in numbers if n is not None]

    def axis(self, number: int, rank: int) -> int:
        """An axis, counted from the end where it is negative."""
        if not -rank <= number < max(rank, 1):
            self.fail("PL0182", f"axis {number} of a tensor of rank {rank}", "give an axis that the tensor has")
        return number % max(rank, 1)

    # Attributes

    def integer(self, name: str, otherwise: int = 0) -> int:
        return int(self.attributes.get(name, otherwise))

    def number(self, name: str, otherwise: float) -> float:
        return float(self.attributes.get(name, otherwise))

    def text(self, name: str, otherwise: str) -> str:
        found = self.attributes.get(name, otherwise)
        return found.decode("utf-8", "replace") if isinstance(found, bytes) else str(found)

    def list(self, name: str) -> list[int] | None:
        found = self.attributes.get(name)
        return None if found is None else [int(each) for each in found]

    # Results

    def broadcast(self, *values: Value) -> list[Value]:
        """Values broadcast against each other; numbers stand as they are."""
        extents = self.common_shape([shape(value) for value in values])
        found = [
            number if (number := uniform_constant(value)) is not None else spread(value, extents) for value in values
        ]
        # Numbers have no extents: one of the operands must show those of the result.
        if extents and all(isinstance(each, Constant) for each in found):
            found[0] = element_view(found[0], (), extents)
        return found

    def common_shape(self, shapes: Sequence[Shape]) -> Shape:
        found = broadcast_shape(shapes)
        if found is None:
            texts = " and ".join(f"[{', '.join(map(str, each))}]" for each in shapes)
            help = "extents are equal, or 1; name equal sizes alike, or give them when the model is read: --set"
            self.fail("PL0182", f"the shapes {texts} do not agree", help)
        return found

    def local(self, value: Value, name: str = "") -> Value:
        """A value that costs nothing to read again: itself, or a local array."""
        if is_free(value):
            return value
        return (
            self.graph.build.local(value, self.span, name or self.results[0] or "t")
            if shape(value)
            else (self.scalar(value, name))
        )

    def scalar(self, value: Value, name: str = "") -> Value:
        """A number that is computed once, in an array of one element."""
        held = self.graph.build.array(name or self.results[0] or "t", dtype(value), (Affine((), 1),), self.span)
        found = Read(held.name, held.dtype, (Affine(),), (), self.span)
        self.graph.build.statements.append(Store(found, value, self.span))
        return found

    def assemble(self, extents: Shape, kind: ElementType, parts: Sequence[tuple[Sequence[Affine], Value]]) -> Value:
        """An array of parts: each value is stored at the map from its axes to the array."""
        held = self.graph.build.array(self.results[0] or "t", kind, extents, self.span)
        for index, value in parts:
            target = Read(held.name, kind, tuple(index), shape(value), self.span)
            self.graph.build.statements.append(Store(target, value, self.span))
        return held


Operator = Callable[[Node], Tensor | Sequence[Tensor | None]]


_LISTED: Final = 200
"""Characters of a line of the text."""


def node_text(node: NodeProto) -> str:
    """A node in ONNX's syntax."""
    line = f"{', '.join(node.output)} = {node.op_type}({', '.join(node.input)})"
    return re.sub(r"\s", " ", line)[:_LISTED]


def node_spans(path: str, model: ModelProto) -> list[Span]:
    """The line of each node."""
    lines = [node_text(node) for node in model.graph.node]
    source, found, at = Source(path, "\n".join(lines)), list[Span](), 0
    for line in lines:
        found.append(Span(source, at, at + len(line)))
        at += len(line) + 1
    return found


def node_label(number: int, node: NodeProto) -> str:
    """What messages call a node: its number, its name and its operator."""
    return f"node {number}{f' `{node.name}`' if node.name else ''} ({node.op_type})"
