# SPDX-License-Identifier: Apache-2.0
"""A graph as a program of whole arrays: sizes and arrays of its inputs, its nodes in their order, its outputs.

Every value of a node is a local array of its name, but for views and for what is known when the graph is compiled; the
middle end fuses what is read once (`transform.arrays.fusion`). The text that places point into has a line per node.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from keyword import iskeyword
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from polyloom.diagnostics import Span, input_error
from polyloom.frontend.array_source import ArraySource
from polyloom.frontend.onnx.elementwise import INT64, element_kind, type_name
from polyloom.frontend.onnx.fold_integers import FOLDING
from polyloom.frontend.onnx.interpret_constants import evaluate_constants
from polyloom.frontend.onnx.node import Graph, Node, node_label, node_spans
from polyloom.frontend.onnx.operators import COMPUTED_IN_SINGLE, OPERATORS
from polyloom.frontend.onnx.read_file import tensor_elements
from polyloom.frontend.onnx.settings import Settings
from polyloom.frontend.onnx.tensors import (
    Known,
    Tensor,
    UntypedOperation,
    convert,
    data,
    extent,
    find_kind,
    held_type,
    known_tensor,
    widen_elements,
)
from polyloom.frontend.python.arrays.builder import Builder
from polyloom.ir.arrays.program import Program, Read, Statement, Store, axes, dtype, parts, read_array, with_parts
from polyloom.ir.arrays.program import Value as ArrayValue
from polyloom.ir.nest import Storage
from polyloom.ir.nest_c import default_assumptions
from polyloom.ir.operations import FLOATS
from polyloom.names import fresh_name
from polyloom.sets import Affine, Condition, Polyhedron
from polyloom.sets.normal_form import conjunction

if TYPE_CHECKING:
    from onnx import ModelProto, NodeProto, ValueInfoProto

_HALF: Final = 10
"""TensorProto.FLOAT16."""
_CONVERTING: Final = frozenset(("Cast", "CastLike", "DequantizeLinear"))
"""Operators whose result has another type than their operand."""
_LEAVES: Final = "loops, sequences, optional values and strings"


def lower_graph(path: str, model: ModelProto, elements: Mapping[str, Known], settings: Settings) -> ArraySource:
    """The program of an inferred model, with the `elements` of its initializers. Errors: PL0182 to PL0186."""
    reader = _Reader(path, model, elements, settings)
    reader.inputs()
    for number, node in enumerate(model.graph.node):
        reader.lower(node, reader.spans[number], node_label(number, node))
    return reader.source()


def check_inputs(path: str, model: ModelProto, elements: Mapping[str, Known], settings: Settings) -> None:
    """Check inputs before native code does, which says less. Errors: PL0185, PL0186."""
    _Reader(path, model, elements, settings).inputs()


def identifier(name: str, taken: set[str]) -> str:
    """A name of ONNX, any text, as one that parameters and arrays may have."""
    found = re.sub(r"\W", "_", name, flags=re.ASCII).strip("_") or "t"
    found = f"t{found}" if found[0].isdigit() else found
    return fresh_name(f"{found}_" if iskeyword(found) else found, taken)


class _Reader:
    """`tensors` are those that are known so far, by ONNX's names (mutable)."""

    def __init__(self, path: str, model: ModelProto, elements: Mapping[str, Known], settings: Settings) -> None:
        self.path, self.model, self.elements, self.settings = path, model, elements, settings
        self.tensors = dict[str, Tensor]()
        # Initializers of types that no machine has, until a node converts them.
        self.untyped = dict[str, Known]()
        self.sizes, self.outputs = dict[str, str](), dict[str, str]()
        self.taken = set[str]()
        # Results that nobody reads have no name: optional outputs are not computed.
        read = {name for node in model.graph.node for name in node.input}
        self.used = read | {output.name for output in model.graph.output}
        self.graph = Graph(Builder(self.taken))
        self.spans = node_spans(path, model)
        # What shape inference says, also of types.
        inferred = (*model.graph.value_info, *model.graph.output)
        self.declared = {each.name: each.type.tensor_type.elem_type for each in inferred}
        self.versions = {each.domain or "ai.onnx": each.version for each in model.opset_import}

    # Inputs

    def inputs(self) -> None:
        # Names of outputs are taken before all others, so that users find those that the model says. An output that is
        # also an input is a copy of it, with a name of its own.
        given = {each.name for each in self.model.graph.input}
        for each in self.model.graph.output:
            if each.name not in self.outputs:
                name = f"{each.name}_out" if each.name in given else each.name
                self.outputs[each.name] = identifier(name, self.taken)
        # Names of sizes first: users give them by name.
        for each in self.model.graph.input:
            for dim in each.type.tensor_type.shape.dim:
                if dim.dim_param and dim.dim_param not in self.settings.sizes and dim.dim_param not in self.sizes:
                    self.sizes[dim.dim_param] = identifier(dim.dim_param, self.taken)
        for each in self.model.graph.input:
            # An initializer of the same name is the input's default: it is data here, which a user may still give.
            if each.name not in self.elements:
                self.tensors[each.name] = self.input(each)
        for name, array in self.elements.items():
            if find_kind(array.dtype) is None:
                self.untyped[name] = array
            else:
                self.tensors[name] = self.initializer(name, array)

    def input(self, of: ValueInfoProto) -> Tensor:
        if of.type.WhichOneof("value") != "tensor_type":
            kind = str(of.type.WhichOneof("value")).removesuffix("_type")
            message = f"the input `{of.name}` of '{self.path}' is of the kind {kind}"
            raise input_error("PL0186", message, help=f"use tensors: {_LEAVES} are not read")
        # What is bound is no input any more.
        given = self.settings.inputs.get(of.name)
        if given is not None and find_kind(given.dtype) is not None:
            return known_tensor(given)
        if of.type.tensor_type.elem_type == INT64:
            message = f"the input `{of.name}` of '{self.path}' has 64-bit integers, which no machine has"
            help = f"if it gives a shape, axes or indices, fix it: `--set {of.name}=1,2`; else declare it as int32"
            raise input_error("PL0185", message, help=help)
        kind = element_kind(of.type.tensor_type.elem_type)
        if kind is None:
            name = type_name(of.type.tensor_type.elem_type)
            message = f"the input `{of.name}` of '{self.path}' has elements of the type {name}, which no machine has"
            raise input_error("PL0185", message, help="use float, float16, double, bool or integers up to 32 bits")
        if not of.type.tensor_type.HasField("shape"):
            message = f"the input `{of.name}` of '{self.path}' has no shape"
            raise input_error("PL0186", message, help="export the model with a shape for every input")
        shape = tuple(self.dimension(of.name, n, dim) for n, dim in enumerate(of.type.tensor_type.shape.dim))
        storage = Storage(identifier(of.name, self.taken), kind, shape, writable=bool(shape))
        self.graph.build.storage[storage.name] = storage
        return data(read_array(storage))

    def dimension(self, name: str, axis: int, dim: Any) -> Affine:
        if dim.WhichOneof("value") == "dim_value":
            return extent(dim.dim_value)
        if dim.dim_param in self.settings.sizes:
            return extent(self.settings.sizes[dim.dim_param])
        label = dim.dim_param or f"{name}_{axis}"
        if label not in self.sizes:
            self.sizes[label] = identifier(label, self.taken)
        return Affine.symbol(self.sizes[label])

    def initializer(self, name: str, array: Known) -> Tensor:
        """Data of the model; few numbers may give shapes."""
        tensor = known_tensor(array)
        # A scalar is written into the expressions that read it; integers of 64 bits may be shapes.
        if tensor.kind == "i64" or array.size <= 1:
            return tensor
        # Many elements are an array that the host gives, under its name.
        read = self.graph.constant_array(np.asarray(array), identifier_base(name))
        return replace(data(read), known=array if array.size <= _FOLDED else None)

    # Nodes

    def lower(self, node: NodeProto, span: Span, label: str) -> None:
        found = self.node(node, span, label)
        try:
            tensors = self.evaluate(found, node.output)
        except UntypedOperation as error:
            message = f"{label}: no machine has {error}"
            raise input_error("PL0185", message, span=span, help="cast its operands to float") from None
        except (IndexError, ValueError, ZeroDivisionError, OverflowError):
            # The package's check lets ranks and attributes pass that no operator has.
            help = "correct the model; if the package onnx runs it, report it with the file"
            message = f"{label}: its operands or attributes are not those of the operator"
            raise input_error("PL0182", message, span=span, help=help) from None
        for name, tensor in zip(node.output, tensors, strict=False):
            if name and tensor is not None:
                self.tensors[name] = self.keep(found, name, tensor)

    def node(self, node: NodeProto, span: Span, label: str) -> Node:
        operands = tuple(self.operand(name, node.op_type, label, span) for name in node.input)
        attributes = {each.name: self.attribute(each, label, span) for each in node.attribute}
        version = self.versions.get(node.domain or "ai.onnx", 1)
        results = tuple(identifier_base(name) if name in self.used else "" for name in node.output)
        return Node(node.op_type, version, operands, attributes, results, self.graph, span, label)

    def operand(self, name: str, operator: str, label: str, span: Span) -> Tensor | None:
        if not name:
            return None
        found = self.tensors.get(name)
        if found is None and name in self.untyped:
            found = self.widened(name, operator, label, span)
        if found is None:
            message = f"{label}: `{name}` has no value here"
            raise input_error("PL0182", message, span=span, help="order the nodes, each behind those that it reads")
        return found

    def widened(self, name: str, operator: str, label: str, span: Span) -> Tensor:
        """An initializer of a type that no machine has, as an operand of a node that converts it. Raises PL0185."""
        array = self.untyped[name]
        found = widen_elements(array) if operator in _CONVERTING else None
        # DequantizeLinear computes differences of integers here.
        if found is None or (operator == "DequantizeLinear" and found.kind in FLOATS):
            of = "string" if array.dtype == object else array.dtype.name
            message = f"{label}: `{name}` has elements of the type {of}, which no machine has"
            help = "store float, float16, double, bool or integers up to 32 bits, or cast it first"
            raise input_error("PL0185", message, span=span, help=help)
        return found

    def attribute(self, of: Any, label: str, span: Span) -> Any:
        from onnx import AttributeProto, helper

        if of.type in (AttributeProto.GRAPH, AttributeProto.GRAPHS):
            help = "unroll the loop, or export the model without control flow"
            raise input_error("PL0186", f"{label}: it has a graph within it", span=span, help=help)
        if of.type == AttributeProto.TENSOR:
            return tensor_elements(self.path, of.t, {})
        return helper.get_attribute_value(of)

    def evaluate(self, node: Node, outputs: Sequence[str]) -> Sequence[Tensor | None]:
        """Folded where all that it needs is known, else by the table."""
        # Folding comes first: it also gives what no machine could compute.
        fold = FOLDING.get(node.operator)
        if fold is not None and (found := fold(node)) is not None:
            return (found,) if isinstance(found, Tensor) else found
        lower = OPERATORS.get(node.operator)
        if lower is None:
            help = "docs/onnx.md lists the operators; compute it with those"
            node.fail("PL0183", f"the operator {node.operator} is not read", help)
        folded = evaluate_constants(node, lower)
        if folded is not None:
            return folded
        if node.operator not in COMPUTED_IN_SINGLE:
            return as_tensors(lower(node))
        return compute_in_single(node, lower, [self.declared.get(name) in (None, _HALF) for name in outputs])

    def keep(self, node: Node, name: str, tensor: Tensor) -> Tensor:
        """A tensor that other nodes read: under its name, unless it costs nothing."""
        # What is known stays known, and becomes an array where somebody reads it as data.
        if tensor.value is None:
            return tensor
        return replace(tensor, value=node.local(tensor.value, identifier_base(name)))

    # Outputs

    def source(self) -> ArraySource:
        build, names = self.graph.build, dict[str, str]()
        for output in self.outputs:
            self.output(output, names)
        storage, body = _name_results(tuple(build.storage.values()), tuple(build.statements), names)
        parameters = tuple(self.sizes.values())
        passed = [s for s in storage if s.role == "argument"]
        known_sizes = Condition((Polyhedron(tuple(build.assumptions)),))
        domain = conjunction(default_assumptions(parameters, passed), known_sizes)
        title = identifier(self.model.graph.name or "model", {*self.taken})
        span = self.spans[0] if self.spans else None
        program = Program(title, parameters, domain, storage, body, span)
        used = {read.name for store in build.statements for read in _reads(store)}
        constants = {n: a for n, a in self.graph.constants.items() if n in used}
        kept = tuple(s for s in storage if s.name not in self.graph.constants or s.name in used)
        return ArraySource(self.path, replace(program, storage=kept), constants)

    def output(self, name: str, names: dict[str, str]) -> None:
        """An output: the local array that holds it becomes an argument, else it is copied."""
        build, tensor = self.graph.build, self.tensors.get(name)
        if name in self.untyped:
            of = "string" if self.untyped[name].dtype == object else self.untyped[name].dtype.name
            message = f"the output `{name}` of '{self.path}' has elements of the type {of}, which no machine has"
            raise input_error("PL0185", message, help="cast it to float")
        if tensor is None:
            message = f"the output `{name}` of '{self.path}' has no value"
            raise input_error("PL0182", message, help="give it a node")
        span = self.spans[-1] if self.spans else None
        node = Node("Identity", 1, (tensor,), {}, (name,), self.graph, span, f"output `{name}`")
        value = node.value()
        local = build.storage.get(value.name) if isinstance(value, Read) else None
        # A local that two outputs show, or that an output shows in part, is copied instead.
        if local is not None and local.role == "local" and local.name not in names and _shows_array(value, local):
            names[local.name] = self.outputs[name]
            return
        held = build.array(identifier_base(name), dtype(value), tensor.shape or (extent(1),), span)
        target = held if tensor.shape else Read(held.name, held.dtype, (Affine(),), (), span)
        build.statements.append(Store(target, value, span))
        names[held.name] = self.outputs[name]


