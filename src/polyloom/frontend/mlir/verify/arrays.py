# SPDX-License-Identifier: Apache-2.0
"""Arrays: indices, slices, reassociations, extents and tables have the rank and the number of elements of their array
(MLIR language reference, dialects memref, tensor and bufferization).
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import Any, Final

from xdsl.dialects import builtin

from polyloom.frontend.mlir.element_types import DYNAMIC, integer_width, is_array_type, is_kind, scalar_type
from polyloom.frontend.mlir.verify.violation import rank

_SLICES: Final = {"memref.subview": 0, "tensor.extract_slice": 0, "tensor.insert_slice": 1}
"""By operation, the operand of which a part is taken."""
_ALLOCATIONS: Final = frozenset(("tensor.empty", "tensor.splat", "bufferization.alloc_tensor"))


_CASTS: Final = frozenset((("integer", "index"), ("index", "integer")))
_CONVERSIONS: Final = {
    **dict.fromkeys(("extsi", "extui", "trunci"), frozenset((("integer", "integer"),))),
    **dict.fromkeys(("index_cast", "index_castui"), _CASTS),
    **dict.fromkeys(("sitofp", "uitofp"), frozenset((("integer", "float"),))),
    **dict.fromkeys(("fptosi", "fptoui"), frozenset((("float", "integer"),))),
}
"""By operation, from which kind of numbers to which it converts."""


def verify_arrays(operation: Any) -> Iterator[str]:
    """What is wrong with ranks and extents."""
    name = operation.name
    if name in _SLICES:
        yield from _verify_slice(operation, operation.operands[_SLICES[name]])
    elif name.endswith(".collapse_shape"):
        yield from _verify_groups(operation, operation.results[0], operation.operands[0])
    elif name.endswith(".expand_shape"):
        yield from _verify_groups(operation, operation.operands[0], operation.results[0])
    elif name in _ALLOCATIONS:
        yield from _verify_extents(operation)
    elif name == "tensor.from_elements":
        yield from _verify_count(operation.results[0].type, len(operation.operands))
    elif name in ("arith.constant", "memref.global"):
        value = operation.properties.get("value" if name == "arith.constant" else "initial_value")
        if is_kind(value, builtin.DenseIntOrFPElementsAttr):
            yield from _verify_table(value)
    elif name == "tensor.pad":
        yield from _verify_sides(operation)
    elif name in ("memref.copy", "memref.cast", "tensor.cast", "bufferization.materialize_in_destination"):
        yield from _verify_same_rank(operation)
    elif name.startswith(("arith.", "math.", "index.")):
        yield from _verify_elementwise(operation)
        yield from _verify_conversion(operation)
    elif name == "tensor.concat":
        yield from _verify_same_rank(operation)
        axis = operation.properties["dim"].value.data
        if not 0 <= axis < (rank(operation.results[0]) or 0):
            yield f"there is no axis {axis}"


def _verify_slice(operation: Any, array: Any) -> Iterator[str]:
    for part in ("static_offsets", "static_sizes", "static_strides"):
        count = len(operation.properties[part].get_values())
        if count != rank(array):
            yield f"{count} {part.removeprefix('static_')} of an array of {rank(array)} axes"
    sizes = operation.properties["static_sizes"].get_values()
    kept = rank(operation.operands[0] if operation.name == "tensor.insert_slice" else operation.results[0])
    # Only axes of extent 1 may be dropped (memref.subview, rank reduction).
    if kept is not None and not len(sizes) - list(sizes).count(1) <= kept <= len(sizes):
        yield f"a part of {len(sizes)} axes has {kept} in its type"


def _verify_groups(operation: Any, collapsed: Any, expanded: Any) -> Iterator[str]:
    """A reassociation: each axis of the array of more axes once, in order, in a group for each axis of the other."""
    groups = [
        [n.value.data for n in group.data if is_kind(n, builtin.IntegerAttr)]
        for group in operation.properties["reassociation"].data
    ]
    flat = [n for group in groups for n in group]
    axes = rank(expanded) or 0
    # Without groups every axis has extent 1, and the other array has rank 0.
    if len(groups) != rank(collapsed) or (groups and flat != list(range(axes))):
        yield f"the reassociation {groups} does not name {axes} axes in {rank(collapsed)} groups"
    elif not groups and prod(expanded.type.get_shape()) != 1:
        yield "an array of one element is expected"


def _verify_extents(operation: Any) -> Iterator[str]:
    """An operand for each extent that the type leaves open."""
    kind = operation.results[0].type
    if not is_array_type(kind):
        return
    counts = operation.properties.get("operandSegmentSizes")
    dynamic = len(operation.operands) - (operation.name == "tensor.splat")
    copied = 0
    if counts is not None and operation.name == "bufferization.alloc_tensor":
        dynamic, copied, _ = counts.get_values()
    wanted = list(kind.get_shape()).count(DYNAMIC)
    if not copied and dynamic != wanted:
        yield f"{dynamic} extents are given, and {wanted} are open in {kind}"


def _verify_count(kind: Any, count: int) -> Iterator[str]:
    if DYNAMIC in kind.get_shape() or prod(kind.get_shape()) != count:
        yield f"{count} elements are given for the type {kind}"


def _verify_table(value: Any) -> Iterator[str]:
    """A constant array has extents, and an element for each place or one for all."""
    kind: Any = value.type
    if DYNAMIC in kind.get_shape():
        yield f"a constant of the type {kind} has no extents"
    elif 0 in kind.get_shape():
        yield f"a constant of the type {kind} has no elements"


def _verify_sides(operation: Any) -> Iterator[str]:
    """tensor.pad: a number for each side of each axis, and a value for each that is none."""
    axes = rank(operation.operands[0]) or 0
    counts = list(operation.properties["operandSegmentSizes"].get_values())
    for key, given in zip(("static_low", "static_high"), counts[1:], strict=True):
        numbers = list(operation.properties[key].get_values())
        if len(numbers) != axes or rank(operation.results[0]) != axes:
            yield f"{len(numbers)} sides are given of {axes} axes"
        elif numbers.count(DYNAMIC) != given:
            yield f"{given} values are given for {numbers.count(DYNAMIC)} sides"


def _verify_conversion(operation: Any) -> Iterator[str]:
    """Conversions: from a kind of numbers to a kind, and integers to wider or narrower ones (dialect arith)."""
    dialect, _, name = operation.name.partition(".")
    if dialect != "arith" or name not in _CONVERSIONS:
        return
    given, made = scalar_type(operation.operands[0].type), scalar_type(operation.results[0].type)
    kinds = (_number_kind(given), _number_kind(made))
    if kinds not in _CONVERSIONS[name]:
        yield f"it does not convert {given} to {made}"
    elif name == "trunci" and integer_width(made) >= integer_width(given):
        yield f"{made} is not narrower than {given}"
    elif name.startswith("ext") and integer_width(made) <= integer_width(given):
        yield f"{made} is not wider than {given}"


def _number_kind(kind: Any) -> str:
    if is_kind(kind, builtin.IndexType):
        return "index"
    return "integer" if is_kind(kind, builtin.IntegerType) else "float" if is_kind(kind, builtin.AnyFloat) else "other"


def _verify_same_rank(operation: Any) -> Iterator[str]:
    """Arrays of one rank; one without a rank, which a cast makes, says nothing."""
    values = (*operation.operands, *operation.results)
    unranked = builtin.UnrankedMemRefType | builtin.UnrankedTensorType
    if any(not is_array_type(value.type) and not is_kind(value.type, unranked) for value in values):
        yield "an array is expected"
    elif len({rank(value) for value in values} - {None}) > 1:
        yield "its arrays have different ranks"


def _verify_elementwise(operation: Any) -> Iterator[str]:
    """Operations on scalars or, element by element, on arrays; a selection may choose between arrays by one scalar."""
    given = {rank(o) for o in operation.operands}
    made = {rank(result) for result in operation.results}
    if operation.operands and (len(made - {None} | given - {None}) > 1 or (given == {None}) != (made == {None})):
        yield "its arrays have different ranks"
