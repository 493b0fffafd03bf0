# SPDX-License-Identifier: Apache-2.0
"""Memrefs as views of arrays: an element of a view is an element of its array, at an index that is affine in that of
the view (MLIR language reference, dialect memref).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from xdsl.dialects import builtin
from xdsl.ir import Operation, SSAValue

from polyloom.frontend.loops.tree import Node
from polyloom.frontend.mlir.element_types import DYNAMIC, UNSIGNED_OF, element_type, is_kind, layout_obstacle
from polyloom.frontend.mlir.lowering.integers import Integers, map_trees, operand_sign
from polyloom.frontend.mlir.lowering.scalars import convert
from polyloom.frontend.mlir.lowering.values import (
    Number,
    View,
    array_view,
    combine,
    element_node,
    integer,
    integer_constant,
)
from polyloom.ir.operations import ElementType
from polyloom.sets import Affine

UNSIGNED_MARK: Final = "polyloom.unsigned"
SIGNED_MARK: Final = "polyloom.signed"
"""Attributes of an array of integers without a sign, and with one."""


class Memory(Integers):
    """Loads, stores, allocations and views."""

    def array_type(self, kind: Any, operation: Operation) -> ElementType:
        """The element type of an array. Raises PL0173 for what has no extents or no elements of our types."""
        help = "element types are i1, integers of 8, 16 and 32 bits, index, f16, f32 and f64; use one of these"
        if is_kind(kind, builtin.UnrankedMemRefType | builtin.UnrankedTensorType):
            message = f"{kind} has no rank, so that no loop can run over it"
            raise self.refuse("PL0173", message, operation, "give the rank: memref<?x?xf32>")
        obstacle = layout_obstacle(kind)
        if obstacle is not None:
            help = "use `strided<[...]>`, or a map that permutes axes"
            raise self.refuse("PL0173", f"{obstacle} does not keep the axes of the array", operation, help)
        found = element_type(kind.element_type)
        if found is None:
            raise self.refuse("PL0173", f"elements of the type {kind.element_type} are no data", operation, help)
        return found

    def signed_type(self, value: SSAValue, dtype: ElementType, attributes: Any) -> ElementType:
        """The element type of a memref of signless integers: without a sign where an attribute says so, or where all
        operations on its elements that have a sign have none (type inference by uses)."""
        if UNSIGNED_MARK in attributes:
            return UNSIGNED_OF.get(dtype, dtype)
        if SIGNED_MARK in attributes:
            return dtype
        # Elements have the same bits either way; the sign is for the host, which passes and reads the array.
        loads = [use.operation for use in value.uses if use.operation.name in ("affine.load", "memref.load")]
        users = [use.operation for load in loads for use in load.results[0].uses]
        signs = {sign for user in users if (sign := operand_sign(user))}
        return UNSIGNED_OF.get(dtype, dtype) if signs == {"u"} and dtype != "bool" else dtype

    def extents(self, kind: Any, dynamic: Sequence[SSAValue], operation: Operation) -> list[Node]:
        """Extents of a type, with the values of the dynamic ones."""
        waiting, at = iter(dynamic), self.span(operation)
        return [
            self.integer_operand(next(waiting), operation) if n == DYNAMIC else integer(n, at) for n in kind.get_shape()
        ]

    def indices(self, operation: Operation, values: Sequence[SSAValue]) -> list[Node]:
        """Indices of an access, behind its map where it has one."""
        found = self.map_operands(values, operation)
        place: Any = operation.properties.get("map")
        return found if place is None else map_trees(place.data, found, self.span(operation))

    def load(self, operation: Operation) -> None:
        view = self.view(operation.operands[0])
        at, result = self.span(operation), operation.results[0]
        node = element_node(view, self.indices(operation, operation.operands[1:]), at)
        self.define(result, Number(view.dtype, node, reads=frozenset({view.identity})), operation)

    def store(self, operation: Operation) -> None:
        view, at = self.view(operation.operands[1]), self.span(operation)
        self.flush(frozenset({view.identity}), operation, exempt=True)
        value, dtype = self.data(operation.operands[0], operation)
        target = element_node(view, self.indices(operation, operation.operands[2:]), at)
        self.assign(target, convert(value, dtype, view.dtype, at), at)

    def allocate(self, operation: Operation) -> None:
        result: Any = operation.results[0]
        counts: Any = operation.properties.get("operandSegmentSizes")
        dynamic = operation.operands[: counts.get_values()[0]] if counts is not None else operation.operands
        dtype = self.signed_type(result, self.array_type(result.type, operation), operation.attributes)
        shape = self.extents(result.type, tuple(dynamic), operation)
        made = self.local_array(self.name_hint(result), dtype, shape, operation)
        # Unlike a tensor's array, that of an allocation is never taken for another result.
        # What has a name in the text is changed by its name alone.
        self.owned.discard(made.identity)
        self.frame.values[result] = made

    def dimension(self, operation: Operation) -> None:
        """memref.dim and tensor.dim."""
        view, number = self.view(operation.operands[0]), integer_constant(self.number(operation.operands[1]).integer)
        if number is None or number >= view.rank:
            help = f"give the number of an axis, from 0 to {view.rank - 1}, as a constant"
            raise self.refuse("PL0174", "the axis of a dimension is not known", operation, help)
        self.frame.values[operation.results[0]] = Number("i32", None, view.shape[number])

    def rank(self, operation: Operation) -> None:
        view = self.view(operation.operands[0])
        self.frame.values[operation.results[0]] = Number("i32", None, integer(view.rank, self.span(operation)))

    def forward(self, operation: Operation) -> None:
        """A cast, or another operation whose result is its operand."""
        found = self.view(operation.operands[0])
        self.array_type(operation.results[0].type, operation)
        self.frame.values[operation.results[0]] = found

    def mixed_integers(self, operation: Operation, name: str, dynamic: Sequence[SSAValue]) -> list[Node]:
        """Offsets, sizes or strides of which some are constants and some are values."""
        static: Any = operation.properties[name]
        waiting, at = iter(dynamic), self.span(operation)
        return [
            self.integer_operand(next(waiting), operation) if n == DYNAMIC else integer(n, at)
            for n in static.get_values()
        ]

    def slice_parts(self, operation: Operation, first: int) -> tuple[list[Node], list[Node], list[Node]]:
        """Offsets, sizes and strides of a subview or a slice, whose operands begin at `first`."""
        segments: Any = operation.properties["operandSegmentSizes"]
        counts = list(segments.get_values())[-3:]
        at, groups = first, list[Sequence[SSAValue]]()
        for count in counts:
            groups.append(operation.operands[at : at + count])
            at += count
        names = ("static_offsets", "static_sizes", "static_strides")
        found = [self.mixed_integers(operation, name, group) for name, group in zip(names, groups, strict=True)]
        return found[0], found[1], found[2]

    def slice_view(self, view: View, operation: Operation, first: int, kind: Any) -> View:
        """A part of a view; axes of extent 1 that the result's type lacks are dropped."""
        offsets, sizes, strides = self.slice_parts(operation, first)
        at = self.span(operation)
        # MLIR says which axes stay by their extents alone (memref.subview, rank reduction).
        kept = _kept_axes(sizes, kind.get_shape())

        def place(indices: Sequence[Node]) -> tuple[Node, ...]:
            own = dict(zip(kept, indices, strict=True))
            zero = integer(0, at)
            return view.place(
                [self.offset(o, own.get(n, zero), s, at) for n, (o, s) in enumerate(zip(offsets, strides, strict=True))]
            )

        return View(view.identity, view.name, view.dtype, place, tuple(sizes[n] for n in kept))

    def subview(self, operation: Operation) -> None:
        view, kind = self.view(operation.operands[0]), operation.results[0].type
        self.array_type(kind, operation)
        self.frame.values[operation.results[0]] = self.slice_view(view, operation, 1, kind)

    def reassociation(self, operation: Operation) -> list[list[int]]:
        groups: Any = operation.properties["reassociation"]
        return [[n.value.data for n in group.data] for group in groups.data]

    def collapse(self, operation: Operation) -> None:
        """Axes joined to one: its index is taken apart by quotients and remainders."""
        view, at = self.view(operation.operands[0]), self.span(operation)
        groups = self.reassociation(operation)

        def place(indices: Sequence[Node]) -> tuple[Node, ...]:
            found = list[Node]()
            for group, index in zip(groups, indices, strict=True):
                found += _unravel(index, [view.shape[n] for n in group], at)
            # No group: all axes have extent 1, and become rank 0.
            return view.place(found if groups else [integer(0, at)] * view.rank)

        shape = tuple(_product([view.shape[n] for n in group], at) for group in groups)
        self.frame.values[operation.results[0]] = View(view.identity, view.name, view.dtype, place, shape)

    def expand_axes(self, operation: Operation) -> None:
        """An axis taken apart into several."""
        view, at = self.view(operation.operands[0]), self.span(operation)
        kind: Any = operation.results[0].type
        groups, dynamic = self.reassociation(operation), list(operation.operands[1:])
        # Without groups rank 0 becomes axes of extent 1.
        shape = [] if groups else [integer(1, at)] * len(kind.get_shape())
        for n, group in enumerate(groups):
            known = [kind.get_shape()[axis] for axis in group]
            for axis in group:
                size = kind.get_shape()[axis]
                if size != DYNAMIC:
                    shape.append(integer(size, at))
                elif dynamic:
                    shape.append(self.integer_operand(dynamic.pop(0), operation))
                else:
                    # Without `output_shape`, the former spelling, one extent of a group is what is left of the axis.
                    rest = [integer(k, at) for k in known if k != DYNAMIC]
                    shape.append(combine("//", view.shape[n], _product(rest, at), at))

        def place(indices: Sequence[Node]) -> tuple[Node, ...]:
            found = list[Node]()
            for group in groups:
                index = integer(0, at)
                for axis in group:
                    index = combine("+", combine("*", index, shape[axis], at), indices[axis], at)
                found.append(index)
            return view.place(found)

        self.frame.values[operation.results[0]] = View(view.identity, view.name, view.dtype, place, tuple(shape))

    def copy(self, operation: Operation) -> None:
        """memref.copy. Raises PL0175 where both overlap, PL0176 for shapes that differ."""
        source, target = (self.view(o) for o in operation.operands)
        for one, other in zip(source.shape, target.shape, strict=True):
            self.equate_extents(one, other, operation)
        # Element by element, a copy within one array would read what it has written (memmove, not memcpy).
        if source.identity == target.identity and not self.prove_disjoint(source, target):
            message = f"memref.copy reads `{source.name}` while it writes other elements of it"
            raise self.refuse("PL0175", message, operation, "copy through another array")
        self.flush(frozenset({target.identity}), operation)
        self.copy_elements(source, target, self.span(operation))

    def prove_disjoint(self, a: View, b: View) -> bool:
        """Whether two parts of one array have no element in common: along one axis, one ends before the other begins
        (a separating axis)."""
        ranges = [self.axis_ranges(view) for view in (a, b)]
        for one, other in zip(*ranges, strict=True):
            if one is None or other is None:
                continue
            for low, high in ((one, other), (other, one)):
                # Both are inclusive: a positive distance for all sizes separates them.
                gap = high[0] - low[1]
                if gap.is_constant and gap.constant > 0:
                    return True
        return False

    def axis_ranges(self, view: View) -> list[tuple[Affine, Affine] | None]:
        """The first and the last index of a view along each axis of its array, where both are affine."""
        at = self.module.text_span
        first = view.place([integer(0, at)] * view.rank)
        last = view.place([combine("-", extent, integer(1, at), at) for extent in view.shape])
        found = list[tuple[Affine, Affine] | None]()
        for low, high in zip(first, last, strict=True):
            a, b = self.extent_form(low), self.extent_form(high)
            found.append(None if a is None or b is None else (a, b))
        return found

    def get_global(self, operation: Operation) -> None:
        """A table of the module: a local array that begins with the table's elements."""
        symbol: Any = operation.properties["name"]
        name = symbol.string_value()
        found = self.module.symbols.get(name)
        value: Any = None if found is None else found.properties.get("initial_value")
        if not is_kind(value, builtin.DenseIntOrFPElementsAttr):
            help = "give it a value: `memref.global constant @t : memref<2xf32> = dense<[1.0, 2.0]>`"
            raise self.refuse("PL0173", f"the table @{name} has no elements", operation, help)
        self.frame.values[operation.results[0]] = self.table(value, operation.results[0], name, operation)

    def table(self, value: Any, result: SSAValue, name: str, operation: Operation) -> View:
        """A local array with the elements of a constant."""
        kind: Any = result.type
        dtype, at = self.array_type(kind, operation), self.span(operation)
        shape = [integer(n, at) for n in kind.get_shape()]
        view = self.local_array(name, dtype, shape, operation)
        elements = list(value.get_values())
        count = 1
        for n in kind.get_shape():
            count *= n
        # A splat is a loop; a table is a store per element, whose constants the compiler then propagates.
        if len(elements) != count or all(e == elements[0] for e in elements):
            number = self.table_element(elements[0], kind, operation)
            with self.loop_nest(shape, at) as indices:
                self.assign(element_node(view, indices, at), number, at)
            return view
        for position, element in enumerate(elements):
            indices, rest = list[Node](), position
            for extent in reversed(kind.get_shape()):
                indices.insert(0, integer(rest % extent, at))
                rest //= extent
            self.assign(element_node(view, indices, at), self.table_element(element, kind, operation), at)
        return view

    def table_element(self, value: Any, kind: Any, operation: Operation) -> Node:
        element = kind.element_type
        holder = _Holder(_Value(value))
        found = self.constant(holder, element, operation)
        return self.number_data(found, operation, str(element))[0]

    def argument_array(
        self, name: str, value: SSAValue, shape: Sequence[Node], operation: Operation, attributes: Any
    ) -> View:
        """An array that the caller passes."""
        dtype = self.signed_type(value, self.array_type(value.type, operation), attributes)
        return self.passed_array(name, dtype, shape, operation)

    def passed_array(self, name: str, dtype: ElementType, shape: Sequence[Node], operation: Operation) -> View:
        """An argument that is memory; one of rank 0 is passed as an array of one element."""
        forms = [self.extent_form(node) for node in shape]
        known = [form for form in forms if form is not None]
        at = self.span(operation)
        self.add_storage(name, dtype, known or [Affine((), 1)], "argument", at)
        if not shape:
            # Hosts pass arrays, of which the smallest has one element.
            return View(name, name, dtype, lambda _: (integer(0, at),), ())
        return array_view(name, name, dtype, shape)