def identifier_base(name: str) -> str:
    """An identifier for a name of ONNX that need not be new yet."""
    return identifier(name, set())


def as_tensors(found: Tensor | Sequence[Tensor | None]) -> Sequence[Tensor | None]:
    return (found,) if isinstance(found, Tensor) else found


def compute_in_single(node: Node, lower: Any, halves: Sequence[bool]) -> Sequence[Tensor | None]:
    """Half precision is stored alone: computed in single, and rounded once per node; `halves` says which results are of
    it (statistics of a normalization, or a power of a single to a half, are not)."""
    # One rounding per node, as processors do that compute in single (and as ONNX's tolerances allow).
    if all(each is None or each.kind != "f16" for each in node.operands):
        return as_tensors(lower(node))
    operands = tuple(
        data(convert(node.elements(each), "f32")) if each is not None and each.kind == "f16" else each
        for each in node.operands
    )
    return [
        data(convert(each.value, "f16"))
        if each is not None and each.kind == "f32" and each.value is not None and half
        else each
        for each, half in zip(as_tensors(lower(replace(node, operands=operands))), halves, strict=False)
    ]


def _shows_array(value: ArrayValue, local: Storage) -> bool:
    if not isinstance(value, Read):
        return False
    is_scalar = not value.shape and local.shape == (extent(1),)
    return is_scalar or (value.index == axes(len(local.shape)) and value.shape == local.shape)


