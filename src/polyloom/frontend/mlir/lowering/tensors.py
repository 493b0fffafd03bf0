# SPDX-License-Identifier: Apache-2.0
"""Tensors as arrays: a result is a new array, or the array of its destination where nothing reads that any more
(bufferization in destination-passing style; MLIR documentation, Bufferization).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.dialects import builtin
from xdsl.ir import Block, Operation, SSAValue

from polyloom.frontend.loops.tree import Node
from polyloom.frontend.mlir.element_types import is_kind
from polyloom.frontend.mlir.lowering.memory import Memory
from polyloom.frontend.mlir.lowering.values import Number, View, combine, element_node, integer


class Tensors(Memory):
    """Operations on tensors, and conversions between tensors and memrefs."""

    def is_last_use(self, view: View, operation: Operation) -> bool:
        """Whether nothing reads an array's elements after an operation that replaces them."""
        # Arguments and memrefs have users that are not in this function.
        if view.identity not in self.owned:
            return False
        for value, found in self.frame.values.items():
            if isinstance(found, View) and found.identity == view.identity and not self.is_dead(value, operation):
                return False
        return True

    def is_dead(self, value: SSAValue, operation: Operation) -> bool:
        """Whether no operation but this one, once, uses a value that is known now."""
        users = [use.operation for use in value.uses]
        # An operation that takes the tensor twice reads the one while it writes the other.
        if users.count(operation) > 1:
            return False
        inside = operation
        block = value.owner if isinstance(value.owner, Block) else value.owner.parent
        # A loop around the operation, within which the value does not begin, uses it again in its next turn.
        while inside.parent is not None and inside.parent is not block:
            inside = inside.parent.parent_op()  # pyright: ignore[reportAssignmentType]: a block of a function has one
            if inside is None:
                return False
        around = set[Operation]() if inside is operation else {inside}
        if around and any(_encloses(user, inside) and user is not inside for user in users):
            return False
        return all(user in self.frame.done or user is operation or user in around for user in users)

    def destination(self, value: SSAValue, operation: Operation, *, keeps: bool) -> View:
        """The array into which a result goes whose initial elements are those of `value`; with `keeps`, these are
        needed."""
        view = self.view(value)
        if self.is_last_use(view, operation):
            return view
        name = self.name_hint(operation.results[0]) if operation.results else "t"
        made = self.local_array(name, view.dtype, view.shape, operation)
        if keeps:
            self.copy_elements(view, made, self.span(operation))
        return made

    def empty_tensor(self, operation: Operation) -> None:
        """tensor.empty and bufferization.alloc_tensor."""
        result: Any = operation.results[0]
        dtype = self.array_type(result.type, operation)
        shape = self.extents(result.type, tuple(operation.operands), operation)
        self.frame.values[result] = self.local_array(self.name_hint(result), dtype, shape, operation)

    def alloc_tensor(self, operation: Operation) -> None:
        counts: Any = operation.properties["operandSegmentSizes"]
        dynamic, copied, _ = counts.get_values()
        result: Any = operation.results[0]
        # The operand behind the dynamic extents is copied, and gives its shape.
        if copied:
            source = self.view(operation.operands[int(dynamic)])
            made = self.local_array(self.name_hint(result), source.dtype, source.shape, operation)
            self.copy_elements(source, made, self.span(operation))
            self.frame.values[result] = made
            return
        dtype = self.array_type(result.type, operation)
        shape = self.extents(result.type, tuple(operation.operands[:dynamic]), operation)
        self.frame.values[result] = self.local_array(self.name_hint(result), dtype, shape, operation)

    def insert(self, operation: Operation) -> None:
        """tensor.insert: a store into the destination."""
        value, at = self.data(operation.operands[0], operation)[0], self.span(operation)
        made = self.destination(operation.operands[1], operation, keeps=True)
        # Values that were read from the old elements are computed before the store.
        self.flush(frozenset({made.identity}), operation, exempt=True)
        value = self.data(operation.operands[0], operation)[0]
        indices = self.map_operands(operation.operands[2:], operation)
        self.assign(element_node(made, indices, at), value, at)
        self.frame.values[operation.results[0]] = made

    def splat(self, operation: Operation) -> None:
        result: Any = operation.results[0]
        value, at = self.data(operation.operands[0], operation)[0], self.span(operation)
        dtype = self.array_type(result.type, operation)
        shape = self.extents(result.type, tuple(operation.operands[1:]), operation)
        made = self.local_array(self.name_hint(result), dtype, shape, operation)
        with self.loop_nest(shape, at) as indices:
            self.assign(element_node(made, indices, at), value, at)
        self.frame.values[result] = made

    def from_elements(self, operation: Operation) -> None:
        result: Any = operation.results[0]
        at, extents = self.span(operation), result.type.get_shape()
        dtype = self.array_type(result.type, operation)
        made = self.local_array(self.name_hint(result), dtype, [integer(n, at) for n in extents], operation)
        for position, operand in enumerate(operation.operands):
            indices, rest = list[Node](), position
            for extent in reversed(extents):
                indices.insert(0, integer(rest % extent, at))
                rest //= extent
            self.assign(element_node(made, indices, at), self.data(operand, operation)[0], at)
        self.frame.values[result] = made

    def extract_slice(self, operation: Operation) -> None:
        view = self.view(operation.operands[0])
        self.frame.values[operation.results[0]] = self.slice_view(view, operation, 1, operation.results[0].type)

    def insert_slice(self, operation: Operation) -> None:
        """tensor.insert_slice: a copy into a part of the destination."""
        source: Any = operation.operands[0]
        made = self.destination(operation.operands[1], operation, keeps=True)
        part = self.slice_view(made, operation, 2, source.type)
        self.flush(frozenset({made.identity}), operation, exempt=True)
        self.copy_elements(self.view(source), part, self.span(operation))
        self.frame.values[operation.results[0]] = made

    def concatenate(self, operation: Operation) -> None:
        """tensor.concat: each operand behind the one before it."""
        dim: Any = operation.properties["dim"]
        axis, at = int(dim.value.data), self.span(operation)
        views = [self.view(o) for o in operation.operands]
        total: Node = views[0].shape[axis]
        for view in views[1:]:
            total = combine("+", total, view.shape[axis], at)
        shape = [total if n == axis else s for n, s in enumerate(views[0].shape)]
        made = self.local_array(self.name_hint(operation.results[0]), views[0].dtype, shape, operation)
        start = integer(0, at)
        for view in views:
            begin = start

            def place(indices: Sequence[Node], begin: Node = begin) -> tuple[Node, ...]:
                return tuple(combine("+", begin, i, at) if n == axis else i for n, i in enumerate(indices))

            self.copy_elements(view, View(made.identity, made.name, made.dtype, place, view.shape), at)
            start = combine("+", start, view.shape[axis], at)
        self.frame.values[operation.results[0]] = made

    def pad(self, operation: Operation) -> None:
        """tensor.pad: the padding everywhere, then the source in its place."""
        source, at = self.view(operation.operands[0]), self.span(operation)
        counts: Any = operation.properties["operandSegmentSizes"]
        _, low, high = counts.get_values()
        lows = self.mixed_integers(operation, "static_low", operation.operands[1 : 1 + low])
        highs = self.mixed_integers(operation, "static_high", operation.operands[1 + low : 1 + low + high])
        sides = zip(lows, source.shape, highs, strict=True)
        shape = [combine("+", combine("+", a, s, at), b, at) for a, s, b in sides]
        made = self.local_array(self.name_hint(operation.results[0]), source.dtype, shape, operation)
        block = operation.regions[0].block
        with self.loop_nest(shape, at) as indices:
            # The body is a function of the index in the padded tensor (MLIR language reference, tensor.pad).
            for argument, index in zip(block.args, indices, strict=True):
                self.frame.values[argument] = Number("i32", None, index)
            self.run_block(block)
            last = block.last_op
            assert last is not None
            self.assign(element_node(made, indices, at), self.data(last.operands[0], operation)[0], at)

        def place(indices: Sequence[Node]) -> tuple[Node, ...]:
            return tuple(combine("+", a, i, at) for a, i in zip(lows, indices, strict=True))

        self.copy_elements(source, View(made.identity, made.name, made.dtype, place, source.shape), at)
        self.frame.values[operation.results[0]] = made

    def to_tensor(self, operation: Operation) -> None:
        """bufferization.to_tensor: the elements as they are now."""
        view, result = self.view(operation.operands[0]), operation.results[0]
        # Not the uses of this name alone: the memref may have others, of which this one is a part.
        if not self.has_later_uses(operation):
            self.frame.values[result] = view
            return
        self.frame.values[result] = self.copy_array(view, result, operation)

    def has_later_uses(self, operation: Operation) -> bool:
        """Whether the memref behind a tensor has uses that are not lowered yet."""
        view = self.view(operation.operands[0])
        later = (
            use.operation
            for value, found in self.frame.values.items()
            if isinstance(found, View) and found.identity == view.identity
            for use in value.uses
        )
        return any(user is not operation and user not in self.frame.done for user in later)

    def to_buffer(self, operation: Operation) -> None:
        """bufferization.to_buffer, formerly to_memref: what is read only needs no array of its own."""
        view, result = self.view(operation.operands[0]), operation.results[0]
        # A buffer that is written to may not change the tensor, which is a value.
        is_read = "read_only" in operation.properties or self.is_last_use(view, operation)
        self.frame.values[result] = view if is_read else self.copy_array(view, result, operation)

    def clone(self, operation: Operation) -> None:
        result = operation.results[0]
        self.frame.values[result] = self.copy_array(self.view(operation.operands[0]), result, operation)

    def copy_array(self, view: View, result: SSAValue, operation: Operation) -> View:
        made = self.local_array(self.name_hint(result), view.dtype, view.shape, operation)
        self.copy_elements(view, made, self.span(operation))
        return made

    def materialize_in_destination(self, operation: Operation) -> None:
        source, target = (self.view(o) for o in operation.operands)
        for one, other in zip(source.shape, target.shape, strict=True):
            self.equate_extents(one, other, operation)
        self.flush(frozenset({target.identity}), operation)
        self.copy_elements(source, target, self.span(operation))
        for result in operation.results:
            self.frame.values[result] = target

    def scalar_operation(self, operation: Operation) -> None:
        """arith and math, on tensors element by element."""
        kind: Any = operation.results[0].type
        if is_kind(kind, builtin.VectorType | builtin.MemRefType):
            message = f"{operation.name} gives a value of the type {kind}, which no variable holds"
            raise self.refuse("PL0173", message, operation, "write it on scalars, or on tensors")
        if not is_kind(kind, builtin.TensorType):
            super().scalar_operation(operation)
            return
        value: Any = operation.properties.get("value")
        result, at = operation.results[0], self.span(operation)
        if is_kind(value, builtin.DenseIntOrFPElementsAttr):
            self.frame.values[result] = self.table(value, result, self.name_hint(result), operation)
            return
        if not operation.operands:
            help = "write them in the text: `dense<[1.0, 2.0]>`"
            raise self.refuse("PL0173", f"{operation.name} has elements that are not in the text", operation, help)
        views = {o: self.frame.values[o] for o in operation.operands}
        shape = next(v.shape for v in views.values() if isinstance(v, View))
        made = self.local_array(self.name_hint(result), self.array_type(kind, operation), shape, operation)
        with self.loop_nest(shape, at) as indices:
            for operand, view in views.items():
                if isinstance(view, View):
                    # For this operation each operand stands for one element; what it is otherwise comes back below.
                    node = element_node(view, indices, at)
                    self.frame.values[operand] = Number(view.dtype, node, reads=frozenset({view.identity}))
            super().scalar_operation(operation)
            found = self.number_data(self.number(result), operation, str(kind))[0]
            self.assign(element_node(made, indices, at), found, at)
        self.frame.values |= views
        self.frame.values[result] = made


def _encloses(operation: Operation, around: Operation) -> bool:
    found: Operation | None = operation
    while found is not None and found is not around:
        found = found.parent_op()
    return found is around