class _Value:
    def __init__(self, data: Any) -> None:
        self.data = data


class _Holder:
    """An attribute of one number."""

    def __init__(self, value: _Value) -> None:
        self.value = value


def _kept_axes(sizes: Sequence[Node], wanted: Sequence[int]) -> list[int]:
    """Axes of a slice that its result has: those of extent 1 are dropped where the rank is less."""
    drop, kept = len(sizes) - len(wanted), list[int]()
    for n, size in enumerate(sizes):
        left = wanted[len(kept) :]
        if drop and size.kind == "integer" and size.value == 1 and (not left or left[0] != 1 or drop >= len(sizes) - n):
            drop -= 1
        else:
            kept.append(n)
    return kept


def _product(parts: Sequence[Node], at: Any) -> Node:
    found = integer(1, at)
    for part in parts:
        found = combine("*", found, part, at)
    return found


def _unravel(index: Node, shape: Sequence[Node], at: Any) -> list[Node]:
    """Indices of several axes from that of all elements in order; the first axis has no remainder."""
    found = list[Node]()
    for n in range(len(shape)):
        stride = _product(shape[n + 1 :], at)
        part = index if integer_constant(stride) == 1 else combine("//", index, stride, at)
        size = integer_constant(shape[n])
        if size == 1:
            found.append(integer(0, at))
        elif n == 0 or all(integer_constant(s) == 1 for s in shape[:n]):
            found.append(part)
        else:
            found.append(combine("mod", part, shape[n], at))
    return found