_FOLDED: Final = 4096
"""Elements of an array that is used as numbers when the graph is compiled, at most."""


def _reads(store: Statement) -> Iterator[Read]:
    from polyloom.ir.arrays.program import reads

    assert isinstance(store, Store)
    return reads(store.value)


def _name_results(
    storage: tuple[Storage, ...], body: tuple[Statement, ...], names: Mapping[str, str]
) -> tuple[tuple[Storage, ...], tuple[Statement, ...]]:
    """Results are arguments under their names, behind the others."""

    def value(found: ArrayValue) -> ArrayValue:
        if isinstance(found, Read):
            return replace(found, name=names.get(found.name, found.name))
        return with_parts(found, [value(part) for part in parts(found)])

    def store(found: Statement) -> Statement:
        assert isinstance(found, Store)
        to = replace(found.target, name=names.get(found.target.name, found.target.name))
        return replace(found, target=to, value=value(found.value))

    # Arguments of the user's come first, in the model's order: that is the order of a call from C.
    held = {s.name: s for s in storage}
    results = [replace(held[old], name=new, role="argument") for old, new in names.items()]
    others = [s for s in storage if s.name not in names]
    arguments, locals_ = ([s for s in others if s.role == role] for role in ("argument", "local"))
    return (*arguments, *results, *locals_), tuple(map(store, body))


__all__ = ["held_type", "identifier", "lower_graph"]
